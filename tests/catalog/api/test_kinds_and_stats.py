import pytest

from catalog.models import Source, Status
from catalog.registration.service import register
from tests.factories import CatalogEntryFactory, card_bytes, skill

pytestmark = pytest.mark.django_db


def test_kinds_are_all_that_are_registered(viewer):
    answer = viewer.get("/api/v1/kinds").json()

    assert answer["total"] == len(answer["items"]) >= 9
    assert answer["items"][0] == {
        "slug": "agent.feature",
        "label": "Feature",
        "protocol": "any",
        "discoverable": False,
    }
    by_slug = {kind["slug"]: kind["discoverable"] for kind in answer["items"]}
    assert (by_slug["a2a.skill"], by_slug["a2a.interface"]) == (True, False)


def test_kinds_come_in_pages_like_every_list(viewer):
    whole = viewer.get("/api/v1/kinds").json()
    page = viewer.get("/api/v1/kinds?limit=2&offset=1").json()

    assert page == {"total": whole["total"], "items": whole["items"][1:3]}


def test_stats_count_by_status_protocol_source_and_kind(viewer):
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
    stats = viewer.get("/api/v1/stats").json()

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


def test_stats_count_current_versions_only(viewer):
    register(card_bytes(version="1", skills=[skill("a"), skill("b")]))
    register(card_bytes(version="2", skills=[skill("a")]))

    stats = viewer.get("/api/v1/stats").json()
    assert (stats["total"], stats["kind"]["a2a.skill"]) == (1, 1)
