"""How an A2A card says who may call: schemes, requirements, signatures."""

import base64
import binascii
import json
import re
from collections.abc import Iterator

from ...documents import text_fault
from ...problems import Document, Problems, member
from .records import A2ASecurityScheme, A2ASignature, Requirements

# The wrapper of revision 1.0 around each scheme, and its name before that.
WRAPPERS = {
    "apiKeySecurityScheme": "apiKey",
    "httpAuthSecurityScheme": "http",
    "oauth2SecurityScheme": "oauth2",
    "openIdConnectSecurityScheme": "openIdConnect",
    "mtlsSecurityScheme": "mutualTLS",
}
# Scheme members that go by another name here: one spelling for both revisions, and
# none that hides the capability's own name.
RENAMED = {"in": "location", "name": "parameter_name"}


def read_requirements(
    stated: Document, problems: Problems, at: str
) -> Requirements | None:
    """Alternatives of scheme -> scopes, from either spelling; None when unsaid."""
    if "securityRequirements" in stated:
        key, unwrap = "securityRequirements", v1_requirement
    elif "security" in stated:
        key, unwrap = "security", v0_requirement
    else:
        return None
    if not isinstance(stated[key], list):
        problems.warning(member(at, key), "should be a list of objects; ignored")
        return None
    return [
        unwrap(alternative, problems, path)
        for path, alternative in problems.objects(stated, key, at)
    ]


def v1_requirement(
    alternative: Document, problems: Problems, at: str
) -> dict[str, list[str]]:
    schemes = problems.object(alternative, "schemes", at)
    place = member(at, "schemes")
    return {
        key: problems.texts(
            problems.object(schemes, key, place), "list", member(place, key)
        )
        or []
        for key in schemes
    }


def v0_requirement(
    alternative: Document, problems: Problems, at: str
) -> dict[str, list[str]]:
    return {key: problems.texts(alternative, key, at) or [] for key in alternative}


def read_schemes(document: Document, problems: Problems) -> Iterator[A2ASecurityScheme]:
    schemes = problems.object(document, "securitySchemes")
    for key in schemes:
        path = member("$.securitySchemes", key)
        stated = problems.object(schemes, key, "$.securitySchemes")
        wrapper = next((wrapper for wrapper in WRAPPERS if wrapper in stated), None)
        if wrapper:
            kind, inner = WRAPPERS[wrapper], problems.object(stated, wrapper, path)
        else:
            kind, inner = problems.text(stated, "type", path), stated
        if kind not in WRAPPERS.values():
            shown = kind or "missing"
            problems.warning(path, f"security scheme type is unknown: {shown}")
        yield A2ASecurityScheme(
            name=kind or "unknown",
            description=problems.text(inner, "description", path),
            key=key,
            type=kind or "unknown",
            method=scheme_method(kind, inner),
            fields=scheme_fields(inner),
            path=path,
        )


def scheme_fields(stated: Document) -> Document:
    return {
        RENAMED.get(name, snake_case(name)): value
        for name, value in stated.items()
        if name not in ("description", "type")
    }


def scheme_method(kind: str, stated: Document) -> str:
    """How the scheme is applied, in a word: Bearer, header, clientCredentials."""
    if kind == "oauth2":
        flows = stated.get("flows")
        return ", ".join(flows) if isinstance(flows, dict) else ""
    said = stated.get("scheme") or stated.get("location") or stated.get("in")
    return said if isinstance(said, str) else ""


def snake_case(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower()


def read_signatures(document: Document, problems: Problems) -> Iterator[A2ASignature]:
    for path, stated in problems.objects(document, "signatures"):
        protected = problems.text(stated, "protected", path)
        header = protected_header(protected)
        if header is None:
            problems.warning(member(path, "protected"), "is no base64url JSON header")
        algorithm = header_text(header, "alg") or "unknown"
        yield A2ASignature(
            name=algorithm,
            algorithm=algorithm,
            key_id=header_text(header, "kid"),
            protected=protected,
            signature=problems.text(stated, "signature", path),
            header=problems.object(stated, "header", path) or None,
            path=path,
        )


def protected_header(protected: str) -> Document | None:
    try:
        padded = protected + "=" * (-len(protected) % 4)
        header = json.loads(base64.urlsafe_b64decode(padded))
    except (binascii.Error, ValueError, RecursionError):
        return None
    return header if isinstance(header, dict) else None


def header_text(header: Document | None, key: str) -> str:
    """A text of the decoded header, which the walk over the card never saw."""
    value = (header or {}).get(key)
    return value if isinstance(value, str) and not text_fault(value) else ""
