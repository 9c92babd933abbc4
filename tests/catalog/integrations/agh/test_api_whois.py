"""Whois requests: which peers respond, and with which documents."""

import json

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from catalog.models import CatalogEntry, Status

from .envelopes import (
    BRIEF_KEY,
    CATALOG_KEY,
    SIZE_LIMIT,
    assert_rejected,
    build_card,
    build_catalog_request_ext,
    build_document,
    build_greet,
    build_greet_from_card,
    build_transfer,
    build_whois,
    get_catalog,
    get_catalog_ids,
    get_entry,
    get_sender,
    post_envelope,
    send_envelopes,
    serialize,
)

pytestmark = pytest.mark.django_db

HALF_SIZE_LIMIT = SIZE_LIMIT // 2


def get_broadcast_senders(client, query="", **members) -> list[str]:
    """Return which peers respond to a broadcast, besides AgentLens."""
    senders = {
        get_sender(response)
        for response in send_envelopes(client, build_whois(query, **members))
    }
    return sorted(senders - {"agentlens"})


def test_direct_whois_ignores_the_query(documented_peer, viewer_api):
    request = build_whois("nothing like it", to="designer")
    (response,) = send_envelopes(viewer_api, request)

    assert (response["from"], response["to"]) == ("designer", "ops")
    assert (response["kind"], response["channel"]) == ("whois", "builders")
    assert response["reply_to"] == request["id"]
    assert response["body"] == {
        "type": "response",
        "peer_card": build_card("b", "a", "c"),
    }


@pytest.mark.parametrize("status", [Status.OFFLINE, Status.DEPRECATED])
def test_direct_whois_to_absent_peer_is_answered(documented_peer, viewer_api, status):
    CatalogEntry.objects.update(status=status)

    assert len(send_envelopes(viewer_api, build_whois(to="designer"))) == 1


def test_direct_whois_to_peer_of_other_channel_returns_404(documented_peer, viewer_api):
    request = build_whois(to="designer", channel="testers")

    assert_rejected(viewer_api, request, 404, "PEER_NOT_FOUND", "not_target")


def test_agentlens_responds_in_every_channel(viewer_api):
    request = build_whois(
        to="agentlens", channel="anywhere", ext=build_catalog_request_ext()
    )
    (response,) = send_envelopes(viewer_api, request)

    assert response["body"]["peer_card"]["peer_id"] == "agentlens"
    assert response["body"]["peer_card"]["capabilities"] == []
    assert BRIEF_KEY not in response["body"]["peer_card"].get("ext", {})
    assert get_catalog(response) == []


@pytest.mark.parametrize(
    "query",
    [
        "",
        "  ",
        "designer",
        "Designer",
        " build-site\n",
        "agh-network/v0",
        "capability",
        "unverified",
    ],
)
def test_broadcast_query_matches_peer_exactly(editor_api, query):
    send_envelopes(editor_api, build_greet("build-site"))

    assert get_broadcast_senders(editor_api, query) == ["designer"]


@pytest.mark.parametrize(
    "query", ["design", "DESIGNER", "build", "Build-Site", "Does build-site.", "*", "%"]
)
def test_broadcast_query_without_exact_match_returns_no_response(editor_api, query):
    send_envelopes(editor_api, build_greet("build-site"))

    assert send_envelopes(editor_api, build_whois(query)) == []


def test_broadcast_without_query_is_answered_by_agentlens(viewer_api):
    (response,) = send_envelopes(viewer_api, build_whois())

    assert get_sender(response) == "agentlens"


def test_broadcast_with_missing_query_matches_all_peers(editor_api):
    send_envelopes(editor_api, build_greet())

    assert get_broadcast_senders(editor_api, body={"type": "request"}) == ["designer"]


def test_broadcast_is_not_answered_by_its_sender(editor_api):
    send_envelopes(
        editor_api, build_greet(sender="ops"), build_greet(sender="designer")
    )

    assert get_broadcast_senders(editor_api) == ["designer"]


def test_broadcast_is_not_answered_by_other_channels(editor_api):
    send_envelopes(
        editor_api, build_greet(channel="builders2"), build_greet(sender="coder")
    )

    assert get_broadcast_senders(editor_api) == ["coder"]


@pytest.mark.parametrize("status", [Status.OFFLINE, Status.DEPRECATED])
def test_broadcast_is_not_answered_by_absent_peers(editor_api, status):
    send_envelopes(editor_api, build_greet(), build_greet(sender="coder"))
    CatalogEntry.objects.filter(pk=get_entry().pk).update(status=status)

    assert get_broadcast_senders(editor_api) == ["coder"]


def test_broadcast_is_answered_by_degraded_peer(editor_api):
    send_envelopes(editor_api, build_greet())
    CatalogEntry.objects.update(status=Status.DEGRADED)

    assert get_broadcast_senders(editor_api) == ["designer"]


def test_broadcast_query_count_is_independent_of_number_of_peers(editor_api):
    def count_broadcast_queries():
        with CaptureQueriesContext(connection) as captured:
            send_envelopes(editor_api, build_whois(ext=build_catalog_request_ext()))
        return len(captured)

    send_envelopes(editor_api, build_greet("a"), build_transfer(build_document("a")))
    expected = count_broadcast_queries()
    for n in range(5):
        sender = f"peer-{n}"
        send_envelopes(
            editor_api,
            build_greet("a", sender=sender),
            build_transfer(build_document("a"), sender=sender),
        )

    assert count_broadcast_queries() == expected


def test_documents_are_returned_only_on_request(documented_peer, viewer_api):
    (brief_response,) = send_envelopes(viewer_api, build_whois(to="designer"))
    (rich_response,) = send_envelopes(
        viewer_api, build_whois(to="designer", ext=build_catalog_request_ext())
    )

    assert CATALOG_KEY not in brief_response.get("ext", {})
    assert brief_response["body"] == rich_response["body"]


def test_catalog_contains_stored_documents_in_card_order(documented_peer, viewer_api):
    (response,) = send_envelopes(
        viewer_api, build_whois(to="designer", ext=build_catalog_request_ext())
    )

    assert get_catalog(response) == [build_document("a"), build_document("c")]
    assert set(response["ext"]) == {CATALOG_KEY}


def test_catalog_filter_keeps_order_and_full_card(documented_peer, viewer_api):
    ext = build_catalog_request_ext("c", " a ", "unknown")
    (response,) = send_envelopes(viewer_api, build_whois(to="designer", ext=ext))

    assert get_catalog_ids(response) == ["a", "c"]
    assert response["body"]["peer_card"]["capabilities"] == ["b", "a", "c"]


def test_broadcast_filters_the_catalog_of_each_peer(documented_peer, editor_api):
    send_envelopes(
        editor_api,
        build_greet("x", sender="coder"),
        build_transfer(build_document("x"), sender="coder"),
    )
    ids_by_sender = {
        get_sender(response): get_catalog_ids(response)
        for response in send_envelopes(
            editor_api, build_whois(ext=build_catalog_request_ext("c"))
        )
    }

    assert ids_by_sender == {"designer": ["c"], "coder": [], "agentlens": []}


@pytest.mark.parametrize(
    "ids",
    [["unknown"], ["b"], [], [" "], None, "a", [1], {}, ["a", 1]],
    ids=json.dumps,
)
def test_catalog_filter_without_match_returns_empty_catalog(
    documented_peer, viewer_api, ids
):
    ext = build_catalog_request_ext() | {"agh.capability_ids": ids}
    (response,) = send_envelopes(viewer_api, build_whois(to="designer", ext=ext))

    assert response["ext"] == {CATALOG_KEY: {"capabilities": []}}


def test_peers_without_documents_return_empty_catalogs(editor_api):
    send_envelopes(editor_api, build_greet("build-site"), build_greet(sender="plain"))

    for response in send_envelopes(
        editor_api, build_whois(ext=build_catalog_request_ext())
    ):
        assert get_catalog(response) == []


@pytest.mark.parametrize(
    "include",
    [[], ["other"], None, "capability_catalog", {}, ["capability_catalog", 1], 7],
    ids=json.dumps,
)
def test_include_without_capability_catalog_returns_no_catalog(
    documented_peer, viewer_api, include
):
    ext = {"agh.include": include, "agh.capability_ids": ["a"]}
    (response,) = send_envelopes(viewer_api, build_whois(to="designer", ext=ext))

    assert CATALOG_KEY not in response.get("ext", {})


def test_whois_ignores_unknown_include_values(documented_peer, viewer_api):
    ext = {"agh.include": ["pricing", " capability_catalog "]}
    (response,) = send_envelopes(viewer_api, build_whois(to="designer", ext=ext))

    assert get_catalog_ids(response) == ["a", "c"]


def test_response_repeats_workspace_id_of_request(documented_peer, viewer_api):
    (with_workspace,) = send_envelopes(
        viewer_api, build_whois(to="designer", workspace_id="ws_1")
    )
    (without_workspace,) = send_envelopes(viewer_api, build_whois(to="designer"))

    assert with_workspace["workspace_id"] == "ws_1"
    assert "workspace_id" not in without_workspace


def send_large_documents(client, *sizes, sender="designer"):
    """Greet as a peer and transfer documents of about these sizes in bytes."""
    documents = [
        build_document(f"big-{n}", notes="x" * size) for n, size in enumerate(sizes)
    ]
    send_envelopes(
        client, build_greet(*(document["id"] for document in documents), sender=sender)
    )
    send_envelopes(
        client, *(build_transfer(document, sender=sender) for document in documents)
    )


def test_direct_response_over_size_limit_returns_413(editor_api):
    send_large_documents(editor_api, HALF_SIZE_LIMIT, HALF_SIZE_LIMIT)

    request = build_whois(to="designer", ext=build_catalog_request_ext())
    body = assert_rejected(editor_api, request, 413, "BODY_TOO_LARGE", "internal")
    assert "the response has" in body["error"]
    assert "request fewer capabilities" in body["error"]
    (response,) = send_envelopes(
        editor_api, build_whois(to="designer", ext=build_catalog_request_ext("big-1"))
    )
    assert get_catalog_ids(response) == ["big-1"]


def test_broadcast_names_peers_whose_response_is_over_size_limit_t20(editor_api):
    send_large_documents(editor_api, HALF_SIZE_LIMIT, HALF_SIZE_LIMIT)
    send_large_documents(editor_api, 10, sender="coder")

    request = build_whois(ext=build_catalog_request_ext())
    body = post_envelope(editor_api, request).json()
    assert [response["from"] for response in body["envelopes"]] == [
        "coder",
        "agentlens",
    ]
    (omitted,) = body["omitted"]
    assert omitted["peer_id"] == "designer"
    assert "request fewer capabilities" in omitted["message"]
    assert get_broadcast_senders(editor_api) == ["coder", "designer"]


def test_response_of_exactly_the_size_limit_is_returned(editor_api):
    send_large_documents(editor_api, HALF_SIZE_LIMIT, 10)
    request = build_whois(to="designer", ext=build_catalog_request_ext())
    remaining = SIZE_LIMIT - len(serialize(send_envelopes(editor_api, request)[0]))
    document = build_document("big-1", notes="x" * (10 + remaining))
    send_envelopes(editor_api, build_transfer(document))

    (response,) = send_envelopes(
        editor_api, build_whois(to="designer", ext=build_catalog_request_ext())
    )
    assert len(serialize(response)) == SIZE_LIMIT
    send_envelopes(
        editor_api,
        build_transfer(build_document("big-1", notes="x" * (11 + remaining))),
    )
    assert (
        post_envelope(
            editor_api, build_whois(to="designer", ext=build_catalog_request_ext())
        ).status_code
        == 413
    )


def test_display_name_query_is_case_sensitive(editor_api):
    send_envelopes(
        editor_api, build_greet_from_card(build_card(display_name="Site builder, 2nd"))
    )

    assert get_broadcast_senders(editor_api, "Site builder, 2nd") == ["designer"]
    assert get_broadcast_senders(editor_api, "site builder, 2nd") == []
