"""Reading peer cards and transfers over the API."""

import json

import pytest

from catalog.models import CatalogEntry, DefinitionChange, Source, Status
from tests.api_errors import assert_error_response

from .envelopes import (
    BRIEF_KEY,
    CATALOG_KEY,
    PEERS_URL,
    SIZE_LIMIT,
    build_card,
    build_catalog_request_ext,
    build_document,
    build_envelope,
    build_greet,
    build_greet_from_card,
    build_transfer,
    build_transfer_url,
    build_whois,
    build_whois_response,
    fetch_transfer,
    get_capabilities,
    get_catalog,
    get_documented_names,
    get_entry,
    send_envelopes,
    serialize,
)

pytestmark = pytest.mark.django_db

UNUSUAL_IDS = [
    "code/patch",
    "a//b",
    "Build the site",
    "100%",
    "100%25",
    "%2F",
    "a?b#c",
    "a+b&c=d",
    "日本語 🦜",
    "שלום",
    "code.patch",
    ".",
    "..",
    "a/../b",
    "two\nlines",
    "<b>'\"",
]


def test_greet_creates_active_entry(editor_api):
    assert send_envelopes(editor_api, build_greet("build-site")) == []

    entry = CatalogEntry.objects.get()
    assert entry.agent_type.protocol == "agh"
    assert entry.agent_type.endpoint == "agh://builders/designer"
    assert entry.agent_type.spec_version == "agh-network/v0"
    assert (entry.source, entry.status) == (Source.PUSH, Status.ACTIVE)
    assert entry.display_name == "Designer"


def test_capability_of_greeting_peer_is_searchable(editor_api, viewer_api):
    send_envelopes(editor_api, build_greet("build-site", "review-copy"))

    (item,) = viewer_api.get("/api/v1/capabilities?q=review-copy").json()["items"]
    assert (item["name"], item["kind"]) == ("review-copy", "agh.capability")
    assert (item["agent_name"], item["status"]) == ("Designer", "active")


def test_peer_without_display_name_is_named_by_its_id(editor_api):
    send_envelopes(editor_api, build_greet_from_card(build_card(display_name=" ")))

    assert get_entry().display_name == "designer"


def test_second_greet_updates_last_seen_only(editor_api):
    send_envelopes(editor_api, build_greet("build-site"))
    before = get_entry()
    send_envelopes(editor_api, build_greet("build-site"))

    after = get_entry()
    assert (after.pk, after.agent_type_id) == (before.pk, before.agent_type_id)
    assert after.validity_last_seen > before.validity_last_seen
    assert not DefinitionChange.objects.exists()


def test_new_card_replaces_the_previous_card(editor_api):
    new_card = build_card("review-copy", display_name="Editor", profiles_supported=[])
    send_envelopes(
        editor_api, build_greet("build-site"), build_greet_from_card(new_card)
    )

    assert editor_api.get(f"{PEERS_URL}/designer").json() == new_card
    assert get_entry().display_name == "Editor"
    change = DefinitionChange.objects.get()
    assert [item["name"] for item in change.removed] == ["build-site"]


def test_greet_keeps_deprecated_status(editor_api):
    send_envelopes(editor_api, build_greet())
    CatalogEntry.objects.update(status=Status.DEPRECATED)
    send_envelopes(editor_api, build_greet())

    assert get_entry().status == Status.DEPRECATED


def test_empty_lists_of_card_are_returned_as_empty_lists(editor_api):
    list_members = (
        "profiles_supported",
        "artifacts_supported",
        "trust_modes_supported",
    )
    card = build_card(display_name=None, **{key: [] for key in list_members})
    send_envelopes(editor_api, build_greet_from_card(card))
    (response,) = send_envelopes(editor_api, build_whois(to="designer"))

    expected = {
        "peer_id": "designer",
        "profiles_supported": [],
        "capabilities": [],
        "artifacts_supported": [],
        "trust_modes_supported": [],
    }
    assert response["body"]["peer_card"] == expected
    assert editor_api.get(f"{PEERS_URL}/designer").json() == expected


def test_card_keeps_unknown_members_but_no_catalog(editor_api):
    ext = {
        "acme.rates": [1, 2.5, None],
        CATALOG_KEY: {"capabilities": [build_document()]},
    }
    card = build_card("a", ext=build_card("a")["ext"] | ext, future={"x": [1]})
    send_envelopes(editor_api, build_greet_from_card(card))

    returned = editor_api.get(f"{PEERS_URL}/designer").json()
    del card["ext"][CATALOG_KEY]
    assert returned == card


def test_malformed_briefs_do_not_change_capabilities(editor_api):
    briefs = [{"id": "other", "summary": "?"}, 7, {"id": "a"}]
    send_envelopes(
        editor_api, build_greet_from_card(build_card("a", "b", ext={BRIEF_KEY: briefs}))
    )

    assert set(get_capabilities()) == {"a", "b"}


def test_card_of_agentlens_has_no_capabilities(viewer_api):
    card = viewer_api.get(f"{PEERS_URL}/agentlens").json()

    assert card == {
        "peer_id": "agentlens",
        "display_name": "AgentLens",
        "profiles_supported": ["agh-network/v0"],
        "capabilities": [],
        "artifacts_supported": ["capability"],
        "trust_modes_supported": ["unverified"],
    }
    response = viewer_api.get(build_transfer_url("x", "agentlens"))
    assert_error_response(response, 404, "CAPABILITY_NOT_FOUND")


def test_card_is_of_requested_channel_or_of_latest_greet(editor_api):
    send_envelopes(
        editor_api,
        build_greet_from_card(build_card(display_name="Old"), channel="older"),
    )
    send_envelopes(
        editor_api,
        build_greet_from_card(build_card(display_name="New"), channel="newer"),
    )

    def get_display_name(query=""):
        return editor_api.get(f"{PEERS_URL}/designer{query}").json()["display_name"]

    assert get_display_name() == "New"
    assert get_display_name("?channel=older") == "Old"
    assert get_display_name("?channel=newer") == "New"
    send_envelopes(
        editor_api,
        build_greet_from_card(build_card(display_name="Old"), channel="older"),
    )
    assert get_display_name() == "Old"


def test_transfer_is_of_requested_channel_or_of_latest_greet(editor_api):
    for channel, version in (("older", "1"), ("newer", "2")):
        send_envelopes(editor_api, build_greet("a", channel=channel))
        send_envelopes(
            editor_api,
            build_transfer(build_document("a", version=version), channel=channel),
        )

    transfer = fetch_transfer(editor_api, "a", channel="older")
    assert transfer["body"]["capability"]["version"] == "1"
    assert transfer["channel"] == "older"
    assert fetch_transfer(editor_api, "a")["channel"] == "newer"


@pytest.mark.parametrize(
    "path",
    [
        "unknown",
        "designer?channel=elsewhere",
        "DESIGNER",
        "esigner",
        "design%25",
        "d" * 300,
        "%F0%9F%A6%9C",
    ],
)
def test_unknown_peer_returns_404(editor_api, path):
    send_envelopes(editor_api, build_greet())

    assert_error_response(editor_api.get(f"{PEERS_URL}/{path}"), 404, "PEER_NOT_FOUND")


@pytest.mark.parametrize("channel", ["%00", "BAD", "a/b", "x" * 65])
def test_invalid_channel_parameter_returns_400(editor_api, channel):
    response = editor_api.get(f"{PEERS_URL}/designer?channel={channel}")

    assert_error_response(response, 400, "INVALID_PARAMETER")


def test_agent_of_other_protocol_is_not_a_peer(editor_api):
    definition = {"name": "designer", "capabilities": ["x"]}
    editor_api.post("/api/v1/catalog/register", definition, format="json")

    assert_error_response(
        editor_api.get(f"{PEERS_URL}/designer"), 404, "PEER_NOT_FOUND"
    )


def test_document_is_stored_unchanged(editor_api):
    document = build_document(
        " build-site ",
        context_needed=["  repo ", "", "brand brief"],
        requirements=["z", "a"],
        constraints=[],
        acme={"deep": [1, 2.5, None, {"x": "é"}]},
    )
    send_envelopes(editor_api, build_greet("build-site"), build_transfer(document))

    stored = get_capabilities()["build-site"]
    assert stored["document"] == document
    assert (stored["digest"], stored["verified"]) == (document["digest"], True)


def test_transfer_of_new_peer_creates_its_card(editor_api):
    send_envelopes(editor_api, build_transfer(build_document()))

    assert get_documented_names() == {"build-site"}
    card = editor_api.get(f"{PEERS_URL}/designer").json()
    assert card["capabilities"] == ["build-site"]
    assert fetch_transfer(editor_api, "build-site")["body"] == {
        "capability": build_document()
    }


def test_transfer_and_rich_response_contain_same_document(editor_api):
    document = build_document(version="1.0.0", examples=["One"], acme=1)
    send_envelopes(editor_api, build_greet("build-site"), build_transfer(document))
    (response,) = send_envelopes(
        editor_api, build_whois(to="designer", ext=build_catalog_request_ext())
    )

    transferred = fetch_transfer(editor_api, "build-site")["body"]["capability"]
    (listed,) = get_catalog(response)
    for key in ("id", "summary", "outcome", "digest"):
        assert transferred[key] == listed[key] == document[key]
    assert transferred == listed == document


def test_fetched_transfer_is_a_valid_envelope(editor_api):
    send_envelopes(
        editor_api,
        build_greet("a"),
        build_transfer(build_document("a"), ext={"acme.x": 1}, later=[1]),
    )
    transfer = fetch_transfer(editor_api, "a")

    assert (transfer["kind"], transfer["from"]) == ("capability", "designer")
    assert transfer["channel"] == "builders"
    assert (transfer["to"], transfer["proof"]) == (None, None)
    send_envelopes(editor_api, transfer | {"channel": "elsewhere"})
    assert get_documented_names(channel="elsewhere") == {"a"}


def test_transfer_keeps_unknown_envelope_members(editor_api):
    members = {"ext": {"acme.x": {"y": [1, None]}, "agh.later": "é"}, "hops": [1, {}]}
    document = build_document("a", acme={"n": 1.5}, digest_note="x")
    send_envelopes(editor_api, build_greet("a"), build_transfer(document, **members))
    transfer = fetch_transfer(editor_api, "a")

    assert {key: transfer[key] for key in members} == members
    assert transfer["body"] == {"capability": document}


def test_transfer_ext_survives_later_greets(editor_api):
    send_envelopes(
        editor_api,
        build_greet("a"),
        build_transfer(build_document("a"), ext={"acme.x": 1}),
    )
    send_envelopes(editor_api, build_greet("a"), build_greet("a", "b"), build_greet())

    assert fetch_transfer(editor_api, "a")["ext"] == {"acme.x": 1}


def test_transfer_over_size_limit_returns_413(editor_api):
    """The fetched envelope has a longer ID than the received one."""
    envelope = build_transfer(build_document("a"), id="m", padding="")
    send_envelopes(editor_api, build_greet("a"))
    envelope["padding"] = "x" * (SIZE_LIMIT - len(serialize(envelope)))
    send_envelopes(editor_api, serialize(envelope))
    response = editor_api.get(build_transfer_url("a"))

    body = assert_error_response(response, 413, "BODY_TOO_LARGE")
    assert body["details"]["reason_code"] == "internal"
    assert "the transfer has" in body["error"]


def test_transfer_keeps_member_order_and_numbers(editor_api):
    """PostgreSQL's jsonb reorders object members and normalizes numbers."""
    value = {"z": 1, "a": {"y": [1e308, -0.0, 1.5e-7, 10**18], "b": None}, "m": []}
    document = build_document("a", zeta=value, alpha=value)
    envelope = build_transfer(
        document, ext={"z.z": value, "a.a": value}, zzz=value, aaa=value
    )
    send_envelopes(editor_api, build_greet("a"), envelope)
    raw = editor_api.get(build_transfer_url("a")).content.decode()
    transfer = json.loads(raw)

    assert json.dumps(transfer["ext"]) == json.dumps(envelope["ext"])
    for key in ("zzz", "aaa"):
        assert json.dumps(transfer[key]) == json.dumps(value)
    assert [key for key in transfer if key in ("zzz", "aaa")] == ["zzz", "aaa"]
    transferred = transfer["body"]["capability"]
    assert json.dumps([transferred["zeta"], transferred["alpha"]]) == json.dumps(
        [value, value]
    )
    assert [key for key in transferred if key in ("zeta", "alpha")] == ["zeta", "alpha"]


def test_second_transfer_replaces_document(editor_api):
    send_envelopes(
        editor_api, build_greet("a"), build_transfer(build_document("a", version="1"))
    )
    send_envelopes(editor_api, build_transfer(build_document("a", version="2")))

    assert fetch_transfer(editor_api, "a")["body"]["capability"]["version"] == "2"
    assert set(get_capabilities()) == {"a"}


def test_repeated_transfer_records_no_change(editor_api):
    send_envelopes(editor_api, build_greet("a"), build_transfer(build_document("a")))
    change_count = DefinitionChange.objects.count()
    send_envelopes(editor_api, build_transfer(build_document("a")))

    assert DefinitionChange.objects.count() == change_count


@pytest.mark.parametrize("capability_id", ["review-copy", "nothing", "x" * 600])
def test_transfer_of_capability_without_document_returns_404(editor_api, capability_id):
    send_envelopes(
        editor_api,
        build_greet("build-site", "review-copy"),
        build_transfer(build_document()),
    )

    response = editor_api.get(build_transfer_url(capability_id))
    assert_error_response(response, 404, "CAPABILITY_NOT_FOUND")


def test_transfer_of_unknown_peer_returns_404(editor_api):
    assert_error_response(
        editor_api.get(build_transfer_url("a", "unknown")), 404, "PEER_NOT_FOUND"
    )


@pytest.mark.parametrize("capability_id", UNUSUAL_IDS, ids=ascii)
def test_transfer_accepts_unusual_capability_id(editor_api, capability_id):
    document = build_document(capability_id)
    send_envelopes(editor_api, build_greet(capability_id), build_transfer(document))
    (response,) = send_envelopes(
        editor_api,
        build_whois(capability_id, ext=build_catalog_request_ext(capability_id)),
    )

    assert get_catalog(response) == [document]
    assert fetch_transfer(editor_api, capability_id)["body"]["capability"] == document


def test_registering_card_keeps_documents(editor_api):
    send_envelopes(editor_api, build_greet("a"), build_transfer(build_document("a")))
    card = build_card("a", "b", channel="builders")
    response = editor_api.post("/api/v1/catalog/register", card, format="json")

    assert response.json()["outcome"] == "updated"
    assert get_documented_names() == {"a"}
    assert set(get_capabilities()) == {"a", "b"}


def test_unhandled_envelope_creates_no_peer(editor_api):
    send_envelopes(editor_api, build_envelope("say", {"text": "hello"}))

    assert_error_response(
        editor_api.get(f"{PEERS_URL}/designer"), 404, "PEER_NOT_FOUND"
    )


def test_whois_response_without_catalog_updates_card(editor_api):
    response = build_whois_response(build_card("b"))
    del response["ext"]
    send_envelopes(editor_api, build_greet("a"), response)

    assert set(get_capabilities()) == {"b"}
