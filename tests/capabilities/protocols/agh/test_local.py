import json
from pathlib import Path

import pytest

from capabilities.protocols.agh.local import LocalCatalogError, read_local_catalog

from .making import document, stated

RECORD = 'id = "a"\nsummary = "Does a."\noutcome = "A is done."\n'
OTHER = 'id = " b\\t"\nsummary = "Does b."\noutcome = "B is done."\n'


@pytest.fixture
def agent(tmp_path):
    """Write files below the agent's directory, then read its catalog."""

    def write(files=None):
        for name, content in (files or {}).items():
            path = tmp_path / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(content)
        return read_local_catalog(tmp_path)

    return write


def catalog(*records, **members):
    return json.dumps({"capabilities": list(records), **members})


def told(agent, files=None):
    """Each problem of the catalog as file, path and message."""
    with pytest.raises(LocalCatalogError) as caught:
        agent(files)
    assert all(str(each.file) in str(caught.value) for each in caught.value.problems)
    return [(each.file.name, each.path, each.message) for each in caught.value.problems]


def places(agent, files=None):
    return [each[:2] for each in told(agent, files)]


def test_no_catalog_is_none(agent, tmp_path):
    assert agent() is None
    assert agent({"README.md": "x"}) is None
    assert read_local_catalog(tmp_path / "nowhere") is None


def test_one_file_of_toml(agent):
    text = f"[[capabilities]]\n{RECORD}\n[[capabilities]]\n{OTHER}"

    first, second = agent({"capabilities.toml": text})

    assert first == document()
    assert (second.id, second.compute_digest()[:7]) == ("b", "sha256:")


def test_one_file_of_json_keeps_its_order(agent):
    listed = catalog(stated(id="b"), stated(id="a", requirements=["b", "a"]))

    second, first = agent({"capabilities.json": listed})

    assert (second.id, first.id) == ("b", "a")
    assert first.requirements == ("a", "b")


def test_a_directory_is_read_in_the_order_of_its_files(agent):
    files = {
        f"capabilities/{each}.json": json.dumps(stated(id=f" {each} "))
        for each in ("b", "a.b", "a-b")
    }

    found = agent(files)

    assert [each.id for each in found] == ["a-b", "a.b", "b"]


def test_a_directory_of_toml(agent):
    assert agent({"capabilities/a.toml": RECORD}) == [document()]


def test_an_empty_directory_is_an_empty_catalog(agent, tmp_path):
    (tmp_path / "capabilities").mkdir()

    assert agent() == []


@pytest.mark.parametrize("text", ["", "\n", "capabilities = []", "# nothing yet"])
def test_an_empty_file_of_toml_is_an_empty_catalog(agent, text):
    assert agent({"capabilities.toml": text}) == []


def test_other_things_in_a_directory_are_ignored(agent, tmp_path):
    folder = tmp_path / "capabilities"
    (folder / "sub.toml").mkdir(parents=True)
    (folder / ".hidden.toml").write_text("?")
    (folder / "notes.md").write_text("?")
    (folder / "upper.TOML").write_text("?")
    (folder / "link.toml").symlink_to(folder / "notes.md")

    assert agent({"capabilities/a.toml": RECORD}) == [document()]


def test_both_single_files(agent):
    found = told(agent, {"capabilities.toml": "", "capabilities.json": "{}"})

    message = "multiple capability catalog files: capabilities.toml, capabilities.json"
    assert [each[2] for each in found] == [message]


@pytest.mark.parametrize("name", ["capabilities.toml", "capabilities.json"])
def test_file_and_directory(agent, name):
    found = told(agent, {"capabilities/a.toml": RECORD, name: ""})

    message = f"mixed capability catalog layouts: {name}, capabilities"
    assert [each[2] for each in found] == [message]


def test_two_formats_in_one_directory(agent):
    files = {
        "capabilities/a.toml": RECORD,
        "capabilities/b.json": json.dumps(stated(id="b")),
    }

    message = "mixed capability file formats: a.toml, b.json"
    assert told(agent, files) == [("capabilities", "$", message)]


@pytest.mark.parametrize("name", ["capabilities.toml", "capabilities.json"])
def test_a_catalog_file_is_no_symlink_and_no_directory(agent, tmp_path, name):
    real = tmp_path / "real"
    real.write_text("")
    (tmp_path / name).symlink_to(real)
    assert places(agent) == [(name, "$")]

    (tmp_path / name).unlink()
    (tmp_path / name).mkdir()
    assert places(agent) == [(name, "$")]


def test_a_catalog_directory_is_no_symlink_and_no_file(agent, tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "capabilities").symlink_to(tmp_path / "real")
    assert places(agent) == [("capabilities", "$")]

    (tmp_path / "capabilities").unlink()
    (tmp_path / "capabilities").write_text("")
    assert places(agent) == [("capabilities", "$")]


def test_a_broken_symlink_is_one_too(agent, tmp_path):
    (tmp_path / "capabilities.toml").symlink_to(tmp_path / "nowhere")

    assert places(agent) == [("capabilities.toml", "$")]


@pytest.mark.parametrize(
    ("record", "path"),
    [
        (stated(digest="sha256:" + "0" * 64), "$.capabilities[0].digest"),
        (stated(tags=["x"]), "$.capabilities[0].tags"),
        (stated(ID="x"), "$.capabilities[0].ID"),
        (stated(version=""), "$.capabilities[0].version"),
        (stated(version=" \t"), "$.capabilities[0].version"),
        (stated(version=1), "$.capabilities[0].version"),
        (stated(summary=" "), "$.capabilities[0].summary"),
        (stated(outcome=None), "$.capabilities[0].outcome"),
        (stated(id=""), "$.capabilities[0].id"),
        (stated(requirements=["a", ""]), "$.capabilities[0].requirements[1]"),
        (stated(requirements=["a", " a"]), "$.capabilities[0].requirements[1]"),
        (stated(examples="x"), "$.capabilities[0].examples"),
        ("a", "$.capabilities[0]"),
    ],
)
def test_what_is_wrong_with_a_record_is_told_by_its_key(agent, record, path):
    found = places(agent, {"capabilities.json": catalog(record)})

    assert found == [("capabilities.json", path)]


@pytest.mark.parametrize(
    ("line", "path"),
    [
        ("version = 1979-05-27", "version"),
        ("examples = [07:32:00]", "examples[0]"),
        ("id = 1979-05-27T07:32:00Z", "id"),
    ],
)
def test_a_day_or_a_time_of_toml_is_no_text(agent, line, path):
    record = {"id": "'a'", "summary": "'s'", "outcome": "'o'"}
    record.pop(line.partition(" ")[0], None)
    lines = [f"{key} = {value}" for key, value in record.items()]
    text = "\n".join(["[[capabilities]]", *lines, line])

    found = places(agent, {"capabilities.toml": text})
    assert found == [("capabilities.toml", f"$.capabilities[0].{path}")]


def test_an_unknown_key_beside_the_list(agent):
    found = told(agent, {"capabilities.json": catalog(version="1")})

    assert found == [("capabilities.json", "$.version", "unknown key")]


@pytest.mark.parametrize("listed", [{}, "a", 5])
def test_the_list_is_a_list(agent, listed):
    text = json.dumps({"capabilities": listed})

    assert places(agent, {"capabilities.json": text}) == [
        ("capabilities.json", "$.capabilities")
    ]


def test_an_id_taken_twice_after_trimming(agent):
    found = told(agent, {"capabilities.json": catalog(stated(), stated(id=" a "))})

    message = "'a' is taken already in capabilities.json $.capabilities[0].id"
    assert found == [("capabilities.json", "$.capabilities[1].id", message)]


def test_a_file_bears_the_id_of_its_record(agent):
    found = told(agent, {"capabilities/b.toml": RECORD})

    assert found == [("b.toml", "$.id", "'a' must be the name of its file")]


def test_an_id_taken_twice_by_file_names_that_trim_alike(agent):
    files = {
        "capabilities/a.toml": RECORD,
        "capabilities/ a.toml": RECORD,
    }

    assert [each[:2] for each in told(agent, files)] == [("a.toml", "$.id")]


@pytest.mark.parametrize(
    ("name", "text", "where"),
    [
        ("capabilities.toml", "a = \n", "line 1 column 5"),
        ("capabilities.toml", "a = 1\na = 2\n", "line 2 column 6"),
        ("capabilities.json", '{"capabilities": [}', "line 1 column 19"),
        ("capabilities.json", "{}\n{}", "line 2 column 1"),
        ("capabilities.json", "", "is empty"),
        ("capabilities.json", "[]", "must be a JSON object"),
        ("capabilities.json", '{"capabilities": [], "capabilities": []}', "repeat"),
        ("capabilities/a.toml", "id = \n", "line 1 column 6"),
    ],
)
def test_what_cannot_be_read_is_told_by_its_line(agent, name, text, where):
    ((file, _, message),) = told(agent, {name: text})

    assert file == name.rsplit("/", maxsplit=1)[-1]
    assert where in message


def test_every_problem_of_every_file_is_told_at_once(agent):
    files = {
        "capabilities/a.toml": RECORD + 'digest = "x"\ntags = []\n',
        "capabilities/b.toml": "?",
        "capabilities/c.toml": 'id = "d"\n',
    }

    assert places(agent, files) == [
        ("a.toml", "$.digest"),
        ("a.toml", "$.tags"),
        ("b.toml", "$"),
        ("c.toml", "$.summary"),
        ("c.toml", "$.outcome"),
        ("c.toml", "$.id"),
    ]


def test_a_file_that_is_too_large_or_no_text(agent, tmp_path):
    file = tmp_path / "capabilities.toml"
    file.write_bytes(b"#" * 1_048_577)
    assert "larger than" in told(agent)[0][2]

    file.write_bytes(b"\xff")
    assert "UTF-8" in told(agent)[0][2]


@pytest.mark.parametrize("broken", ["iterdir", "open"])
def test_what_the_system_will_not_read_is_told(agent, monkeypatch, broken):
    def fail(*_):
        raise OSError(5, "Input/output error")

    agent({"capabilities/a.toml": RECORD})
    monkeypatch.setattr(Path, broken, fail)

    assert told(agent)[0][2] == "cannot be read: Input/output error"
