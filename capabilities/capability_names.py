"""Checks of parsed capabilities; makes their names unique within each kind."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from .problems import Problems, member_path
from .records import CAPABILITY_LIMIT, CAPABILITY_NAME_LIMIT, CapabilityRecord

# Leaves room for the highest number that can be appended to make a name unique.
STEM_LIMIT = CAPABILITY_NAME_LIMIT - len(f" ({CAPABILITY_LIMIT})")


def check_capabilities(
    capabilities: Iterable[CapabilityRecord], problems: Problems
) -> Iterator[CapabilityRecord]:
    """Validate the capabilities and make their names unique within each kind."""
    name_counts: Counter[tuple[str, str]] = Counter()
    error_paths = {problem.path for problem in problems.errors}
    for capability in capabilities:
        messages = list(capability.validate())
        # A missing name may be reported already, by the parser itself.
        if member_path(capability.path, "name") not in error_paths:
            for message in messages:
                problems.error(capability.path, message)
        name = (
            capability.name if messages else make_unique_name(capability, name_counts)
        )
        if name != capability.name:
            message = f"another {capability.kind} has this name; stored as {name!r}"
            problems.warning(capability.path, message)
        name_counts[capability.kind, name] += 1
        yield replace(capability, name=name)


def make_unique_name(
    capability: CapabilityRecord, name_counts: Counter[tuple[str, str]]
) -> str:
    """Return the name, or a disambiguated or numbered one if it is already used."""
    kind = capability.kind
    for name in (capability.name, capability.disambiguated_name()):
        if not name_counts[kind, name] and len(name) <= CAPABILITY_NAME_LIMIT:
            return name
    stem = capability.name[:STEM_LIMIT]
    while name_counts[kind, name := f"{stem} ({name_counts[kind, stem] + 1})"]:
        name_counts[kind, stem] += 1
    return name
