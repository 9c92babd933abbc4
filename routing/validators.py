"""What an offer may say, whichever door it comes in by."""

import re
from collections.abc import Callable
from urllib.parse import urlsplit

from django.core.exceptions import ValidationError

from capabilities.problems import url_error
from capabilities.validators import capability_name_error
from catalog.outbound import has_private_host

SEMANTIC_VERSION_LIMIT = 100
# Semantic versioning 2.0.0: three numbers, a pre-release, build metadata.
NUMBER, WORD = r"(0|[1-9]\d*)", r"[0-9A-Za-z-]+"
BEFORE = rf"({NUMBER}|\d*[A-Za-z-][0-9A-Za-z-]*)"
SEMANTIC_VERSION = re.compile(
    rf"{NUMBER}\.{NUMBER}\.{NUMBER}(-{BEFORE}(\.{BEFORE})*)?(\+{WORD}(\.{WORD})*)?",
    re.ASCII,
)


def version_error(text: str) -> str:
    well = len(text) <= SEMANTIC_VERSION_LIMIT and SEMANTIC_VERSION.fullmatch(text)
    return "" if well else "must be a semantic version, such as 1.0.0"


def health_check_url_error(text: str) -> str:
    """A path belongs to the agent's own address; anything else is a whole URL."""
    relative = text.startswith("/") and not text.startswith("//")
    url = f"https://agent.example{text}" if relative else text
    if text and (fault := url_error(url)):
        return f"{fault}, or start with /"
    if "@" in urlsplit(url).netloc:
        return "must not carry a password"
    return "must be at a public address" if has_private_host(url) else ""


def raise_if_invalid(fault: Callable[[str], str], value: str) -> None:
    if message := fault(value):
        raise ValidationError(f"This {message}.")


def validate_capability(name: str) -> None:
    raise_if_invalid(capability_name_error, name)


def validate_version(text: str) -> None:
    raise_if_invalid(version_error, text)


def validate_health_check_url(text: str) -> None:
    raise_if_invalid(health_check_url_error, text)
