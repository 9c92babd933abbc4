import pytest

from capabilities.protocols.agh.cards import CATALOG_KEY
from capabilities.protocols.agh.catalogs import (
    CatalogRequest,
    build_catalog_ext,
    read_catalog,
)
from capabilities.protocols.agh.errors import EnvelopeError

from .making import document, signed, stated

ASKED = {"agh.include": ["capability_catalog"]}
ALL = CatalogRequest(include_documents=True)


@pytest.mark.parametrize(
    "include",
    [
        ["capability_catalog"],
        [" capability_catalog "],
        ["later", "capability_catalog", ""],
    ],
)
def test_the_word_asks_for_the_catalog_among_any_others(include):
    assert CatalogRequest.from_ext({"agh.include": include}) == ALL


@pytest.mark.parametrize(
    "include",
    [
        *(None, "capability_catalog", {}, [], ["later"], 5, True),
        ["capability_catalog", 5],
        ["capability_catalog", None],
        [["capability_catalog"]],
        {"capability_catalog": True},
    ],
)
def test_anything_else_asks_for_nothing(include):
    assert CatalogRequest.from_ext({"agh.include": include}) == CatalogRequest()
    assert CatalogRequest.from_ext({"agh.capability_ids": ["a"]}) == CatalogRequest()


@pytest.mark.parametrize(
    ("ids", "selected"),
    [
        (["a"], {"a"}),
        ([" a ", "", "b", "b"], {"a", "b"}),
        ([], set()),
        (["", " "], set()),
        (None, set()),
        ("a", set()),
        ({"a": 1}, set()),
        (["a", 5], set()),
    ],
)
def test_ids_narrow_and_malformed_ids_narrow_to_nothing(ids, selected):
    request = CatalogRequest.from_ext({**ASKED, "agh.capability_ids": ids})

    assert request.include_documents
    assert request.ids == selected
    assert not request.selects("z")


def test_without_ids_everything_is_selected():
    assert CatalogRequest.from_ext(ASKED).ids is None
    assert CatalogRequest.from_ext(ASKED).selects("anything")
    assert not CatalogRequest().selects("anything")


@pytest.mark.parametrize(
    "request_",
    [CatalogRequest(), ALL, CatalogRequest(True, frozenset({"b", "a"}))],
)
def test_a_request_is_read_as_it_was_written(request_):
    assert CatalogRequest.from_ext(request_.to_ext()) == request_


def test_an_empty_filter_is_written_and_read_as_one():
    assert CatalogRequest(True, frozenset()).to_ext()["agh.capability_ids"] == []


DOCUMENTS = [document(id=each) for each in ("c", "a", "b")]


def ids_in(ext):
    return [each["id"] for each in ext[CATALOG_KEY]["capabilities"]]


def test_the_answer_keeps_catalog_order():
    narrowed = CatalogRequest(True, frozenset({"b", "c", "z"}))

    assert ids_in(build_catalog_ext(DOCUMENTS, ALL)) == ["c", "a", "b"]
    assert ids_in(build_catalog_ext(DOCUMENTS, narrowed)) == ["c", "b"]


def test_the_answer_is_verified_by_whoever_reads_it():
    received = read_catalog(build_catalog_ext(DOCUMENTS, ALL))

    assert [each.id for each in received] == ["c", "a", "b"]
    assert all(each.is_verified for each in received)


def answer(*listed):
    return read_catalog({CATALOG_KEY: {"capabilities": list(listed)}})


def test_without_the_key_there_is_no_catalog():
    assert read_catalog({}) is None
    assert read_catalog({"acme.x": 1}) is None


def test_a_document_without_a_digest_is_taken_and_not_verified():
    received = answer(signed(id="a"), stated(id="c"))

    assert [(each.id, each.is_verified) for each in received] == [
        ("a", True),
        ("c", False),
    ]


@pytest.mark.parametrize("value", [None, [], "x", {}, {"capabilities": None}])
def test_a_malformed_catalog_is_refused(value):
    with pytest.raises(EnvelopeError) as caught:
        read_catalog({CATALOG_KEY: value})

    assert caught.value.reason_code == "malformed"
    assert caught.value.path == f"$.ext['{CATALOG_KEY}']"


def nested(levels):
    return {"x": nested(levels - 1)} if levels else 1


@pytest.mark.parametrize(
    ("listed", "reason", "path"),
    [
        ([signed() | {"outcome": "Another."}], "verification_failed", "[0].digest"),
        ([signed() | {"digest": "sha256:0"}], "verification_failed", "[0].digest"),
        ([signed(id="a"), stated(summary="")], "malformed", "[1].summary"),
        ([signed(), "e"], "malformed", "[1]"),
        ([signed(id="a"), signed(id="a")], "malformed", "[1].id"),
        ([signed(acme=nested(60))], "malformed", "[0]"),
    ],
)
def test_one_false_document_and_the_whole_catalog_is_refused(listed, reason, path):
    with pytest.raises(EnvelopeError) as caught:
        answer(*listed)

    assert caught.value.reason_code == reason
    assert caught.value.path == f"$.ext['{CATALOG_KEY}'].capabilities{path}"
