import ipaddress
import json

import pytest
from django.db import connection
from rest_framework.test import APIClient

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
from tests.agentlens.cli import CONFIG_SAMPLES, run_cli
from tests.factories import UserFactory, card_bytes, skill
from tests.servers import LOOPBACK, reply, run_server

pytestmark = pytest.mark.django_db


@pytest.fixture
def folder(tmp_path):
    """Return a folder with a valid card, an invalid one and an unrelated file."""
    (tmp_path / "good.json").write_bytes(card_bytes())
    (tmp_path / "deeper").mkdir()
    (tmp_path / "deeper" / "bad.json").write_text('{"name": "no card"}')
    (tmp_path / "notes.txt").write_text("ignored")
    return tmp_path


def test_import_folder_reports_new_and_rejected_definitions(folder):
    result = run_cli("import", folder)

    assert result.exit_code == 1
    assert "1 new, 0 updated, 0 unchanged, 1 rejected" in result.stdout
    assert "bad.json: $ is not a definition of a supported protocol" in result.stderr
    assert CatalogEntry.objects.get().source == Source.IMPORT


def test_import_folder_accepts_configuration_agents(tmp_path):
    (tmp_path / "analyzer.yaml").write_text("name: A\ncapabilities: [a]\n")
    (tmp_path / "analyst.yml").write_text("---\nname: B\ncapabilities: [a]\n---\n")
    for name in ("data_analyzer.md", "translator.md", "reporter.toml"):
        (tmp_path / name).write_bytes((CONFIG_SAMPLES / name).read_bytes())
    (tmp_path / "README.md").write_text("# Capabilities of these agents\n")
    (tmp_path / "post.md").write_text("---\ntitle: About agents\n---\ncapabilities\n")
    result = run_cli("import", tmp_path)

    assert result.exit_code == 0
    reason = "Markdown whose front matter has no `capabilities`"
    assert result.stderr.splitlines() == [
        f"Skipped 1 (Markdown without front matter): {tmp_path / 'README.md'}",
        f"Skipped 1 ({reason}): {tmp_path / 'post.md'}",
    ]
    assert "5 new, 0 updated, 0 unchanged, 0 rejected" in result.stdout
    assert set(CatalogEntry.objects.values_list("source", "status")) == {
        (Source.CONFIG, Status.ACTIVE)
    }


def test_import_invalid_files_reports_file_and_path(tmp_path):
    (tmp_path / "invalid.md").write_text("---\nname: [\ncapabilities: [a]\n---\n")
    (tmp_path / "compose.yaml").write_text("services: {}\n")
    (tmp_path / "nameless.toml").write_text('name = ""\ncapabilities = ["a"]\n')
    result = run_cli("import", tmp_path)

    assert result.exit_code == 1
    assert "0 new, 0 updated, 0 unchanged, 3 rejected" in result.stdout
    assert "invalid.md: $ cannot be read as YAML: " in result.stderr
    assert (
        "compose.yaml: $ is not a definition of a supported protocol" in result.stderr
    )
    assert "nameless.toml: $.name must be a non-empty string" in result.stderr


def test_import_of_markdown_file_without_front_matter_fails(tmp_path):
    (tmp_path / "README.md").write_text("# Capabilities\n")
    result = run_cli("import", tmp_path / "README.md")

    assert result.exit_code == 1
    assert "README.md: $ is not JSON" in result.stderr


def test_export_keeps_bytes_of_configuration_agent(tmp_path):
    raw = (CONFIG_SAMPLES / "translator.md").read_bytes()
    register(raw)
    run_cli("export", "--output", tmp_path / "all.jsonl")
    CatalogEntry.objects.all().delete()
    run_cli("import", tmp_path / "all.jsonl")

    entry = CatalogEntry.objects.get()
    assert (entry.source, entry.agent_type.definition) == (Source.CONFIG, raw)


def test_import_same_file_again_reports_unchanged(folder):
    run_cli("import", folder / "good.json")
    result = run_cli("import", folder / "good.json")

    assert result.exit_code == 0
    assert "0 new, 0 updated, 1 unchanged, 0 rejected" in result.stdout


def test_import_missing_file_and_private_url_prints_reasons():
    result = run_cli("import", "/nowhere.json", "http://127.0.0.1:1/")

    assert result.exit_code == 1
    assert "/nowhere.json: No such file or directory" in result.stderr
    assert "127.0.0.1 is not a public host" in result.stderr


def test_import_missing_file_with_endpoint_is_reported_as_missing():
    result = run_cli("import", "/nowhere.json", "--endpoint", "https://a.example/")

    assert result.exit_code == 2
    assert "/nowhere.json: No such file or directory" in result.stderr


def test_import_export_line_with_invalid_field_names_the_field(tmp_path):
    register(card_bytes())
    exported = json.loads(run_cli("export").stdout)
    file = tmp_path / "x.jsonl"
    file.write_text(json.dumps(exported | {"source_url": "x" * 2001}))
    result = run_cli("import", file)

    assert result.exit_code == 1
    message = (
        "x.jsonl:1: source_url: Ensure this value has at most 2000 characters (it has"
        " 2001)."
    )
    assert message in result.stderr


def test_import_unknown_protocol_is_usage_error(folder):
    result = run_cli("import", folder, "--protocol", "carrier-pigeon")

    assert result.exit_code == 2
    assert "must be one of: a2a, mcp" in result.stderr


def test_export_import_round_trip_keeps_versions_and_curation(tmp_path):
    register(card_bytes(version="1.0.0"))
    entry = register(card_bytes(version="2.0.0")).entry
    changes = {
        "display_name": "Ours",
        "categories": ["x"],
        "status": Status.DEPRECATED,
    }
    curate(entry, changes, by=UserFactory())
    path = tmp_path / "catalog.jsonl"
    run_cli("export", "--output", path)
    CatalogEntry.objects.all().delete()
    result = run_cli("import", path)

    assert "1 new" in result.stdout
    entry = CatalogEntry.objects.get()
    assert (entry.display_name, entry.categories) == ("Ours", ["x"])
    assert (entry.status, entry.agent_type.version) == (Status.DEPRECATED, "2.0.0")
    assert AgentType.objects.count() == 2


def test_import_of_active_export_schedules_probe_of_deprecated_entry(tmp_path):
    entry = register(card_bytes()).entry
    path = tmp_path / "catalog.jsonl"
    run_cli("export", "--output", path)
    curate(entry, {"status": Status.DEPRECATED}, by=UserFactory())
    run_cli("import", path)

    entry.refresh_from_db()
    assert entry.status == Status.UNKNOWN
    assert entry.next_probe_at is not None


def test_export_prints_json_lines_to_stdout():
    register(card_bytes())
    lines = run_cli("export").stdout.splitlines()

    assert json.loads(lines[0])["definitions"] == [card_bytes().decode()]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("[]", "is not a line of an AgentLens export"),
        ("{}", "is not a line of an AgentLens export"),
        ('{"format": "other/1"}', "is not a line of an AgentLens export"),
        ("nonsense", "is not valid JSON"),
        (
            '{"format": "agentlens.entry/1"}',
            "lacks the member 'protocol'",
        ),
        (
            '{"format": "agentlens.entry/1", "protocol": 1}',
            "has an invalid member 'protocol'",
        ),
    ],
)
def test_import_invalid_export_line_reports_line_and_reason(tmp_path, line, message):
    (tmp_path / "x.jsonl").write_text(line)
    result = run_cli("import", tmp_path / "x.jsonl")

    assert result.exit_code == 1
    assert f"x.jsonl:1: {message}\n" in result.stderr


def test_token_create_prints_working_token_on_last_line():
    UserFactory(username="ada", role="Viewer")
    secret = run_cli("token", "create", "ada", "--expires", "1h").stdout.splitlines()[
        -1
    ]
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {secret}")

    assert client.get("/api/v1/catalog").status_code == 200


def test_token_create_rejects_unknown_user_and_invalid_lifetime():
    UserFactory(username="ada")

    unknown_user = run_cli("token", "create", "bob")
    message = (
        "There is no user 'bob'. Create it in the admin or with `agentlens manage"
        " createsuperuser`."
    )
    assert message in unknown_user.stderr
    invalid_lifetime = run_cli("token", "create", "ada", "--expires", "soon")
    assert (
        "must be days or hours, such as 30d or 12h, or never" in invalid_lifetime.stderr
    )


def test_demo_loads_only_on_first_start_and_can_be_removed():
    assert "Demo agents loaded: 50" in run_cli("demo", "--first-start").stdout
    UserFactory()
    assert run_cli("demo", "--first-start").stdout == ""
    assert "Demo agents removed: 50" in run_cli("demo", "--remove").stdout
    assert not CatalogEntry.objects.exists()


def test_reindex_repairs_damaged_search_rows():
    entry = register(card_bytes()).entry
    curate(entry, {"status": Status.ACTIVE}, by=UserFactory())
    entry.text.delete()
    SearchRow.objects.filter(kind="a2a.skill").delete()
    SearchRow.objects.update(text="damaged")
    assert "Entries indexed: 1" in run_cli("reindex").stdout

    entry.refresh_from_db()
    assert "translator" in entry.text.text
    assert run_cli("search", "translate").stdout.count("Translate text") == 1
    assert not SearchRow.objects.filter(text="damaged").exists()


@pytest.mark.skipif(connection.vendor != "sqlite", reason="SQLite only")
def test_reindex_recreates_dropped_text_index():
    curate(register(card_bytes()).entry, {"status": "active"}, by=UserFactory())
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE search_fts")
    assert run_cli("reindex").exit_code == 0

    assert "Translate text" in run_cli("search", "translate").stdout


@pytest.fixture
def offers():
    """Register an active agent with two skills, and an agent never probed."""
    skills = [skill("Translate text"), skill("日本語 / two\nlines", tags=["CJK"])]
    active = register(card_bytes(skills=skills)).entry
    curate(active, {"status": Status.ACTIVE}, by=UserFactory())
    register(card_bytes(url="https://unknown.example/a2a", name="Unknown"))


def test_search_prints_aligned_table_and_total(offers):
    result = run_cli("search")

    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "Capability          Kind       Agent       Protocol  Status  Provider",
        "Translate text      a2a.skill  Translator  a2a       active  Acme",
        "日本語 / two lines  a2a.skill  Translator  a2a       active  Acme",
    ]
    assert result.stderr == "2 of 2 capabilities\n"


def test_search_supports_terms_phrases_kind_sort_and_limit(offers):
    assert "日本語" in run_cli("search", "cjk LINES").stdout
    assert run_cli("search", '"lines two"').stdout == ""
    assert run_cli("search", "text", "--kind", "mcp.tool").stdout == ""
    limited = run_cli("search", "--sort", "agentName_asc", "--limit", "1")
    assert limited.stderr == "1 of 2 capabilities\n"


def test_search_json_matches_api_items(offers, viewer_api):
    lines = run_cli("search", "--json").stdout.splitlines()

    items = viewer_api.get("/api/v1/capabilities").json()["items"]
    assert [json.loads(line) for line in lines] == items


def test_search_without_matches_exits_with_zero():
    result = run_cli("search", "no such capability")

    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "0 of 0 capabilities\n"


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["--kind", "a2a.interface"], "--kind"),
        (["--sort", "invalid"], "--sort"),
        (["x" * 1001], "QUERY"),
        (["--limit", "0"], "--limit"),
    ],
)
def test_search_invalid_option_is_usage_error(arguments, hint):
    result = run_cli("search", *arguments)

    assert result.exit_code == 2
    assert hint in result.stderr


def test_help_describes_search_and_reindex():
    main_help = run_cli("--help").stdout
    search_help = " ".join(run_cli("search", "--help").stdout.split())

    assert "Find capabilities of reachable agents" in main_help
    assert "rebuild the search index" in main_help
    assert "Put a phrase in double quotes" in search_help


def test_manage_runs_django_command():
    assert run_cli("manage", "check", "--help").exit_code == 0


@pytest.fixture
def protected_server(settings):
    """Yield an MCP server with a public card whose tools require authorization."""
    settings.AGENTLENS_ALLOWED_NETWORKS = LOOPBACK
    with run_server() as server:
        remotes = [{"type": "streamable-http", "url": server.url("/mcp")}]
        card = {"name": "vault", "version": "1", "remotes": remotes}
        server.routes["/.well-known/mcp.json"] = reply(body=json.dumps(card).encode())
        server.routes["/mcp"] = mcp_servers.answer_authorized_request
        yield server


def test_import_mcp_server_without_authorization_warns_about_missing_tools(
    protected_server,
):
    result = run_cli("import", protected_server.url("/mcp"))

    assert (result.exit_code, CatalogEntry.objects.count()) == (0, 1)
    assert result.stderr == (
        f"{protected_server.url('/mcp')}: warning: the server requires authorization:"
        " only its card was read\n"
    )


def test_import_of_site_without_agent_prints_every_attempt_t16(protected_server):
    protected_server.routes.clear()
    result = run_cli("import", protected_server.url("/nothing"))

    lines = result.stderr.splitlines()
    assert result.exit_code == 1
    assert "No agent definition found at 127.0.0.1: " in lines[0]
    assert f"  GET {protected_server.url('/nothing')}: HTTP 404" in lines


def test_import_of_guarded_server_with_allow_stub(protected_server):
    protected_server.routes.pop("/.well-known/mcp.json")
    url = protected_server.url("/mcp")
    rejected = run_cli("import", url)
    accepted = run_cli("import", url, "--allow-stub")

    assert f"  MCP {url}: HTTP 401, requires authorization" in rejected.stderr
    assert (rejected.exit_code, accepted.exit_code) == (1, 0)
    assert "only its address is known" in accepted.stderr


def test_import_mcp_server_with_authorization_reads_tools(protected_server):
    authorization = ("--authorization", "Bearer sesame")
    result = run_cli("import", protected_server.url("/mcp"), *authorization)

    assert (result.exit_code, result.stderr) == (0, "")
    assert Capability.objects.filter(kind="mcp.tool", name="dig").exists()


def test_import_authorization_for_several_urls_is_usage_error(protected_server):
    authorization = ("--authorization", "Bearer sesame")
    result = run_cli(
        "import",
        protected_server.url("/mcp"),
        protected_server.url("/other"),
        *authorization,
    )

    assert result.exit_code == 2
    assert protected_server.requests == []
    assert (
        run_cli(
            "import", protected_server.url("/mcp"), "--authorization", "ä"
        ).exit_code
        == 2
    )


def test_import_ag_ui_file_uses_endpoint_option(tmp_path):
    path = tmp_path / "painter.json"
    path.write_text('{"transport": {"streaming": true}}')
    result = run_cli("import", path, "--endpoint", "https://a.example/agent")

    assert result.exit_code == 0, result.stderr
    endpoint = CatalogEntry.objects.get().agent_type.endpoint
    assert endpoint == "https://a.example/agent"
    assert run_cli("import", tmp_path, "--endpoint", "https://a.example").exit_code == 2


def test_import_takes_endpoint_only_for_file_without_it_t10(tmp_path):
    path = tmp_path / "tools.json"
    path.write_text('{"tools": [{"name": "dig"}]}')
    result = run_cli("import", path, "--endpoint", "https://a.example/mcp")
    assert result.exit_code == 0, result.stderr
    assert CatalogEntry.objects.get().agent_type.endpoint == "https://a.example/mcp"

    path.write_text('{"tools": [{"name": "dig"}], "url": "https://b.example/mcp"}')
    result = run_cli("import", path, "--endpoint", "https://a.example/mcp")
    assert result.exit_code == 2
    assert "the definition contains the URL" in result.stderr


def test_import_ag_ui_agent_uses_capabilities_url_option(settings):
    settings.AGENTLENS_ALLOWED_NETWORKS = LOOPBACK
    with run_server() as server:
        server.routes["/meta"] = reply(body=b'{"identity": {"name": "Painter"}}')
        options = ("--capabilities-url", server.url("/meta"), "--protocol", "agui")
        result = run_cli("import", server.url("/agent"), *options)

    assert result.exit_code == 0, result.stderr
    assert CatalogEntry.objects.get().agent_type.endpoint == server.url("/agent")


def test_import_counts_warnings_and_prints_them_on_request(tmp_path):
    (tmp_path / "odd.json").write_bytes(card_bytes(oddity=1))
    without_option = run_cli("import", tmp_path)
    with_option = run_cli("import", tmp_path, "--warnings")

    summary = "1 new, 0 updated, 0 unchanged, 0 rejected; warnings: 1 (shown"
    assert summary in without_option.stdout
    assert without_option.stderr == ""
    message = "$.oddity is an unknown member; stored, but not interpreted"
    assert f"odd.json: warning: {message}" in with_option.stderr


def test_import_url_reports_fetch_error(settings):
    settings.AGENTLENS_ALLOWED_NETWORKS = [ipaddress.ip_network("127.0.0.0/8")]
    result = run_cli("import", "http://127.0.0.1:1/card.json")

    assert "Could not fetch from 127.0.0.1" in result.stderr


def test_search_unknown_kind_lists_valid_kinds():
    result = run_cli("search", "--kind", "nope")

    assert result.exit_code == 2
    assert "nope is not one of: a2a.skill, " in result.output


def test_import_rejects_url_that_is_not_http():
    result = run_cli("import", "ftp://agents.example/card.json")

    assert result.exit_code == 1
    assert "must be an http or https URL" in result.output


def test_import_of_empty_folder_reports_no_definitions(tmp_path):
    result = run_cli("import", tmp_path)

    assert result.exit_code == 0
    assert f"No definitions found in {tmp_path}." in result.output


def test_import_of_folder_without_definitions_names_skipped_files_t19(tmp_path):
    for n in range(12):
        (tmp_path / f"agent-{n:02}.md").write_text("---\nname: a\ntools: Read\n---\n")
    (tmp_path / "logo.png").write_bytes(b"")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config.json").write_text("{}")
    result = run_cli("import", tmp_path)

    assert result.exit_code == 1
    git_line, markdown_line, image_line, summary = result.stderr.splitlines()
    assert git_line == f"Skipped 1 (.git folders are not searched): {tmp_path}/.git"
    assert markdown_line.startswith(
        "Skipped 12 (Markdown whose front matter has no `capabilities`): "
        f"{tmp_path}/agent-00.md, "
    )
    assert markdown_line.endswith("agent-04.md and 7 more")
    assert image_line.startswith("Skipped 1 (only files with the suffix .json, ")
    assert image_line.endswith("/logo.png")
    assert summary == f"No definitions found in {tmp_path}."


def test_import_of_folder_names_unreadable_paths(tmp_path):
    (tmp_path / "link.json").symlink_to(tmp_path / "missing.json")
    result = run_cli("import", tmp_path)

    assert "Skipped 1 (not a file, or a broken link): " in result.stderr


def test_import_of_unreadable_exports_reports_reasons(tmp_path):
    (tmp_path / "binary.jsonl").write_bytes(b"\xff{}")
    result = run_cli("import", tmp_path / "binary.jsonl", tmp_path / "missing.jsonl")

    assert result.exit_code == 1
    assert "binary.jsonl: $ is not UTF-8 at byte 0" in result.stderr
    assert "missing.jsonl: No such file or directory" in result.stderr
