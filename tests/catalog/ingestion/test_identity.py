"""Agents that share a URL, and entries stored under keys of earlier versions."""

import json
from datetime import timedelta

import pytest
from django.utils import timezone

from catalog.health import History
from catalog.ingestion import Definition, EntryChanged, ingest
from catalog.ingestion.identity import find_entry
from catalog.models import AgentType, CatalogEntry, Status, compute_agent_key
from catalog.registration import NotRefreshable
from catalog.registration.export import export_lines, import_line
from catalog.registration.service import import_url, refresh_entry, register
from catalog.search import SearchQuery, filter_matching, search_capabilities
from tests.factories import CatalogEntryFactory, card, skill
from tests.mcp_servers import answer_legacy_request
from tests.servers import reply

pytestmark = pytest.mark.django_db(transaction=True)

URL = "https://gateway.example.com/a2a"
LOOPBACK_URL = "http://localhost:3001/sse"


def tenant_card(tenant, url=URL, **members):
    interface = {"url": url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
    return card(supportedInterfaces=[interface | {"tenant": tenant}], **members)


def loopback_server(name, **members):
    remotes = [{"type": "sse", "url": LOOPBACK_URL}]
    base = {"name": name, "description": "d", "version": "1.0.0", "remotes": remotes}
    return base | members


def register_document(document, **options):
    return register(json.dumps(document).encode(), **options)


def store_under_former_key(entry, endpoint):
    """Make the entry one that an earlier version of AgentLens stored."""
    key = compute_agent_key(entry.agent_type.protocol, endpoint)
    AgentType.objects.filter(agent_key=entry.agent_key).update(
        agent_key=key, endpoint=endpoint
    )
    CatalogEntry.objects.filter(pk=entry.pk).update(agent_key=key)
    return CatalogEntry.objects.get(pk=entry.pk)


def get_endpoints():
    types = AgentType.objects.order_by("endpoint").values_list("endpoint", flat=True)
    return list(types)


def test_two_tenants_of_one_url_are_two_entries_t5():
    north, south = (
        register_document(tenant_card(tenant)) for tenant in ("north", "south")
    )
    again = register_document(tenant_card("north"))

    assert (north.outcome, south.outcome) == ("created", "created")
    assert (again.outcome, again.entry.pk) == ("unchanged", north.entry.pk)
    assert get_endpoints() == [f"{URL}#tenant=north", f"{URL}#tenant=south"]


def test_loopback_pairs_of_registry_seed_are_four_entries_t5():
    names = ["io.example/one", "io.example/two", "com.example/one", "com.example/two"]
    remotes = [
        [{"type": "sse", "url": f"http://localhost:{port}/sse"}]
        for port in (3001, 3001, 8080, 8080)
    ]
    for name, urls in zip(names, remotes, strict=True):
        register_document(loopback_server(name, remotes=urls))

    assert CatalogEntry.objects.count() == 4
    assert get_endpoints() == sorted(f"mcp:{name}" for name in names)
    assert set(CatalogEntry.objects.values_list("status", flat=True)) == {"active"}


def test_loopback_server_imported_live_keeps_its_url_t5(server, allow_loopback):
    server.routes["/mcp"] = answer_legacy_request
    entry = import_url(server.url("/mcp"), "mcp").entry
    refreshed = refresh_entry(entry)

    assert entry.agent_type.endpoint == server.url("/mcp")
    assert refreshed.entry.pk == entry.pk
    assert get_endpoints() == [server.url("/mcp")]


def test_trailing_slash_of_agui_agent_does_not_matter_t17():
    declaration = {"transport": {"streaming": True}}
    first = register_document(declaration, endpoint="https://a.example/chat/")
    same = register_document(declaration, endpoint="https://a.example/chat/")
    second = register_document(declaration, endpoint="https://a.example/chat")

    assert (same.outcome, second.outcome) == ("unchanged", "updated")
    assert first.entry.agent_type.endpoint == "https://a.example/chat/"
    assert second.entry.pk == first.entry.pk
    assert get_endpoints() == ["https://a.example/chat"]


def test_entry_stored_without_tenant_keeps_its_id_t5():
    register_document(tenant_card("north", version="0.9"))
    entry = register_document(tenant_card("north")).entry
    former = store_under_former_key(entry, URL)
    result = register_document(tenant_card("north"))

    assert (result.outcome, result.entry.pk) == ("unchanged", former.pk)
    stored = CatalogEntry.objects.get()
    assert stored.agent_key == compute_agent_key("a2a", f"{URL}#tenant=north")
    assert get_endpoints() == [f"{URL}#tenant=north"] * 2
    assert set(AgentType.objects.values_list("agent_key", flat=True)) == {
        stored.agent_key
    }


def test_other_tenant_does_not_take_the_former_entry_t5():
    former = store_under_former_key(register_document(tenant_card("north")).entry, URL)
    south = register_document(tenant_card("south"))
    north = register_document(tenant_card("north"))

    assert (south.outcome, north.outcome) == ("created", "unchanged")
    assert north.entry.pk == former.pk
    assert get_endpoints() == [f"{URL}#tenant=north", f"{URL}#tenant=south"]


def test_former_loopback_entry_keeps_its_id_and_is_not_probed_any_more_t5():
    entry = register_document(loopback_server("io.example/one")).entry
    former = store_under_former_key(entry, LOOPBACK_URL)
    CatalogEntry.objects.update(status=Status.OFFLINE, consecutive_failures=3)
    other = register_document(loopback_server("io.example/two"))
    result = register_document(loopback_server("io.example/one"))

    assert (other.outcome, result.entry.pk) == ("created", former.pk)
    stored = CatalogEntry.objects.get(pk=former.pk)
    assert stored.agent_type.endpoint == "mcp:io.example/one"
    assert (stored.status, stored.next_probe_at) == (Status.ACTIVE, None)


def test_former_agui_entry_with_trailing_slash_keeps_its_id_t17():
    declaration = {"transport": {"streaming": True}}
    url = "https://a.example/chat/"
    entry = register_document(declaration, endpoint=url).entry
    key = compute_agent_key("agui", url)
    AgentType.objects.update(agent_key=key)
    CatalogEntry.objects.update(agent_key=key)
    result = register_document(declaration, endpoint="https://a.example/chat")

    assert result.entry.pk == entry.pk
    assert CatalogEntry.objects.count() == 1


def test_refresh_of_second_entry_of_one_agui_agent_names_the_other_t17():
    url = "https://a.example/chat"
    entry = register_document({"transport": {}}, endpoint=url).entry
    twin = CatalogEntryFactory(agent_type__protocol="agui")
    record = entry.parse_definition().record
    refresh = Definition(record, b"{}").as_refresh_of(twin)
    with pytest.raises(EntryChanged, match="as another entry"):
        ingest(refresh)

    twin.delete()
    with pytest.raises(EntryChanged, match="was removed"):
        ingest(refresh)


def test_moved_offline_entry_keeps_its_time_down():
    entry = register_document(loopback_server("io.example/one")).entry
    store_under_former_key(entry, LOOPBACK_URL)
    now = timezone.now()
    CatalogEntry.objects.update(
        status=Status.OFFLINE,
        last_error="Refused",
        last_probed_at=now - timedelta(minutes=5),
        outcome_counts_until=now + timedelta(minutes=5),
        probe_method="ping",
    )
    register_document(loopback_server("io.example/one"))

    stored = CatalogEntry.objects.get()
    assert (stored.outcome_counts_until, stored.probe_method) == (None, "")
    assert History.for_entry(stored).uptime["24h"] == 0


def test_moved_entry_is_found_by_its_new_endpoint():
    entry = register_document(loopback_server("io.example/one")).entry
    store_under_former_key(entry, LOOPBACK_URL)
    register_document(loopback_server("io.example/one"))

    entries = CatalogEntry.objects.all()
    assert filter_matching(entries, "mcp:io.example/one").count() == 1
    assert not filter_matching(entries, "localhost").exists()


def test_refresh_moves_former_entry(card_server):
    document = tenant_card("north", card_server.url("/a2a"))
    card_server.routes["/card"] = reply(body=json.dumps(document).encode())
    entry = import_url(card_server.url("/card")).entry
    former = store_under_former_key(entry, card_server.url("/a2a"))
    refreshed = refresh_entry(former)

    assert refreshed.entry.pk == entry.pk
    assert get_endpoints() == [f"{card_server.url('/a2a')}#tenant=north"]


def test_refresh_does_not_take_card_of_other_tenant(card_server):
    for tenant in ("north", "south"):
        document = tenant_card(tenant, card_server.url("/a2a"))
        card_server.routes["/card"] = reply(body=json.dumps(document).encode())
        if tenant == "north":
            entry = import_url(card_server.url("/card")).entry
    former = store_under_former_key(entry, card_server.url("/a2a"))

    with pytest.raises(NotRefreshable):
        refresh_entry(former)


def test_tenant_is_not_sent_by_probe_and_refresh(card_server):
    path = "/.well-known/agent-card.json"
    document = tenant_card("north", card_server.url("/a2a"))
    card_server.routes[path] = reply(body=json.dumps(document).encode())
    entry = register_document(document).entry
    refresh_entry(entry)

    assert card_server.paths
    assert not any("tenant" in path for path in card_server.paths)
    entry.refresh_from_db()
    assert entry.source_url == card_server.url(path)
    assert entry.status == Status.ACTIVE


def test_relative_url_is_the_same_after_refresh_and_export_t10(card_server):
    path = "/.well-known/agent-card.json"
    document = card(url="/a2a", skills=[skill("Greet")])
    card_server.routes[path] = reply(body=json.dumps(document).encode())
    entry = import_url(card_server.url()).entry
    assert entry.agent_type.endpoint == card_server.url("/a2a")
    assert refresh_entry(entry).outcome == "unchanged"
    changed = document | {"description": "Greets"}
    card_server.routes[path] = reply(body=json.dumps(changed).encode())
    entry.refresh_from_db()
    assert refresh_entry(entry).outcome == "updated"
    entry.refresh_from_db()
    assert entry.description == "Greets"

    (line,) = export_lines()
    entry.delete()
    restored = import_line(line).entry
    assert restored.agent_type.endpoint == card_server.url("/a2a")
    assert restored.parse_definition().record.endpoint == card_server.url("/a2a")


def test_grpc_card_is_active_by_declaration_t10():
    interface = {"url": "grpc://host.example:9090", "protocolBinding": "GRPC"}
    entry = register_document(card(supportedInterfaces=[interface])).entry

    assert entry.agent_type.endpoint == "grpc://host.example:9090"
    assert (entry.status, entry.next_probe_at) == (Status.ACTIVE, None)
    assert entry.declared
    assert not entry.can_be_refreshed
    assert find_entry(entry.parse_definition().record) == entry
    assert search_capabilities(SearchQuery(), 10).total == 1
