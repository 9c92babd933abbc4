import json
from pathlib import Path

import pytest

from capabilities.protocols.agh.local import LocalCatalogError, read_local_catalog

from .messages import build_document, build_raw_document

DOCUMENT_A = 'id = "a"\nsummary = "Does a."\noutcome = "A is done."\n'
DOCUMENT_B = 'id = " b\\t"\nsummary = "Does b."\noutcome = "B is done."\n'


@pytest.fixture
def write_and_read(tmp_path):
    """Return a function that writes files to a directory and reads its catalog."""

    def write_files_and_read_catalog(files=None):
        for name, content in (files or {}).items():
            path = tmp_path / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(content)
        return read_local_catalog(tmp_path)

    return write_files_and_read_catalog


def build_catalog(*documents, **members):
    return json.dumps({"capabilities": list(documents), **members})


def get_problems(write_and_read, files=None):
    """Return file, path and message of each problem of the catalog."""
    with pytest.raises(LocalCatalogError) as caught:
        write_and_read(files)
    assert all(
        str(problem.file) in str(caught.value) for problem in caught.value.problems
    )
    return [
        (problem.file.name, problem.path, problem.message)
        for problem in caught.value.problems
    ]


def get_locations(write_and_read, files=None):
    return [problem[:2] for problem in get_problems(write_and_read, files)]


def test_reading_directory_without_catalog_returns_none(write_and_read, tmp_path):
    assert write_and_read() is None
    assert write_and_read({"README.md": "x"}) is None
    assert read_local_catalog(tmp_path / "nowhere") is None


def test_toml_catalog_file_is_read(write_and_read):
    text = f"[[capabilities]]\n{DOCUMENT_A}\n[[capabilities]]\n{DOCUMENT_B}"

    first, second = write_and_read({"capabilities.toml": text})

    assert first == build_document()
    assert (second.id, second.compute_digest()[:7]) == ("b", "sha256:")


def test_json_catalog_file_keeps_documents_in_order_and_sorts_requirements(
    write_and_read,
):
    catalog = build_catalog(
        build_raw_document(id="b"), build_raw_document(id="a", requirements=["b", "a"])
    )

    document_b, document_a = write_and_read({"capabilities.json": catalog})

    assert (document_b.id, document_a.id) == ("b", "a")
    assert document_a.requirements == ("a", "b")


def test_directory_is_read_in_order_of_file_names(write_and_read):
    files = {
        f"capabilities/{name}.json": json.dumps(build_raw_document(id=f" {name} "))
        for name in ("b", "a.b", "a-b")
    }

    documents = write_and_read(files)

    assert [document.id for document in documents] == ["a-b", "a.b", "b"]


def test_directory_of_toml_files_is_read(write_and_read):
    assert write_and_read({"capabilities/a.toml": DOCUMENT_A}) == [build_document()]


def test_empty_directory_is_an_empty_catalog(write_and_read, tmp_path):
    (tmp_path / "capabilities").mkdir()

    assert write_and_read() == []


@pytest.mark.parametrize("text", ["", "\n", "capabilities = []", "# nothing yet"])
def test_empty_toml_file_is_an_empty_catalog(write_and_read, text):
    assert write_and_read({"capabilities.toml": text}) == []


def test_other_files_in_directory_are_ignored(write_and_read, tmp_path):
    folder = tmp_path / "capabilities"
    (folder / "sub.toml").mkdir(parents=True)
    (folder / ".hidden.toml").write_text("?")
    (folder / "notes.md").write_text("?")
    (folder / "upper.TOML").write_text("?")
    (folder / "link.toml").symlink_to(folder / "notes.md")

    assert write_and_read({"capabilities/a.toml": DOCUMENT_A}) == [build_document()]


def test_toml_and_json_catalog_files_together_are_rejected(write_and_read):
    problems = get_problems(
        write_and_read, {"capabilities.toml": "", "capabilities.json": "{}"}
    )

    message = "multiple capability catalog files: capabilities.toml, capabilities.json"
    assert [problem[2] for problem in problems] == [message]


@pytest.mark.parametrize("name", ["capabilities.toml", "capabilities.json"])
def test_catalog_file_and_directory_together_are_rejected(write_and_read, name):
    problems = get_problems(
        write_and_read, {"capabilities/a.toml": DOCUMENT_A, name: ""}
    )

    message = f"mixed capability catalog layouts: {name}, capabilities"
    assert [problem[2] for problem in problems] == [message]


def test_two_formats_in_one_directory_are_rejected(write_and_read):
    files = {
        "capabilities/a.toml": DOCUMENT_A,
        "capabilities/b.json": json.dumps(build_raw_document(id="b")),
    }

    message = "mixed capability file formats: a.toml, b.json"
    assert get_problems(write_and_read, files) == [("capabilities", "$", message)]


@pytest.mark.parametrize("name", ["capabilities.toml", "capabilities.json"])
def test_catalog_file_that_is_not_a_regular_file_is_rejected(
    write_and_read, tmp_path, name
):
    target = tmp_path / "real"
    target.write_text("")
    (tmp_path / name).symlink_to(target)
    assert get_locations(write_and_read) == [(name, "$")]

    (tmp_path / name).unlink()
    (tmp_path / name).mkdir()
    assert get_locations(write_and_read) == [(name, "$")]


def test_catalog_directory_that_is_not_a_real_directory_is_rejected(
    write_and_read, tmp_path
):
    (tmp_path / "real").mkdir()
    (tmp_path / "capabilities").symlink_to(tmp_path / "real")
    assert get_locations(write_and_read) == [("capabilities", "$")]

    (tmp_path / "capabilities").unlink()
    (tmp_path / "capabilities").write_text("")
    assert get_locations(write_and_read) == [("capabilities", "$")]


def test_broken_symlink_to_catalog_file_is_rejected(write_and_read, tmp_path):
    (tmp_path / "capabilities.toml").symlink_to(tmp_path / "nowhere")

    assert get_locations(write_and_read) == [("capabilities.toml", "$")]


@pytest.mark.parametrize(
    ("raw_document", "path"),
    [
        (build_raw_document(digest="sha256:" + "0" * 64), "$.capabilities[0].digest"),
        (build_raw_document(tags=["x"]), "$.capabilities[0].tags"),
        (build_raw_document(ID="x"), "$.capabilities[0].ID"),
        (build_raw_document(version=""), "$.capabilities[0].version"),
        (build_raw_document(version=" \t"), "$.capabilities[0].version"),
        (build_raw_document(version=1), "$.capabilities[0].version"),
        (build_raw_document(summary=" "), "$.capabilities[0].summary"),
        (build_raw_document(outcome=None), "$.capabilities[0].outcome"),
        (build_raw_document(id=""), "$.capabilities[0].id"),
        (
            build_raw_document(requirements=["a", ""]),
            "$.capabilities[0].requirements[1]",
        ),
        (
            build_raw_document(requirements=["a", " a"]),
            "$.capabilities[0].requirements[1]",
        ),
        (build_raw_document(examples="x"), "$.capabilities[0].examples"),
        ("a", "$.capabilities[0]"),
    ],
)
def test_invalid_document_is_reported_with_path(write_and_read, raw_document, path):
    locations = get_locations(
        write_and_read, {"capabilities.json": build_catalog(raw_document)}
    )

    assert locations == [("capabilities.json", path)]


@pytest.mark.parametrize(
    ("line", "path"),
    [
        ("version = 1979-05-27", "version"),
        ("examples = [07:32:00]", "examples[0]"),
        ("id = 1979-05-27T07:32:00Z", "id"),
    ],
)
def test_toml_date_or_time_is_not_a_string(write_and_read, line, path):
    members = {"id": "'a'", "summary": "'s'", "outcome": "'o'"}
    members.pop(line.partition(" ")[0], None)
    lines = [f"{key} = {value}" for key, value in members.items()]
    text = "\n".join(["[[capabilities]]", *lines, line])

    locations = get_locations(write_and_read, {"capabilities.toml": text})
    assert locations == [("capabilities.toml", f"$.capabilities[0].{path}")]


def test_unknown_key_next_to_capabilities_is_rejected(write_and_read):
    problems = get_problems(
        write_and_read, {"capabilities.json": build_catalog(version="1")}
    )

    assert problems == [("capabilities.json", "$.version", "is not a known key")]


@pytest.mark.parametrize("capabilities", [{}, "a", 5])
def test_capabilities_that_are_not_a_list_are_rejected(write_and_read, capabilities):
    text = json.dumps({"capabilities": capabilities})

    assert get_locations(write_and_read, {"capabilities.json": text}) == [
        ("capabilities.json", "$.capabilities")
    ]


def test_repeated_id_after_trimming_is_rejected(write_and_read):
    problems = get_problems(
        write_and_read,
        {
            "capabilities.json": build_catalog(
                build_raw_document(), build_raw_document(id=" a ")
            )
        },
    )

    message = "must be unique; 'a' is already in capabilities.json $.capabilities[0].id"
    assert problems == [("capabilities.json", "$.capabilities[1].id", message)]


def test_document_id_other_than_file_name_is_rejected(write_and_read):
    problems = get_problems(write_and_read, {"capabilities/b.toml": DOCUMENT_A})

    assert problems == [
        ("b.toml", "$.id", "must equal the file name without its suffix, but is 'a'")
    ]


def test_file_names_that_differ_only_in_space_are_rejected(write_and_read):
    files = {
        "capabilities/a.toml": DOCUMENT_A,
        "capabilities/ a.toml": DOCUMENT_A,
    }

    assert [problem[:2] for problem in get_problems(write_and_read, files)] == [
        ("a.toml", "$.id")
    ]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
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
def test_unreadable_file_is_reported_with_position(
    write_and_read, name, text, expected
):
    ((file, _, message),) = get_problems(write_and_read, {name: text})

    assert file == name.rsplit("/", maxsplit=1)[-1]
    assert expected in message


def test_problems_of_all_files_are_reported(write_and_read):
    files = {
        "capabilities/a.toml": DOCUMENT_A + 'digest = "x"\ntags = []\n',
        "capabilities/b.toml": "?",
        "capabilities/c.toml": 'id = "d"\n',
    }

    assert get_locations(write_and_read, files) == [
        ("a.toml", "$.digest"),
        ("a.toml", "$.tags"),
        ("b.toml", "$"),
        ("c.toml", "$.summary"),
        ("c.toml", "$.outcome"),
        ("c.toml", "$.id"),
    ]


def test_file_too_large_or_not_utf_8_is_rejected(write_and_read, tmp_path):
    file = tmp_path / "capabilities.toml"
    file.write_bytes(b"#" * 1_048_577)
    assert "larger than" in get_problems(write_and_read)[0][2]

    file.write_bytes(b"\xff")
    assert "UTF-8" in get_problems(write_and_read)[0][2]


@pytest.mark.parametrize("method", ["iterdir", "open"])
def test_os_error_while_reading_is_reported(write_and_read, monkeypatch, method):
    def fail(*_):
        raise OSError(5, "Input/output error")

    write_and_read({"capabilities/a.toml": DOCUMENT_A})
    monkeypatch.setattr(Path, method, fail)

    assert get_problems(write_and_read)[0][2] == "cannot be read: Input/output error"
