"""The migrations that move AGH's data from the catalog's tables to its own."""

from datetime import UTC, datetime

import pytest
from django.core.management import call_command
from django.db import connection

from catalog.integrations.agh.models import Greeting, SeenEnvelope
from tests.factories import CatalogEntryFactory

GREETED_AT = datetime(2026, 1, 1, 12, tzinfo=UTC)
OLD_MIGRATION = ("catalog", "0007_read_with_authorization")


def migrate(*target: str) -> None:
    call_command("migrate", *target, verbosity=0, interactive=False)


def fetch_greeted_at_of_entries() -> list:
    with connection.cursor() as cursor:
        cursor.execute("SELECT greeted_at FROM catalog_entries")
        return [row[0] for row in cursor.fetchall()]


@pytest.mark.django_db(transaction=True)
def test_migrating_back_and_forth_keeps_greetings_and_envelopes():
    entry = CatalogEntryFactory()
    Greeting.objects.create(entry=entry, greeted_at=GREETED_AT)
    SeenEnvelope.objects.create(key="a", until=GREETED_AT)
    try:
        migrate("agh", "zero")
        migrate(*OLD_MIGRATION)
        assert "agh_greetings" not in connection.introspection.table_names()
        assert "2026-01-01" in str(fetch_greeted_at_of_entries()[0])
    finally:
        migrate()

    assert Greeting.objects.get().greeted_at == GREETED_AT
    assert SeenEnvelope.objects.get().until == GREETED_AT
