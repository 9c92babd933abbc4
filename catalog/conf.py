"""Settings of the catalog: every one has a default, and a check that validates it.

A project overrides them in its settings module under the names listed in `Settings`.
`conf.PROBE_TIMEOUT` reads `settings.AGENTLENS_PROBE_TIMEOUT` at each access.
"""

import ipaddress
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Generic, TypeVar

from django.conf import settings

PREFIX = "AGENTLENS_"

T = TypeVar("T")
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


@dataclass
class Setting(Generic[T]):
    """One setting: its default, and what a value must be."""

    default: T
    # What is wrong with a value, "" when nothing is.
    find_error: Callable[[Any], str]
    # From a text, as environments have it.
    parse: Callable[[str], T]
    # From what a project may write to what the code uses.
    convert: Callable[[Any], T] = lambda value: value
    name: str = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = PREFIX + name

    def __get__(self, instance: object, owner: type) -> T:
        return self.convert(getattr(settings, self.name, self.default))

    @property
    def error(self) -> str:
        """What is wrong with the value that the project chose, "" when nothing is."""
        return self.find_error(getattr(settings, self.name, self.default))


def number_setting(default: float, least: float) -> Any:
    """A setting that is a number, whole where its default is whole."""
    kind = type(default)
    allowed = (int,) if kind is int else (int, float)
    sort = "whole number" if kind is int else "number"

    def find_error(value: Any) -> str:
        if isinstance(value, bool) or not isinstance(value, allowed):
            return f"must be a {sort}"
        if not least <= value < float("inf"):
            return f"must be at least {least:g}"
        return ""

    def parse(text: str) -> Any:
        try:
            return kind(text)
        except ValueError as error:
            raise ValueError("must be a number") from error

    return Setting(default, find_error, parse)


def network_list_setting() -> Any:
    """A setting that lists networks, as texts or as `ipaddress` objects."""

    def find_error(value: Any) -> str:
        try:
            to_networks(value)
        except (TypeError, ValueError) as error:
            return f"must be networks: {error}"
        return ""

    def parse(text: str) -> list[Network]:
        items = filter(None, (item.strip() for item in text.split(",")))
        try:
            return list(to_networks(items))
        except ValueError as error:
            raise ValueError(f"must be networks: {error}") from error

    return Setting([], find_error, parse, to_networks)


def to_networks(values: Iterable[Any]) -> tuple[Network, ...]:
    if isinstance(values, str):
        raise TypeError("a list is needed, not a text")
    return parsed_networks(tuple(str(value) for value in values))


@lru_cache(maxsize=8)
def parsed_networks(texts: tuple[str, ...]) -> tuple[Network, ...]:
    return tuple(ipaddress.ip_network(text) for text in texts)


class Settings:
    """What a project may set, each under the prefix `AGENTLENS_`. Times in seconds."""

    # Fetching definitions. Networks that may be reached although they are private.
    ALLOWED_NETWORKS: tuple[Network, ...] = network_list_setting()
    FETCH_TIMEOUT: float = number_setting(10.0, least=0.1)
    # Threads of one process that may wait for agents at the same time.
    FETCH_SLOTS: int = number_setting(8, least=1)
    # How long the first candidate URL is waited for alone, and any further one.
    FIRST_URL_PATIENCE: float = number_setting(2.0, least=0)
    NEXT_URL_PATIENCE: float = number_setting(0.4, least=0)

    # Probing.
    PROBE_INTERVAL: float = number_setting(60.0, least=1)
    PROBE_TIMEOUT: float = number_setting(5.0, least=0.1)
    PROBE_CONCURRENCY: int = number_setting(32, least=1)
    PROBES_PER_HOST: int = number_setting(4, least=1)
    # Probes that may wait for one host; further ones are postponed.
    PROBE_QUEUE: int = number_setting(64, least=1)
    PROBE_POSTPONE: float = number_setting(10.0, least=0)
    # Longer than a batch can take: what a dead prober claimed comes due again after it.
    PROBE_LEASE: float = number_setting(90.0, least=1)
    # Between two probes of one entry that a person or a program asked for.
    PROBE_PAUSE: float = number_setting(5.0, least=0)
    DEGRADED_ABOVE_MS: int = number_setting(1500, least=1)
    OFFLINE_AFTER: int = number_setting(3, least=1)
    # An agent that fails is probed less and less often, but at least this often.
    BACK_OFF_LIMIT: float = number_setting(3600.0, least=1)

    # Fetching definitions again; 0 turns it off.
    REFRESH_INTERVAL: float = number_setting(86400.0, least=0)
    REFRESH_BATCH: int = number_setting(8, least=1)
    REFRESH_LEASE: float = number_setting(300.0, least=1)

    # Live events: how long a slow client is waited for, when an open connection ends
    # and has to authenticate again, and how often an idle stream sends a comment.
    CLIENT_PATIENCE: float = number_setting(5.0, least=0.1)
    CONNECTION_LIFETIME: float = number_setting(3600.0, least=0.1)
    HEARTBEAT: float = number_setting(15.0, least=0.1)


conf = Settings()


def declared_settings(owner: type = Settings) -> Iterator[Setting[Any]]:
    """All settings of a class like `Settings`, in the order they are written."""
    return (value for value in vars(owner).values() if isinstance(value, Setting))


def lease_error(lease: float, timeout: float) -> str:
    """Why a claimed probe could come due again while it is still running, or ''."""
    if lease >= timeout + 1:
        return ""
    return f"{PREFIX}PROBE_LEASE must be at least {timeout + 1:g}"
