"""How an A2A card says who may call: schemes, requirements, signatures."""

import base64
import binascii
import json
import re
from collections.abc import Iterator

from ...documents import text_error
from ...problems import Document, Problems, member_path
from .records import A2ASecurityScheme, A2ASignature, Requirements

# The wrapper of revision 1.0 around each scheme, and its name before that.
WRAPPERS = {
    "apiKeySecurityScheme": "apiKey",
    "httpAuthSecurityScheme": "http",
    "oauth2SecurityScheme": "oauth2",
    "openIdConnectSecurityScheme": "openIdConnect",
    "mtlsSecurityScheme": "mutualTLS",
}
SCHEME_MEMBERS = {
    "bearerFormat",
    "description",
    "flows",
    "in",
    "location",
    "name",
    "oauth2MetadataUrl",
    "openIdConnectUrl",
    "scheme",
    "type",
}
SIGNATURE_MEMBERS = {"header", "protected", "signature"}
# Scheme members that go by another name here: one spelling for both revisions, and
# none that hides what the capability itself is called.
RENAMED = {"in": "location", "name": "parameter_name"}
OWN = {"description", "key", "kind", "method", "name", "type"}


def read_requirements(
    stated: Document, problems: Problems, at: str
) -> Requirements | None:
    """Alternatives of scheme -> scopes, from either spelling; None when unsaid."""
    if stated.get("securityRequirements") is not None:
        key, unwrap = "securityRequirements", v1_requirement
    elif stated.get("security") is not None:
        key, unwrap = "security", v0_requirement
    else:
        return None
    if not isinstance(stated[key], list):
        problems.warning(member_path(at, key), "should be a list of objects; ignored")
        return None
    return [
        unwrap(alternative, problems, path)
        for path, alternative in problems.iter_objects(stated, key, at)
    ]


def v1_requirement(
    alternative: Document, problems: Problems, at: str
) -> dict[str, list[str]]:
    problems.warn_unknown(alternative, {"schemes"}, at)
    schemes = problems.object(alternative, "schemes", at)
    at = member_path(at, "schemes")
    requirement = {}
    for key in schemes:
        scopes = problems.object(schemes, key, at)
        problems.warn_unknown(scopes, {"list"}, member_path(at, key))
        requirement[key] = (
            problems.string_list(scopes, "list", member_path(at, key)) or []
        )
    return requirement


def v0_requirement(
    alternative: Document, problems: Problems, at: str
) -> dict[str, list[str]]:
    return {
        key: problems.string_list(alternative, key, at) or [] for key in alternative
    }


def read_schemes(document: Document, problems: Problems) -> Iterator[A2ASecurityScheme]:
    schemes = problems.object(document, "securitySchemes")
    for key in schemes:
        path = member_path("$.securitySchemes", key)
        stated = problems.object(schemes, key, "$.securitySchemes")
        problems.warn_unknown(stated, SCHEME_MEMBERS | WRAPPERS.keys(), path)
        yield read_scheme(key, path, stated, problems)


def read_scheme(
    key: str, path: str, stated: Document, problems: Problems
) -> A2ASecurityScheme:
    """One scheme; in a dual card the wrapper says all that the old spelling does."""
    wrapper = next((name for name in WRAPPERS if stated.get(name) is not None), "")
    if wrapper:
        inner, place = (
            problems.object(stated, wrapper, path),
            member_path(path, wrapper),
        )
        problems.warn_unknown(inner, SCHEME_MEMBERS, place)
    else:
        inner, place = stated, path
    kind = WRAPPERS.get(wrapper) or problems.string(stated, "type", path).strip()
    if kind not in WRAPPERS.values():
        problems.warning(path, f"security scheme type is unknown: {kind or 'missing'}")
    return A2ASecurityScheme(
        name=kind or "unknown",
        description=problems.string(inner, "description", place),
        key=key,
        type=kind or "unknown",
        method=scheme_method(kind, inner),
        fields=scheme_fields(inner),
        path=path,
    )


def scheme_fields(stated: Document) -> Document:
    named = {RENAMED.get(key, snake_case(key)): stated[key] for key in stated}
    return {name: value for name, value in named.items() if name not in OWN}


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
    for path, stated in problems.iter_objects(document, "signatures"):
        problems.warn_unknown(stated, SIGNATURE_MEMBERS, path)
        protected = problems.string(stated, "protected", path)
        header = protected_header(protected)
        algorithm = header_text(header, "alg")
        if not algorithm:
            message = "is no base64url JSON header that names an algorithm"
            problems.warning(member_path(path, "protected"), message)
        yield A2ASignature(
            name=algorithm or "unknown",
            algorithm=algorithm or "unknown",
            key_id=header_text(header, "kid"),
            protected=protected,
            signature=problems.string(stated, "signature", path),
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
    if not isinstance(value, str) or not value.strip() or text_error(value):
        return ""
    return value
