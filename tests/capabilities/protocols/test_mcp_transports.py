import pytest

from .mcp_reading import card, errors, features, read, sample, warnings


def endpoint(document):
    return read(document).record.endpoint


def test_streamable_http_is_preferred_among_the_remotes():
    assert endpoint(sample("server")) == "https://harbour.example/mcp"


def test_the_first_remote_counts_when_none_is_streamable():
    remotes = [
        {"type": "sse", "url": "https://a.example/sse"},
        {"type": "sse", "url": "https://b.example/sse"},
    ]

    assert endpoint({"name": "x", "remotes": remotes}) == "https://a.example/sse"


def test_the_places_of_an_address_have_an_order():
    document = {
        "remotes": [{"type": "sse", "url": "https://1.example"}],
        "transport": {"endpoint": "https://2.example", "url": "https://3.example"},
        "serverUrl": "https://4.example",
        "url": "https://5.example",
        "endpoint": "https://6.example",
        "packages": [{"transport": {"type": "sse", "url": "https://7.example"}}],
    }
    found = []
    while document:
        found.append(endpoint(document))
        if found[-1] == "https://2.example":
            del document["transport"]["endpoint"]
        else:
            del document[next(iter(document))]

    assert found == [f"https://{n}.example" for n in range(1, 8)]


def test_without_an_address_the_name_is_the_endpoint():
    assert endpoint({"name": "desk", "tools": []}) == "mcp:desk"
    assert endpoint({"serverInfo": {"name": "desk"}}) == "mcp:desk"
    assert endpoint({"name": "desk", "title": "Desk", "url": ""}) == "mcp:desk"


@pytest.mark.parametrize(
    "document",
    [
        {"tools": []},
        {"name": " "},
        {"name": 5},
        {"title": "Desk"},
        {"serverInfo": {"version": "1"}},
        {"remotes": []},
    ],
)
def test_without_an_address_a_name_is_needed(document):
    assert errors(document) == ["$.name"]


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "/mcp", "desk.example", "ftp://desk.example", 5, []]
)
def test_an_unfit_address_is_passed_over_for_a_fit_one(url):
    document = card(serverUrl=url)

    assert endpoint(document) == "https://desk.example/mcp"
    assert warnings(document) == ["$.serverUrl"]


@pytest.mark.parametrize(
    ("members", "path"),
    [
        ({"url": "javascript:alert(1)"}, "$.url"),
        ({"url": 5}, "$.url"),
        ({"endpoint": "/mcp"}, "$.endpoint"),
        ({"serverUrl": "https://"}, "$.serverUrl"),
        ({"transport": {"endpoint": "/mcp"}}, "$.transport.endpoint"),
        ({"transport": {"url": "javascript:{x}"}}, "$.transport.url"),
        ({"remotes": [{"type": "sse"}]}, "$.remotes[0].url"),
        ({"remotes": [{"type": "sse", "url": "ws://a.example"}]}, "$.remotes[0].url"),
        ({"remotes": {"url": "https://a.example"}}, "$.remotes"),
        ({"remotes": ["https://a.example"]}, "$.remotes[0]"),
        (
            {"packages": [{"transport": {"type": "sse", "url": "file:///x"}}]},
            "$.packages[0].transport.url",
        ),
    ],
)
def test_addresses_that_are_all_unfit_are_errors_and_the_name_does_not_do(
    members, path
):
    assert errors({"name": "desk", **members}) == [path]


@pytest.mark.parametrize(
    "url",
    [
        "{base}/mcp",
        "https://{host}/mcp",
        "https://{a}.{b}:80/mcp",
        "http://a.example:{port}",
    ],
)
def test_an_address_left_open_is_a_warning_and_the_name_does(url):
    document = {"name": "desk", "remotes": [{"type": "sse", "url": url}]}

    assert endpoint(document) == "mcp:desk"
    assert errors(document) == []
    assert warnings(document) == ["$.remotes[0].url"]


@pytest.mark.parametrize(
    "url", ["https://{tenant}.desk.example/mcp", "http://intranet/{tenant}/mcp"]
)
def test_an_address_with_variables_elsewhere_is_an_endpoint(url):
    document = {"remotes": [{"type": "sse", "url": url}]}

    assert endpoint(document) == url
    assert warnings(document) == ["$.remotes[0].url"]


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost:3000/mcp",
        "http://127.0.0.1/mcp",
        "http://[::1]:80/mcp",
        "http://0.0.0.0:8000",
        "http://localhost:{port}/mcp",
    ],
)
def test_packages_that_all_listen_at_home_do_not_share_an_endpoint(url):
    package = {"registryType": "oci", "transport": {"type": "sse", "url": url}}
    document = {"name": "desk", "packages": [package]}

    assert endpoint(document) == "mcp:desk"
    assert warnings(document) == ["$.packages[0].transport.url"]


@pytest.mark.parametrize(
    "transport", ["http", ["sse", {"type": "http"}], {"type": "http"}]
)
def test_a_transport_may_be_told_by_its_type_alone(transport):
    document = card(transport=transport)

    assert warnings(document) == []
    assert "http" in features(document)["mcp.transports"]


def test_packages_and_transports_of_other_types_are_ignored_with_a_warning():
    assert warnings(card(packages={"npm": "x"}, transport=7)) == [
        "$.transport",
        "$.packages",
    ]
