"""The pages of the registry."""

import re
import time
from html import unescape

import pytest
from django.test import Client
from django.utils import timezone

from catalog.health.status import record_probe
from catalog.models import Status
from routing import rotation, service
from routing.metrics import Report, RequestOutcome, record_report
from routing.models import CapabilityRegistration, DesiredState
from tests.factories import CatalogEntryFactory, UserFactory
from tests.probes import failure
from tests.queries import count_queries
from tests.routing.factories import RegistrationFactory, create_registration

pytestmark = pytest.mark.django_db

INDEX_URL = "/registry"
CAPABILITY_URL = "/registry/data-analysis"
HOSTILE = '"><script>alert(1)</script>{{ 7|add:7 }}'


def get_text(response):
    """Return the text of the page, without tags and repeated spaces."""
    assert response.status_code == 200
    text = re.sub(r"<[^>]*>", " ", response.content.decode())
    return " ".join(unescape(text).split())


def get_rows(response):
    """Return the texts of the table cells, row by row."""
    page = response.content.decode()
    rows_of_cells = [
        re.findall(r"<td[^>]*>(.*?)</td>", row, re.DOTALL)
        for row in re.findall(r"<tr>(.*?)</tr>", page, re.DOTALL)
    ]
    texts = [
        [" ".join(unescape(re.sub(r"<[^>]*>", " ", cell)).split()) for cell in row]
        for row in rows_of_cells
    ]
    return [row for row in texts if row]


def get_capability_names(response):
    return re.findall(r'class="group-name">([^<]*)<', response.content.decode())


def submit_change(client, registration, **fields):
    values = {
        "priority": registration.priority,
        "desired_state": registration.desired_state,
    } | fields
    form = {f"{registration.pk}-{name}": value for name, value in values.items()}
    return client.post(f"/registry/{registration.pk}/change", form, follow=True)


@pytest.fixture
def providers():
    """Create two available providers, an offline and a draining one."""
    fast = create_registration("Fast", priority=100, load=0.3, version="2.0.0")
    gauges = {"concurrent_requests": 2, "queue_depth": 7}
    record_report(
        fast.pk,
        Report([RequestOutcome(True, 120), RequestOutcome(False, 80)] * 5, gauges),
    )
    slow = create_registration("Slow", priority=80)
    record_probe(slow.entry, failure())
    return {
        "fast": fast,
        "slow": slow,
        "offline": create_registration("Offline", Status.OFFLINE, priority=900),
        "draining": create_registration(
            "Draining", priority=500, desired_state=DesiredState.DRAINING
        ),
    }


def test_index_shows_metrics_of_each_provider(viewer_client, providers):
    response = viewer_client.get(INDEX_URL)
    page, [first, second, *remaining] = get_text(response), get_rows(response)

    assert get_capability_names(response) == ["data-analysis"]
    assert "1 capability" in page
    assert "1 of 4 healthy" in page
    assert first == [
        "Fast 2.0.0",
        "Healthy",
        "100",
        "0.3 2 running 7 queued",
        "100 ms p95: 120 ms p99: 120 ms",
        "50 %",
        "10 10 in the last minute",
        "–",
        "priority 70 load balance 333.33 least loaded 0.70 fastest response 10",
    ]
    assert second[1:3] == ["Degraded HTTP 503", "80"]
    assert second[3:8] == ["–", "–", "0 %", "0", "0 %"]
    assert [(row[0], row[1]) for row in remaining] == [
        ("Offline 1.0.0", "Unhealthy"),
        ("Draining 1.0.0", "Healthy draining"),
    ]


def test_search_matches_part_of_name(viewer_client):
    for name in ("data-analysis", "image-processing", "data-processing"):
        RegistrationFactory(capability=name)

    assert get_capability_names(viewer_client.get(INDEX_URL, {"q": " DATA "})) == [
        "data-analysis",
        "data-processing",
    ]
    assert get_capability_names(viewer_client.get(INDEX_URL, {"q": "-"})) == sorted(
        ["data-analysis", "image-processing", "data-processing"]
    )
    for query in ("%", "_", "x" * 5000, "\\"):
        assert get_capability_names(viewer_client.get(INDEX_URL, {"q": query})) == []


def test_unusual_parameters_do_not_break_pages(viewer_client, providers):
    for url in (
        f"{INDEX_URL}?q=%00",
        f"{INDEX_URL}?page=x",
        f"{INDEX_URL}?page=99999",
        f"{CAPABILITY_URL}?version=%00",
        f"{CAPABILITY_URL}?metadata=%00&strategy=%00",
        f"{CAPABILITY_URL}?strategy=nonsense&version=" + "9" * 500,
    ):
        assert viewer_client.get(url).status_code == 200, url
    for url in ("/registry/%00", "/registry/no%20such", "/registry/" + "x" * 2000):
        assert viewer_client.get(url).status_code == 404, url


def test_htmx_request_returns_partial(viewer_client, providers):
    for url in (INDEX_URL, CAPABILITY_URL):
        response = viewer_client.get(url, headers={"HX-Request": "true"})
        assert "<html" not in response.content.decode()
        assert "Fast" in response.content.decode()
        assert "HX-Request" in response["Vary"]


def test_empty_registry_explains_how_to_register(viewer_client):
    page = get_text(viewer_client.get(INDEX_URL))

    assert "No registrations yet" in page
    assert "Clear search" not in page


def test_search_without_results_links_to_clear_search(viewer_client, providers):
    response = viewer_client.get(INDEX_URL, {"q": "nonsense"})

    assert "No capabilities found" in get_text(response)
    assert b'href="/registry">Clear search' in response.content


def test_index_is_paginated(viewer_client):
    entry = CatalogEntryFactory()
    for n in range(30):
        RegistrationFactory(entry=entry, capability=f"task-{n:02}")
    first, second = (
        viewer_client.get(INDEX_URL),
        viewer_client.get(INDEX_URL, {"page": 2}),
    )

    assert get_capability_names(first) == [f"task-{n:02}" for n in range(25)]
    assert get_capability_names(second) == [f"task-{n:02}" for n in range(25, 30)]
    assert "30 capabilities" in get_text(first)


def test_registry_page_hides_drained_registration_before_cleanup(viewer_client):
    create_registration("Gone", drain_until=timezone.now())

    assert "No registrations yet" in get_text(viewer_client.get(INDEX_URL))
    assert viewer_client.get(CAPABILITY_URL).status_code == 404


UNAVAILABLE_ROWS = [
    ["Offline 1.0.0", "Unhealthy", "0", "Receives no requests"],
    ["Draining 1.0.0", "Healthy draining", "0", "Receives no requests"],
]


@pytest.mark.parametrize(
    ("strategy", "order"),
    [
        (
            "priority",
            [
                [
                    "Fast 2.0.0",
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
                ["Fast 2.0.0", "Healthy", "0.70", "1 − load 0.3"],
                ["Slow 1.0.0", "Degraded", "1", "1 − load 0; degraded"],
            ],
        ),
        (
            "fastest_response",
            [
                ["Fast 2.0.0", "Healthy", "10", "1 s ÷ response time 100 ms"],
                ["Slow 1.0.0", "Degraded", "0", "Response time unknown; degraded"],
            ],
        ),
    ],
)
def test_preview_shows_order_scores_and_reasons(
    viewer_client, providers, strategy, order
):
    response = viewer_client.get(CAPABILITY_URL, {"strategy": strategy})

    assert "1 of 4 providers healthy" in get_text(response)
    expected = [*order, *UNAVAILABLE_ROWS]
    assert get_rows(response) == [[str(n), *row] for n, row in enumerate(expected, 1)]


def test_preview_of_load_balance_does_not_advance_rotation(viewer_client, providers):
    first, second = (
        viewer_client.get(CAPABILITY_URL, {"strategy": "load_balance"})
        for _ in range(2)
    )

    assert get_rows(first) == get_rows(second)
    reasons = {row[1]: row[3:] for row in get_rows(first)}
    assert reasons["Slow 1.0.0"] == [
        "8000",
        "0 % share: priority 80 ÷ load 0.01; degraded",
    ]
    assert reasons["Fast 2.0.0"] == [
        "333.33",
        "Next in rotation (100 % share): priority 100 ÷ load 0.3",
    ]
    assert rotation.peek_turn("data-analysis") == 1


def test_preview_filters_by_version_and_metadata(viewer_client):
    create_registration("Plain", metadata={"supported_formats": ["csv", "json"]})
    create_registration(
        "Newer", version="2.0.0", metadata={"supported_formats": ["csv"]}
    )

    def get_agent_names(**query):
        return [
            row[1].split()[0]
            for row in get_rows(viewer_client.get(CAPABILITY_URL, query))
        ]

    assert get_agent_names(version="2.0.0") == ["Newer"]
    assert get_agent_names(metadata='{"supported_formats": "json"}') == ["Plain"]
    assert set(get_agent_names(metadata='{"supported_formats": ["csv"]}')) == {
        "Plain",
        "Newer",
    }
    response = viewer_client.get(CAPABILITY_URL, {"version": "3.0.0"})
    assert "No provider is registered for this version and metadata." in get_text(
        response
    )


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
def test_invalid_metadata_filter_is_shown_as_form_error(
    viewer_client, providers, text, message
):
    response = viewer_client.get(CAPABILITY_URL, {"metadata": text})

    assert message in get_text(response)
    assert len(get_rows(response)) == 4


def test_update_redirects_to_previewed_strategy(editor_client, providers):
    registration = providers["fast"]
    url = f"/registry/{registration.pk}/change?strategy=load_balance"
    data = {
        f"{registration.pk}-priority": 7,
        f"{registration.pk}-desired_state": "draining",
    }
    response = editor_client.post(url, data, follow=True)

    assert response.redirect_chain == [(f"{CAPABILITY_URL}?strategy=load_balance", 302)]
    message = (
        "Fast receives no new requests for data-analysis. The registration will be"
        " removed in 60 s."
    )
    assert message in get_text(response)


def test_get_of_change_url_redirects_to_index(editor_client, providers):
    response = editor_client.get(f"/registry/{providers['fast'].pk}/change")

    assert (response.status_code, response["Location"]) == (302, "/registry")


def test_editor_updates_priority_and_status(editor_client, providers):
    registration = providers["fast"]
    response = submit_change(
        editor_client, registration, priority=7, desired_state="inactive"
    )
    assert response.redirect_chain == [(CAPABILITY_URL, 302)]
    assert "The registration of Fast was updated." in get_text(response)
    registration.refresh_from_db()
    assert (registration.priority, registration.desired_state) == (7, "inactive")

    submit_change(editor_client, registration, desired_state="active")
    registration.refresh_from_db()
    assert registration.desired_state == "active"


@pytest.mark.parametrize("priority", ["-1", "1001", "", "many", "1e3"])
def test_invalid_priority_changes_nothing_and_shows_error(
    editor_client, providers, priority
):
    registration = providers["fast"]
    response = submit_change(editor_client, registration, priority=priority)

    assert "Priority: " in get_text(response)
    registration.refresh_from_db()
    assert registration.priority == 100


def test_unhealthy_status_cannot_be_set(editor_client, providers):
    response = submit_change(
        editor_client, providers["fast"], desired_state="unhealthy"
    )

    assert "Status: Select a valid choice" in get_text(response)


def test_saving_priority_does_not_cancel_draining(editor_client):
    """Another user started draining after the form was loaded."""
    registration = create_registration("Fast")
    stale = CapabilityRegistration.objects.get(pk=registration.pk)
    service.unregister(registration, drain=True)
    page = editor_client.get(CAPABILITY_URL).content.decode()
    assert '<option value="draining" selected>' in page
    stale.desired_state = DesiredState.DRAINING
    submit_change(editor_client, stale, priority=9)

    registration.refresh_from_db()
    assert (registration.priority, registration.desired_state) == (9, "draining")
    assert registration.drain_until is not None


def test_update_of_drained_registration_shows_error(editor_client):
    drained = create_registration("Gone", drain_until=timezone.now())

    response = submit_change(editor_client, drained)
    assert response.redirect_chain[-1][0] == INDEX_URL
    assert "This registration no longer exists." in response.content.decode()
    assert editor_client.get(f"/registry/{drained.pk}/change").status_code == 302


@pytest.mark.usefixtures("providers")
def test_registry_path_with_nul_returns_404_or_redirects(editor_client):
    assert editor_client.get("/registry/find-it%00").status_code == 404
    assert editor_client.post("/registry/%00/change").status_code == 302


def test_load_is_rounded_to_two_digits(viewer_client):
    registration = create_registration("Third", load=1 / 3)

    assert get_rows(viewer_client.get(INDEX_URL))[0][3] == "0.33", registration


def test_update_as_viewer_returns_403(viewer_client, editor_client, providers):
    assert b"/change" in editor_client.get(CAPABILITY_URL).content
    assert b"/change" not in viewer_client.get(CAPABILITY_URL).content
    assert (
        submit_change(viewer_client, providers["fast"], priority=1).status_code == 403
    )
    providers["fast"].refresh_from_db()
    assert providers["fast"].priority == 100


def test_anonymous_request_redirects_to_login(client, providers):
    for url in (INDEX_URL, CAPABILITY_URL):
        response = client.get(url)
        assert (response.status_code, response["Location"]) == (
            302,
            f"/login?next={url}",
        )
    response = client.post(f"/registry/{providers['fast'].pk}/change", {})
    assert response.status_code == 302


def test_registry_page_for_user_without_role_returns_403(
    session_client_for_role, providers
):
    client = session_client_for_role()
    for url in (INDEX_URL, CAPABILITY_URL):
        assert client.get(url).status_code == 403


def test_anonymous_read_setting_does_not_allow_updates(client, settings, providers):
    settings.AGENTLENS_ANONYMOUS_READ = True
    assert "Fast" in get_text(client.get(CAPABILITY_URL))
    assert "Save" not in get_text(client.get(CAPABILITY_URL))
    assert (
        submit_change(client, providers["fast"])
        .redirect_chain[0][0]
        .startswith("/login")
    )


def test_update_without_csrf_token_returns_403(providers):
    client = Client(enforce_csrf_checks=True)
    client.force_login(UserFactory(role="Editor"))

    assert submit_change(client, providers["fast"], priority=1).status_code == 403


def test_hostile_text_is_escaped(editor_client):
    registration = create_registration(
        HOSTILE, version=HOSTILE, metadata={HOSTILE: HOSTILE}
    )
    query = {"metadata": HOSTILE, "version": HOSTILE, "strategy": HOSTILE}
    for response in (
        editor_client.get(INDEX_URL),
        editor_client.get(INDEX_URL, {"q": HOSTILE}),
        editor_client.get(CAPABILITY_URL),
        editor_client.get(CAPABILITY_URL, query),
        submit_change(editor_client, registration, priority=1),
        submit_change(editor_client, registration, priority=HOSTILE),
    ):
        assert b"<script>alert" not in response.content


def test_page_varies_on_cookie(viewer_client, providers):
    assert "Cookie" in viewer_client.get(CAPABILITY_URL)["Vary"]


@pytest.mark.parametrize(
    ("role", "url", "expected"),
    [
        # The number of capabilities, their names, and their providers.
        ("Viewer", INDEX_URL, 3),
        ("Viewer", f"{INDEX_URL}?q=a", 3),
        # The providers, and a second query for the forms of an editor.
        ("Viewer", CAPABILITY_URL, 1),
        ("Viewer", f"{CAPABILITY_URL}?strategy=least_loaded", 1),
        ("Editor", CAPABILITY_URL, 2),
    ],
)
def test_registry_page_query_count_is_independent_of_number_of_providers(
    session_client_for_role, role, url, expected
):
    client, counts = session_client_for_role(role), []
    for count in (2, 20):
        for n in range(count):
            registration = create_registration("Agent")
            registration.request_seconds.create(second=int(time.time()), total=1)
            RegistrationFactory(entry=registration.entry, capability=f"a-task-{n}")
        counts.append(count_queries(client, url))

    assert counts == [expected, expected]
