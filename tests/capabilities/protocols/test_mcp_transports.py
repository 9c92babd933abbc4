import pytest

from .mcp_documents import (
    build_server,
    get_error_paths,
    get_features,
    get_warning_paths,
    load_sample,
    parse_document,
)


def get_endpoint(document):
    return parse_document(document).record.endpoint


def test_endpoint_prefers_streamable_http_remote():
    assert get_endpoint(load_sample("server")) == "https://harbour.example/mcp"


def test_endpoint_is_first_remote_without_streamable_http():
    remotes = [
        {"type": "sse", "url": "https://a.example/sse"},
        {"type": "sse", "url": "https://b.example/sse"},
    ]

    assert get_endpoint({"name": "x", "remotes": remotes}) == "https://a.example/sse"


def test_endpoint_members_are_tried_in_order():
    document = {
        "remotes": [{"type": "sse", "url": "https://1.example"}],
        "transport": {"endpoint": "https://2.example", "url": "https://3.example"},
        "serverUrl": "https://4.example",
        "url": "https://5.example",
        "endpoint": "https://6.example",
        "packages": [{"transport": {"type": "sse", "url": "https://7.example"}}],
    }
    endpoints = []
    while document:
        endpoints.append(get_endpoint(document))
        if endpoints[-1] == "https://2.example":
            del document["transport"]["endpoint"]
        else:
            del document[next(iter(document))]

    assert endpoints == [f"https://{n}.example" for n in range(1, 8)]


def test_mcp_endpoint_without_url_is_made_from_name():
    assert get_endpoint({"name": "desk", "tools": []}) == "mcp:desk"
    assert get_endpoint({"serverInfo": {"name": "desk"}}) == "mcp:desk"
    assert get_endpoint({"name": "desk", "title": "Desk", "url": ""}) == "mcp:desk"


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
def test_name_is_required_without_url(document):
    assert get_error_paths(document) == ["$.name"]


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "/mcp", "desk.example", "ftp://desk.example", 5, []]
)
def test_invalid_url_is_skipped_if_another_is_valid(url):
    document = build_server(serverUrl=url)

    assert get_endpoint(document) == "https://desk.example/mcp"
    assert get_warning_paths(document) == ["$.serverUrl"]


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
def test_invalid_urls_are_errors_despite_a_name(members, path):
    assert get_error_paths({"name": "desk", **members}) == [path]


@pytest.mark.parametrize(
    "url",
    [
        "{base}/mcp",
        "https://{host}/mcp",
        "https://{a}.{b}:80/mcp",
        "http://a.example:{port}",
    ],
)
def test_url_template_without_host_is_a_warning(url):
    document = {"name": "desk", "remotes": [{"type": "sse", "url": url}]}

    assert get_endpoint(document) == "mcp:desk"
    assert get_error_paths(document) == []
    assert get_warning_paths(document) == ["$.remotes[0].url"]


@pytest.mark.parametrize(
    "url", ["https://{tenant}.desk.example/mcp", "http://intranet/{tenant}/mcp"]
)
def test_url_with_variables_and_fixed_host_is_an_endpoint(url):
    document = {"remotes": [{"type": "sse", "url": url}]}

    assert get_endpoint(document) == url
    assert get_warning_paths(document) == ["$.remotes[0].url"]


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
def test_loopback_url_of_package_is_not_an_endpoint(url):
    package = {"registryType": "oci", "transport": {"type": "sse", "url": url}}
    document = {"name": "desk", "packages": [package]}

    assert get_endpoint(document) == "mcp:desk"
    assert get_warning_paths(document)[0] == "$.packages[0].transport.url"


@pytest.mark.parametrize(
    "transport", ["http", ["sse", {"type": "http"}], {"type": "http"}]
)
def test_transport_given_only_as_type_becomes_a_feature(transport):
    document = build_server(transport=transport)

    assert get_warning_paths(document) == []
    assert "http" in get_features(document)["mcp.transports"]


def test_invalid_packages_and_transport_are_ignored_with_warnings():
    assert get_warning_paths(build_server(packages={"npm": "x"}, transport=7)) == [
        "$.transport",
        "$.packages",
    ]
