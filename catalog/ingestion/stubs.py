"""Stubs: entries whose definition, and perhaps endpoint, was not known before."""

from capabilities.parsers import is_stub
from capabilities.records import AgentRecord

from ..models import CatalogEntry
from .identity import compute_record_key, list_keys, lock_agents, move_entry


class AlreadyDefined(Exception):
    """The agent is in the catalog with its definition, so it cannot become a stub."""


class AgentAlreadyKnown(Exception):
    """A stub turns out to be an agent that has an entry of its own."""


def move_stub(entry: CatalogEntry, record: AgentRecord) -> None:
    """Give a stub the identity of the agent that it stands for.

    Only its definition says what its endpoint is. Raise AgentAlreadyKnown if another
    entry has this identity. Do nothing if the entry is not a stub.
    """
    key = compute_record_key(record)
    lock_agents([*list_keys(record), entry.agent_key])
    stubs = CatalogEntry.objects.select_for_update().filter(agent_key=entry.agent_key)
    stub = stubs.exclude(agent_key=key).filter(pk=entry.pk).first()
    if stub is None or not is_stub_entry(stub):
        return
    if CatalogEntry.objects.filter(agent_key=key).exists():
        raise AgentAlreadyKnown
    move_entry(stub, record)


def is_stub_entry(entry: CatalogEntry) -> bool:
    agent_type = entry.agent_type
    return is_stub(agent_type.definition, agent_type.protocol)


def check_stub_is_needed(entry: CatalogEntry | None, raw: bytes, protocol: str) -> None:
    """Raise AlreadyDefined if a stub would replace the definition of an entry."""
    if entry is None or is_stub_entry(entry) or not is_stub(raw, protocol):
        return
    raise AlreadyDefined(
        "This agent is already in the catalog with its definition: refresh it with an"
        " Authorization header"
    )
