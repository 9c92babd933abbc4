"""The catalog in a Django project of its own, in the order of docs/reuse.md."""

from pathlib import Path

import pytest

from tests.api_errors import ERROR_MEMBERS

from .bare_project import ROOT, BareProject


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    project = BareProject.from_source(tmp_path_factory.mktemp("reuse"))
    result = project.manage("migrate", "--verbosity", "0")
    assert result.returncode == 0, result.stderr
    return project


@pytest.fixture(scope="module")
def responses(project):
    return project.run_smoke_test()


def get_statuses(responses: dict) -> set[int]:
    return {response["status"] for response in responses.values()}


def test_host_project_cannot_import_agentlens(project):
    for name in ("agentlens.settings", "routing.models"):
        result = project.run("-c", f"import {name}")
        assert "No module named" in result.stderr


def test_check_reports_only_the_missing_htmx_warning(project):
    result = project.manage("check", "--fail-level", "ERROR")

    assert result.returncode == 0, result.stderr
    assert "catalog.W001" in result.stderr
    assert "1 issue" in result.stderr


def test_check_rejects_setting_out_of_bounds(project):
    too_low = project.manage("check", PROBE_TIMEOUT="0")
    too_long = project.manage("check", PROBE_TIMEOUT="100")

    assert too_low.returncode == too_long.returncode == 1
    assert "(catalog.E001) AGENTLENS_PROBE_TIMEOUT must be at least" in too_low.stderr
    assert "(catalog.E002) AGENTLENS_PROBE_LEASE must be at" in too_long.stderr


def test_makemigrations_finds_no_changes(project):
    result = project.manage("makemigrations", "--check", "--dry-run")

    assert (result.returncode, result.stdout) == (0, "No changes detected\n")


def test_pages_show_registered_agent(responses):
    pages = responses["pages"]

    assert get_statuses(pages) == {200}
    assert "Translator" in pages["/catalog"]["body"]
    assert "Translate text" in pages["/catalog/capabilities?q=translate"]["body"]
    assert "Transcribe speech" not in pages["/catalog/capabilities?q=translate"]["body"]
    assert all("catalog/app.css" in page["body"] for page in pages.values())
    assert "Transcriber" in responses["preview"]["body"]


def test_admin_pages_return_200(responses):
    assert get_statuses(responses["admin"]) == {200}


def test_api_registers_reads_and_updates_agents(responses):
    reads = responses["reads"]

    assert responses["register"]["status"] == 201
    assert get_statuses(reads) == {200}
    assert reads["/api/catalog"]["body"]["total"] == 2
    assert responses["patched"]["body"]["categories"] == ["text"]


def test_invalid_definition_returns_422_with_standard_error(responses):
    invalid = responses["invalid"]

    assert (invalid["status"], invalid["body"]["code"]) == (422, "INVALID_DEFINITION")
    assert invalid["body"].keys() == ERROR_MEMBERS
    assert invalid["body"]["details"]["errors"][0]["path"] == "$.name"


def test_anonymous_api_request_returns_standard_error(responses):
    errors = responses["anonymous reads"] | responses["anonymous writes"]

    assert get_statuses(errors) <= {401, 403}
    for error in errors.values():
        assert error["body"].keys() == ERROR_MEMBERS
        assert error["body"]["code"] == "NOT_AUTHENTICATED"


def test_anonymous_page_request_redirects_to_login(responses):
    assert get_statuses(responses["anonymous pages"]) == {302}
    for response in responses["anonymous pages"].values():
        assert response["location"].startswith("/admin/login/?next=")


def test_write_with_view_permission_returns_403(responses):
    assert get_statuses(responses["reader writes"]) == {403}
    assert responses["agent after reader writes"]["status"] == 200


def test_unsupported_method_in_host_project_returns_405(responses):
    assert responses["options"]["status"] == 405


def test_catalog_does_not_import_agentlens(responses):
    assert {"catalog", "capabilities"} <= set(responses["modules"])
    assert not {"agentlens", "routing"} & set(responses["modules"])


def test_commands_probe_export_import_and_reindex(project, responses):
    export = project.folder / "agents.jsonl"
    probed = project.manage("probe_agents", "--once")
    exported = project.manage("export_agents", "--output", str(export))
    imported = project.manage("import_agents", str(export))
    rejected = project.manage("import_agents", "--protocol", "smtp", str(export))
    indexed = project.manage("reindex_capabilities")

    assert probed.stdout == "Probes made: 2\n", probed.stderr
    assert (exported.returncode, export.read_text().count("\n")) == (0, 2)
    assert imported.stdout == "0 new, 0 updated, 2 unchanged, 0 rejected\n"
    assert rejected.returncode == 2
    assert "--protocol must be one of: a2a" in rejected.stderr
    assert indexed.stdout == "Entries indexed: 2\n"


def test_host_template_overrides_base_of_every_page(project, responses):
    template = project.folder / "templates" / "catalog" / "base.html"
    template.parent.mkdir(parents=True)
    template.write_text(read_documented_template())

    pages = project.run_smoke_test()["pages"]

    assert get_statuses(pages) == {200}
    assert all("| Intranet</title>" in page["body"] for page in pages.values())
    assert all("catalog/app.css" in page["body"] for page in pages.values())
    assert "Translator" in pages["/catalog"]["body"]


def read_documented_template() -> str:
    """Return the base template that docs/reuse.md prints."""
    guide = (ROOT / "docs/reuse.md").read_text("utf-8")
    return guide.partition("```django\n")[2].partition("```")[0]


def test_agh_urls_without_agh_app_are_rejected(tmp_path):
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
def test_check_rejects_setting_of_wrong_type(tmp_path, value):
    project = BareProject.from_source(tmp_path)
    settings = project.folder / "host/settings.py"
    settings.write_text(f"{settings.read_text()}\nAGENTLENS_FETCH_SLOTS = {value!r}\n")

    result = project.manage("check")

    assert result.returncode == 1
    assert "(catalog.E001) AGENTLENS_FETCH_SLOTS must be" in result.stderr


def test_pages_work_without_the_admin(tmp_path):
    project = BareProject.from_source(tmp_path)
    remove_admin(project.folder)
    project.manage("migrate", "--verbosity", "0")

    responses = project.run_smoke_test()

    assert get_statuses(responses["pages"]) == {200}
    assert responses["patched"]["status"] == 200
    assert "catalog.W002" in project.manage("check").stderr


def remove_admin(folder: Path) -> None:
    settings, urls = folder / "host/settings.py", folder / "host/urls.py"
    lines = settings.read_text().replace("admin:login", "/login").splitlines()
    settings.write_text("\n".join(line for line in lines if ".admin" not in line))
    lines = urls.read_text().splitlines()
    urls.write_text("\n".join(line for line in lines if "admin" not in line))
