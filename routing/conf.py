"""Settings of routing, read and validated like those of the catalog."""

from catalog.conf import number_setting


class Settings:
    """What a project may set, each under the prefix `AGENTLENS_`. Times in seconds."""

    # How long a reported load is believed; after that it counts as unknown.
    GAUGE_LIFETIME: float = number_setting(300.0, least=1)
    # How long a draining registration is kept before it is removed.
    DRAIN_SECONDS: float = number_setting(60.0, least=0)


conf = Settings()
