"""Formats of AGH identifiers, and the normalization of strings."""

import re

PROTOCOL_VERSION = "agh-network/v0"

# Unicode White_Space; `str.strip()` alone would also strip U+001C to U+001F.
WHITE_SPACE = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007"
    "\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)
SURROGATE_PATTERN = re.compile("[\ud800-\udfff]")

PEER_ID_PATTERN = re.compile(r"[a-z0-9][a-z0-9._-]{0,127}")
CHANNEL_PATTERN = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
WORKSPACE_ID_PATTERN = re.compile(r"[^. *>\x00-\x1f\x7f]+")
THREAD_ID_PATTERN = re.compile(r"thread_[a-z0-9][a-z0-9_-]{2,95}")
DIRECT_ID_PATTERN = re.compile(r"direct_[a-f0-9]{32}")
WORK_ID_PATTERN = re.compile(r"[^/\\\x00-\x1f\x7f]{1,128}")

# The scheme in the endpoints of peers that announce themselves in a channel.
ENDPOINT_SCHEME = "agh://"


def normalize_text(text: str) -> str:
    """Strip white space as AGH does; lone surrogates become U+FFFD."""
    return SURROGATE_PATTERN.sub("\ufffd", text).strip(WHITE_SPACE)


def build_endpoint(channel: str, peer_id: str) -> str:
    """Return the endpoint of a peer; only peers read from files have no channel."""
    return f"{ENDPOINT_SCHEME}{channel}/{peer_id}" if channel else f"agh:{peer_id}"
