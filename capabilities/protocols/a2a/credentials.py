"""Credentials that A2A cards require, for people and for commands."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from urllib.parse import quote

from .records import A2ASecurityScheme, SecurityRequirements

REQUIREMENT_LIMIT = 10
BEARER_HEADER = "Authorization: Bearer YOUR_TOKEN"


@dataclass(frozen=True, slots=True)
class Credential:
    """How a command presents what a card requires."""

    headers: list[str] = field(default_factory=list)
    # Options of curl.
    options: list[str] = field(default_factory=list)
    # To append to the query of a URL.
    query: str = ""


def describe_credentials(
    schemes: list[A2ASecurityScheme], requirements: SecurityRequirements | None
) -> list[str]:
    """Return what callers must present, one line per alternative.

    Without requirements, the card does not say which schemes are needed.
    """
    if not requirements:
        return [describe_scheme(scheme) for scheme in schemes]
    schemes_by_key = {scheme.key: scheme for scheme in schemes}
    lines = [
        describe_alternative(alternative, schemes_by_key)
        for alternative in requirements[:REQUIREMENT_LIMIT]
    ]
    return [lines[0], *(f"Or: {line}" for line in lines[1:])]


def describe_alternative(
    alternative: dict[str, list[str]], schemes_by_key: dict[str, A2ASecurityScheme]
) -> str:
    """Return the schemes of an alternative, which are required together."""
    descriptions = []
    for key, scopes in alternative.items():
        scheme = schemes_by_key.get(key)
        description = describe_scheme(scheme) if scheme else f"{key}, not declared"
        scope_list = f" (scopes: {', '.join(scopes)})" if scopes else ""
        descriptions.append(description + scope_list)
    return "; and ".join(descriptions) or "no credentials"


def describe_scheme(scheme: A2ASecurityScheme) -> str:
    """Return what a caller must present, such as "HTTP Bearer (JWT)"."""
    fields = scheme.fields
    summaries = {
        "apiKey": f"API key in the {scheme.method or 'request'}"
        f" as {fields.get('parameter_name', '?')}",
        "http": f"HTTP {scheme.method or 'authentication'}"
        + (f" ({fields['bearer_format']})" if fields.get("bearer_format") else ""),
        "oauth2": f"OAuth 2.0, {scheme.method or 'without a declared flow'}",
        "openIdConnect": f"OpenID Connect, described at"
        f" {fields.get('open_id_connect_url', '?')}",
        "mutualTLS": "Mutual TLS: a client certificate",
    }
    summary = summaries.get(scheme.type, f"{scheme.type}, an unknown scheme")
    return f"{summary} – {scheme.description}" if scheme.description else summary


def select_credentials(
    schemes: list[A2ASecurityScheme], requirements: SecurityRequirements | None
) -> Credential:
    """Return the credential of the first alternative, else of the first scheme."""
    if not requirements:
        return combine_credentials(schemes[:1])
    schemes_by_key = {scheme.key: scheme for scheme in schemes}
    required = [schemes_by_key[key] for key in requirements[0] if key in schemes_by_key]
    return combine_credentials(required)


def combine_credentials(schemes: list[A2ASecurityScheme]) -> Credential:
    credentials = [build_credential(scheme) for scheme in schemes]
    return Credential(
        headers=unique(header for item in credentials for header in item.headers),
        options=unique(option for item in credentials for option in item.options),
        query="&".join(unique(item.query for item in credentials if item.query)),
    )


def unique(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(texts))


def build_credential(scheme: A2ASecurityScheme) -> Credential:
    if scheme.type == "apiKey":
        return build_api_key(scheme)
    if scheme.type == "http":
        return build_http_credential(scheme.method)
    if scheme.type in ("oauth2", "openIdConnect"):
        return Credential(headers=[BEARER_HEADER])
    if scheme.type == "mutualTLS":
        return Credential(options=["--cert client.pem --key client-key.pem"])
    return Credential()


def build_api_key(scheme: A2ASecurityScheme) -> Credential:
    name = str(scheme.fields.get("parameter_name", "X-API-Key"))
    if scheme.method == "header":
        return Credential(headers=[f"{name}: YOUR_KEY"])
    if scheme.method == "query":
        return Credential(query=f"{quote(name, safe='')}=YOUR_KEY")
    if scheme.method == "cookie":
        return Credential(headers=[f"Cookie: {name}=YOUR_KEY"])
    return Credential()


def build_http_credential(method: str) -> Credential:
    """Return the credential for a scheme of HTTP, such as Bearer or Basic."""
    name = method.strip().lower()
    if name in ("basic", "digest"):
        option = "" if name == "basic" else "--digest "
        return Credential(options=[f"{option}-u YOUR_USER:YOUR_PASSWORD"])
    if name in ("", "bearer"):
        return Credential(headers=[BEARER_HEADER])
    return Credential(headers=[f"Authorization: {method.strip()} YOUR_CREDENTIAL"])
