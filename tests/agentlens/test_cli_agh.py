"""`agentlens import` of AGH capability catalogs in local files."""

import json
from pathlib import Path

import pytest

from catalog.models import CatalogEntry, Source, Status
from tests.agentlens.cli import CONFIG_SAMPLES, run_cli

pytestmark = pytest.mark.django_db


def build_capability(capability_id="build-site", **members) -> dict:
    """Return a capability document as its author writes it."""
    return {
        "id": capability_id,
        "summary": f"Does {capability_id}.",
        "outcome": f"{capability_id} is done.",
    } | members


def format_toml(**members) -> str:
    return "".join(f"{key} = {json.dumps(value)}\n" for key, value in members.items())


def write(path: Path, content: str | dict) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))


def build_catalog(*documents) -> dict:
    return {"capabilities": list(documents)}


@pytest.fixture
def agent(tmp_path):
    """Return the directory of an agent without a catalog."""
    folder = tmp_path / "designer"
    folder.mkdir()
    return folder


def write_toml_file(agent):
    tables = [
        f"[[capabilities]]\n{format_toml(**build_capability(name))}"
        for name in ("b", "a")
    ]
    write(agent / "capabilities.toml", "\n".join(tables))


def write_json_file(agent):
    catalog = build_catalog(build_capability("b"), build_capability("a"))
    write(agent / "capabilities.json", catalog)


def write_toml_directory(agent):
    for name in ("b", "a"):
        content = format_toml(**build_capability(name))
        write(agent / "capabilities" / f"{name}.toml", content)


def write_json_directory(agent):
    for name in ("b", "a"):
        write(agent / "capabilities" / f"{name}.json", build_capability(name))


LAYOUTS = [write_toml_file, write_json_file, write_toml_directory, write_json_directory]


@pytest.mark.parametrize("write_layout", LAYOUTS)
def test_catalog_is_imported_from_every_layout(agent, write_layout):
    write_layout(agent)
    result = run_cli("import", agent)

    assert (result.exit_code, result.stderr) == (0, "")
    assert "1 new, 0 updated, 0 unchanged, 0 rejected" in result.stdout
    entry = CatalogEntry.objects.get()
    assert entry.agent_type.endpoint == "agh:designer"
    assert (entry.source, entry.status) == (Source.CONFIG, Status.ACTIVE)
    rows = entry.agent_type.capabilities.order_by("name")
    assert [row.name for row in rows] == ["a", "b"]
    assert rows[0].properties["document"]["outcome"] == "a is done."


@pytest.mark.parametrize(
    ("write_layout", "order"),
    [
        (write_toml_file, ["b", "a"]),
        (write_json_file, ["b", "a"]),
        (write_toml_directory, None),
    ],
)
def test_capabilities_are_ordered_as_in_file_or_by_file_name(
    agent, write_layout, order
):
    write_layout(agent)
    run_cli("import", agent)

    card = json.loads(CatalogEntry.objects.get().agent_type.definition)
    assert card["capabilities"] == (order or ["a", "b"])


@pytest.mark.parametrize("write_layout", LAYOUTS)
def test_importing_catalog_again_changes_nothing(agent, write_layout):
    write_layout(agent)
    run_cli("import", agent)
    result = run_cli("import", agent)

    assert "0 new, 0 updated, 1 unchanged, 0 rejected" in result.stdout


def test_catalog_file_can_be_import_target(agent):
    write_json_file(agent)
    result = run_cli("import", agent / "capabilities.json")

    assert (result.exit_code, result.stderr) == (0, "")
    assert CatalogEntry.objects.get().display_name == "designer"


def test_imported_capabilities_are_found_by_search(agent):
    write_json_file(agent)
    run_cli("import", agent)

    assert "designer" in run_cli("search", "Does b.").stdout


def test_nested_agent_directories_are_imported_separately(tmp_path):
    write_toml_file(tmp_path / "team" / "designer")
    write_json_directory(tmp_path / "team" / "designer" / "helpers" / "coder")
    write_json_file(tmp_path / "tester")
    result = run_cli("import", tmp_path)

    assert (result.exit_code, result.stderr) == (0, "")
    assert "3 new" in result.stdout
    names = CatalogEntry.objects.values_list("display_name", flat=True)
    assert set(names) == {"designer", "coder", "tester"}


def test_agents_with_same_directory_name_are_rejected(tmp_path):
    write(
        tmp_path / "north/designer/capabilities.json",
        build_catalog(build_capability("a")),
    )
    write(
        tmp_path / "south/designer/capabilities.json",
        build_catalog(build_capability("b")),
    )
    directories = [tmp_path / "north/designer", tmp_path / "south/designer"]
    from_parent = run_cli("import", tmp_path)
    from_directories = run_cli("import", *directories)

    for result in (from_parent, from_directories):
        assert result.exit_code == 1
        assert "0 new, 0 updated, 0 unchanged, 2 rejected" in result.stdout
        assert "; the name is the peer ID, so rename all but one" in result.stderr
    assert not CatalogEntry.objects.exists()


@pytest.mark.parametrize("name", ["capabilities.json", "capabilities.toml"])
def test_missing_catalog_file_is_rejected(agent, name):
    write_json_file(agent)
    run_cli("import", agent)
    (agent / "capabilities.json").unlink()
    result = run_cli("import", agent / name)

    assert result.exit_code == 1
    message = "no capability catalog: capabilities.toml, capabilities.json or files in"
    assert message in result.stderr
    assert CatalogEntry.objects.get().agent_type.capabilities.count() == 2


def test_emptied_catalog_removes_capabilities(agent):
    write_json_directory(agent)
    run_cli("import", agent)
    for file in (agent / "capabilities").iterdir():
        file.unlink()
    result = run_cli("import", agent)

    assert "1 updated" in result.stdout
    assert not CatalogEntry.objects.get().agent_type.capabilities.exists()


def test_emptied_catalog_removes_capabilities_on_parent_import(agent):
    write_json_directory(agent)
    run_cli("import", agent.parent)
    for file in (agent / "capabilities").iterdir():
        file.unlink()
    result = run_cli("import", agent.parent)

    assert "1 updated" in result.stdout
    assert not CatalogEntry.objects.get().agent_type.capabilities.exists()


def test_catalog_with_only_symlinks_is_empty(agent, tmp_path):
    (agent / "capabilities").mkdir()
    (tmp_path / "a.toml").write_text("id = 'a'")
    (agent / "capabilities" / "a.toml").symlink_to(tmp_path / "a.toml")
    result = run_cli("import", agent)

    assert (result.exit_code, result.stderr) == (0, "")
    assert not CatalogEntry.objects.get().agent_type.capabilities.exists()


def test_catalog_directory_can_be_import_target(agent):
    write_json_directory(agent)
    result = run_cli("import", agent / "capabilities")

    assert (result.exit_code, result.stderr) == (0, "")
    assert CatalogEntry.objects.get().display_name == "designer"


def test_protocol_option_overrides_catalog_file_name(agent):
    write(agent / "capabilities.json", {"identity": {"name": "Painter"}})
    result = run_cli("import", agent / "capabilities.json", "--protocol", "agui")

    assert (result.exit_code, result.stderr) == (0, "")
    assert CatalogEntry.objects.get().agent_type.protocol == "agui"


def test_configuration_agents_next_to_catalog_keep_their_protocol(agent):
    write_toml_file(agent)
    for name in ("reporter.toml", "translator.md"):
        (agent / name).write_bytes((CONFIG_SAMPLES / name).read_bytes())
    result = run_cli("import", agent)

    assert (result.exit_code, result.stderr) == (0, "")
    protocols = CatalogEntry.objects.values_list("agent_type__protocol", flat=True)
    assert sorted(protocols) == ["agh", "config", "config"]


def test_configuration_agent_alone_is_not_a_catalog(agent):
    (agent / "reporter.toml").write_bytes(
        (CONFIG_SAMPLES / "reporter.toml").read_bytes()
    )
    run_cli("import", agent)

    assert CatalogEntry.objects.get().agent_type.protocol == "config"


def test_files_that_agh_ignores_are_ignored(agent):
    write_toml_directory(agent)
    for name in (".hidden.toml", "deeper/x.txt", "deeper/y.json", "notes.txt"):
        write(agent / "capabilities" / name, "nonsense")
    result = run_cli("import", agent)

    assert (result.exit_code, result.stderr) == (0, "")
    assert "1 new" in result.stdout


def test_empty_catalog_directory_imports_nothing(agent):
    (agent / "capabilities").mkdir()
    result = run_cli("import", agent)

    assert result.exit_code == 0
    assert not CatalogEntry.objects.exists()


CATALOG_FILE = "capabilities.json"


def build_single(**members) -> dict:
    """Return a catalog of one capability with these members."""
    return build_catalog(build_capability(**members))


# The files of a catalog and what the error message must contain.
INVALID_CATALOGS = {
    "two files": (
        {CATALOG_FILE: build_single(), "capabilities.toml": ""},
        ["multiple capability catalog files", "capabilities.toml, capabilities.json"],
    ),
    "file and directory": (
        {CATALOG_FILE: build_single(), "capabilities/a.json": build_capability("a")},
        ["mixed capability catalog layouts", "capabilities.json, capabilities"],
    ),
    "mixed formats": (
        {
            "capabilities/a.json": build_capability("a"),
            "capabilities/b.toml": format_toml(**build_capability("b")),
        },
        ["mixed capability file formats", "a.json, b.toml"],
    ),
    "unknown key in capability": (
        {CATALOG_FILE: build_single(price=1)},
        [CATALOG_FILE, "$.capabilities[0].price is not a known key"],
    ),
    "unknown key in catalog": (
        {CATALOG_FILE: build_single() | {"version": 1}},
        [CATALOG_FILE, "$.version is not a known key"],
    ),
    "digest": (
        {
            "capabilities.toml": "[[capabilities]]\n"
            + format_toml(**build_capability(digest="sha256:0"))
        },
        ["capabilities.toml", "$.capabilities[0].digest is not a known key"],
    ),
    "trailing data": (
        {CATALOG_FILE: json.dumps(build_single()) + "\n{}"},
        [CATALOG_FILE, "line 2"],
    ),
    "invalid JSON": (
        {CATALOG_FILE: '{\n"capabilities": [\n'},
        [CATALOG_FILE, "line 3"],
    ),
    "invalid TOML": (
        {"capabilities.toml": "\nid = = 1"},
        ["capabilities.toml", "line 2"],
    ),
    "duplicate id": (
        {
            CATALOG_FILE: build_catalog(
                build_capability(), build_capability(" build-site ")
            )
        },
        [
            CATALOG_FILE,
            "$.capabilities[1].id must be unique; 'build-site' is already in",
        ],
    ),
    "missing outcome": (
        {"capabilities/a.json": {"id": "a", "summary": "s"}},
        ["a.json", "$.outcome must be a non-empty string"],
    ),
    "blank summary": (
        {CATALOG_FILE: build_single(summary=" ")},
        [CATALOG_FILE, "$.capabilities[0].summary must be a non-empty string"],
    ),
    "blank version": (
        {CATALOG_FILE: build_single(version=" ")},
        [CATALOG_FILE, "$.capabilities[0].version must not be blank"],
    ),
    "blank requirement": (
        {CATALOG_FILE: build_single(requirements=["a", " "])},
        [CATALOG_FILE, "$.capabilities[0].requirements[1]"],
    ),
    "duplicate requirement": (
        {CATALOG_FILE: build_single(requirements=["a", " a"])},
        [
            CATALOG_FILE,
            "$.capabilities[0].requirements[1] must be unique; 'a' is already listed",
        ],
    ),
    "capabilities not a list": (
        {CATALOG_FILE: {"capabilities": {}}},
        [CATALOG_FILE, "$.capabilities"],
    ),
    "id differs from file name": (
        {"capabilities/a.json": build_capability("b")},
        ["a.json", "$.id must equal the file name without its suffix, but is 'b'"],
    ),
    "repeated member": (
        {CATALOG_FILE: '{"capabilities": [], "capabilities": []}'},
        [CATALOG_FILE, "capabilities"],
    ),
}


@pytest.mark.parametrize("case", INVALID_CATALOGS)
def test_catalog_that_agh_cannot_load_reports_file_and_path(agent, case):
    files, messages = INVALID_CATALOGS[case]
    for name, content in files.items():
        write(agent / name, content)
    result = run_cli("import", agent)

    assert result.exit_code == 1
    assert "0 new, 0 updated, 0 unchanged, 1 rejected" in result.stdout
    for message in [str(agent), *messages]:
        assert message in result.stderr
    assert not CatalogEntry.objects.exists()


@pytest.mark.parametrize("name", ["capabilities.json", "capabilities"])
def test_symlinked_catalog_is_rejected(agent, name):
    folder = agent.parent / "elsewhere"
    file = folder / "all" / "x.json"
    write(folder / "a.json", build_capability("a"))
    write(file, build_catalog(build_capability("a")))
    target = folder if name == "capabilities" else file
    (agent / name).symlink_to(target)
    result = run_cli("import", agent)

    assert result.exit_code == 1
    assert f"{agent / name}: $ must be a " in result.stderr
    assert "not a symlink" in result.stderr


def test_import_of_broken_symlink_is_rejected(agent):
    (agent / "capabilities.toml").symlink_to(agent / "nowhere.toml")
    result = run_cli("import", agent)

    assert result.exit_code == 1
    assert "not a symlink" in result.stderr


def test_all_errors_of_catalog_are_reported_at_once(agent):
    no_summary = build_capability(summary="")
    two_errors = build_capability("b", version=" ", x=1)
    write(agent / CATALOG_FILE, build_catalog(no_summary, two_errors))
    stderr = run_cli("import", agent).stderr

    for path in ("[0].summary", "[1].version", "[1].x"):
        assert f"$.capabilities{path}" in stderr


def test_invalid_catalog_does_not_stop_import_of_others(tmp_path):
    write(tmp_path / "bad" / CATALOG_FILE, build_catalog(build_capability(digest="x")))
    write_json_file(tmp_path / "good")
    result = run_cli("import", tmp_path)

    assert result.exit_code == 1
    assert "1 new, 0 updated, 0 unchanged, 1 rejected" in result.stdout


def test_directory_name_that_is_not_a_peer_id_is_rejected(tmp_path):
    write_json_file(tmp_path / "My Designer")
    result = run_cli("import", tmp_path)

    assert result.exit_code == 1
    assert "My Designer" in result.stderr
    assert "$.peer_id must be a string that matches" in result.stderr
