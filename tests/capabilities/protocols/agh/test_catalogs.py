import pytest

from capabilities.protocols.agh.cards import CATALOG
from capabilities.protocols.agh.catalogs import (
    CatalogRequest,
    catalog_ext,
    read_catalog,
)
from capabilities.protocols.agh.refusals import Refusal

from .making import document, signed, stated

ASKED = {"agh.include": ["capability_catalog"]}
ALL = CatalogRequest(wanted=True)


@pytest.mark.parametrize(
    "include",
    [
        ["capability_catalog"],
        [" capability_catalog "],
        ["later", "capability_catalog", ""],
    ],
)
def test_the_word_asks_for_the_catalog_among_any_others(include):
    assert CatalogRequest.of({"agh.include": include}) == ALL


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
    assert CatalogRequest.of({"agh.include": include}) == CatalogRequest()
    assert CatalogRequest.of({"agh.capability_ids": ["a"]}) == CatalogRequest()


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
    request = CatalogRequest.of({**ASKED, "agh.capability_ids": ids})

    assert request.wanted
    assert request.ids == selected
    assert not request.selects("z")


def test_without_ids_everything_is_selected():
    assert CatalogRequest.of(ASKED).ids is None
    assert CatalogRequest.of(ASKED).selects("anything")
    assert not CatalogRequest().selects("anything")


@pytest.mark.parametrize(
    "request_",
    [CatalogRequest(), ALL, CatalogRequest(True, frozenset({"b", "a"}))],
)
def test_a_request_is_read_as_it_was_written(request_):
    assert CatalogRequest.of(request_.to_ext()) == request_


def test_an_empty_filter_is_written_and_read_as_one():
    assert CatalogRequest(True, frozenset()).to_ext()["agh.capability_ids"] == []


DOCUMENTS = [document(id=each) for each in ("c", "a", "b")]


def ids_in(ext):
    return [each["id"] for each in ext[CATALOG]["capabilities"]]


def test_the_answer_keeps_catalog_order():
    narrowed = CatalogRequest(True, frozenset({"b", "c", "z"}))

    assert ids_in(catalog_ext(DOCUMENTS, ALL)) == ["c", "a", "b"]
    assert ids_in(catalog_ext(DOCUMENTS, narrowed)) == ["c", "b"]


def test_the_answer_is_verified_by_whoever_reads_it():
    received = read_catalog(catalog_ext(DOCUMENTS, ALL))

    assert [each.id for each in received] == ["c", "a", "b"]
    assert all(each.verified for each in received)


def answer(*listed):
    return read_catalog({CATALOG: {"capabilities": list(listed)}})


def test_without_the_key_there_is_no_catalog():
    assert read_catalog({}) is None
    assert read_catalog({"acme.x": 1}) is None


def test_a_document_without_a_digest_is_taken_and_not_verified():
    received = answer(signed(id="a"), stated(id="c"))

    assert [(each.id, each.verified) for each in received] == [
        ("a", True),
        ("c", False),
    ]


@pytest.mark.parametrize("value", [None, [], "x", {}, {"capabilities": None}])
def test_a_malformed_catalog_is_refused(value):
    with pytest.raises(Refusal) as caught:
        read_catalog({CATALOG: value})

    assert caught.value.reason_code == "malformed"
    assert caught.value.path == f"$.ext['{CATALOG}']"


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
    with pytest.raises(Refusal) as caught:
        answer(*listed)

    assert caught.value.reason_code == reason
    assert caught.value.path == f"$.ext['{CATALOG}'].capabilities{path}"
