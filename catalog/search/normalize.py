"""Normalization of indexed texts and of search queries."""

import re
import unicodedata

# Between the fields of a text, so that no phrase matches across two fields.
SEPARATOR = "\x1f"
# The lookahead keeps the time linear for long queries.
TERM = re.compile(r'"(?=\s*[^"\s])([^"]+)"|(\S+)')
# Each term is an SQL condition, and databases limit their number.
QUERY_LIMIT = 1_000
# Fits into an index entry on every database.
SORT_KEY_BYTES = 800


def fold(text: str) -> str:
    """Normalize case and Unicode: Łódź equals ŁÓDŹ, and Straße equals STRASSE."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    folded = unicodedata.normalize("NFC", folded)
    folded = folded.replace("i\u0307", "i").replace("\u0131", "i")
    return folded.replace(SEPARATOR, " ")


def parse_terms(query: str) -> list[str]:
    """Return the folded words and "quoted phrases"; keep unpaired double quotes."""
    terms = (phrase or word for phrase, word in TERM.findall(fold(query)))
    return list(dict.fromkeys(terms))


def truncate_sort_key(folded: str) -> str:
    """Return the start of a folded text, as much as a database can index."""
    return folded.encode()[:SORT_KEY_BYTES].decode(errors="ignore")
