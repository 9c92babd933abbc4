"""One spelling for both sides: what is searched, and what is asked."""

import re
import unicodedata

# Between the fields of a text, so that a phrase never runs from one into the next.
SEPARATOR = "\x1f"
# The look ahead keeps it linear: an endless query must not be an endless search.
TERM = re.compile(r'"(?=\s*[^"\s])([^"]+)"|(\S+)')
# Each term is a condition, and a database takes only so many.
QUERY_LIMIT = 1_000
SORT_KEY_BYTES = 800


def fold(text: str) -> str:
    """One spelling for what people take for the same: Łódź, ŁÓDŹ; Straße, STRASSE."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    folded = unicodedata.normalize("NFC", folded)
    folded = folded.replace("i\u0307", "i").replace("\u0131", "i")
    return folded.replace(SEPARATOR, " ")


def parse_terms(query: str) -> list[str]:
    """Words and "quoted phrases", folded; a lone quote is an ordinary character."""
    found = (phrase or word for phrase, word in TERM.findall(fold(query)))
    return list(dict.fromkeys(found))


def sort_key(folded: str) -> str:
    """As much of a folded text as an index takes: enough to order by."""
    return folded.encode()[:SORT_KEY_BYTES].decode(errors="ignore")
