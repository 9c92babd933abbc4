import pytest
from django.contrib.admin.models import CHANGE, LogEntry
from django.urls import reverse

from catalog.models import CatalogEntry, Status
from catalog.registration.service import register
from tests.factories import CatalogEntryFactory, card_bytes, skill
from tests.queries import count_queries

pytestmark = pytest.mark.django_db

LIST_URL = reverse("admin:catalog_catalogentry_changelist")


def change_url(entry):
    return reverse("admin:catalog_catalogentry_change", args=[entry.pk])


def test_admin_is_accessible_to_editors_but_not_to_viewers(
    viewer_client, editor_client
):
    assert viewer_client.get(LIST_URL).status_code == 302
    assert editor_client.get(LIST_URL).status_code == 200


def test_admin_index_shows_only_models_that_the_editor_can_change(editor_client):
    html = editor_client.get(reverse("admin:index")).content.decode()

    assert "Catalog entries" in html
    assert "Users" not in html
    assert "API tokens" not in html


def test_list_shows_provider_status_and_capability_count(editor_client):
    entry = CatalogEntryFactory(
        status=Status.OFFLINE,
        offers=["a2a.skill", "a2a.interface", "a2a.interface"],
    )
    html = editor_client.get(LIST_URL).content.decode()

    assert str(entry.agent_type.provider) in html
    assert '<td class="field-status">Offline</td>' in html
    assert '<td class="field-capability_count">1</td>' in html
    assert '<td class="field-technical_count">2</td>' in html


def test_admin_list_query_count_is_independent_of_number_of_entries(editor_client):
    CatalogEntryFactory.create_batch(2, offers=["a2a.skill"])
    count_for_few = count_queries(editor_client, LIST_URL)
    CatalogEntryFactory.create_batch(20, offers=["a2a.skill", "mcp.tool"])
    assert count_queries(editor_client, LIST_URL) == count_for_few


def test_search_matches_name_and_capability_like_catalog_search(editor_client):
    register(card_bytes(name="Przewodnik po Łodzi", skills=[skill("Zwiedzanie")]))
    CatalogEntryFactory(display_name="Something else")
    html = editor_client.get(LIST_URL, {"q": "łodzi zwiedzanie"}).content.decode()

    assert "Przewodnik" in html
    assert "Something else" not in html


def test_deprecate_action_requires_reason_and_logs_it(editor_client):
    entries = CatalogEntryFactory.create_batch(2)
    action = {
        "action": "deprecate",
        "_selected_action": [entry.pk for entry in entries],
    }

    response = editor_client.post(LIST_URL, action)
    assert "reason" in response.context["form"].fields
    assert not CatalogEntry.objects.filter(status=Status.DEPRECATED).exists()

    editor_client.post(LIST_URL, action | {"reason": "Replaced by Polyglot"})
    assert CatalogEntry.objects.filter(status=Status.DEPRECATED).count() == 2
    history_url = reverse("admin:catalog_catalogentry_history", args=[entries[0].pk])
    history = editor_client.get(history_url).content.decode()
    assert "Reason: Replaced by Polyglot" in history


def test_reactivate_action_makes_deprecated_entry_active_and_probed(editor_client):
    entry = CatalogEntryFactory(status=Status.DEPRECATED)
    action = {"action": "reactivate", "_selected_action": [entry.pk]}
    editor_client.post(LIST_URL, action | {"reason": "Still needed"})

    entry.refresh_from_db()
    assert entry.status == Status.ACTIVE
    assert entry.next_probe_at is not None


def test_edited_entry_is_found_by_search_and_logged(editor_client):
    entry = register(card_bytes()).entry
    editor_client.post(
        change_url(entry),
        {
            "display_name": "Sworn translator",
            "description": "Curated",
            "categories": "legal, language, legal",
            "metadata": '{"tier": "gold"}',
            "validity_from_0": "",
            "validity_from_1": "",
            "validity_to_0": "",
            "validity_to_1": "",
        },
    )

    entry.refresh_from_db()
    assert entry.categories == ["legal", "language"]
    assert entry.metadata == {"tier": "gold"}
    search = editor_client.get(LIST_URL, {"q": "sworn legal"})
    assert "Sworn translator" in search.content.decode()
    assert LogEntry.objects.get(object_id=entry.pk).action_flag == CHANGE


@pytest.mark.parametrize(
    "metadata", ['{"a": "\\ud800"}', '{"a": "\\u0000"}', '{"a": NaN}', '{"a": 1e999}']
)
def test_edit_rejects_metadata_that_databases_cannot_store(editor_client, metadata):
    entry = CatalogEntryFactory()
    form = {"display_name": "x", "metadata": metadata}
    response = editor_client.post(change_url(entry), form)

    assert response.status_code == 200
    assert "errorlist" in response.content.decode()
    entry.refresh_from_db()
    assert entry.metadata == {}


def test_edit_rejects_metadata_with_repeated_member(editor_client):
    entry = CatalogEntryFactory()
    form = {"display_name": "x", "metadata": '{"a": 1, "a": 2}'}
    response = editor_client.post(change_url(entry), form)

    errors = response.context["adminform"].form.errors["metadata"]
    assert errors == ["$ member 'a' is repeated in an object of the document."]


def test_edit_rejects_metadata_that_is_not_an_object(editor_client):
    entry = CatalogEntryFactory()
    form = {"display_name": "x", "metadata": "[1]"}
    response = editor_client.post(change_url(entry), form)

    assert "must be a JSON object" in response.content.decode()


def test_change_page_shows_capabilities_and_definition_escaped(editor_client):
    hostile_skill = skill("<script>alert(1)</script>", description="<img src=x>")
    entry = register(card_bytes(skills=[hostile_skill])).entry
    html = editor_client.get(change_url(entry)).content.decode()

    assert "<script>alert(1)" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert "&quot;supportedInterfaces&quot;: [" in html


def test_delete_by_editor_returns_403_and_by_admin_removes_every_version(
    editor_client, session_client_for_role
):
    register(card_bytes(version="1.0.0"))
    entry = register(card_bytes(version="2.0.0")).entry
    url = reverse("admin:catalog_catalogentry_delete", args=[entry.pk])
    assert editor_client.post(url, {"post": "yes"}).status_code == 403

    session_client_for_role("Admin").post(url, {"post": "yes"})
    assert not type(entry.agent_type).objects.exists()


def test_agent_type_is_read_only(editor_client):
    agent_type = register(card_bytes()).entry.agent_type
    url = reverse("admin:catalog_agenttype_change", args=[agent_type.pk])
    html = editor_client.get(url).content.decode()

    assert "Translate text" in html
    assert "_save" not in html
    response = editor_client.post(url, {"endpoint": "https://evil.example"})
    assert response.status_code == 403


def test_entry_is_found_by_new_name_of_its_provider(editor_client):
    entry = register(card_bytes()).entry
    provider = entry.agent_type.provider
    url = reverse("admin:catalog_provider_change", args=[provider.pk])
    editor_client.post(url, {"organization": "Zenith", "team": "", "url": ""})

    search = editor_client.get(LIST_URL, {"q": "zenith"})
    assert "Translator" in search.content.decode()
