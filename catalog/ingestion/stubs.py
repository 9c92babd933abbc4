"""Stubs: entries whose definition, and perhaps endpoint, was not known before."""

from capabilities.parsers import is_stub
from capabilities.records import AgentRecord

from ..models import CatalogEntry
from .identity import compute_record_key, lock_agent, move_entry


class AgentAlreadyKnown(Exception):
    """A stub turns out to be an agent that has an entry of its own."""


def move_stub(entry: CatalogEntry, record: AgentRecord) -> None:
    """Give a stub the identity of the agent that it stands for.

    Only its definition says what its endpoint is. Raise AgentAlreadyKnown if another
    entry has this identity. Do nothing if the entry is not a stub.
    """
    key = compute_record_key(record)
    lock_agent(key)
    stubs = CatalogEntry.objects.select_for_update().filter(agent_key=entry.agent_key)
    stub = stubs.exclude(agent_key=key).filter(pk=entry.pk).first()
    if stub is None or not is_stub(
        stub.agent_type.definition, stub.agent_type.protocol
    ):
        return
    if CatalogEntry.objects.filter(agent_key=key).exists():
        raise AgentAlreadyKnown
    move_entry(stub, record)
