import pytest

from capabilities.protocols.agh.cards import CATALOG_KEY
from capabilities.protocols.agh.catalogs import (
    CatalogRequest,
    build_catalog_ext,
    read_catalog,
)
from capabilities.protocols.agh.errors import EnvelopeError

from .messages import (
    build_document,
    build_nested_object,
    build_raw_document,
    build_verified_document,
)

REQUEST_EXT = {"agh.include": ["capability_catalog"]}
REQUEST_ALL = CatalogRequest(include_documents=True)


@pytest.mark.parametrize(
    "include",
    [
        ["capability_catalog"],
        [" capability_catalog "],
        ["later", "capability_catalog", ""],
    ],
)
def test_include_with_capability_catalog_requests_documents(include):
    assert CatalogRequest.from_ext({"agh.include": include}) == REQUEST_ALL


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
def test_invalid_or_other_include_requests_no_documents(include):
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
def test_ids_select_documents_and_invalid_ids_select_none(ids, selected):
    request = CatalogRequest.from_ext({**REQUEST_EXT, "agh.capability_ids": ids})

    assert request.include_documents
    assert request.ids == selected
    assert not request.is_requested("z")


def test_request_without_ids_selects_everything():
    assert CatalogRequest.from_ext(REQUEST_EXT).ids is None
    assert CatalogRequest.from_ext(REQUEST_EXT).is_requested("anything")
    assert not CatalogRequest().is_requested("anything")


@pytest.mark.parametrize(
    "request_",
    [CatalogRequest(), REQUEST_ALL, CatalogRequest(True, frozenset({"b", "a"}))],
)
def test_request_survives_ext_round_trip(request_):
    assert CatalogRequest.from_ext(request_.to_ext()) == request_


def test_empty_ids_are_written_as_an_empty_list():
    assert CatalogRequest(True, frozenset()).to_ext()["agh.capability_ids"] == []


DOCUMENTS = [build_document(id=name) for name in ("c", "a", "b")]


def get_ids(ext):
    return [entry["id"] for entry in ext[CATALOG_KEY]["capabilities"]]


def test_catalog_ext_keeps_catalog_order():
    request = CatalogRequest(True, frozenset({"b", "c", "z"}))

    assert get_ids(build_catalog_ext(DOCUMENTS, REQUEST_ALL)) == ["c", "a", "b"]
    assert get_ids(build_catalog_ext(DOCUMENTS, request)) == ["c", "b"]


def test_read_catalog_verifies_documents():
    documents = read_catalog(build_catalog_ext(DOCUMENTS, REQUEST_ALL))

    assert [document.id for document in documents] == ["c", "a", "b"]
    assert all(document.is_verified for document in documents)


def read_entries(*entries):
    return read_catalog({CATALOG_KEY: {"capabilities": list(entries)}})


def test_read_catalog_without_key_is_none():
    assert read_catalog({}) is None
    assert read_catalog({"acme.x": 1}) is None


def test_document_without_digest_is_read_but_not_verified():
    documents = read_entries(
        build_verified_document(id="a"), build_raw_document(id="c")
    )

    assert [(document.id, document.is_verified) for document in documents] == [
        ("a", True),
        ("c", False),
    ]


@pytest.mark.parametrize("value", [None, [], "x", {}, {"capabilities": None}])
def test_malformed_catalog_is_rejected(value):
    with pytest.raises(EnvelopeError) as caught:
        read_catalog({CATALOG_KEY: value})

    assert caught.value.reason_code == "malformed"
    assert caught.value.path == f"$.ext['{CATALOG_KEY}']"


@pytest.mark.parametrize(
    ("entries", "reason", "path"),
    [
        (
            [build_verified_document() | {"outcome": "Another."}],
            "verification_failed",
            "[0].digest",
        ),
        (
            [build_verified_document() | {"digest": "sha256:0"}],
            "verification_failed",
            "[0].digest",
        ),
        (
            [build_verified_document(id="a"), build_raw_document(summary="")],
            "malformed",
            "[1].summary",
        ),
        ([build_verified_document(), "e"], "malformed", "[1]"),
        (
            [build_verified_document(id="a"), build_verified_document(id="a")],
            "malformed",
            "[1].id",
        ),
        ([build_verified_document(acme=build_nested_object(60))], "malformed", "[0]"),
    ],
)
def test_catalog_with_one_invalid_document_is_rejected(entries, reason, path):
    with pytest.raises(EnvelopeError) as caught:
        read_entries(*entries)

    assert caught.value.reason_code == reason
    assert caught.value.path == f"$.ext['{CATALOG_KEY}'].capabilities{path}"
