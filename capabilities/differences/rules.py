"""Compare the properties of a capability by the rules of its kind."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from ..kinds import PropertyRule, kinds
from .changes import FieldChange, canonicalize, describe_change, join_path
from .keywords import is_number
from .schema_changes import (
    ARGUMENTS,
    OUTPUT_MEMBERS,
    PARAMETERS,
    SchemaUse,
    compare_schemas,
)
from .steps import StepBudget

# Nested members compared one by one; deeper ones are compared as a whole.
MEMBER_DEPTH_LIMIT = 4
# Alternatives that are compared with each other.
ALTERNATIVE_LIMIT = 100

Properties = Mapping[str, Any]
Comparator = Callable[[str, Any, Any], Iterator[FieldChange]]
# Those of schemas take steps of the budget of the definition.
SchemaComparator = Callable[[str, Any, Any, StepBudget], Iterator[FieldChange]]


def find_new_demand(kind_slug: str, name: str, properties: Properties) -> str:
    """Return what a new capability demands of clients, or ''."""
    kind = kinds.get(kind_slug)
    for field, value in properties.items():
        rule = kind.get_rule(name, field) if kind else None
        if reason := describe_demand(rule, field, value):
            return reason
    return ""


def describe_demand(rule: PropertyRule | None, field: str, value: Any) -> str:
    if rule == PropertyRule.DEMAND:
        return "new and required" if value is True else ""
    if rule == PropertyRule.SECURITY_REQUIREMENTS:
        changes = compare_requirements(field, None, value)
        return next((change.reason for change in changes if change.breaking), "")
    return ""


def find_removal_reason(kind_slug: str, name: str, properties: Properties) -> str:
    """Return why the removal of a capability breaks clients, or ''."""
    kind = kinds.get(kind_slug)
    if kind is None or kind.is_removal_breaking:
        return "removed" if kind else ""
    for field, value in properties.items():
        if kind.get_rule(name, field) == PropertyRule.FEATURE:
            return "feature lost" if is_feature_lost(value, None) else ""
    return ""


def compare_properties(
    kind_slug: str,
    name: str,
    before: Properties,
    after: Properties,
    budget: StepBudget,
) -> Iterator[FieldChange]:
    """Yield the changes of a capability's properties."""
    kind = kinds.get(kind_slug)
    for field in dict.fromkeys([*before, *after]):
        old, new = before.get(field), after.get(field)
        rule = kind.get_rule(name, field) if kind else None
        if old != new and rule != PropertyRule.DERIVED:
            yield from compare_by_rule(rule, field, old, new, budget)


def compare_by_rule(
    rule: PropertyRule | None, field: str, before: Any, after: Any, budget: StepBudget
) -> Iterator[FieldChange]:
    """Yield the changes of a property, at least one."""
    if rule in SCHEMA_COMPARATORS:
        changes = list(SCHEMA_COMPARATORS[rule](field, before, after, budget))
        reason = "schema changed, compare by hand"
    else:
        compare = COMPARATORS[rule] if rule else compare_values
        changes = list(compare(field, before, after))
        reason = "changed"
    yield from changes or [FieldChange(field, before, after, reason)]


def compare_values(field: str, before: Any, after: Any) -> Iterator[FieldChange]:
    """Yield the changes of a value that breaks no clients, member by member."""
    yield from iter_member_changes(field, before, after)


def iter_member_changes(
    field: str, before: Any, after: Any, path: str = "", depth: int = 0
) -> Iterator[FieldChange]:
    is_nested = isinstance(before, dict) and isinstance(after, dict)
    if not is_nested or depth >= MEMBER_DEPTH_LIMIT:
        reason = describe_change(before, after)
        yield FieldChange(field, before, after, reason, path)
        return
    for key in dict.fromkeys([*before, *after]):
        old, new = before.get(key), after.get(key)
        if old != new:
            key_path = join_path(path, key)
            yield from iter_member_changes(field, old, new, key_path, depth + 1)


def compare_schema_property(
    field: str, before: Any, after: Any, budget: StepBudget, use: SchemaUse
) -> Iterator[FieldChange]:
    if after is None:
        # Unlike parameters, results that no schema describes cannot be relied on.
        breaking = not use.is_input
        yield FieldChange(field, before, after, "schema removed", breaking=breaking)
    elif before is None and not use.is_input:
        yield FieldChange(field, before, after, "schema added")
    else:
        yield from compare_schemas(field, before or {}, after, use, budget)


def compare_arguments(
    field: str, before: Any, after: Any, budget: StepBudget
) -> Iterator[FieldChange]:
    schemas = build_argument_schema(before), build_argument_schema(after)
    yield from compare_schemas(field, *schemas, use=ARGUMENTS, budget=budget)


def build_argument_schema(arguments: Any) -> dict[str, Any]:
    """Return a list of named arguments as a JSON Schema."""
    items = arguments if isinstance(arguments, list) else []
    by_name = {
        item["name"]: item
        for item in items
        if isinstance(item, dict) and isinstance(item.get("name"), str)
    }
    properties = {
        name: {key: item[key] for key in item if key not in ("name", "required")}
        for name, item in by_name.items()
    }
    required = [name for name, item in by_name.items() if item.get("required") is True]
    return {"properties": properties, "required": required}


def compare_options(field: str, before: Any, after: Any) -> Iterator[FieldChange]:
    """Yield changes of a list, or of an object; removing an item is breaking."""
    if isinstance(before, dict) or isinstance(after, dict):
        for change in iter_member_changes(field, before, after):
            breaking = bool(before) and is_option_lost(change.before, change.after)
            yield replace(change, breaking=breaking)
        return
    removed, added = diff_items(before, after)
    verb = "changed" if removed and added else "removed" if removed else "added"
    if removed or added:
        yield FieldChange(field, before, after, f"values {verb}", breaking=removed)


def is_option_lost(before: Any, after: Any) -> bool:
    """Return whether a member is gone, or all that an object or a list contained."""
    if after is None:
        return True
    is_container = isinstance(before, dict | list) and bool(before)
    return is_container and not isinstance(after, type(before))


def compare_fixed(field: str, before: Any, after: Any) -> Iterator[FieldChange]:
    reason = describe_change(before, after)
    # An empty value was not declared, so that no client relies on it.
    yield FieldChange(field, before, after, reason, breaking=bool(before))


def compare_demand(field: str, before: Any, after: Any) -> Iterator[FieldChange]:
    is_demanded = after is True
    reason = "became required" if is_demanded else "no longer required"
    yield FieldChange(field, before, after, reason, breaking=is_demanded)


def compare_feature(field: str, before: Any, after: Any) -> Iterator[FieldChange]:
    is_lost = is_feature_lost(before, after)
    is_gained = not is_lost and before in (None, False) and after is True
    reason = "feature gained" if is_gained else describe_change(before, after)
    reason = "feature lost" if is_lost else reason
    yield FieldChange(field, before, after, reason, breaking=is_lost)


def is_feature_lost(before: Any, after: Any) -> bool:
    """Return whether a feature's value means less than before; None is undeclared."""
    if before is True:
        return after is None or after is False
    if is_number(before):
        return is_number(after) and bool(after < before)
    if isinstance(before, list):
        return bool(before) and diff_items(before, after)[0]
    return False


def diff_items(before: Any, after: Any) -> tuple[bool, bool]:
    """Return whether items of a list were removed, and whether any were added."""
    old, new = (
        set(map(canonicalize, value if isinstance(value, list) else []))
        for value in (before, after)
    )
    return bool(old - new), bool(new - old)


def compare_requirements(field: str, before: Any, after: Any) -> Iterator[FieldChange]:
    """Yield a change of the alternatives, of which clients need to fulfill one."""
    old, new = read_alternatives(before), read_alternatives(after)
    if old is None or new is None:
        yield FieldChange(field, before, after, "changed, compare by hand")
        return
    is_met = not new or (bool(old) and all(is_accepted(item, new) for item in old))
    if is_met:
        reason = "requirements changed" if new else "no longer required"
    else:
        reason = "more credentials required" if old else "credentials required"
    yield FieldChange(field, before, after, reason, breaking=not is_met)


def read_alternatives(value: Any) -> list[dict[str, set[str]]] | None:
    """Return the scopes by scheme of each alternative.

    Return None if there are too many, or if one cannot be read.
    """
    if value is None:
        return []
    if not isinstance(value, list) or len(value) > ALTERNATIVE_LIMIT:
        return None
    if not all(map(is_alternative, value)):
        return None
    return [
        {key: set(map(canonicalize, scopes)) for key, scopes in item.items()}
        for item in value
    ]


def is_alternative(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(scopes, list) for scopes in value.values()
    )


def is_accepted(
    credentials: dict[str, set[str]], alternatives: list[dict[str, set[str]]]
) -> bool:
    """Return whether credentials for these schemes fulfill an alternative."""
    return any(
        all(
            key in credentials and scopes <= credentials[key]
            for key, scopes in item.items()
        )
        for item in alternatives
    )


SCHEMA_COMPARATORS: dict[PropertyRule | None, SchemaComparator] = {
    PropertyRule.INPUT_SCHEMA: partial(compare_schema_property, use=PARAMETERS),
    PropertyRule.OUTPUT_SCHEMA: partial(compare_schema_property, use=OUTPUT_MEMBERS),
    PropertyRule.ARGUMENTS: compare_arguments,
}
COMPARATORS: dict[PropertyRule, Comparator] = {
    PropertyRule.OPTIONS: compare_options,
    PropertyRule.FIXED: compare_fixed,
    PropertyRule.FEATURE: compare_feature,
    PropertyRule.DEMAND: compare_demand,
    PropertyRule.SECURITY_REQUIREMENTS: compare_requirements,
    PropertyRule.DERIVED: compare_values,
}
