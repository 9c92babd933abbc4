"""Settings of the catalog with their defaults and validation.

A project overrides them in its settings module: `CatalogSettings` lists the names.
`conf.PROBE_TIMEOUT` reads `settings.AGENTLENS_PROBE_TIMEOUT` at each access.
"""

import ipaddress
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Generic, TypeVar

from django.conf import settings

SETTING_PREFIX = "AGENTLENS_"

T = TypeVar("T")
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


@dataclass
class Setting(Generic[T]):
    """A setting with its default, validation and conversion."""

    default: T
    # Returns an error message for a value, "" if it is valid.
    find_error: Callable[[Any], str]
    # Parses the text of an environment variable; raises ValueError.
    parse: Callable[[str], T]
    # Converts the value in a settings module to the type that the code uses.
    convert: Callable[[Any], T] = lambda value: value
    name: str = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = SETTING_PREFIX + name

    def __get__(self, instance: object, owner: type) -> T:
        return self.convert(getattr(settings, self.name, self.default))

    @property
    def error(self) -> str:
        """The error message for the current value, "" if it is valid."""
        return self.find_error(getattr(settings, self.name, self.default))


def number_setting(default: float, minimum: float) -> Any:
    """Return a setting that is a number; an integer if the default is an integer."""
    number_type = type(default)
    accepted_types = (int,) if number_type is int else (int, float)
    type_name = "an integer" if number_type is int else "a number"

    def find_error(value: Any) -> str:
        if isinstance(value, bool) or not isinstance(value, accepted_types):
            return f"must be {type_name}"
        if not float("-inf") < value < float("inf"):
            return f"must be a finite number of at least {minimum:g}"
        if value < minimum:
            return f"must be at least {minimum:g}"
        return ""

    def parse(text: str) -> Any:
        try:
            return number_type(text)
        except ValueError as error:
            raise ValueError(f"must be {type_name}") from error

    return Setting(default, find_error, parse)


def network_list_setting() -> Any:
    """Return a setting that is a list of networks: strings or `ipaddress` objects."""

    def find_error(value: Any) -> str:
        try:
            to_networks(value)
        except (TypeError, ValueError) as error:
            return f"must be a list of networks: {error}"
        return ""

    def parse(text: str) -> list[Network]:
        networks = filter(None, (network.strip() for network in text.split(",")))
        try:
            return list(to_networks(networks))
        except ValueError as error:
            raise ValueError(f"must be a list of networks: {error}") from error

    return Setting([], find_error, parse, to_networks)


def to_networks(values: Iterable[Any]) -> tuple[Network, ...]:
    if isinstance(values, str):
        raise TypeError("not a list")
    return parse_networks(tuple(str(value) for value in values))


@lru_cache(maxsize=8)
def parse_networks(texts: tuple[str, ...]) -> tuple[Network, ...]:
    return tuple(ipaddress.ip_network(text) for text in texts)


class CatalogSettings:
    """The settings, without their prefix `AGENTLENS_`. Durations are in seconds."""

    # Fetching definitions. Private networks to which connections are allowed.
    ALLOWED_NETWORKS: tuple[Network, ...] = network_list_setting()
    FETCH_TIMEOUT: float = number_setting(10.0, minimum=0.1)
    # Number of threads in one process that may wait for agents at the same time.
    FETCH_SLOTS: int = number_setting(8, minimum=1)
    # How long to wait for the first candidate URL, and for each further one, before
    # the next is requested as well.
    FIRST_URL_WAIT: float = number_setting(2.0, minimum=0)
    NEXT_URL_WAIT: float = number_setting(0.4, minimum=0)

    # Probing.
    PROBE_INTERVAL: float = number_setting(60.0, minimum=1)
    PROBE_TIMEOUT: float = number_setting(5.0, minimum=0.1)
    PROBE_CONCURRENCY: int = number_setting(32, minimum=1)
    PROBES_PER_HOST: int = number_setting(4, minimum=1)
    # Number of probes that may wait for one host; further ones are postponed.
    PROBE_QUEUE: int = number_setting(64, minimum=1)
    # Time after which a postponed probe becomes due again.
    PROBE_POSTPONE: float = number_setting(10.0, minimum=0)
    # Must be longer than a batch of probes takes. If a prober stops, its claims expire
    # after this time.
    PROBE_LEASE: float = number_setting(90.0, minimum=1)
    # Minimum time between two requested probes of an entry.
    PROBE_PAUSE: float = number_setting(5.0, minimum=0)
    DEGRADED_ABOVE_MS: int = number_setting(1500, minimum=1)
    OFFLINE_AFTER: int = number_setting(3, minimum=1)
    # Maximum time between two probes of a failing agent.
    BACK_OFF_LIMIT: float = number_setting(3600.0, minimum=1)

    # Refreshing definitions; 0 turns it off.
    REFRESH_INTERVAL: float = number_setting(86400.0, minimum=0)
    REFRESH_BATCH: int = number_setting(8, minimum=1)
    REFRESH_LEASE: float = number_setting(300.0, minimum=1)

    # Live updates: how long to wait for a slow client, how long a connection may stay
    # open before it must authenticate again, and how often an idle stream sends a
    # comment.
    CLIENT_TIMEOUT: float = number_setting(5.0, minimum=0.1)
    CONNECTION_LIFETIME: float = number_setting(3600.0, minimum=0.1)
    HEARTBEAT: float = number_setting(15.0, minimum=0.1)


conf = CatalogSettings()


def iter_declared_settings(owner: type = CatalogSettings) -> Iterator[Setting[Any]]:
    """Yield the settings that a class declares, in order."""
    yield from (value for value in vars(owner).values() if isinstance(value, Setting))


def find_lease_error(lease: float, timeout: float) -> str:
    """Return an error if a lease can end before the probe does, "" otherwise."""
    if lease >= timeout + 1:
        return ""
    return (
        f"{SETTING_PREFIX}PROBE_LEASE must be at least {timeout + 1:g}"
        f" ({SETTING_PREFIX}PROBE_TIMEOUT + 1)"
    )
