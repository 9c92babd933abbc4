"""The registry's pages: who takes traffic for what, and why."""

import re
import time
from html import unescape

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from catalog.health.status import record_probe
from catalog.models import Status
from routing import rotation, service
from routing.metrics import Report, RequestOutcome, record_report
from routing.models import CapabilityRegistration, DesiredState
from tests.factories import CatalogEntryFactory, UserFactory
from tests.probes import failure
from tests.routing.factories import RegistrationFactory

pytestmark = pytest.mark.django_db

INDEX = "/registry"
PAGE = "/registry/data-analysis"
HOSTILE = '"><script>alert(1)</script>{{ 7|add:7 }}'
# To know a session: itself, its user, and what that may do.
WHO = 3


def session_of(role):
    browser = Client()
    browser.force_login(UserFactory(role=role))
    return browser


@pytest.fixture
def reader(db):
    return session_of("Viewer")


@pytest.fixture
def editor(db):
    return session_of("Editor")


def offered_by(name, status=Status.ACTIVE, load=None, **members):
    """An offer of an agent with this name, as callers told of its load."""
    entry = CatalogEntryFactory(display_name=name, status=status)
    if load is not None:
        members |= {"load_score": load, "load_score_at": timezone.now()}
    return RegistrationFactory(entry=entry, **members)


def text_of(answer):
    """What one reads: without marks, and each space once."""
    assert answer.status_code == 200
    words = re.sub(r"<[^>]*>", " ", answer.content.decode())
    return " ".join(unescape(words).split())


def rows(answer):
    """The cells of each row, as one reads them."""
    page = answer.content.decode()
    cells = [
        re.findall(r"<td[^>]*>(.*?)</td>", row, re.DOTALL)
        for row in re.findall(r"<tr>(.*?)</tr>", page, re.DOTALL)
    ]
    plain = [
        [" ".join(unescape(re.sub(r"<[^>]*>", " ", cell)).split()) for cell in row]
        for row in cells
    ]
    return [row for row in plain if row]


def names(answer):
    return re.findall(r'class="group-name">([^<]*)<', answer.content.decode())


def change(browser, one, **fields):
    values = {"priority": one.priority, "intent": one.intent} | fields
    form = {f"{one.pk}-{name}": value for name, value in values.items()}
    return browser.post(f"/registry/{one.pk}/change", form, follow=True)


@pytest.fixture
def providers():
    """Two that take traffic, one that is away and one that drains."""
    quick = offered_by("Quick", priority=100, load=0.3, version="2.0.0")
    gauges = {"concurrent_requests": 2, "queue_depth": 7}
    record_report(
        quick.pk,
        Report([RequestOutcome(True, 120), RequestOutcome(False, 80)] * 5, gauges),
    )
    slow = offered_by("Slow", priority=80)
    record_probe(slow.entry, failure())
    return {
        "quick": quick,
        "slow": slow,
        "away": offered_by("Away", Status.OFFLINE, priority=900),
        "drained": offered_by("Drained", priority=500, intent=DesiredState.DRAINING),
    }


def test_the_index_shows_every_provider_with_its_figures(reader, providers):
    answer = reader.get(INDEX)
    page, [first, second, *others] = text_of(answer), rows(answer)

    assert names(answer) == ["data-analysis"]
    assert "1 capability" in page
    assert "1 of 4 healthy" in page
    assert first == [
        "Quick 2.0.0",
        "Healthy",
        "100",
        "0.3 2 running 7 queued",
        "100 ms p95: 120 ms p99: 120 ms",
        "50 %",
        "10 10 in the last minute",
        "–",
        "priority 70 load balance 333.33 least loaded 0.70 fastest response 10",
    ]
    assert second[1:3] == ["Degraded HTTP 503, 1 time in a row", "80"]
    assert second[3:8] == ["–", "–", "0 %", "0", "0 %"]
    assert [(row[0], row[1]) for row in others] == [
        ("Away 1.0.0", "Unhealthy"),
        ("Drained 1.0.0", "Healthy draining"),
    ]


def test_search_is_by_a_part_of_the_name(reader):
    for name in ("data-analysis", "image-processing", "data-processing"):
        RegistrationFactory(capability=name)

    assert names(reader.get(INDEX, {"q": " DATA "})) == [
        "data-analysis",
        "data-processing",
    ]
    assert names(reader.get(INDEX, {"q": "-"})) == sorted(
        ["data-analysis", "image-processing", "data-processing"]
    )
    for wild in ("%", "_", "x" * 5000, "\\"):
        assert names(reader.get(INDEX, {"q": wild})) == []


def test_no_character_breaks_a_page(reader, providers):
    for place in (
        f"{INDEX}?q=%00",
        f"{INDEX}?page=x",
        f"{INDEX}?page=99999",
        f"{PAGE}?version=%00",
        f"{PAGE}?metadata=%00&strategy=%00",
        f"{PAGE}?strategy=nonsense&version=" + "9" * 500,
    ):
        assert reader.get(place).status_code == 200, place
    for place in ("/registry/%00", "/registry/no%20such", "/registry/" + "x" * 2000):
        assert reader.get(place).status_code == 404, place


def test_htmx_is_answered_with_the_part_alone(reader, providers):
    for place in (INDEX, PAGE):
        part = reader.get(place, headers={"HX-Request": "true"})
        assert "<html" not in part.content.decode()
        assert "Quick" in part.content.decode()
        assert "HX-Request" in part["Vary"]


def test_an_empty_registry_says_how_to_fill_it(reader):
    page = text_of(reader.get(INDEX))

    assert "No registrations yet" in page
    assert "Clear search" not in page


def test_a_search_that_finds_nothing_can_be_cleared(reader, providers):
    answer = reader.get(INDEX, {"q": "nonsense"})

    assert "No capabilities found" in text_of(answer)
    assert b'href="/registry">Clear search' in answer.content


def test_many_capabilities_come_in_pages(reader):
    entry = CatalogEntryFactory()
    for n in range(30):
        RegistrationFactory(entry=entry, capability=f"task-{n:02}")
    first, second = reader.get(INDEX), reader.get(INDEX, {"page": 2})

    assert names(first) == [f"task-{n:02}" for n in range(25)]
    assert names(second) == [f"task-{n:02}" for n in range(25, 30)]
    assert "30 capabilities" in text_of(first)


def test_what_has_drained_is_gone_before_the_sweep(reader):
    offered_by("Gone", drain_until=timezone.now())

    assert "No registrations yet" in text_of(reader.get(INDEX))
    assert reader.get(PAGE).status_code == 404


NO_TRAFFIC = [
    ["Away 1.0.0", "Unhealthy", "0", "Receives no requests"],
    ["Drained 1.0.0", "Healthy draining", "0", "Receives no requests"],
]


@pytest.mark.parametrize(
    ("strategy", "order"),
    [
        (
            "priority",
            [
                [
                    "Quick 2.0.0",
                    "Healthy",
                    "70",
                    "Priority 100 × health 1 (healthy) × (1 − load 0.3)",
                ],
                [
                    "Slow 1.0.0",
                    "Degraded",
                    "40",
                    "Priority 80 × health 0.5 (degraded) × (1 − load 0)",
                ],
            ],
        ),
        (
            "least_loaded",
            [
                ["Quick 2.0.0", "Healthy", "0.70", "1 − load 0.3"],
                ["Slow 1.0.0", "Degraded", "1", "1 − load 0; degraded"],
            ],
        ),
        (
            "fastest_response",
            [
                ["Quick 2.0.0", "Healthy", "10", "1 s ÷ response time 100 ms"],
                ["Slow 1.0.0", "Degraded", "0", "Response time unknown; degraded"],
            ],
        ),
    ],
)
def test_trying_shows_the_order_and_the_numbers(reader, providers, strategy, order):
    answer = reader.get(PAGE, {"strategy": strategy})

    assert "1 of 4 providers healthy" in text_of(answer)
    expected = [*order, *NO_TRAFFIC]
    assert rows(answer) == [[str(n), *row] for n, row in enumerate(expected, 1)]


def test_trying_to_balance_shows_weights_and_moves_nothing(reader, providers):
    first, second = (reader.get(PAGE, {"strategy": "load_balance"}) for _ in range(2))

    assert rows(first) == rows(second)
    told = {row[1]: row[3:] for row in rows(first)}
    assert told["Slow 1.0.0"] == [
        "8000",
        "0 % share: priority 80 ÷ load 0.01; degraded",
    ]
    assert told["Quick 2.0.0"] == [
        "333.33",
        "Next in rotation (100 % share): priority 100 ÷ load 0.3",
    ]
    assert rotation.peek_turn("data-analysis") == 1


def test_a_trial_by_version_and_metadata(reader):
    offered_by("Plain", metadata={"supported_formats": ["csv", "json"]})
    offered_by("Newer", version="2.0.0", metadata={"supported_formats": ["csv"]})

    def found(**asked):
        return [row[1].split()[0] for row in rows(reader.get(PAGE, asked))]

    assert found(version="2.0.0") == ["Newer"]
    assert found(metadata='{"supported_formats": "json"}') == ["Plain"]
    assert set(found(metadata='{"supported_formats": ["csv"]}')) == {"Plain", "Newer"}
    nobody = reader.get(PAGE, {"version": "3.0.0"})
    assert "No provider matches this version and metadata." in text_of(nobody)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "metadata_filter is not JSON"),
        ("[1]", "metadata_filter must be a JSON object"),
        ("[" * 1999, "metadata_filter is nested deeper than 64 levels"),
        ('{"a": 1, "a": 2}', "metadata_filter at $: member 'a' is repeated"),
    ],
    ids=["no JSON", "no object", "too deep", "repeated"],
)
def test_a_bad_metadata_filter_is_told_at_its_field(reader, providers, text, message):
    answer = reader.get(PAGE, {"metadata": text})

    assert message in text_of(answer)
    assert len(rows(answer)) == 4


def test_after_a_change_one_sees_what_one_was_looking_at(editor, providers):
    one = providers["quick"]
    place = f"/registry/{one.pk}/change?strategy=load_balance"
    sent = {f"{one.pk}-priority": 7, f"{one.pk}-intent": "draining"}
    answer = editor.post(place, sent, follow=True)

    assert answer.redirect_chain == [(f"{PAGE}?strategy=load_balance", 302)]
    told = "Quick receives no new requests and will be removed in 60 s."
    assert told in text_of(answer)


def test_whoever_comes_there_by_a_login_is_led_to_the_registry(editor, providers):
    answer = editor.get(f"/registry/{providers['quick'].pk}/change")

    assert (answer.status_code, answer["Location"]) == (302, "/registry")


def test_editors_change_priority_and_status(editor, providers):
    one = providers["quick"]
    answer = change(editor, one, priority=7, intent="inactive")
    assert answer.redirect_chain == [(PAGE, 302)]
    assert "Quick was updated." in text_of(answer)
    one.refresh_from_db()
    assert (one.priority, one.intent) == (7, "inactive")

    change(editor, one, intent="active")
    one.refresh_from_db()
    assert one.intent == "active"


@pytest.mark.parametrize("priority", ["-1", "1001", "", "many", "1e3"])
def test_a_priority_that_is_none_changes_nothing_and_is_told(
    editor, providers, priority
):
    one = providers["quick"]
    answer = change(editor, one, priority=priority)

    assert "Priority: " in text_of(answer)
    one.refresh_from_db()
    assert one.priority == 100


def test_a_status_only_checks_may_tell_cannot_be_set(editor, providers):
    answer = change(editor, providers["quick"], intent="unhealthy")

    assert "Status: Select a valid choice" in text_of(answer)


def test_saving_another_priority_does_not_undo_a_drain(editor):
    """The form was drawn before somebody else let it drain."""
    one = offered_by("Quick")
    drawn = CapabilityRegistration.objects.get(pk=one.pk)
    service.unregister(one, drain=True)
    page = editor.get(PAGE).content.decode()
    assert '<option value="draining" selected>' in page
    drawn.intent = DesiredState.DRAINING
    change(editor, drawn, priority=9)

    one.refresh_from_db()
    assert (one.priority, one.intent) == (9, "draining")
    assert one.drain_until is not None


def test_changing_what_is_gone_is_told(editor):
    gone = offered_by("Gone", drain_until=timezone.now())

    answer = change(editor, gone)
    assert answer.redirect_chain[-1][0] == INDEX
    assert "This registration no longer exists." in answer.content.decode()
    assert editor.get(f"/registry/{gone.pk}/change").status_code == 302


@pytest.mark.usefixtures("providers")
def test_what_no_name_can_hold_is_nobodys(editor):
    assert editor.get("/registry/find-it%00").status_code == 404
    assert editor.post("/registry/%00/change").status_code == 302


def test_a_load_of_many_digits_takes_little_room(reader):
    one = offered_by("Third", load=1 / 3)

    assert rows(reader.get(INDEX))[0][3] == "0.33", one


def test_viewers_see_no_form_and_may_not_change(reader, editor, providers):
    assert b"/change" in editor.get(PAGE).content
    assert b"/change" not in reader.get(PAGE).content
    assert change(reader, providers["quick"], priority=1).status_code == 403
    providers["quick"].refresh_from_db()
    assert providers["quick"].priority == 100


def test_strangers_are_sent_to_the_login_and_back(client, providers):
    for place in (INDEX, PAGE):
        answer = client.get(place)
        assert (answer.status_code, answer["Location"]) == (302, f"/login?next={place}")
    answer = client.post(f"/registry/{providers['quick'].pk}/change", {})
    assert answer.status_code == 302


def test_somebody_without_a_role_may_not(providers):
    nobody = session_of("")
    for place in (INDEX, PAGE):
        assert nobody.get(place).status_code == 403


def test_where_everybody_may_read_nobody_unknown_may_write(client, settings, providers):
    settings.AGENTLENS_ANONYMOUS_READ = True
    assert "Quick" in text_of(client.get(PAGE))
    assert "Save" not in text_of(client.get(PAGE))
    assert change(client, providers["quick"]).redirect_chain[0][0].startswith("/login")


def test_changing_needs_the_forms_token(providers):
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(UserFactory(role="Editor"))

    assert change(browser, providers["quick"], priority=1).status_code == 403


def test_what_strangers_wrote_is_text(editor):
    one = offered_by(HOSTILE, version=HOSTILE, metadata={HOSTILE: HOSTILE})
    asked = {"metadata": HOSTILE, "version": HOSTILE, "strategy": HOSTILE}
    for answer in (
        editor.get(INDEX),
        editor.get(INDEX, {"q": HOSTILE}),
        editor.get(PAGE),
        editor.get(PAGE, asked),
        change(editor, one, priority=1),
        change(editor, one, priority=HOSTILE),
    ):
        assert b"<script>alert" not in answer.content


def test_a_page_is_never_remembered_for_others(reader, providers):
    assert "Cookie" in reader.get(PAGE)["Vary"]


def queries(browser, place):
    with CaptureQueriesContext(connection) as captured:
        assert browser.get(place).status_code == 200
    return len(captured) - WHO


@pytest.mark.parametrize(
    ("role", "place", "expected"),
    [
        # How many, which, and all their providers.
        ("Viewer", INDEX, 3),
        ("Viewer", f"{INDEX}?q=a", 3),
        # The providers; for an editor once more, with their forms.
        ("Viewer", PAGE, 1),
        ("Viewer", f"{PAGE}?strategy=least_loaded", 1),
        ("Editor", PAGE, 2),
    ],
)
def test_a_page_takes_as_many_queries_for_many_as_for_few(role, place, expected):
    browser, counts = session_of(role), []
    for n in (2, 20):
        for _ in range(n):
            one = offered_by("Agent")
            one.request_seconds.create(second=int(time.time()), total=1)
            RegistrationFactory(entry=one.entry, capability=f"a-task-{_}")
        counts.append(queries(browser, place))

    assert counts == [expected, expected]
