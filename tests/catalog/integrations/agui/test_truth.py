"""Nothing is ever told as false that a definition does not say is false."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from capabilities.features import FLAG_LABELS
from capabilities.spellings import standard_name
from catalog.models import CatalogEntry
from catalog.registration.service import register
from tests.factories import card_bytes

pytestmark = pytest.mark.django_db

ANSWERS = st.sampled_from([True, False, None, 0, "", "false", [], {}])
DECLARED = st.dictionaries(st.sampled_from(sorted(FLAG_LABELS)), ANSWERS, max_size=12)
A2A_FLAGS = ("streaming", "pushNotifications", "extendedAgentCard")
in_database = settings(
    max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def nested(features: dict) -> dict:
    """The declaration that says just this."""
    document: dict = {"identity": {"name": "Painter"}}
    for name, value in features.items():
        *groups, last = name.split(".")
        inside = document
        for group in groups:
            inside = inside.setdefault(group, {})
        inside[last] = value
    return document


def denied(told, at: str = "") -> set[str]:
    """By name, in 1.0's spelling, whatever is false in a snapshot."""
    if told is False:
        return {standard_name(at.removeprefix("."))}
    inside = told.items() if isinstance(told, dict) else ()
    return {name for key, value in inside for name in denied(value, f"{at}.{key}")}


def compared(client, *entries) -> list[set[str]]:
    ids = "&".join(f"id={entry.pk}" for entry in entries)
    rows = client.get(f"/api/v1/catalog/compare?{ids}").json()["features"]
    return [
        {row["name"] for row in rows if row["values"][n] is False}
        for n in range(len(entries))
    ]


@in_database
@given(features=DECLARED, flags=st.dictionaries(st.sampled_from(A2A_FLAGS), ANSWERS))
def test_no_answer_says_no_for_an_agent_that_did_not(viewer, features, flags):
    CatalogEntry.objects.all().delete()
    painter = register(json.dumps(nested(features)).encode(), "agui").entry
    other = register(card_bytes(capabilities={k: v is True for k, v in flags.items()}))
    said = {name for name, value in features.items() if value is False}
    snapshot = viewer.get(f"/api/v1/catalog/{painter.pk}/capabilities").json()
    theirs = viewer.get(f"/api/v1/catalog/{other.entry.pk}/capabilities").json()
    page, card = compared(viewer, painter, other.entry)

    assert denied(snapshot) == page == said
    stated = {key for key, value in flags.items() if value is not True}
    assert {name.rpartition(".")[2] for name in card} == stated
    assert {name.rpartition(".")[2] for name in denied(theirs)} <= stated
