import asyncio

import pytest

from catalog.health.probe import ProbeTarget, run_probe
from tests.factories import card_bytes
from tests.servers import (
    create_certificate,
    gzip_reply,
    never_respond,
    redirect,
    reply,
    run_server,
    send_endless_body,
    send_gzip_bomb,
    send_partial_body,
    send_slow_body,
)

CARD, OLDER_CARD = "/.well-known/agent-card.json", "/.well-known/agent.json"
PAGE = b"<!DOCTYPE html><title>This domain is for sale</title>"
HTML_PAGE = reply(body=PAGE, content_type="text/html; charset=utf-8")


pytestmark = pytest.mark.usefixtures("allow_one_address")


def probe(protocol, endpoint, definition_url="", **options):
    target = ProbeTarget(protocol, endpoint, definition_url, **options)
    return asyncio.run(run_probe(target))


@pytest.mark.parametrize("status", [200, 203, 401, 403, 405, 406, 429])
def test_probe_succeeds_if_status_shows_a_running_agent(server, status):
    body = card_bytes() if status < 300 else b""
    server.routes[CARD] = reply(status=status, body=body)
    outcome = probe("a2a", server.url("/a2a"))

    assert outcome.ok
    assert outcome.latency_ms >= 0


@pytest.mark.parametrize("status", [400, 404, 410, 500, 502, 503])
def test_probe_fails_with_any_other_status(server, status):
    server.routes[CARD] = server.routes[OLDER_CARD] = reply(status=status)
    outcome = probe("a2a", server.url("/a2a"))

    assert outcome.error == f"HTTP {status}"


def test_connection_dns_and_tls_errors_have_readable_messages(tmp_path):
    with run_server() as server:
        closed_url = server.url("/a2a")
    unknown_host_url = "https://nowhere.invalid/a2a"

    assert probe("a2a", closed_url).error == (
        "The connection was refused or the host is unreachable"
    )
    assert probe("a2a", unknown_host_url).error == "DNS lookup failed"
    with run_server(
        tls=create_certificate("agent.example", tmp_path / "tls.pem")
    ) as server:
        untrusted = probe("a2a", server.url("/a2a"))
    assert untrusted.error == "TLS handshake or certificate verification failed"


def test_card_is_requested_from_its_definition_url(server):
    server.routes["/cards/one.json"] = reply(body=card_bytes())
    outcome = probe("a2a", "https://nowhere.example", server.url("/cards/one.json"))

    assert outcome.ok


def test_card_at_older_well_known_path_is_found(server):
    server.routes[OLDER_CARD] = reply(body=card_bytes())
    outcome = probe("a2a", server.url("/a2a"))

    assert outcome.ok
    assert server.paths == [CARD, OLDER_CARD]
    assert outcome.probe_method == OLDER_CARD


def test_remembered_well_known_path_is_requested_first(server):
    server.routes[OLDER_CARD] = reply(body=card_bytes())

    assert probe("a2a", server.url("/a2a"), probe_method=OLDER_CARD).ok
    assert server.paths == [OLDER_CARD]


@pytest.mark.parametrize(
    ("response", "error"),
    [
        (HTML_PAGE, "Answered 200 with HTML"),
        (reply(body=PAGE), "Answered 200 with HTML"),
        (reply(), "Answered 200 with an empty body"),
        (reply(204), "Answered 204 with an empty body"),
        (reply(body=b"{}"), "Answered 200 with JSON that is not an agent card"),
        (reply(body=b"[1]"), "Answered 200 with JSON that is not an agent card"),
        (reply(body=b"up"), "Answered 200 with a body that is not an agent card"),
        (
            reply(body=b"[" * 100_000),
            "Answered 200 with a body that is not an agent card",
        ),
    ],
)
def test_card_url_that_serves_something_else_fails_t4(server, response, error):
    server.routes[CARD] = server.routes[OLDER_CARD] = response

    assert probe("a2a", server.url("/a2a")).error == error


def test_compressed_card_of_nearly_a_megabyte_is_read(server):
    server.routes[CARD] = gzip_reply(card_bytes(x="é" * 170_000))

    assert probe("a2a", server.url("/a2a")).ok


@pytest.mark.parametrize("route", [send_endless_body, send_gzip_bomb])
def test_body_over_size_limit_fails(server, route):
    server.routes[CARD] = server.routes[OLDER_CARD] = route
    outcome = probe("a2a", server.url("/a2a"))

    assert "is larger than 1048576 bytes" in outcome.error


@pytest.mark.parametrize("route", [send_slow_body, send_partial_body])
def test_body_that_does_not_arrive_in_time_fails(server, settings, route):
    settings.AGENTLENS_PROBE_TIMEOUT = 0.3
    server.routes[CARD] = route

    assert probe("a2a", server.url("/a2a")).error == "Timed out after 0.3 s"


def test_health_url_accepts_any_2xx_without_reading_the_body(server):
    server.routes["/health"] = send_endless_body
    target = ProbeTarget("a2a", "", health_url=server.url("/health"))

    assert asyncio.run(run_probe(target)).ok


@pytest.mark.parametrize(
    ("declaration", "endpoint", "error"),
    [
        (reply(body=b"{}"), reply(500), ""),
        (HTML_PAGE, HTML_PAGE, "Answered 200 with HTML"),
        (
            reply(body=b"[]"),
            reply(),
            "Answered 200 with JSON that is not a JSON object",
        ),
        (reply(404), reply(), ""),
        (reply(404), reply(405), ""),
        (reply(404), HTML_PAGE, "Answered 200 with HTML"),
        (reply(404), reply(404), "HTTP 404"),
        (reply(500), reply(405), "HTTP 500"),
        (b"no HTTP", reply(), "The response is not valid HTTP"),
    ],
)
def test_ag_ui_endpoint_is_probed_only_without_declaration(
    server, declaration, endpoint, error
):
    server.routes |= {"/agent/capabilities": declaration, "/agent": endpoint}

    assert probe("agui", server.url("/agent")).error == error


def test_server_error_is_reported_instead_of_404(server):
    server.routes[CARD] = reply(503)

    assert probe("a2a", server.url("/a2a")).error == "HTTP 503"


def test_target_host_is_host_of_first_health_request():
    target = ProbeTarget(
        "a2a", "https://agents.example/a", "https://cards.example/a.json"
    )

    assert target.host == "cards.example"
    assert ProbeTarget("mcp", "https://agents.example/a").host == "agents.example"


def test_redirect_to_private_address_is_not_followed(server):
    server.routes[CARD] = redirect("http://127.0.0.2:1/")
    server.routes[OLDER_CARD] = redirect("http://127.0.0.2:1/")

    assert "is not a public host" in probe("a2a", server.url("/a2a")).error


def test_missing_response_is_reported_as_timeout(server, settings):
    settings.AGENTLENS_PROBE_TIMEOUT = 0.2
    server.routes[CARD] = never_respond

    assert probe("a2a", server.url("/a2a")).error == "Timed out after 0.2 s"


def test_closed_port_is_reported_as_connection_rejected():
    outcome = probe("a2a", "http://127.0.0.1:1/a2a")

    assert outcome.error == "The connection was refused or the host is unreachable"
