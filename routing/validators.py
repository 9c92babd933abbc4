"""Validation of registration fields, shared by the API, the admin and forms."""

import re
from collections.abc import Callable
from urllib.parse import urlsplit

from django.core.exceptions import ValidationError

from capabilities.problems import find_url_error
from capabilities.validators import find_registration_name_error
from catalog.outbound import has_disallowed_host

SEMANTIC_VERSION_LIMIT = 100
# Semantic Versioning 2.0.0: three numbers, a pre-release and build metadata.
NUMBER, IDENTIFIER = r"(0|[1-9]\d*)", r"[0-9A-Za-z-]+"
PRE_RELEASE_IDENTIFIER = rf"({NUMBER}|\d*[A-Za-z-][0-9A-Za-z-]*)"
PRE_RELEASE = rf"-{PRE_RELEASE_IDENTIFIER}(\.{PRE_RELEASE_IDENTIFIER})*"
BUILD = rf"\+{IDENTIFIER}(\.{IDENTIFIER})*"
SEMANTIC_VERSION = re.compile(
    rf"{NUMBER}\.{NUMBER}\.{NUMBER}({PRE_RELEASE})?({BUILD})?", re.ASCII
)


def find_version_error(version: str) -> str:
    """Return what is wrong with the version, or '' if it is valid."""
    if len(version) > SEMANTIC_VERSION_LIMIT:
        return f"must have at most {SEMANTIC_VERSION_LIMIT} characters"
    if not SEMANTIC_VERSION.fullmatch(version):
        return "must be a semantic version, such as 1.0.0"
    return ""


def find_health_check_url_error(url: str) -> str:
    """Return what is wrong with an absolute URL or a path, or '' if it is valid."""
    is_path = url.startswith("/") and not url.startswith("//")
    absolute_url = f"https://agent.example{url}" if is_path else url
    if url and (error := find_url_error(absolute_url)):
        return error if is_path else f"{error}, or a path that starts with /"
    if "@" in urlsplit(absolute_url).netloc:
        return "must not contain a username or password"
    if has_disallowed_host(absolute_url):
        return "must not point to a private or loopback address"
    return ""


def raise_if_invalid(find_error: Callable[[str], str], value: str) -> None:
    if message := find_error(value):
        raise ValidationError(f"This {message}.")


def validate_capability(name: str) -> None:
    raise_if_invalid(find_registration_name_error, name)


def validate_version(version: str) -> None:
    raise_if_invalid(find_version_error, version)


def validate_health_check_url(url: str) -> None:
    raise_if_invalid(find_health_check_url_error, url)
