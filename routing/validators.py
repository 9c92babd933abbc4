"""What an offer may say, whichever door it comes in by."""

import re
from collections.abc import Callable
from urllib.parse import urlsplit

from django.core.exceptions import ValidationError

from capabilities.problems import url_fault
from capabilities.validators import capability_name_fault
from catalog.outbound import plainly_private

VERSION_LIMIT = 100
# Semantic versioning 2.0.0: three numbers, a pre-release, build metadata.
NUMBER, WORD = r"(0|[1-9]\d*)", r"[0-9A-Za-z-]+"
BEFORE = rf"({NUMBER}|\d*[A-Za-z-][0-9A-Za-z-]*)"
SEMANTIC_VERSION = re.compile(
    rf"{NUMBER}\.{NUMBER}\.{NUMBER}(-{BEFORE}(\.{BEFORE})*)?(\+{WORD}(\.{WORD})*)?",
    re.ASCII,
)


def version_fault(text: str) -> str:
    well = len(text) <= VERSION_LIMIT and SEMANTIC_VERSION.fullmatch(text)
    return "" if well else "must be a semantic version, such as 1.0.0"


def health_check_url_fault(text: str) -> str:
    """A path belongs to the agent's own address; anything else is a whole URL."""
    relative = text.startswith("/") and not text.startswith("//")
    url = f"https://agent.example{text}" if relative else text
    if text and (fault := url_fault(url)):
        return f"{fault}, or start with /"
    if "@" in urlsplit(url).netloc:
        return "must not carry a password"
    return "must be at a public address" if plainly_private(url) else ""


def refuse(fault: Callable[[str], str], value: str) -> None:
    if message := fault(value):
        raise ValidationError(f"This {message}.")


def validate_capability(name: str) -> None:
    refuse(capability_name_fault, name)


def validate_version(text: str) -> None:
    refuse(version_fault, text)


def validate_health_check_url(text: str) -> None:
    refuse(health_check_url_fault, text)
