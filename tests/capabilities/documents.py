"""Helpers that read a document and check the outcome."""

import pytest

from capabilities.documents import read_document
from capabilities.problems import Document, Problem, Problems, UnreadableDocument

TOO_DEEP_MESSAGE = "is nested deeper than 64 levels"


def read_valid(content: bytes | str) -> Document:
    """Return the document, which must have neither errors nor warnings."""
    problems = Problems()
    document = read_document(encode(content), problems)
    assert not problems.errors
    assert not problems.warnings
    return document


def get_read_error(content: bytes | str) -> Problem:
    """Return why the document is unreadable, which it must be."""
    with pytest.raises(UnreadableDocument) as caught:
        read_document(encode(content), Problems())
    return caught.value.problem


def encode(content: bytes | str) -> bytes:
    return content.encode() if isinstance(content, str) else content
