"""How AGH writes its identifiers, and what it trims around every text."""

import re

PROTOCOL = "agh-network/v0"

# Unicode White_Space; `str.strip()` alone would also take U+001C to U+001F.
WHITE_SPACE = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007"
    "\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)
SURROGATE = re.compile("[\ud800-\udfff]")

PEER_ID = re.compile(r"[a-z0-9][a-z0-9._-]{0,127}")
CHANNEL = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
WORKSPACE_ID = re.compile(r"[^. *>\x00-\x1f\x7f]+")
THREAD_ID = re.compile(r"thread_[a-z0-9][a-z0-9_-]{2,95}")
DIRECT_ID = re.compile(r"direct_[a-f0-9]{32}")
WORK_ID = re.compile(r"[^/\\\x00-\x1f\x7f]{1,128}")


def trimmed(text: str) -> str:
    """The text as AGH compares it; half a character becomes U+FFFD."""
    return SURROGATE.sub("\ufffd", text).strip(WHITE_SPACE)


# Where peers are that announce themselves.
ANNOUNCED = "agh://"


def endpoint(channel: str, peer_id: str) -> str:
    """Under which a peer is catalogued; without a channel only files tell of it."""
    return f"{ANNOUNCED}{channel}/{peer_id}" if channel else f"agh:{peer_id}"
