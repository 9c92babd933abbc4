import pytest

from capabilities.placeholders import find_name_template_error, find_url_template_error


@pytest.mark.parametrize(
    "name",
    [
        "<<McpRepositoryName>>",
        "{{NAME}}",
        "{{ cookiecutter.name }}",
        "${NAME}",
        "io.github.me/${SERVER_NAME}",
        "<AGENT_NAME>",
        "<Name>",
        "<your agent name>",
        "Agent of <YOUR_ORG>",
        "Agent of <your company>",
    ],
)
def test_unfilled_template_in_name_is_found(name):
    assert "unfilled template" in find_name_template_error(name)


@pytest.mark.parametrize(
    "name",
    [
        "C<T> helper",
        "List<String> tools",
        "Vec<URL>",
        "Map<KEY, VALUE> viewer",
        "a < b and c > d",
        "cout << x >> y",
        "Bold <b>agent</b>",
        "{{ 7 * 7 }}",
        "{single} braces",
        "Costs $5 {net}",
        "I <3 agents",
    ],
)
def test_ordinary_name_has_no_template(name):
    assert find_name_template_error(name) == ""


@pytest.mark.parametrize(
    "url",
    [
        "https://<LOOKER_URL>/mcp",
        "https://api.example.com/<project>/mcp",
        "https://{{HOST}}/mcp",
        "https://api.example.com/${TENANT}/mcp",
        "https://<<host>>/mcp",
    ],
)
def test_unfilled_template_in_url_is_found(url):
    assert "unfilled template" in find_url_template_error(url)


@pytest.mark.parametrize(
    "url", ["https://{tenant}.example.com/mcp", "https://a.example/?q=$x&y={z}"]
)
def test_variable_in_single_braces_is_no_template(url):
    assert find_url_template_error(url) == ""
