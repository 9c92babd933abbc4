"""Limit the work of comparing schemas, whatever their references repeat."""

from typing import Any

# Steps for all schemas of a definition: about a second.
DEFINITION_STEPS = 600_000
# Steps for one pair of schemas: a fixed number, and some for each of their values.
BASE_STEPS = 200
STEPS_PER_VALUE = 8
CHARACTERS_PER_STEP = 64
# Smaller values are weighed again rather than remembered.
REMEMBERED_WEIGHT = 16


class OutOfSteps(Exception):
    """A comparison has used up its steps."""


class StepBudget:
    """The steps left for a comparison, or for all comparisons of a definition.

    Steps are taken before the work that they stand for.
    """

    def __init__(
        self, steps: int = DEFINITION_STEPS, shared: "StepBudget | None" = None
    ) -> None:
        self.left = steps
        self.shared = shared

    def take(self, steps: int) -> None:
        """Use up steps, also those of the shared budget, or raise OutOfSteps."""
        self.left -= steps
        if self.shared is not None:
            self.shared.take(steps)
        if self.left < 0:
            raise OutOfSteps


class Weights:
    """How many steps it takes to read JSON values: one for each value and text.

    Values are weighed once however often they are referred to. They must outlive this
    object: the large ones are remembered by identity.
    """

    def __init__(self, *roots: Any) -> None:
        self.remembered: dict[int, int] = {}
        self.total = sum(self.weigh(root) for root in roots)

    def weigh(self, value: Any) -> int:
        if isinstance(value, str):
            return 1 + len(value) // CHARACTERS_PER_STEP
        if not isinstance(value, dict | list):
            return 1
        weight = self.remembered.get(id(value)) or self.weigh_items(value)
        if weight >= REMEMBERED_WEIGHT:
            self.remembered[id(value)] = weight
        return weight

    def weigh_items(self, value: dict[str, Any] | list[Any]) -> int:
        if isinstance(value, list):
            return 1 + sum(map(self.weigh, value))
        keys = sum(map(len, value)) // CHARACTERS_PER_STEP
        return 1 + len(value) + keys + sum(map(self.weigh, value.values()))
