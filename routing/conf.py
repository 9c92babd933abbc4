"""Settings of routing, read and validated like those of the catalog."""

from catalog.conf import number_setting


class RoutingSettings:
    """Settings that a project may define with the prefix `AGENTLENS_`, in seconds."""

    # How long a reported gauge is valid; after that its value is unknown.
    GAUGE_LIFETIME: float = number_setting(300.0, minimum=1)
    # How long a draining registration is kept before it is removed.
    DRAIN_SECONDS: float = number_setting(60.0, minimum=0)


conf = RoutingSettings()
