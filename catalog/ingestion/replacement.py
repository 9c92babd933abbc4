"""Notice when a definition describes another agent than the one it would update."""

from capabilities.kinds import discoverable_kinds
from capabilities.problems import Problem
from capabilities.records import AgentRecord

from ..models import CatalogEntry
from .diff import CapabilityIndex, index_capabilities
from .identity import find_entry
from .stubs import is_stub_entry


def find_replaced_name(
    entry: CatalogEntry,
    previous: AgentRecord | None,
    stored: CapabilityIndex,
    record: AgentRecord,
) -> str:
    """Return the entry's name if the record replaces its agent by another, or "".

    It does if it has another name and shares no discoverable capability. A stub is not
    replaced, but completed.
    """
    if is_stub_entry(entry):
        return ""
    names = {entry.display_name, previous.display_name if previous else ""}
    if record.display_name in names:
        return ""
    kinds = set(discoverable_kinds())
    shared = stored.keys() & index_capabilities(record.capabilities).keys()
    return "" if any(kind in kinds for kind, _ in shared) else entry.display_name


def preview_replaced_name(record: AgentRecord) -> str:
    """Return the name of the agent that registering the record would replace, or ""."""
    entry = find_entry(record)
    if entry is None:
        return ""
    stored = index_capabilities(entry.agent_type.capabilities.all())
    return find_replaced_name(entry, entry.parse_definition().record, stored, record)


def build_replaced_warnings(replaced_name: str) -> list[Problem]:
    return [Problem("$.name", f'replaces "{replaced_name}"')] if replaced_name else []
