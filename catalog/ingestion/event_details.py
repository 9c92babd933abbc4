"""Select the changes of fields that fit into an event."""

import json
from typing import Any

from capabilities.kinds import to_camel_case

# Changes in an event, and bytes of their JSON.
EVENT_CHANGE_LIMIT = 20
EVENT_BYTES_LIMIT = 8192


def select_event_details(
    fields: list[dict[str, Any]], changed: list[dict[str, Any]]
) -> tuple[list[dict[str, Any]], int]:
    """Return the changes that fit, breaking ones first, and the number of the others.

    `fields` are the changes of the agent itself, and `changed` its capabilities.
    """
    changes = fields + [
        describe_capability_change(capability, change)
        for capability in changed
        for change in capability["changes"]
    ]
    changes.sort(key=lambda change: not change["breaking"])
    details: list[dict[str, Any]] = []
    size = 0
    for change in changes:
        if len(details) == EVENT_CHANGE_LIMIT:
            break
        change_size = len(json.dumps(change))
        if size + change_size <= EVENT_BYTES_LIMIT:
            details.append(change)
            size += change_size
    left_out = sum(capability["omitted"] for capability in changed)
    return details, len(changes) - len(details) + left_out


def describe_capability_change(
    capability: dict[str, Any], change: dict[str, Any]
) -> dict[str, Any]:
    """Return the change with the key of its capability and the field's API name."""
    key = {"kind": capability["kind"], "name": capability["name"]}
    return key | change | {"field": to_camel_case(change["field"])}
