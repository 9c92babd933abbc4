"""What peers say beyond what we know comes out again as it came in, after storing."""

import json

import pytest
from hypothesis import HealthCheck, given, settings

from capabilities.protocols.agh.cards import CARD_MEMBERS
from capabilities.protocols.agh.documents import WIRE_MEMBERS
from capabilities.protocols.agh.envelopes import ENVELOPE_MEMBERS
from catalog.integrations.agh.local_files import import_directory
from catalog.integrations.agh.models import SeenEnvelope
from catalog.models import CatalogEntry
from tests.capabilities.protocols.agh.test_round_trips import EXTS

from .agh import (
    BRIEF_KEY,
    PEERS,
    card,
    document,
    envelope,
    greet,
    greet_with,
    send,
    transfer,
    whois,
)

pytestmark = pytest.mark.django_db


def apart(known):
    """Members that no revision we know has; others would mean something."""
    return EXTS.map(lambda ext: {k: ext[k] for k in ext if k not in known})


def handed(client, capability_id: str = "a") -> dict:
    answer = client.get(f"{PEERS}/designer/capabilities/{capability_id}")
    assert answer.status_code == 200, answer.json()
    return answer.json()


def beyond(told: dict, known) -> str:
    """What is told beyond the known, in its order."""
    return json.dumps({key: told[key] for key in told if key not in known})


in_database = settings(
    max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@in_database
@given(
    ext=EXTS,
    members=apart(ENVELOPE_MEMBERS),
    beside=apart({"capability"}),
    inside=apart({*WIRE_MEMBERS}),
)
def test_a_transfer_is_handed_on_with_all_that_came_along(
    editor, ext, members, beside, inside
):
    CatalogEntry.objects.all().delete()
    body = {"capability": document("a", **inside), **beside}
    send(editor, envelope("capability", body, ext=ext, **members))
    first = handed(editor)
    SeenEnvelope.objects.all().delete()
    send(editor, first)
    again = handed(editor)

    for told in (first, again):
        assert json.dumps(told.get("ext", {})) == json.dumps(ext)
        assert beyond(told, ENVELOPE_MEMBERS) == beyond(members, ENVELOPE_MEMBERS)
        assert beyond(told["body"], {"capability"}) == json.dumps(beside)
        capability = told["body"]["capability"]
        assert beyond(capability, WIRE_MEMBERS) == json.dumps(inside)


@in_database
@given(ext=apart({BRIEF_KEY}), members=apart({*CARD_MEMBERS, "channel"}), brief=EXTS)
def test_a_card_is_told_with_all_that_came_along(editor, ext, members, brief):
    CatalogEntry.objects.all().delete()
    briefs = [brief | {"id": "a", "summary": "Does a."}]
    stated = card("a", ext={"z": 1, BRIEF_KEY: briefs, **ext}, **members)
    send(editor, greet_with(stated))
    told = editor.get(f"{PEERS}/designer").json()
    (answer,) = send(editor, whois(to="designer"))

    assert told == answer["body"]["peer_card"] == stated
    assert json.dumps(told["ext"]) == json.dumps(stated["ext"])


def test_a_workspace_goes_along_and_an_interaction_does_not(editor):
    """An envelope of ours opens no interaction, and newer peers refuse its name."""
    revisions = {"workspace_id": "ws1", "interaction_id": "int_1"}
    send(editor, greet("a"), transfer(document("a"), **revisions))

    told = handed(editor)
    assert told["workspace_id"] == "ws1"
    assert "interaction_id" not in told


def test_a_document_of_files_is_handed_over_in_the_channel_asked_for(editor, tmp_path):
    (tmp_path / "designer").mkdir()
    told = {key: value for key, value in document("a").items() if key != "digest"}
    file = tmp_path / "designer" / "capabilities.json"
    file.write_text(json.dumps({"capabilities": [told]}))
    import_directory(tmp_path / "designer")
    place = f"{PEERS}/designer/capabilities/a"

    assert editor.get(f"{place}?channel=builders").json()["channel"] == "builders"
    assert editor.get(place).json()["channel"] == "local"


def test_a_privilege_is_not_handed_over_for_another(editor):
    said = transfer(document("task.write"), proof={"sig": "x"})
    send(editor, greet(), said)

    assert editor.get(f"{PEERS}/designer/capabilities/task.write").status_code == 404
