"""Read JSON Schemas of any shape for a comparison.

Schemas come from definitions: any member may have any type, and references may form
cycles. What cannot be read is ignored. Reading takes steps of a budget: references
can make schemas exponentially larger than their text.
"""

from collections.abc import Iterator
from typing import Any

from .changes import canonicalize
from .steps import BASE_STEPS, STEPS_PER_VALUE, StepBudget, Weights

Schema = dict[str, Any]

# The schema of a member without restrictions. Compared by identity, so there is one.
ANYTHING: Schema = {}
NOTHING: Schema = {"not": {}}
# References and single alternatives followed for one schema.
REFERENCE_LIMIT = 16
REFERENCE_LENGTH_LIMIT = 500
ALTERNATIVE_KEYWORDS = ("anyOf", "oneOf")
BRANCH_KEYWORDS = ("allOf", *ALTERNATIVE_KEYWORDS)
# Alternatives among which a single one is looked for: the other may be null.
SINGLE_ALTERNATIVES_LIMIT = 2
# Alternatives whose types are read; with more of them, any type may be allowed.
BRANCH_LIMIT = 100
# Steps for comparing two schemas, in addition to those for their keywords.
SCHEMA_STEPS = 5
# Keywords whose schemas are read, if at all, when they are compared.
NESTING_KEYWORDS = frozenset(
    {"properties", "items", "additionalProperties", "$defs", "definitions"}
)
JSON_TYPES = {
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    list: "array",
    dict: "object",
    type(None): "null",
}


class SchemaReader:
    """A reader of the schemas in the two documents that are compared.

    Its methods raise OutOfSteps when the budget is used up.
    """

    def __init__(self, before: Any, after: Any, shared: StepBudget) -> None:
        self.weights = Weights(before, after)
        steps = BASE_STEPS + STEPS_PER_VALUE * self.weights.total
        self.budget = StepBudget(steps, shared)

    def charge(self, value: Any) -> None:
        """Take the steps for reading a value of the documents."""
        self.budget.take(self.weights.weigh(value))

    def charge_members(self, schema: Schema) -> None:
        """Take the steps for reading a schema without the schemas of its members."""
        self.budget.take(SCHEMA_STEPS + len(schema))
        for keyword, value in schema.items():
            if keyword not in NESTING_KEYWORDS:
                self.charge(value)
            elif isinstance(value, dict):
                self.budget.take(len(value))

    def simplify(self, schema: Any, root: Any) -> Schema | None:
        """Return the schema with local references and single alternatives resolved.

        An alternative to null counts as single; its type then includes null. Return
        None if the value is not a schema.
        """
        if isinstance(schema, bool):
            return ANYTHING if schema else NOTHING
        if not isinstance(schema, dict):
            return None
        is_nullable = False
        for _ in range(REFERENCE_LIMIT):
            self.charge(schema.get("$ref"))
            keyword, target, allows_null = find_target(schema, root)
            if target is None:
                break
            is_nullable = is_nullable or allows_null
            self.budget.take(len(schema) + len(target))
            rest = {name: value for name, value in schema.items() if name != keyword}
            schema = {**target, **rest}
        self.charge_members(schema)
        return add_null(schema) if is_nullable else schema

    def read_types(self, schema: Schema, root: Any) -> frozenset[str] | None:
        """Return the types that a simplified schema allows, or None for any type."""
        types = read_own_types(schema)
        if types is not None:
            return types
        for keyword in ALTERNATIVE_KEYWORDS:
            branches = schema.get(keyword)
            if isinstance(branches, list) and 0 < len(branches) <= BRANCH_LIMIT:
                return union_types(self.simplify(branch, root) for branch in branches)
        return None


def find_target(schema: Schema, root: Any) -> tuple[str, Schema | None, bool]:
    """Return the keyword, the only schema that it refers to, and if null is allowed."""
    if "$ref" in schema:
        return "$ref", resolve_reference(schema["$ref"], root), False
    for keyword in BRANCH_KEYWORDS:
        branches = schema.get(keyword)
        if not isinstance(branches, list):
            continue
        if len(branches) > SINGLE_ALTERNATIVES_LIMIT:
            continue
        others = [branch for branch in branches if branch != {"type": "null"}]
        allows_null = len(others) < len(branches)
        if keyword == "allOf" and allows_null:
            continue
        if len(others) == 1 and isinstance(others[0], dict):
            return keyword, others[0], allows_null
    return "", None, False


def find_other_branches(old: Schema, new: Schema) -> list[str]:
    """Return the keywords of branches that differ and describe more than `required`.

    The schemas are simplified: single branches are part of them.
    """
    return [
        keyword
        for keyword in BRANCH_KEYWORDS
        if old.get(keyword) != new.get(keyword)
        and (describes_values(old.get(keyword)) or describes_values(new.get(keyword)))
    ]


def describes_values(branches: Any) -> bool:
    return isinstance(branches, list) and any(
        not isinstance(branch, dict) or branch.keys() != {"required"}
        for branch in branches
    )


def allows_nothing(schema: Any) -> bool:
    return schema is False or schema == NOTHING


def resolve_reference(reference: Any, root: Any) -> Schema | None:
    """Return the schema that a reference within the document points to, or None."""
    if not isinstance(reference, str) or len(reference) > REFERENCE_LENGTH_LIMIT:
        return None
    if reference != "#" and not reference.startswith("#/"):
        return None
    target = root
    for part in reference.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        target = target.get(name) if isinstance(target, dict) else None
    return target if isinstance(target, dict) else None


def add_null(schema: Schema) -> Schema:
    """Return a copy of the schema that also allows null."""
    copy = dict(schema)
    if isinstance(copy.get("type"), str):
        copy["type"] = [copy["type"], "null"]
    elif isinstance(copy.get("type"), list):
        copy["type"] = [*copy["type"], "null"]
    if isinstance(copy.get("enum"), list):
        copy["enum"] = [*copy["enum"], None]
    return copy


def union_types(branches: Iterator[Schema | None]) -> frozenset[str] | None:
    types: frozenset[str] = frozenset()
    for branch in branches:
        branch_types = read_own_types(branch) if branch else None
        if branch_types is None:
            return None
        types |= branch_types
    return types


def read_own_types(schema: Schema) -> frozenset[str] | None:
    """Return the types of `type`, else those of the listed values, else None."""
    declared = schema.get("type")
    names = declared if isinstance(declared, list) else [declared]
    types = frozenset(name for name in names if isinstance(name, str))
    if not types and (values := read_values(schema)):
        types = frozenset(
            JSON_TYPES.get(type(value), "null") for value in values.values()
        )
    if "number" in types:
        types |= {"integer"}
    return types or None


def read_values(schema: Schema) -> dict[str, Any] | None:
    """Return the listed values by their JSON text, or None if all are allowed."""
    if "const" in schema:
        return {canonicalize(schema["const"]): schema["const"]}
    values = schema.get("enum")
    if not isinstance(values, list):
        return None
    return {canonicalize(value): value for value in values}


def read_required(schema: Schema) -> frozenset[str]:
    names = schema.get("required")
    if not isinstance(names, list):
        return frozenset()
    return frozenset(name for name in names if isinstance(name, str))


def read_members(schema: Schema) -> dict[str, Any]:
    """Return the schemas of all members that are described or required."""
    properties = schema.get("properties")
    members = dict(properties) if isinstance(properties, dict) else {}
    for name in sorted(read_required(schema)):
        members.setdefault(name, ANYTHING)
    return members
