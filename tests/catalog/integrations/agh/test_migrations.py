"""AGH's data moves from the catalog's tables to its own app, and back."""

from datetime import UTC, datetime

import pytest
from django.core.management import call_command
from django.db import connection

from catalog.integrations.agh.models import Greeting, SeenEnvelope
from tests.factories import CatalogEntryFactory

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
BEFORE = ("catalog", "0007_read_with_authorization")


def migrate(*target: str) -> None:
    call_command("migrate", *target, verbosity=0, interactive=False)


def greeted_in_the_catalog() -> list:
    with connection.cursor() as cursor:
        cursor.execute("SELECT greeted_at FROM catalog_entries")
        return [row[0] for row in cursor.fetchall()]


@pytest.mark.django_db(transaction=True)
def test_greetings_and_envelopes_survive_the_way_back_and_forth():
    entry = CatalogEntryFactory()
    Greeting.objects.create(entry=entry, greeted_at=NOON)
    SeenEnvelope.objects.create(key="a", until=NOON)
    try:
        migrate("agh", "zero")
        migrate(*BEFORE)
        assert "agh_greetings" not in connection.introspection.table_names()
        assert "2026-01-01" in str(greeted_in_the_catalog()[0])
    finally:
        migrate()

    assert Greeting.objects.get().greeted_at == NOON
    assert SeenEnvelope.objects.get().until == NOON
