"""`agentlens import` of agents whose AGH capabilities lie in files."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from agentlens.cli import main
from catalog.models import CatalogEntry, Source, Status

CONFIG = Path(__file__).parents[1] / "data/config"
pytestmark = pytest.mark.django_db


def run(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def told(capability_id="build-site", **members) -> dict:
    """A capability as its author writes it."""
    return {
        "id": capability_id,
        "summary": f"Does {capability_id}.",
        "outcome": f"{capability_id} is done.",
    } | members


def toml(**members) -> str:
    return "".join(f"{key} = {json.dumps(value)}\n" for key, value in members.items())


def write(path: Path, content: str | dict) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))


def listed(*documents) -> dict:
    return {"capabilities": list(documents)}


@pytest.fixture
def agent(tmp_path):
    """The directory of an agent, without any catalog yet."""
    folder = tmp_path / "designer"
    folder.mkdir()
    return folder


def in_one_toml(agent):
    tables = [f"[[capabilities]]\n{toml(**told(each))}" for each in ("b", "a")]
    write(agent / "capabilities.toml", "\n".join(tables))


def in_one_json(agent):
    write(agent / "capabilities.json", listed(told("b"), told("a")))


def in_files_of_toml(agent):
    for each in ("b", "a"):
        write(agent / "capabilities" / f"{each}.toml", toml(**told(each)))


def in_files_of_json(agent):
    for each in ("b", "a"):
        write(agent / "capabilities" / f"{each}.json", told(each))


LAYOUTS = [in_one_toml, in_one_json, in_files_of_toml, in_files_of_json]


@pytest.mark.parametrize("lay_out", LAYOUTS)
def test_a_catalog_is_imported_whatever_its_layout(agent, lay_out):
    lay_out(agent)
    result = run("import", agent)

    assert (result.exit_code, result.stderr) == (0, "")
    assert "1 new, 0 updated, 0 unchanged, 0 refused" in result.stdout
    entry = CatalogEntry.objects.get()
    assert entry.agent_type.endpoint == "agh:designer"
    assert (entry.source, entry.status) == (Source.CONFIG, Status.ACTIVE)
    rows = entry.agent_type.capabilities.order_by("name")
    assert [row.name for row in rows] == ["a", "b"]
    assert rows[0].properties["document"]["outcome"] == "a is done."


@pytest.mark.parametrize(
    ("lay_out", "order"),
    [(in_one_toml, ["b", "a"]), (in_one_json, ["b", "a"]), (in_files_of_toml, None)],
)
def test_the_order_is_that_of_the_file_or_of_the_names(agent, lay_out, order):
    lay_out(agent)
    run("import", agent)

    card = json.loads(CatalogEntry.objects.get().agent_type.definition)
    assert card["capabilities"] == (order or ["a", "b"])


@pytest.mark.parametrize("lay_out", LAYOUTS)
def test_importing_a_catalog_again_changes_nothing(agent, lay_out):
    lay_out(agent)
    run("import", agent)
    result = run("import", agent)

    assert "0 new, 0 updated, 1 unchanged, 0 refused" in result.stdout


def test_a_catalog_file_may_be_named_itself(agent):
    in_one_json(agent)
    result = run("import", agent / "capabilities.json")

    assert (result.exit_code, result.stderr) == (0, "")
    assert CatalogEntry.objects.get().display_name == "designer"


def test_what_was_imported_is_found(agent):
    in_one_json(agent)
    run("import", agent)

    assert "designer" in run("search", "Does b.").stdout


def test_nested_agents_are_each_a_peer(tmp_path):
    in_one_toml(tmp_path / "team" / "designer")
    in_files_of_json(tmp_path / "team" / "designer" / "helpers" / "coder")
    in_one_json(tmp_path / "tester")
    result = run("import", tmp_path)

    assert (result.exit_code, result.stderr) == (0, "")
    assert "3 new" in result.stdout
    names = CatalogEntry.objects.values_list("display_name", flat=True)
    assert set(names) == {"designer", "coder", "tester"}


def test_two_agents_of_one_name_are_not_taken_for_one(tmp_path):
    write(tmp_path / "north/designer/capabilities.json", listed(told("a")))
    write(tmp_path / "south/designer/capabilities.json", listed(told("b")))
    together = run("import", tmp_path)
    apart = run("import", tmp_path / "north/designer", tmp_path / "south/designer")

    for result in (together, apart):
        assert result.exit_code == 1
        assert "0 new, 0 updated, 0 unchanged, 2 refused" in result.stdout
        assert "has the same name as" in result.stderr
    assert not CatalogEntry.objects.exists()


@pytest.mark.parametrize("name", ["capabilities.json", "capabilities.toml"])
def test_a_catalog_file_that_is_not_there_is_refused(agent, name):
    in_one_json(agent)
    run("import", agent)
    (agent / "capabilities.json").unlink()
    result = run("import", agent / name)

    assert result.exit_code == 1
    assert "holds no capability catalog" in result.stderr
    assert CatalogEntry.objects.get().agent_type.capabilities.count() == 2


def test_a_catalog_that_was_emptied_is_empty(agent):
    in_files_of_json(agent)
    run("import", agent)
    for file in (agent / "capabilities").iterdir():
        file.unlink()
    result = run("import", agent)

    assert "1 updated" in result.stdout
    assert not CatalogEntry.objects.get().agent_type.capabilities.exists()


def test_a_catalog_that_was_emptied_is_empty_also_among_others(agent):
    in_files_of_json(agent)
    run("import", agent.parent)
    for file in (agent / "capabilities").iterdir():
        file.unlink()
    result = run("import", agent.parent)

    assert "1 updated" in result.stdout
    assert not CatalogEntry.objects.get().agent_type.capabilities.exists()


def test_a_catalog_of_links_alone_is_empty(agent, tmp_path):
    (agent / "capabilities").mkdir()
    (tmp_path / "a.toml").write_text("id = 'a'")
    (agent / "capabilities" / "a.toml").symlink_to(tmp_path / "a.toml")
    result = run("import", agent)

    assert (result.exit_code, result.stderr) == (0, "")
    assert not CatalogEntry.objects.get().agent_type.capabilities.exists()


def test_the_folder_of_a_catalog_may_be_named_itself(agent):
    in_files_of_json(agent)
    result = run("import", agent / "capabilities")

    assert (result.exit_code, result.stderr) == (0, "")
    assert CatalogEntry.objects.get().display_name == "designer"


def test_a_file_of_that_name_may_be_of_another_protocol(agent):
    write(agent / "capabilities.json", {"identity": {"name": "Painter"}})
    result = run("import", agent / "capabilities.json", "--protocol", "agui")

    assert (result.exit_code, result.stderr) == (0, "")
    assert CatalogEntry.objects.get().agent_type.protocol == "agui"


def test_configuration_agents_beside_a_catalog_stay_what_they_are(agent):
    in_one_toml(agent)
    for name in ("reporter.toml", "translator.md"):
        (agent / name).write_bytes((CONFIG / name).read_bytes())
    result = run("import", agent)

    assert (result.exit_code, result.stderr) == (0, "")
    protocols = CatalogEntry.objects.values_list("agent_type__protocol", flat=True)
    assert sorted(protocols) == ["agh", "config", "config"]


def test_a_configuration_agent_alone_is_no_catalog(agent):
    (agent / "reporter.toml").write_bytes((CONFIG / "reporter.toml").read_bytes())
    run("import", agent)

    assert CatalogEntry.objects.get().agent_type.protocol == "config"


def test_what_agh_passes_over_is_passed_over(agent):
    in_files_of_toml(agent)
    for name in (".hidden.toml", "deeper/x.txt", "deeper/y.json", "notes.txt"):
        write(agent / "capabilities" / name, "nonsense")
    result = run("import", agent)

    assert (result.exit_code, result.stderr) == (0, "")
    assert "1 new" in result.stdout


def test_a_missing_and_an_empty_catalog_are_nothing_to_import(agent):
    (agent / "capabilities").mkdir()
    result = run("import", agent)

    assert result.exit_code == 0
    assert not CatalogEntry.objects.exists()


ONE_FILE = "capabilities.json"
FAULTS = {
    "two files": (
        {ONE_FILE: listed(told()), "capabilities.toml": ""},
        ["multiple capability catalog files", "capabilities.toml, capabilities.json"],
    ),
    "file and directory": (
        {ONE_FILE: listed(told()), "capabilities/a.json": told("a")},
        ["mixed capability catalog layouts", "capabilities.json, capabilities"],
    ),
    "mixed formats": (
        {"capabilities/a.json": told("a"), "capabilities/b.toml": toml(**told("b"))},
        ["mixed capability file formats", "a.json, b.toml"],
    ),
    "unknown key": (
        {ONE_FILE: listed(told(price=1))},
        [ONE_FILE, "$.capabilities[0].price unknown key"],
    ),
    "unknown key above": (
        {ONE_FILE: listed(told()) | {"version": 1}},
        [ONE_FILE, "$.version unknown key"],
    ),
    "digest": (
        {"capabilities.toml": "[[capabilities]]\n" + toml(**told(digest="sha256:0"))},
        ["capabilities.toml", "$.capabilities[0].digest unknown key"],
    ),
    "trailing data": (
        {ONE_FILE: json.dumps(listed(told())) + "\n{}"},
        [ONE_FILE, "line 2"],
    ),
    "no JSON": ({ONE_FILE: '{\n"capabilities": [\n'}, [ONE_FILE, "line 3"]),
    "no TOML": ({"capabilities.toml": "\nid = = 1"}, ["capabilities.toml", "line 2"]),
    "duplicate id": (
        {ONE_FILE: listed(told(), told(" build-site "))},
        [ONE_FILE, "$.capabilities[1].id", "'build-site' is taken already"],
    ),
    "missing outcome": (
        {"capabilities/a.json": {"id": "a", "summary": "s"}},
        ["a.json", "$.outcome must be a non-empty string"],
    ),
    "blank summary": (
        {ONE_FILE: listed(told(summary=" "))},
        [ONE_FILE, "$.capabilities[0].summary must be a non-empty string"],
    ),
    "blank version": (
        {ONE_FILE: listed(told(version=" "))},
        [ONE_FILE, "$.capabilities[0].version must not be blank"],
    ),
    "blank requirement": (
        {ONE_FILE: listed(told(requirements=["a", " "]))},
        [ONE_FILE, "$.capabilities[0].requirements[1]"],
    ),
    "requirement twice": (
        {ONE_FILE: listed(told(requirements=["a", " a"]))},
        [ONE_FILE, "$.capabilities[0].requirements[1] 'a' is listed already"],
    ),
    "no list": (
        {ONE_FILE: {"capabilities": {}}},
        [ONE_FILE, "$.capabilities"],
    ),
    "another name": (
        {"capabilities/a.json": told("b")},
        ["a.json", "$.id 'b' must be the name of its file"],
    ),
    "key twice": (
        {ONE_FILE: '{"capabilities": [], "capabilities": []}'},
        [ONE_FILE, "capabilities"],
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_catalog_agh_would_not_load_is_refused_at_its_place(agent, fault):
    files, words = FAULTS[fault]
    for name, content in files.items():
        write(agent / name, content)
    result = run("import", agent)

    assert result.exit_code == 1
    assert "0 new, 0 updated, 0 unchanged, 1 refused" in result.stdout
    for word in [str(agent), *words]:
        assert word in result.stderr
    assert not CatalogEntry.objects.exists()


@pytest.mark.parametrize("name", ["capabilities.json", "capabilities"])
def test_a_symlinked_catalog_is_refused(agent, name):
    elsewhere = agent.parent / "elsewhere"
    write(elsewhere / "a.json", told("a"))
    write(elsewhere / "all" / "x.json", listed(told("a")))
    target = elsewhere if name == "capabilities" else elsewhere / "all" / "x.json"
    (agent / name).symlink_to(target)
    result = run("import", agent)

    assert result.exit_code == 1
    assert f"{agent / name}: $ must be a " in result.stderr
    assert "not a symlink" in result.stderr


def test_a_link_to_nowhere_is_refused_as_well(agent):
    (agent / "capabilities.toml").symlink_to(agent / "nowhere.toml")
    result = run("import", agent)

    assert result.exit_code == 1
    assert "not a symlink" in result.stderr


def test_every_fault_is_told_at_once(agent):
    write(agent / ONE_FILE, listed(told(summary=""), told("b", version=" ", x=1)))
    told_lines = run("import", agent).stderr

    for place in ("[0].summary", "[1].version", "[1].x"):
        assert f"$.capabilities{place}" in told_lines


def test_one_faulty_catalog_keeps_no_other_out(tmp_path):
    write(tmp_path / "bad" / ONE_FILE, listed(told(digest="x")))
    in_one_json(tmp_path / "good")
    result = run("import", tmp_path)

    assert result.exit_code == 1
    assert "1 new, 0 updated, 0 unchanged, 1 refused" in result.stdout


def test_a_directory_that_can_be_no_peer_is_refused_by_its_name(tmp_path):
    in_one_json(tmp_path / "My Designer")
    result = run("import", tmp_path)

    assert result.exit_code == 1
    assert "My Designer" in result.stderr
    assert "$.peer_id must be a string that matches" in result.stderr
