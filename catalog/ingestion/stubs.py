"""Stubs: entries whose definition, and perhaps endpoint, was not known before."""

from capabilities.parsers import is_stub
from capabilities.records import AgentRecord

from ..models import AgentType, CatalogEntry
from .identity import compute_record_key, lock_agent


class AgentAlreadyKnown(Exception):
    """A stub turns out to be an agent that has an entry of its own."""


def move_stub(entry: CatalogEntry, record: AgentRecord) -> None:
    """Give a stub the identity of the agent that it stands for.

    Only its definition says what its endpoint is. Raise AgentAlreadyKnown if another
    entry has this identity. Do nothing if the entry is not a stub.
    """
    key = compute_record_key(record)
    lock_agent(key)
    stub = AgentType.objects.filter(entry=entry.pk, agent_key=entry.agent_key).first()
    if key == entry.agent_key or stub is None:
        return
    if not is_stub(stub.definition, stub.protocol):
        return
    if CatalogEntry.objects.filter(agent_key=key).exists():
        raise AgentAlreadyKnown
    CatalogEntry.objects.filter(pk=entry.pk).update(agent_key=key)
    AgentType.objects.filter(agent_key=entry.agent_key).update(
        agent_key=key, endpoint=record.endpoint
    )
