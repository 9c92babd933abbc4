import pytest
from django.contrib.admin.models import LogEntry
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from catalog.models import CatalogEntry, Status
from catalog.registration.service import register
from tests.factories import CatalogEntryFactory, UserFactory, card_bytes, skill

pytestmark = pytest.mark.django_db

LIST = reverse("admin:catalog_catalogentry_changelist")


@pytest.fixture
def desk(client):
    """A browser in which an editor is logged in."""
    client.force_login(UserFactory(role="Editor"))
    return client


def change_page(entry):
    return reverse("admin:catalog_catalogentry_change", args=[entry.pk])


def test_editors_may_enter_and_viewers_may_not(client):
    client.force_login(UserFactory(role="Viewer"))
    assert client.get(LIST).status_code == 302

    client.force_login(UserFactory(role="Editor"))
    assert client.get(LIST).status_code == 200


def test_editors_see_what_they_may_change_and_no_more(desk):
    page = desk.get(reverse("admin:index")).content.decode()

    assert "Catalog entries" in page
    assert "Users" not in page
    assert "API tokens" not in page


def test_the_list_shows_protocol_status_provider_and_count(desk):
    entry = CatalogEntryFactory(status=Status.OFFLINE, offers=["a2a.skill"])
    page = desk.get(LIST).content.decode()

    assert str(entry.agent_type.provider) in page
    assert '<td class="field-status">Offline</td>' in page
    assert '<td class="field-capability_count">1</td>' in page


def test_the_list_takes_as_many_queries_for_many_as_for_few(desk):
    def queries():
        with CaptureQueriesContext(connection) as captured:
            desk.get(LIST)
        return len(captured)

    CatalogEntryFactory.create_batch(2, offers=["a2a.skill"])
    few = queries()
    CatalogEntryFactory.create_batch(20, offers=["a2a.skill", "mcp.tool"])
    assert queries() == few


def test_search_is_the_same_as_everywhere(desk):
    register(card_bytes(name="Przewodnik po Łodzi", skills=[skill("Zwiedzanie")]))
    CatalogEntryFactory(display_name="Something else")
    page = desk.get(LIST, {"q": "łodzi zwiedzanie"}).content.decode()

    assert "Przewodnik" in page
    assert "Something else" not in page


def test_deprecating_asks_for_a_reason_and_keeps_it_in_the_history(desk):
    entries = CatalogEntryFactory.create_batch(2)
    chosen = {"action": "deprecate", "_selected_action": [e.pk for e in entries]}

    asked = desk.post(LIST, chosen)
    assert "reason" in asked.context["form"].fields
    assert not CatalogEntry.objects.filter(status=Status.DEPRECATED).exists()

    desk.post(LIST, chosen | {"reason": "Replaced by Polyglot"})
    assert CatalogEntry.objects.filter(status=Status.DEPRECATED).count() == 2
    history = desk.get(
        reverse("admin:catalog_catalogentry_history", args=[entries[0].pk])
    )
    assert "Reason: Replaced by Polyglot" in history.content.decode()


def test_reactivating_is_the_way_back(desk):
    entry = CatalogEntryFactory(status=Status.DEPRECATED)
    chosen = {"action": "reactivate", "_selected_action": [entry.pk]}
    desk.post(LIST, chosen | {"reason": "Still needed"})

    entry.refresh_from_db()
    assert entry.status == Status.ACTIVE
    assert entry.next_probe_at is not None


def test_an_edit_is_found_by_search_and_told_in_the_history(desk):
    entry = register(card_bytes()).entry
    desk.post(
        change_page(entry),
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
    assert "Sworn translator" in desk.get(LIST, {"q": "sworn legal"}).content.decode()
    assert LogEntry.objects.get(object_id=entry.pk).action_flag == 2


@pytest.mark.parametrize(
    "metadata", ['{"a": "\\ud800"}', '{"a": "\\u0000"}', '{"a": NaN}', '{"a": 1e999}']
)
def test_metadata_that_no_database_takes_is_refused_in_words(desk, metadata):
    entry = CatalogEntryFactory()
    given = {"display_name": "x", "metadata": metadata}
    answer = desk.post(change_page(entry), given)

    assert answer.status_code == 200
    assert "errorlist" in answer.content.decode()
    entry.refresh_from_db()
    assert entry.metadata == {}


def test_metadata_that_is_no_object_is_refused_in_words(desk):
    entry = CatalogEntryFactory()
    answer = desk.post(change_page(entry), {"display_name": "x", "metadata": "[1]"})

    assert "This must be a JSON object, is an array." in answer.content.decode()


def test_the_change_page_shows_capabilities_and_the_definition_for_reading(desk):
    hostile = skill("<script>alert(1)</script>", description="<img src=x>")
    entry = register(card_bytes(skills=[hostile])).entry
    page = desk.get(change_page(entry)).content.decode()

    assert "<script>alert(1)" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "&quot;supportedInterfaces&quot;: [" in page


def test_editors_cannot_delete_and_admins_delete_every_version(client, desk):
    register(card_bytes(version="1.0.0"))
    entry = register(card_bytes(version="2.0.0")).entry
    delete = reverse("admin:catalog_catalogentry_delete", args=[entry.pk])
    assert desk.post(delete, {"post": "yes"}).status_code == 403

    client.force_login(UserFactory(role="Admin"))
    client.post(delete, {"post": "yes"})
    assert not type(entry.agent_type).objects.exists()


def test_an_agent_type_is_for_reading_only(desk):
    agent_type = register(card_bytes()).entry.agent_type
    place = reverse("admin:catalog_agenttype_change", args=[agent_type.pk])
    page = desk.get(place).content.decode()

    assert "Translate text" in page
    assert "_save" not in page
    assert desk.post(place, {"endpoint": "https://evil.example"}).status_code == 403


def test_renaming_a_provider_reaches_the_search(client):
    entry = register(card_bytes()).entry
    client.force_login(UserFactory(role="Editor"))
    provider = entry.agent_type.provider
    place = reverse("admin:catalog_provider_change", args=[provider.pk])
    client.post(place, {"organization": "Zenith", "team": "", "url": ""})

    assert "Translator" in client.get(LIST, {"q": "zenith"}).content.decode()
