import pytest

from catalog.models import Source, Status
from catalog.registration.service import register
from tests.factories import CatalogEntryFactory, card_bytes, skill

pytestmark = pytest.mark.django_db

KINDS_URL = "/api/v1/kinds"
STATS_URL = "/api/v1/stats"


def test_kinds_lists_all_registered_kinds(viewer_api):
    body = viewer_api.get(KINDS_URL).json()

    assert body["total"] == len(body["items"]) >= 9
    assert body["items"][0] == {
        "slug": "agent.feature",
        "label": "Feature",
        "protocol": "any",
        "discoverable": False,
    }
    discoverable = {kind["slug"]: kind["discoverable"] for kind in body["items"]}
    assert discoverable["a2a.skill"] is True
    assert discoverable["a2a.interface"] is False


def test_kinds_are_paginated(viewer_api):
    all_kinds = viewer_api.get(KINDS_URL).json()
    page = viewer_api.get(f"{KINDS_URL}?limit=2&offset=1").json()

    assert page == {"total": all_kinds["total"], "items": all_kinds["items"][1:3]}


def test_stats_count_by_status_protocol_source_and_kind(viewer_api):
    CatalogEntryFactory(offers=["a2a.skill", "agent.feature"])
    CatalogEntryFactory(
        agent_type__protocol="mcp",
        status=Status.OFFLINE,
        source=Source.IMPORT,
        offers=["mcp.tool"],
    )
    CatalogEntryFactory(
        status=Status.DEPRECATED, source=Source.DEMO, offers=["a2a.skill"]
    )
    stats = viewer_api.get(STATS_URL).json()

    assert stats == {
        "total": 3,
        "status": {
            "unknown": 0,
            "active": 1,
            "degraded": 0,
            "offline": 1,
            "deprecated": 1,
        },
        "protocol": {"a2a": 2, "mcp": 1},
        "source": {"push": 1, "import": 1, "config": 0, "upstream": 0, "demo": 1},
        "kind": {"a2a.skill": 2, "agent.feature": 1, "mcp.tool": 1},
    }


def test_stats_count_only_current_versions(viewer_api):
    register(card_bytes(version="1", skills=[skill("a"), skill("b")]))
    register(card_bytes(version="2", skills=[skill("a")]))

    stats = viewer_api.get(STATS_URL).json()
    assert (stats["total"], stats["kind"]["a2a.skill"]) == (1, 1)
