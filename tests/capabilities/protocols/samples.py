"""Sample documents and the capabilities that their records contain."""

import json
from pathlib import Path
from typing import Any

from capabilities.records import AgentRecord, CapabilityRecord

DATA = Path(__file__).parents[2] / "data"


def load_json_sample(protocol: str, name: str) -> Any:
    """Return the document of a sample in the folder of the protocol."""
    return json.loads((DATA / protocol / f"{name}.json").read_text())


def select_capabilities(record: AgentRecord, kind: str) -> list[CapabilityRecord]:
    """Return the capabilities of this kind."""
    return [capability for capability in record.capabilities if capability.kind == kind]


def get_feature_values(record: AgentRecord) -> dict[str, Any]:
    """Return the values of the features, by name."""
    features = select_capabilities(record, "agent.feature")
    return {feature.name: feature.value for feature in features}
