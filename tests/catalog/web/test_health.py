from datetime import timedelta

import pytest
from django.utils import timezone

from catalog.health.history import History, format_percent
from catalog.health.status import record_probe
from catalog.web.views.health import HealthPanel
from tests.factories import CatalogEntryFactory
from tests.probes import failed, well

pytestmark = pytest.mark.django_db


@pytest.fixture
def entry():
    return CatalogEntryFactory()


def page(client, entry):
    return client.get(f"/catalog/{entry.pk}").content.decode()


def test_the_plot_has_words_beside_it(reader, entry):
    now = timezone.now()
    for n in range(3):
        record_probe(entry, well(100, now - timedelta(hours=3 + n)))
    record_probe(entry, failed(now - timedelta(hours=1)))
    told = page(reader, entry)

    assert "4 probes, 1 of them failed" in told
    assert "<polyline" in told
    assert "75 %" in told
    assert "HTTP 503" in told


def test_why_it_failed_is_told_also_when_it_is_well_again(reader, entry):
    now = timezone.now()
    record_probe(entry, failed(now - timedelta(hours=2), error="HTTP 500"))
    record_probe(entry, failed(now - timedelta(hours=1)))
    record_probe(entry, well(100, now))
    told = " ".join(page(reader, entry).split())

    assert "3 probes, 2 of them failed, the last" in told
    assert '1 hour ago</time>: <span class="wrap-anywhere">HTTP 503</span>.' in told


def test_a_day_without_an_answer_is_drawn_too(reader, entry):
    record_probe(entry, failed(timezone.now() - timedelta(hours=1)))
    told = page(reader, entry)

    assert "1 probe, 1 of them failed" in told
    assert 'class="failure"' in told


def test_the_days_are_told_in_words_as_well(entry):
    now = timezone.now()
    for days in (1, 2, 3):
        record_probe(entry, well(100, now - timedelta(days=days)))
    whole = HealthPanel(History.for_entry(entry, now)).days_told
    record_probe(entry, failed(now - timedelta(days=2, minutes=1)))
    told = HealthPanel(History.for_entry(entry, now)).days_told

    assert whole == "3 of the last 90 probed, 3 without a failure."
    worst = (now - timedelta(days=2, minutes=1)).date()
    assert told.startswith("3 of the last 90 probed, 2 without a failure.")
    assert f"The worst was {worst}:" in told


def test_before_the_first_probe_nothing_is_drawn(reader, entry):
    told = page(reader, entry)

    assert "Not probed yet" in told
    assert "<polyline" not in told


def test_an_agent_without_an_address_says_so(reader):
    entry = CatalogEntryFactory(agent_type__endpoint="mcp:somewhere")

    assert "there is no address to ask" in page(reader, entry)


def test_an_error_out_of_a_definition_is_text(reader, entry):
    record_probe(entry, failed(error="<script>alert(1)</script>"))

    assert "<script>alert" not in page(reader, entry)


def test_a_gap_in_the_answers_is_a_gap_in_the_line(entry):
    now = timezone.now()
    for hours in (1, 1.5, 20, 20.2):
        record_probe(entry, well(100, now - timedelta(hours=hours)))
    panel = HealthPanel(History.for_entry(entry, now))

    assert len(list(panel.lines)) >= 2
    assert panel.ceiling_ms == 100


@pytest.mark.parametrize(
    ("share", "told"),
    [
        (None, "not probed"),
        (0.0, "0 %"),
        (0.5, "50 %"),
        (0.99999, "99.9 %"),
        (1.0, "100 %"),
    ],
)
def test_uptime_is_never_rounded_up_to_all(share, told):
    assert format_percent(share) == told
