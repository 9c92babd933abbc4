"""The migrations that measure the uptime of hours already recorded."""

from datetime import UTC, datetime, timedelta

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from catalog.health.history import History
from catalog.models import CatalogEntry, HealthHour
from tests.factories import CatalogEntryFactory

pytestmark = pytest.mark.django_db(transaction=True)

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
BEFORE = [("catalog", "0009_rename_asked_at")]


def migrate_to_old_state():
    """Migrate back; return the models as of then."""
    call_command("migrate", *BEFORE[0], verbosity=0, interactive=False)
    apps = MigrationExecutor(connection).loader.project_state(BEFORE).apps
    return apps.get_model("catalog", "ProbeResult"), apps.get_model(
        "catalog", "HealthHour"
    )


def migrate():
    call_command("migrate", verbosity=0, interactive=False)


def create_old_history(probes, hours):
    """Create an hour of probes, an outage with pauses, and an older hour."""
    (entry_id,) = CatalogEntry.objects.values_list("pk", flat=True)
    times = [(NOON + n * MINUTE, "") for n in range(30)]
    times += [
        (NOON + 30 * MINUTE + n * SECOND, "HTTP 503")
        for n in (0, 60, 120, 240, 480, 960, 1920, 3840)
    ]
    probes.objects.bulk_create(
        probes(entry_id=entry_id, at=at, error=error) for at, error in times
    )
    counts = {
        NOON - DAY: (4, 1),
        NOON: (30 + 6, 6),
        NOON + HOUR: (2, 2),
    }
    hours.objects.bulk_create(
        hours(entry_id=entry_id, hour=hour, probes=count, failures=failures)
        for hour, (count, failures) in counts.items()
    )
    return times[-1]


def get_hours():
    columns = ("hour", "probes", "up_seconds", "down_seconds")
    return list(HealthHour.objects.values_list(*columns))


def test_migrations_measure_kept_probes_and_estimate_older_hours():
    entry = CatalogEntryFactory()
    try:
        last_at, last_error = create_old_history(*migrate_to_old_state())
        CatalogEntry.objects.filter(pk=entry.pk).only("pk").update(
            last_probed_at=last_at, last_error=last_error, consecutive_failures=8
        )
    finally:
        migrate()
    entry.refresh_from_db()

    assert get_hours() == [
        (NOON - DAY, 4, None, None),
        (NOON, 36, 1800, 1800),
        (NOON + HOUR, 2, 0, 2040),
    ]
    assert entry.outcome_counts_until == last_at + HOUR * 1.1 + 95 * SECOND
    history = History.for_entry(entry, NOON + 2 * HOUR)
    assert history.uptime["24h"] == 0.25
    assert history.uptime["7d"] == pytest.approx((2700 + 1800) / (3 * 3600))


def test_hour_with_deleted_probes_is_not_measured():
    CatalogEntryFactory()
    try:
        probes, hours = migrate_to_old_state()
        create_old_history(probes, hours)
        probes.objects.filter(at__lt=NOON + 10 * MINUTE).delete()
    finally:
        migrate()

    assert get_hours()[1:] == [(NOON, 36, None, None), (NOON + HOUR, 2, 0, 2040)]


def test_migrating_back_keeps_counts_and_deletes_hours_without_probes():
    entry = CatalogEntryFactory()
    HealthHour.objects.create(
        entry=entry, hour=NOON, probes=3, failures=1, up_seconds=1, down_seconds=2
    )
    HealthHour.objects.create(
        entry=entry, hour=NOON + HOUR, up_seconds=0, down_seconds=3600
    )
    try:
        _, hours = migrate_to_old_state()
        rows = list(hours.objects.values_list("hour", "probes", "failures"))
    finally:
        migrate()

    assert rows == [(NOON, 3, 1)]
    assert get_hours() == [(NOON, 3, None, None)]
