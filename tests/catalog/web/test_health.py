from datetime import timedelta

import pytest
from django.utils import timezone

from catalog.health.history import History, format_percent
from catalog.health.status import record_probe
from catalog.web.views.health import HealthPanel
from tests.factories import CatalogEntryFactory
from tests.probes import failure, success

pytestmark = pytest.mark.django_db


def get_entry_html(client, entry):
    """Return the HTML of the entry's page with white space collapsed."""
    return " ".join(client.get(f"/catalog/{entry.pk}").content.decode().split())


def test_latency_plot_has_text_alternative(viewer_client, entry):
    now = timezone.now()
    for hours in (5, 4, 3):
        record_probe(entry, success(100, now - timedelta(hours=hours)))
    record_probe(entry, failure(now - timedelta(hours=1)))
    html = get_entry_html(viewer_client, entry)

    assert "4 probes, 1 failed" in html
    assert "<polyline" in html
    assert "75 %" in html
    assert "HTTP 503" in html


def test_last_failure_is_shown_after_recovery(viewer_client, entry):
    now = timezone.now()
    record_probe(entry, failure(now - timedelta(hours=2), error="HTTP 500"))
    record_probe(entry, failure(now - timedelta(hours=1)))
    record_probe(entry, success(100, now))
    html = get_entry_html(viewer_client, entry)

    assert "3 probes, 2 failed. Last failure" in html
    assert '1 hour ago</time>: <span class="wrap-anywhere">HTTP 503</span>.' in html


def test_latency_plot_shows_day_that_has_only_failures(viewer_client, entry):
    record_probe(entry, failure(timezone.now() - timedelta(hours=1)))
    html = get_entry_html(viewer_client, entry)

    assert "1 probe, 1 failed" in html
    assert 'class="failure"' in html


def test_daily_uptime_has_text_alternative(entry):
    now = timezone.now()
    now = now.replace(hour=12)
    for days in (4, 3, 2):
        record_probe(entry, success(100, now - timedelta(days=days)))
    entry.refresh_from_db()
    summary_without_failures = HealthPanel(History.for_entry(entry, now)).uptime_summary
    record_probe(entry, failure(now - timedelta(days=2) + timedelta(minutes=1)))
    entry.refresh_from_db()
    summary = HealthPanel(History.for_entry(entry, now)).uptime_summary

    assert summary_without_failures == (
        "3 of the last 90 days probed, 3 without failures."
    )
    lowest = (now - timedelta(days=2)).date()
    assert summary.startswith("3 of the last 90 days probed, 2 without failures.")
    assert f"Lowest on {lowest}:" in summary


def test_page_of_entry_never_probed_has_no_plot(viewer_client, entry):
    html = get_entry_html(viewer_client, entry)

    assert "Not probed yet" in html
    assert "<polyline" not in html


def test_page_of_entry_without_url_says_that_it_is_not_probed(viewer_client):
    entry = CatalogEntryFactory(agent_type__endpoint="mcp:somewhere")
    html = get_entry_html(viewer_client, entry)

    assert "This agent is not probed because it has no URL." in html


def test_probe_error_is_escaped(viewer_client, entry):
    record_probe(entry, failure(error="<script>alert(1)</script>"))

    assert "<script>alert" not in get_entry_html(viewer_client, entry)


def test_latency_line_is_interrupted_by_long_gap(entry):
    now = timezone.now()
    for hours in (1, 1.5, 20, 20.2):
        record_probe(entry, success(100, now - timedelta(hours=hours)))
    panel = HealthPanel(History.for_entry(entry, now))

    assert len(list(panel.latency_lines)) >= 2
    assert panel.max_latency_ms == 100


@pytest.mark.parametrize(
    ("share", "expected"),
    [
        (None, "not probed"),
        (0.0, "0 %"),
        (0.5, "50 %"),
        (0.99999, "99.9 %"),
        (1.0, "100 %"),
    ],
)
def test_format_percent_shows_100_only_for_exactly_one(share, expected):
    assert format_percent(share) == expected
