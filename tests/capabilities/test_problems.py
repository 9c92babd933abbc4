import pytest

from capabilities.problems import (
    PROBLEM_LIMIT,
    Problem,
    Problems,
    find_url_error,
    member_path,
)


@pytest.fixture
def problems() -> Problems:
    return Problems()


@pytest.mark.parametrize(
    ("key", "path"),
    [
        ("skills", "$.skills"),
        ("x-generator", "$.x-generator"),
        ("_$1", "$._$1"),
        ("odd key", "$['odd key']"),
        ("", "$['']"),
        ("1st", "$['1st']"),
        ("a.b", "$['a.b']"),
        ("it's", '$["it\'s"]'),
        ("größe", "$['größe']"),
        ("a\n", r"$['a\n']"),
        ("\0", r"$['\x00']"),
        ("\ud800", r"$['\ud800']"),
    ],
)
def test_member_path_is_quoted_and_encodable(key, path):
    assert member_path("$", key) == path
    assert member_path("$", key).encode()


def test_member_path_extends_parent_path():
    assert member_path("$.skills[0]", "tags") == "$.skills[0].tags"


def test_long_member_name_is_cut_in_path():
    assert member_path("$", "k" * 80) == "$." + "k" * 80
    assert member_path("$", "k" * 81) == "$['" + "k" * 80 + "…']"


@pytest.mark.parametrize(
    "url",
    [
        "https://example.com",
        "http://example.com:8080/a?b=c#d",
        "HTTPS://EXAMPLE.COM/",
        "http://[::1]:80/",
        "https://bücher.example/",
        "https://example.com/" + "a" * 1_980,
    ],
)
def test_url_error_is_empty_for_web_url(url):
    assert find_url_error(url) == ""


@pytest.mark.parametrize(
    ("url", "error"),
    [
        ("", "must be an http or https URL"),
        ("javascript:alert(1)", "must be an http or https URL"),
        ("data:text/html,x", "must be an http or https URL"),
        ("file:///etc/passwd", "must be an http or https URL"),
        ("ftp://example.com/", "must be an http or https URL"),
        ("//example.com/", "must be an http or https URL"),
        ("example.com", "must be an http or https URL"),
        ("grpc.example.com:443", "must be an http or https URL"),
        ("https://", "must be an http or https URL"),
        ("https:///path", "must be an http or https URL"),
        ("https://:80/", "must be an http or https URL"),
        ("https://example.com:port/", "must be a well-formed URL"),
        ("https://example.com:99999/", "must be a well-formed URL"),
        ("https://[::1/", "must be a well-formed URL"),
        (" https://example.com/", "must be a URL without spaces or control characters"),
        (
            "https://example.com/a b",
            "must be a URL without spaces or control characters",
        ),
        ("java\nscript:alert(1)", "must be a URL without spaces or control characters"),
        (
            "https://example.com/\u202e",
            "must be a URL without spaces or control characters",
        ),
        (
            "https://example.com/" + "a" * 1_981,
            "must have at most 2000 characters, but has 2001",
        ),
    ],
)
def test_url_error_names_the_reason(url, error):
    assert find_url_error(url) == error


def test_errors_and_warnings_are_separate_and_in_order(problems):
    problems.error("$.a", "one")
    problems.warning("$.b", "two")
    problems.error("$.c", "three")

    assert problems.errors == [Problem("$.a", "one"), Problem("$.c", "three")]
    assert problems.warnings == [Problem("$.b", "two")]


@pytest.mark.parametrize("severity", ["error", "warning"])
def test_number_of_problems_is_limited(problems, severity):
    for n in range(3 * PROBLEM_LIMIT):
        getattr(problems, severity)(f"$[{n}]", "is invalid")

    reported = problems.errors or problems.warnings
    assert reported[:PROBLEM_LIMIT] == [
        Problem(f"$[{n}]", "is invalid") for n in range(1_000)
    ]
    assert reported[PROBLEM_LIMIT:] == [
        Problem("$", "has more than 1000 problems; the others are not listed")
    ]


def test_required_string_returns_value_unchanged(problems):
    assert problems.required_string({"a": " b "}, "a") == " b "
    assert not problems.errors


@pytest.mark.parametrize("document", [{}, *({"a": v} for v in (None, "", " ", 1, []))])
def test_required_string_missing_or_blank_is_an_error(problems, document):
    assert problems.required_string(document, "a", path="$.x[0]") == ""
    assert problems.errors == [Problem("$.x[0].a", "must be a non-empty string")]


@pytest.mark.parametrize(
    ("document", "text"), [({}, ""), ({"a": None}, ""), ({"a": "b"}, "b")]
)
def test_string_may_be_missing(problems, document, text):
    assert problems.string(document, "a") == text
    assert not problems.warnings


@pytest.mark.parametrize("value", [0, False, 1.5, [], {}, ["b"]])
def test_string_of_wrong_type_is_a_warning(problems, value):
    assert problems.string({"a": value}, "a", path="$.x") == ""
    assert problems.warnings == [Problem("$.x.a", "should be a string; ignored")]


def test_url_that_is_not_a_web_url_is_a_warning(problems):
    assert problems.url({"a": "https://example.com/"}, "a") == "https://example.com/"
    assert problems.url({}, "a") == ""
    assert not problems.warnings

    assert problems.url({"a": "javascript:alert(1)"}, "a") == ""
    message = "must be an http or https URL; ignored"
    assert problems.warnings == [Problem("$.a", message)]


def test_string_list_distinguishes_missing_from_empty(problems):
    assert problems.string_list({}, "a") is None
    assert problems.string_list({"a": None}, "a") is None
    assert problems.string_list({"a": []}, "a") == []
    assert problems.string_list({"a": ["b", ""]}, "a") == ["b", ""]
    assert not problems.warnings


def test_string_list_skips_other_items_with_warnings(problems):
    assert problems.string_list({"a": ["b", 1, "c", None]}, "a", path="$.x") == [
        "b",
        "c",
    ]
    assert [problem.path for problem in problems.warnings] == ["$.x.a[1]", "$.x.a[3]"]


@pytest.mark.parametrize("value", ["b", {}, 0, False])
def test_string_list_of_wrong_type_is_a_warning(problems, value):
    assert problems.string_list({"a": value}, "a") is None
    assert problems.warnings == [Problem("$.a", "should be a list of strings; ignored")]


def test_boolean_is_true_false_or_none(problems):
    assert problems.boolean({"a": True}, "a") is True
    assert problems.boolean({"a": False}, "a") is False
    assert problems.boolean({}, "a") is None
    assert problems.boolean({"a": None}, "a") is None
    assert not problems.warnings


@pytest.mark.parametrize("value", [0, 1, "true", [], {}])
def test_boolean_of_wrong_type_is_a_warning(problems, value):
    assert problems.boolean({"a": value}, "a", path="$.x") is None
    assert problems.warnings == [Problem("$.x.a", "should be true or false; ignored")]


def test_object_may_be_missing(problems):
    assert problems.object({"a": {"b": 1}}, "a") == {"b": 1}
    assert problems.object({}, "a") == {}
    assert not problems.warnings


@pytest.mark.parametrize("value", [[], "", 0, False, "b"])
def test_object_member_of_wrong_type_is_a_warning(problems, value):
    assert problems.object({"a": value}, "a") == {}
    assert problems.warnings == [Problem("$.a", "should be an object; ignored")]


def test_iter_objects_yields_paths_and_reports_other_items(problems):
    objects = list(problems.iter_objects({"a": [{}, 1, {"b": 2}]}, "a", path="$.x"))

    assert objects == [("$.x.a[0]", {}), ("$.x.a[2]", {"b": 2})]
    assert problems.errors == [Problem("$.x.a[1]", "must be an object")]


@pytest.mark.parametrize("value", [{}, "b", 0, False])
def test_iter_objects_of_wrong_type_is_an_error(problems, value):
    assert list(problems.iter_objects({"a": value}, "a")) == []
    assert problems.errors == [Problem("$.a", "must be a list of objects")]


def test_iter_objects_of_missing_list_yields_nothing(problems):
    assert list(problems.iter_objects({}, "a")) == []
    assert list(problems.iter_objects({"a": None}, "a")) == []
    assert not problems.errors


def test_iter_objects_rejects_list_over_the_limit(problems):
    assert len(list(problems.iter_objects({"a": [{}] * 5_000}, "a"))) == 5_000
    assert not problems.errors

    assert list(problems.iter_objects({"a": [{}] * 5_001}, "a")) == []
    assert problems.errors == [Problem("$.a", "has 5001 items; the limit is 5000")]


def test_warn_unknown_warns_of_unknown_members_sorted(problems):
    problems.warn_unknown(
        {"z": 1, "known": 2, "a b": 3}, ["known", "absent"], path="$.x"
    )

    assert [problem.path for problem in problems.warnings] == ["$.x['a b']", "$.x.z"]
