"""The catalog in a project that is not AgentLens, in the order of docs/reuse.md."""

from pathlib import Path

import pytest

from .bare_project import ROOT, BareProject

MEMBERS = {"error", "code", "details", "timestamp", "request_id"}


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    project = BareProject.from_source(tmp_path_factory.mktemp("reuse"))
    migrated = project.manage("migrate", "--verbosity", "0")
    assert migrated.returncode == 0, migrated.stderr
    return project


@pytest.fixture(scope="module")
def journey(project):
    return project.journey()


def statuses(answers: dict) -> set[int]:
    return {answer["status"] for answer in answers.values()}


def test_project_has_nothing_of_agentlens_on_its_path(project):
    for name in ("agentlens.settings", "routing.models"):
        result = project.run("-c", f"import {name}")
        assert "No module named" in result.stderr


def test_check_finds_no_error_and_names_what_could_be_better(project):
    result = project.manage("check", "--fail-level", "ERROR")

    assert result.returncode == 0, result.stderr
    assert "catalog.W001" in result.stderr
    assert "1 issue" in result.stderr


def test_check_refuses_a_setting_that_makes_no_sense(project):
    wrong = project.manage("check", PROBE_TIMEOUT="0")
    contradiction = project.manage("check", PROBE_TIMEOUT="100")

    assert wrong.returncode == contradiction.returncode == 1
    assert "(catalog.E001) AGENTLENS_PROBE_TIMEOUT must be at least" in wrong.stderr
    assert "(catalog.E002) AGENTLENS_PROBE_LEASE must be at" in contradiction.stderr


def test_migrations_are_complete(project):
    result = project.manage("makemigrations", "--check", "--dry-run")

    assert (result.returncode, result.stdout) == (0, "No changes detected\n")


def test_pages_show_the_registered_agent(journey):
    pages = journey["pages"]

    assert statuses(pages) == {200}
    assert "Translator" in pages["/catalog"]["body"]
    assert "Translate text" in pages["/catalog/capabilities?q=translate"]["body"]
    assert "Transcribe speech" not in pages["/catalog/capabilities?q=translate"]["body"]
    assert all("catalog/app.css" in page["body"] for page in pages.values())
    assert "Transcriber" in journey["preview"]["body"]


def test_admin_serves_the_catalog(journey):
    assert statuses(journey["admin"]) == {200}


def test_api_registers_reads_and_curates(journey):
    reads = journey["reads"]

    assert journey["register"]["status"] == 201
    assert statuses(reads) == {200}
    assert reads["/api/catalog"]["body"]["total"] == 2
    assert journey["patched"]["body"]["categories"] == ["text"]


def test_invalid_definition_is_422_in_the_one_error_shape(journey):
    invalid = journey["invalid"]

    assert (invalid["status"], invalid["body"]["code"]) == (422, "INVALID_DEFINITION")
    assert invalid["body"].keys() == MEMBERS
    assert invalid["body"]["details"]["errors"][0]["path"] == "$.name"


def test_anonymous_api_requests_are_refused_in_the_one_error_shape(journey):
    refused = journey["anonymous reads"] | journey["anonymous writes"]

    assert statuses(refused) <= {401, 403}
    for answer in refused.values():
        assert answer["body"].keys() == MEMBERS
        assert answer["body"]["code"] == "NOT_AUTHENTICATED"


def test_anonymous_visitors_of_pages_are_sent_to_the_login(journey):
    assert statuses(journey["anonymous pages"]) == {302}
    for answer in journey["anonymous pages"].values():
        assert answer["location"].startswith("/admin/login/?next=")


def test_reader_may_not_write(journey):
    assert statuses(journey["a reader's writes"]) == {403}
    assert journey["after the writes"]["status"] == 200


def test_methods_that_no_view_has_are_405(journey):
    assert journey["options"]["status"] == 405


def test_nothing_of_agentlens_was_imported(journey):
    assert {"catalog", "capabilities"} <= set(journey["modules"])
    assert not {"agentlens", "routing"} & set(journey["modules"])


def test_commands_probe_export_import_and_reindex(project, journey):
    exported = project.folder / "agents.jsonl"
    probed = project.manage("probe_agents", "--once")
    written = project.manage("export_agents", "--output", str(exported))
    read = project.manage("import_agents", str(exported))
    refused = project.manage("import_agents", "--protocol", "smtp", str(exported))
    indexed = project.manage("reindex_capabilities")

    assert probed.stdout == "2 agents probed\n", probed.stderr
    assert (written.returncode, exported.read_text().count("\n")) == (0, 2)
    assert read.stdout == "0 new, 0 updated, 2 unchanged, 0 refused\n"
    assert refused.returncode == 2
    assert "--protocol must be one of: a2a" in refused.stderr
    assert indexed.stdout == "2 entries indexed\n"


def test_project_overrides_the_base_template_of_every_page(project, journey):
    frame = project.folder / "templates" / "catalog" / "base.html"
    frame.parent.mkdir(parents=True)
    frame.write_text(documented_frame())

    pages = project.journey()["pages"]

    assert statuses(pages) == {200}
    assert all("| Intranet</title>" in page["body"] for page in pages.values())
    assert all("catalog/app.css" in page["body"] for page in pages.values())
    assert "Translator" in pages["/catalog"]["body"]


def documented_frame() -> str:
    """The base template that docs/reuse.md prints."""
    guide = (ROOT / "docs/reuse.md").read_text("utf-8")
    return guide.partition("```django\n")[2].partition("```")[0]


def test_urls_of_agh_without_its_app_are_refused(tmp_path):
    project = BareProject.from_source(tmp_path)
    urls = project.folder / "host/urls.py"
    route = 'path("api/", include("catalog.integrations.agh.urls")),'
    urls.write_text(
        urls.read_text().replace("urlpatterns = [", f"urlpatterns = [{route}")
    )

    result = project.manage("check")

    assert result.returncode == 1
    assert "Add 'catalog.integrations.agh' to INSTALLED_APPS." in result.stderr


@pytest.mark.parametrize("value", ["8", None, -1])
def test_check_refuses_a_setting_of_the_wrong_kind(tmp_path, value):
    project = BareProject.from_source(tmp_path)
    settings = project.folder / "host/settings.py"
    settings.write_text(f"{settings.read_text()}\nAGENTLENS_FETCH_SLOTS = {value!r}\n")

    result = project.manage("check")

    assert result.returncode == 1
    assert "(catalog.E001) AGENTLENS_FETCH_SLOTS must be" in result.stderr


def test_pages_work_in_a_project_without_the_admin(tmp_path):
    project = BareProject.from_source(tmp_path)
    leave_out_admin(project.folder)
    project.manage("migrate", "--verbosity", "0")

    found = project.journey()

    assert statuses(found["pages"]) == {200}
    assert found["patched"]["status"] == 200
    assert "catalog.W002" in project.manage("check").stderr


def leave_out_admin(folder: Path) -> None:
    settings, urls = folder / "host/settings.py", folder / "host/urls.py"
    lines = settings.read_text().replace("admin:login", "/login").splitlines()
    settings.write_text("\n".join(line for line in lines if ".admin" not in line))
    lines = urls.read_text().splitlines()
    urls.write_text("\n".join(line for line in lines if "admin" not in line))
