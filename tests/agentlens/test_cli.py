import ipaddress
import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from django.db import connection
from rest_framework.test import APIClient

from agentlens.cli import main
from catalog.ingestion.curation import curate
from catalog.models import (
    AgentType,
    Capability,
    CatalogEntry,
    SearchRow,
    Source,
    Status,
)
from catalog.registration.service import register
from tests import mcp_servers
from tests.factories import UserFactory, card_bytes, skill
from tests.servers import LOOPBACK, reply, serving

CONFIG = Path(__file__).parents[1] / "data/config"
pytestmark = pytest.mark.django_db


def run(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "good.json").write_bytes(card_bytes())
    (tmp_path / "deeper").mkdir()
    (tmp_path / "deeper" / "bad.json").write_text('{"name": "no card"}')
    (tmp_path / "notes.txt").write_text("not looked at")
    return tmp_path


def test_importing_a_folder_tells_what_was_new_and_what_was_refused(folder):
    result = run("import", folder)

    assert result.exit_code == 1
    assert "1 new, 0 updated, 0 unchanged, 1 refused" in result.stdout
    assert "bad.json: $ is not a definition of a known protocol" in result.stderr
    assert CatalogEntry.objects.get().source == Source.IMPORT


def test_a_folder_of_configuration_agents_is_imported(tmp_path):
    (tmp_path / "analyzer.yaml").write_text("name: A\ncapabilities: [a]\n")
    (tmp_path / "analyst.yml").write_text("---\nname: B\ncapabilities: [a]\n---\n")
    for name in ("data_analyzer.md", "translator.md", "reporter.toml"):
        (tmp_path / name).write_bytes((CONFIG / name).read_bytes())
    (tmp_path / "README.md").write_text("# What all these can do: capabilities\n")
    (tmp_path / "post.md").write_text("---\ntitle: On agents\n---\ncapabilities\n")
    result = run("import", tmp_path)

    assert (result.exit_code, result.stderr) == (0, "")
    assert "5 new, 0 updated, 0 unchanged, 0 refused" in result.stdout
    assert set(CatalogEntry.objects.values_list("source", "status")) == {
        (Source.CONFIG, Status.ACTIVE)
    }


def test_what_declares_no_agent_is_refused_by_its_line_and_path(tmp_path):
    (tmp_path / "faulty.md").write_text("---\nname: [\ncapabilities: [a]\n---\n")
    (tmp_path / "compose.yaml").write_text("services: {}\n")
    (tmp_path / "nameless.toml").write_text('name = ""\ncapabilities = ["a"]\n')
    result = run("import", tmp_path)

    assert result.exit_code == 1
    assert "0 new, 0 updated, 0 unchanged, 3 refused" in result.stdout
    assert "faulty.md: $ is not YAML: " in result.stderr
    assert "compose.yaml: $ is not a definition of a known protocol" in result.stderr
    assert "nameless.toml: $.name must be a non-empty string" in result.stderr


def test_markdown_asked_for_by_name_is_not_passed_over(tmp_path):
    (tmp_path / "README.md").write_text("# Capabilities\n")
    result = run("import", tmp_path / "README.md")

    assert result.exit_code == 1
    assert "README.md: $ is not JSON" in result.stderr


def test_a_configuration_agent_is_exported_as_it_was(tmp_path):
    raw = (CONFIG / "translator.md").read_bytes()
    register(raw)
    run("export", "--output", tmp_path / "all.jsonl")
    CatalogEntry.objects.all().delete()
    run("import", tmp_path / "all.jsonl")

    entry = CatalogEntry.objects.get()
    assert (entry.source, entry.agent_type.definition) == (Source.CONFIG, raw)


def test_importing_again_is_unchanged_and_well(folder):
    run("import", folder / "good.json")
    result = run("import", folder / "good.json")

    assert result.exit_code == 0
    assert "0 new, 0 updated, 1 unchanged, 0 refused" in result.stdout


def test_a_missing_file_and_a_private_url_are_refused_in_words():
    result = run("import", "/nowhere.json", "http://127.0.0.1:1/")

    assert result.exit_code == 1
    assert "/nowhere.json: No such file or directory" in result.stderr
    assert "127.0.0.1 is not at a public address" in result.stderr


def test_an_unknown_protocol_is_a_usage_error(folder):
    result = run("import", folder, "--protocol", "carrier-pigeon")

    assert result.exit_code == 2
    assert "must be one of: a2a, mcp" in result.stderr


def test_an_export_is_importable_again_with_versions_and_curation(tmp_path):
    register(card_bytes(version="1.0.0"))
    entry = register(card_bytes(version="2.0.0")).entry
    words = {"display_name": "Ours", "categories": ["x"], "status": Status.DEPRECATED}
    curate(entry, words, by=UserFactory())
    path = tmp_path / "catalog.jsonl"
    run("export", "--output", path)
    CatalogEntry.objects.all().delete()
    result = run("import", path)

    assert "1 new" in result.stdout
    entry = CatalogEntry.objects.get()
    assert (entry.display_name, entry.categories) == ("Ours", ["x"])
    assert (entry.status, entry.agent_type.version) == (Status.DEPRECATED, "2.0.0")
    assert AgentType.objects.count() == 2


def test_what_an_export_brings_back_to_life_is_probed_again(tmp_path):
    entry = register(card_bytes()).entry
    path = tmp_path / "catalog.jsonl"
    run("export", "--output", path)
    curate(entry, {"status": Status.DEPRECATED}, by=UserFactory())
    run("import", path)

    entry.refresh_from_db()
    assert entry.status == Status.UNKNOWN
    assert entry.next_probe_at is not None


def test_an_export_goes_to_stdout_line_by_line():
    register(card_bytes())
    lines = run("export").stdout.splitlines()

    assert json.loads(lines[0])["definitions"] == [card_bytes().decode()]


@pytest.mark.parametrize("line", ["[]", "{}", "nonsense", '{"format": "other/1"}'])
def test_a_line_that_is_no_export_is_refused(tmp_path, line):
    (tmp_path / "x.jsonl").write_text(line)
    result = run("import", tmp_path / "x.jsonl")

    assert result.exit_code == 1
    assert "x.jsonl:1: is not a line of an AgentLens export" in result.stderr


def test_a_token_is_alone_on_the_last_line_and_works():
    UserFactory(username="ada", role="Viewer")
    secret = run("token", "create", "ada", "--expires", "1h").stdout.splitlines()[-1]
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {secret}")

    assert client.get("/api/v1/catalog").status_code == 200


def test_a_token_for_nobody_or_for_no_time_is_an_error():
    UserFactory(username="ada")

    assert "There is no user 'bob'" in run("token", "create", "bob").stderr
    wrong = run("token", "create", "ada", "--expires", "soon")
    assert "must be like 30d, 12h, or never" in wrong.stderr


def test_the_demo_comes_only_once_by_itself_and_goes_again():
    assert "50 demo agents loaded" in run("demo", "--first-start").stdout
    UserFactory()
    assert run("demo", "--first-start").stdout == ""
    assert "50 demo agents removed" in run("demo", "--remove").stdout
    assert not CatalogEntry.objects.exists()


def test_reindexing_mends_the_search():
    entry = register(card_bytes()).entry
    curate(entry, {"status": Status.ACTIVE}, by=UserFactory())
    entry.text.delete()
    SearchRow.objects.filter(kind="a2a.skill").delete()
    SearchRow.objects.update(text="damaged")
    assert "1 entries indexed" in run("reindex").stdout

    entry.refresh_from_db()
    assert "translator" in entry.text.text
    assert run("search", "translate").stdout.count("Translate text") == 1
    assert not SearchRow.objects.filter(text="damaged").exists()


@pytest.mark.skipif(connection.vendor != "sqlite", reason="SQLite's own")
def test_reindexing_makes_a_lost_text_index_again():
    curate(register(card_bytes()).entry, {"status": "active"}, by=UserFactory())
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE search_fts")
    assert run("reindex").exit_code == 0

    assert "Translate text" in run("search", "translate").stdout


@pytest.fixture
def offers():
    """Two agents, of which one was only begun."""
    skills = [skill("Translate text"), skill("日本語 / two\nlines", tags=["CJK"])]
    active = register(card_bytes(skills=skills)).entry
    curate(active, {"status": Status.ACTIVE}, by=UserFactory())
    register(card_bytes(url="https://unknown.example/a2a", name="Unknown"))


def test_a_search_is_an_aligned_table_and_tells_how_much_there_is(offers):
    result = run("search")

    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "Capability          Kind       Agent       Protocol  Status  Provider",
        "Translate text      a2a.skill  Translator  a2a       active  Acme",
        "日本語 / two lines  a2a.skill  Translator  a2a       active  Acme",
    ]
    assert result.stderr == "2 of 2 capabilities\n"


def test_a_search_asks_what_the_page_asks(offers):
    assert "日本語" in run("search", "cjk LINES").stdout
    assert run("search", '"lines two"').stdout == ""
    assert run("search", "text", "--kind", "mcp.tool").stdout == ""
    by_agent = run("search", "--sort", "agentName_asc", "--limit", "1")
    assert by_agent.stderr == "1 of 2 capabilities\n"


def test_a_search_as_json_is_what_the_api_answers(offers, viewer):
    lines = run("search", "--json").stdout.splitlines()

    items = viewer.get("/api/v1/capabilities").json()["items"]
    assert [json.loads(line) for line in lines] == items


def test_nothing_found_is_said_and_is_no_failure():
    result = run("search", "nothing says this")

    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "0 of 0 capabilities\n"


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["--kind", "a2a.interface"], "--kind"),
        (["--sort", "upwards"], "--sort"),
        (["x" * 1001], "QUERY"),
        (["--limit", "0"], "--limit"),
    ],
)
def test_a_search_that_makes_no_sense_is_a_usage_error(arguments, hint):
    result = run("search", *arguments)

    assert result.exit_code == 2
    assert hint in result.stderr


def test_the_help_tells_of_searching_and_reindexing():
    told = run("--help").stdout

    assert "Find capabilities of reachable agents" in told
    assert "Rebuild the search index" in told
    assert "keep a phrase" in " ".join(run("search", "--help").stdout.split())


def test_manage_hands_over_to_django():
    assert run("manage", "check", "--help").exit_code == 0


@pytest.fixture
def vault(settings):
    """An MCP server that tells its tools to those who know the word, and its card."""
    settings.AGENTLENS_ALLOWED_NETWORKS = LOOPBACK
    with serving() as server:
        remotes = [{"type": "streamable-http", "url": server.url("/mcp")}]
        card = {"name": "vault", "version": "1", "remotes": remotes}
        server.routes["/.well-known/mcp.json"] = reply(body=json.dumps(card).encode())
        server.routes["/mcp"] = mcp_servers.gated
        yield server


def test_a_running_server_is_imported_and_what_is_missing_is_told(vault):
    result = run("import", vault.url("/mcp"))

    assert (result.exit_code, CatalogEntry.objects.count()) == (0, 1)
    assert result.stderr == (
        f"{vault.url('/mcp')}: warning: the server requires authorization:"
        " only its card was read\n"
    )


def test_with_the_word_nothing_is_missing(vault):
    word = ("--authorization", "Bearer sesame")
    result = run("import", vault.url("/mcp"), *word)

    assert (result.exit_code, result.stderr) == (0, "")
    assert Capability.objects.filter(kind="mcp.tool", name="dig").exists()


def test_a_word_for_one_server_is_not_told_to_several(vault):
    word = ("--authorization", "Bearer sesame")
    result = run("import", vault.url("/mcp"), vault.url("/other"), *word)

    assert result.exit_code == 2
    assert vault.requests == []
    assert run("import", vault.url("/mcp"), "--authorization", "ä").exit_code == 2


def test_an_ag_ui_file_is_told_where_its_agent_is(tmp_path):
    path = tmp_path / "painter.json"
    path.write_text('{"transport": {"streaming": true}}')
    result = run("import", path, "--endpoint", "https://a.example/agent")

    assert result.exit_code == 0, result.stderr
    endpoint = CatalogEntry.objects.get().agent_type.endpoint
    assert endpoint == "https://a.example/agent"
    assert run("import", tmp_path, "--endpoint", "https://a.example").exit_code == 2


def test_an_ag_ui_agent_may_declare_elsewhere(settings):
    settings.AGENTLENS_ALLOWED_NETWORKS = LOOPBACK
    with serving() as server:
        server.routes["/meta"] = reply(body=b'{"identity": {"name": "Painter"}}')
        place = ("--capabilities-url", server.url("/meta"), "--protocol", "agui")
        result = run("import", server.url("/agent"), *place)

    assert result.exit_code == 0, result.stderr
    assert CatalogEntry.objects.get().agent_type.endpoint == server.url("/agent")


def test_what_is_odd_is_counted_and_told_when_asked(tmp_path):
    (tmp_path / "odd.json").write_bytes(card_bytes(oddity=1))
    quiet = run("import", tmp_path)
    told = run("import", tmp_path, "--warnings")

    assert "1 new, 0 updated, 0 unchanged, 0 refused; 1 warnings" in quiet.stdout
    assert quiet.stderr == ""
    assert "odd.json: warning: $.oddity unknown member" in told.stderr


def test_importing_a_url_goes_through_the_guarded_fetch(settings):
    settings.AGENTLENS_ALLOWED_NETWORKS = [ipaddress.ip_network("127.0.0.0/8")]
    result = run("import", "http://127.0.0.1:1/card.json")

    assert "Could not fetch from 127.0.0.1" in result.stderr


def test_a_kind_that_there_is_not_is_told_with_those_there_are():
    result = run("search", "--kind", "nope")

    assert result.exit_code == 2
    assert "nope is not one of: a2a.skill, " in result.output


def test_what_is_no_web_address_is_refused_as_one():
    result = run("import", "ftp://agents.example/card.json")

    assert result.exit_code == 1
    assert "must be an http or https URL" in result.output


def test_that_there_is_nothing_to_import_is_said(tmp_path):
    result = run("import", tmp_path)

    assert result.exit_code == 0
    assert "There is nothing to import there." in result.output
