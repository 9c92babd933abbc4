"""Only features that a definition declares as false are shown as unsupported."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from capabilities.features import FLAG_LABELS
from capabilities.spellings import normalize_feature_name
from catalog.models import CatalogEntry
from catalog.registration.service import register
from tests.factories import card_bytes

pytestmark = pytest.mark.django_db

FLAG_VALUES = st.sampled_from([True, False, None, 0, "", "false", [], {}])
FEATURES = st.dictionaries(
    st.sampled_from(sorted(FLAG_LABELS)), FLAG_VALUES, max_size=12
)
A2A_FLAGS = ("streaming", "pushNotifications", "extendedAgentCard")
database_settings = settings(
    max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def nest_features(features: dict) -> dict:
    """Return a declaration with these features and nothing else but a name."""
    document: dict = {"identity": {"name": "Painter"}}
    for name, value in features.items():
        *groups, last = name.split(".")
        members = document
        for group in groups:
            members = members.setdefault(group, {})
        members[last] = value
    return document


def get_unsupported_names(value, path: str = "") -> set[str]:
    """Return the AG-UI 1.0 names of all features that are false in a document."""
    if value is False:
        return {normalize_feature_name(path.removeprefix("."))}
    members = value.items() if isinstance(value, dict) else ()
    return {
        name
        for key, member in members
        for name in get_unsupported_names(member, f"{path}.{key}")
    }


def compare_unsupported_names(client, *entries) -> list[set[str]]:
    """Return the features that are false in the comparison, for each entry."""
    ids = "&".join(f"id={entry.pk}" for entry in entries)
    rows = client.get(f"/api/v1/catalog/compare?{ids}").json()["features"]
    return [
        {row["name"] for row in rows if row["values"][index] is False}
        for index in range(len(entries))
    ]


@database_settings
@given(
    features=FEATURES, flags=st.dictionaries(st.sampled_from(A2A_FLAGS), FLAG_VALUES)
)
def test_only_features_declared_as_false_are_unsupported(viewer_api, features, flags):
    CatalogEntry.objects.all().delete()
    declaration = json.dumps(nest_features(features)).encode()
    agui_entry = register(declaration, "agui").entry
    card_flags = {name: value is True for name, value in flags.items()}
    a2a_entry = register(card_bytes(capabilities=card_flags)).entry
    agui_names, a2a_names = compare_unsupported_names(viewer_api, agui_entry, a2a_entry)

    def fetch_unsupported_names(entry):
        response = viewer_api.get(f"/api/v1/catalog/{entry.pk}/capabilities")
        return get_unsupported_names(response.json())

    declared_false = {name for name, value in features.items() if value is False}
    assert fetch_unsupported_names(agui_entry) == agui_names == declared_false
    false_flags = {name for name, value in card_flags.items() if not value}
    assert {name.rpartition(".")[2] for name in a2a_names} == false_flags
    a2a_snapshot_names = fetch_unsupported_names(a2a_entry)
    assert {name.rpartition(".")[2] for name in a2a_snapshot_names} <= false_flags
