"""Compare two JSON Schemas by what their differences mean for clients.

What clients send may be described more widely than before, and what they receive more
narrowly; the opposite breaks them. Keywords that this module does not know are
reported as changed, for people to compare.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from .changes import FieldChange, canonicalize, join_path
from .keywords import describe_keyword, is_tightened
from .schema_reading import (
    ALTERNATIVE_KEYWORDS,
    ANYTHING,
    Schema,
    SchemaReader,
    allows_nothing,
    find_other_branches,
    read_members,
    read_required,
    read_values,
)
from .steps import OutOfSteps, StepBudget

NESTING_LIMIT = 32
# Comparisons of the same two schemas, to which several references may lead.
REPEAT_LIMIT = 20
# Keywords with a method of their own, and those that no client notices.
COMPARED_KEYWORDS = frozenset(
    {
        "type",
        "enum",
        "const",
        "properties",
        "required",
        "items",
        "additionalProperties",
        "$defs",
        "definitions",
        "$schema",
        "$id",
        "$anchor",
        "$comment",
    }
)


@dataclass(frozen=True, slots=True)
class SchemaUse:
    """Whether clients send or receive what a schema describes, and what to call it."""

    noun: str
    is_input: bool = True


PARAMETERS = SchemaUse("parameter")
ARGUMENTS = SchemaUse("argument")
OUTPUT_MEMBERS = SchemaUse("output member", is_input=False)


def compare_schemas(
    field: str,
    before: Any,
    after: Any,
    use: SchemaUse = PARAMETERS,
    budget: StepBudget | None = None,
) -> list[FieldChange]:
    """Return the differences between two schemas, or [] if there are none.

    The values may be any JSON. Differences beyond the limits of nesting and steps are
    reported as one change without details. The budget is shared with other schemas.
    """
    if before == after:
        return []
    reader = SchemaReader(before, after, budget or StepBudget())
    comparison = SchemaComparison(field, (before, after), use, reader)
    comparison.run()
    return comparison.changes


class SchemaComparison:
    """A walk through two schemas that collects their differences."""

    def __init__(
        self, field: str, roots: tuple[Any, Any], use: SchemaUse, reader: SchemaReader
    ) -> None:
        self.field, self.roots = field, roots
        self.use, self.reader = use, reader
        self.changes: list[FieldChange] = []
        # Pairs of schemas being compared: references may form cycles.
        self.active: set[tuple[int, int]] = set()
        self.repeats: Counter[tuple[int, int]] = Counter()
        self.is_complete = True

    def run(self) -> None:
        try:
            self.compare(*self.roots, path="", depth=0)
        except OutOfSteps:
            self.is_complete = False
        if not self.is_complete:
            reason = "too large to compare completely, compare by hand"
            self.add("", None, None, reason)

    def add(
        self, path: str, before: Any, after: Any, reason: str, breaking: bool = False
    ) -> None:
        self.changes.append(
            FieldChange(self.field, before, after, reason, path, breaking)
        )

    def compare(self, before: Any, after: Any, path: str, depth: int) -> None:
        pair = (id(before), id(after))
        if pair in self.active:
            return
        if isinstance(before, dict) and before is not ANYTHING:
            self.repeats[pair] += 1
        if depth > NESTING_LIMIT or self.repeats[pair] > REPEAT_LIMIT:
            self.is_complete = False
            return
        self.active.add(pair)
        self.compare_resolved(before, after, path, depth)
        self.active.discard(pair)

    def compare_resolved(self, before: Any, after: Any, path: str, depth: int) -> None:
        if allows_nothing(before) != allows_nothing(after):
            self.add_nothing(before, after, path)
            return
        old = self.reader.simplify(before, self.roots[0])
        new = self.reader.simplify(after, self.roots[1])
        if old is None or new is None:
            self.reader.charge(before)
            self.reader.charge(after)
            if before != after:
                self.add(path, before, after, "schema changed, compare by hand")
            return
        branches = find_other_branches(old, new)
        if any(keyword not in old or keyword not in new for keyword in branches):
            self.compare_branches(old, new, path, branches, is_root=depth == 0)
            return
        has_other_types = self.compare_types(old, new, path, is_root=depth == 0)
        self.compare_values(old, new, path)
        if not branches:
            self.compare_members(old, new, path, depth)
            self.compare_other_members(old, new, path, depth)
            self.compare_items(old, new, path, depth)
        self.compare_keywords(old, new, path, has_other_types)

    def add_nothing(self, before: Any, after: Any, path: str) -> None:
        """Add the change of a schema that only one side allows any value for."""
        self.reader.charge(before)
        self.reader.charge(after)
        is_closed = allows_nothing(after)
        reason = "values no longer allowed" if is_closed else "values allowed"
        self.add(path, before, after, reason, breaking=is_closed == self.use.is_input)

    def compare_branches(
        self, old: Schema, new: Schema, path: str, branches: list[str], is_root: bool
    ) -> None:
        """Compare a schema that has several branches with one that does not.

        The other keywords may be in the branches of one side only, so that they cannot
        be compared.
        """
        # The types of `allOf` are not read.
        if "allOf" not in branches and self.compare_types(old, new, path, is_root):
            return
        for keyword in branches:
            reason = describe_keyword(keyword, None, None, is_tighter=False)
            self.add(path, old.get(keyword), new.get(keyword), reason)

    def compare_types(self, old: Schema, new: Schema, path: str, is_root: bool) -> bool:
        """Add a change of the allowed types; return whether there is one."""
        # The arguments and the structured output of a tool are always objects.
        default = frozenset({"object"}) if is_root else None
        old_types = self.reader.read_types(old, self.roots[0]) or default
        new_types = self.reader.read_types(new, self.roots[1]) or default
        if old_types == new_types:
            return False
        is_wider = is_within(old_types, new_types)
        is_narrower = is_within(new_types, old_types)
        is_safe = is_wider if self.use.is_input else is_narrower
        verb = "widened" if is_wider else "narrowed" if is_narrower else "changed"
        shown = format_types(old_types), format_types(new_types)
        self.add(path, *shown, f"type {verb}", breaking=not is_safe)
        return True

    def compare_values(self, old: Schema, new: Schema, path: str) -> None:
        """Add a change of the listed values."""
        old_values, new_values = read_values(old), read_values(new)
        if old_values == new_values:
            return
        shown = list_values(old_values), list_values(new_values)
        if old_values is None or new_values is None:
            is_limited = old_values is None
            reason = "limited to listed values" if is_limited else "any value allowed"
            self.add(path, *shown, reason, breaking=is_limited == self.use.is_input)
            return
        removed = old_values.keys() - new_values.keys()
        added = new_values.keys() - old_values.keys()
        if removed or added:
            verb = "changed" if removed and added else "narrowed"
            verb = verb if removed else "widened"
            breaking = bool(removed if self.use.is_input else added)
            self.add(path, *shown, f"enum {verb}", breaking)

    def compare_members(self, old: Schema, new: Schema, path: str, depth: int) -> None:
        """Add members that were added, removed and renamed, and compare the others."""
        old_members, new_members = read_members(old), read_members(new)
        old_required, new_required = read_required(old), read_required(new)
        self.charge_others(old_members, new_members)
        self.charge_others(new_members, old_members)
        self.take_excluded_members(old_members, new_members, path, new_required)
        new_names = find_new_names(old_members, new_members)
        for name, schema in old_members.items():
            member_path = join_path(path, name)
            if name in new_members:
                was_required, is_required = name in old_required, name in new_required
                self.compare_required(member_path, was_required, is_required)
                self.compare(schema, new_members[name], member_path, depth + 1)
            elif name in new_names:
                reason = f"{self.use.noun} renamed"
                self.add(member_path, name, new_names[name], reason, breaking=True)
            else:
                reason = f"{self.use.noun} removed"
                self.add(member_path, schema, None, reason, breaking=True)
        known_names = old_members.keys() | set(new_names.values())
        for name, schema in new_members.items():
            if name not in known_names:
                self.add_new_member(join_path(path, name), schema, name in new_required)

    def take_excluded_members(
        self, old: Schema, new: Schema, path: str, required: frozenset[str]
    ) -> None:
        """Add and take out the members whose schema is `false` on one side."""
        for name in old | new:
            was_excluded = allows_nothing(old.get(name))
            if was_excluded == allows_nothing(new.get(name)):
                continue
            is_described = name in old and name in new
            before, after = old.pop(name, None), new.pop(name, None)
            member_path = join_path(path, name)
            if not is_described:
                verb = "no longer excluded" if was_excluded else "excluded"
                reason = f"undescribed {self.use.noun} {verb}"
                self.add(member_path, before, after, reason)
            elif was_excluded:
                is_required = name in required
                self.add_new_member(member_path, after, is_required, before)
            else:
                reason = f"{self.use.noun} removed"
                self.add(member_path, before, after, reason, breaking=True)

    def charge_others(self, members: Schema, others: Schema) -> None:
        """Take the steps for reading the members that are not among the others."""
        for name in members.keys() - others.keys():
            self.reader.charge(members[name])

    def compare_required(
        self, path: str, was_required: bool, is_required: bool
    ) -> None:
        if was_required == is_required:
            return
        if self.use.is_input:
            reason = "became required" if is_required else "no longer required"
        else:
            reason = "always present" if is_required else "no longer always present"
        breaking = is_required == self.use.is_input
        self.add(path, was_required, is_required, reason, breaking)

    def add_new_member(
        self, path: str, schema: Any, is_required: bool, before: Any = None
    ) -> None:
        if self.use.is_input and is_required:
            reason = f"new required {self.use.noun}"
            self.add(path, before, schema, reason, breaking=True)
        else:
            self.add(path, before, schema, f"{self.use.noun} added")

    def compare_other_members(
        self, old: Schema, new: Schema, path: str, depth: int
    ) -> None:
        """Compare the schemas of members that are not listed."""
        keyword = "additionalProperties"
        before, after = old.get(keyword, ANYTHING), new.get(keyword, ANYTHING)
        if isinstance(before, dict) and isinstance(after, dict):
            self.compare(before, after, join_path(path, "*"), depth + 1)
            return
        self.reader.charge(before)
        self.reader.charge(after)
        if before != after:
            # Members that no schema mentions are not expected to be used.
            was_used = before is not ANYTHING and (
                self.use.is_input or before is not True
            )
            breaking = after is False and was_used
            reason = f"other {self.use.noun}s {'removed' if breaking else 'changed'}"
            self.add(path, old.get(keyword), new.get(keyword), reason, breaking)

    def compare_items(self, old: Schema, new: Schema, path: str, depth: int) -> None:
        if "items" in old or "items" in new:
            before, after = old.get("items", ANYTHING), new.get("items", ANYTHING)
            self.compare(before, after, f"{path}[]", depth + 1)

    def compare_keywords(
        self, old: Schema, new: Schema, path: str, has_other_types: bool
    ) -> None:
        """Add changes of the keywords that have no method of their own."""
        skipped = set(COMPARED_KEYWORDS)
        if has_other_types:
            skipped.update(ALTERNATIVE_KEYWORDS)
        for keyword in sorted(old.keys() | new.keys()):
            before, after = old.get(keyword), new.get(keyword)
            if keyword in skipped or before == after:
                continue
            is_tighter = self.use.is_input and is_tightened(keyword, before, after)
            reason = describe_keyword(keyword, before, after, is_tighter)
            self.add(path, before, after, reason, breaking=is_tighter)


def is_within(inner: frozenset[str] | None, outer: frozenset[str] | None) -> bool:
    """Return whether all types are among the others; None means any type."""
    return outer is None or (inner is not None and inner <= outer)


def format_types(types: frozenset[str] | None) -> str:
    if types is None:
        return "any"
    shown = types - {"integer"} if "number" in types else types
    return " or ".join(sorted(shown))


def list_values(values: dict[str, Any] | None) -> list[Any] | None:
    return None if values is None else list(values.values())


def find_new_names(before: dict[str, Any], after: dict[str, Any]) -> dict[str, str]:
    """Return the new names of members that were renamed.

    A member was renamed if exactly one removed and one added member have its schema.
    """
    removed = group_by_schema(before, before.keys() - after.keys())
    added = group_by_schema(after, after.keys() - before.keys())
    return {
        names[0]: added[schema][0]
        for schema, names in removed.items()
        if len(names) == 1 and len(added.get(schema, ())) == 1
    }


def group_by_schema(
    members: dict[str, Any], names: Iterable[str]
) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for name in names:
        schema = members[name]
        # Generated from the name of the member.
        if isinstance(schema, dict):
            schema = {key: schema[key] for key in schema if key != "title"}
        groups.setdefault(canonicalize(schema), []).append(name)
    return groups
