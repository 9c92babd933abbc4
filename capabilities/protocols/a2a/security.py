"""Security schemes, security requirements and signatures of A2A cards."""

import base64
import binascii
import json
import re
from collections.abc import Iterator

from ...documents import find_text_error
from ...problems import Document, Problems, member_path
from .records import A2ASecurityScheme, A2ASignature, SecurityRequirements

# The wrapper member of each scheme type in revision 1.0, and the `type` before it.
SCHEME_TYPES_BY_WRAPPER = {
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
# Members stored under other names: `in` has a new name since revision 1.0, and `name`
# would hide the name of the capability.
RENAMED_FIELDS = {"in": "location", "name": "parameter_name"}
# Names that a capability uses itself.
RESERVED_FIELDS = {"description", "key", "kind", "method", "name", "type"}


def read_requirements(
    document: Document, problems: Problems, path: str
) -> SecurityRequirements | None:
    """Return the requirements in either spelling, None if they are missing."""
    if document.get("securityRequirements") is None:
        return read_spelling(document, "security", problems, path)
    requirements = read_spelling(document, "securityRequirements", problems, path)
    if document.get("security") is not None:
        older_problems = Problems()
        older = read_spelling(document, "security", older_problems, path)
        if older != requirements or older_problems.errors or older_problems.warnings:
            message = "contradicts securityRequirements; ignored"
            problems.warning(member_path(path, "security"), message)
    return requirements


def read_spelling(
    document: Document, key: str, problems: Problems, path: str
) -> SecurityRequirements | None:
    """Return the requirements in the member of this name, None if it is missing."""
    is_v1 = key == "securityRequirements"
    read_alternative = read_alternative_v1 if is_v1 else read_alternative_v0
    if document.get(key) is None:
        return None
    if not isinstance(document[key], list):
        problems.warning(member_path(path, key), "should be a list of objects; ignored")
        return None
    return [
        read_alternative(alternative, problems, item_path)
        for item_path, alternative in problems.iter_objects(document, key, path)
    ]


def read_alternative_v1(
    alternative: Document, problems: Problems, path: str
) -> dict[str, list[str]]:
    """Return the scopes by scheme key."""
    problems.warn_unknown(alternative, {"schemes"}, path)
    schemes = problems.object(alternative, "schemes", path)
    schemes_path = member_path(path, "schemes")
    scopes_by_scheme = {}
    for key in schemes:
        scheme_path = member_path(schemes_path, key)
        scopes = problems.object(schemes, key, schemes_path)
        problems.warn_unknown(scopes, {"list"}, scheme_path)
        scopes_by_scheme[key] = problems.string_list(scopes, "list", scheme_path) or []
    return scopes_by_scheme


def read_alternative_v0(
    alternative: Document, problems: Problems, path: str
) -> dict[str, list[str]]:
    """Return the scopes by scheme key."""
    return {
        key: problems.string_list(alternative, key, path) or [] for key in alternative
    }


def read_schemes(document: Document, problems: Problems) -> Iterator[A2ASecurityScheme]:
    schemes = problems.object(document, "securitySchemes")
    for key in schemes:
        path = member_path("$.securitySchemes", key)
        definition = problems.object(schemes, key, "$.securitySchemes")
        known_members = SCHEME_MEMBERS | SCHEME_TYPES_BY_WRAPPER.keys()
        problems.warn_unknown(definition, known_members, path)
        yield read_scheme(definition, key, problems, path)


def read_scheme(
    definition: Document, key: str, problems: Problems, path: str
) -> A2ASecurityScheme:
    """Return a scheme, read from the wrapper of revision 1.0 if there is one."""
    wrappers = SCHEME_TYPES_BY_WRAPPER.keys()
    wrapper = next((name for name in wrappers if definition.get(name) is not None), "")
    scheme, scheme_path = definition, path
    if wrapper:
        scheme = problems.object(definition, wrapper, path)
        scheme_path = member_path(path, wrapper)
        problems.warn_unknown(scheme, SCHEME_MEMBERS, scheme_path)
        scheme_type = SCHEME_TYPES_BY_WRAPPER[wrapper]
    else:
        scheme_type = problems.string(definition, "type", path).strip()
    if not scheme_type:
        problems.warning(path, "has no security scheme type")
    elif scheme_type not in SCHEME_TYPES_BY_WRAPPER.values():
        problems.warning(path, f"has an unknown security scheme type: {scheme_type}")
    return A2ASecurityScheme(
        name=scheme_type or "unknown",
        description=problems.string(scheme, "description", scheme_path),
        key=key,
        type=scheme_type or "unknown",
        method=get_scheme_method(scheme_type, scheme),
        fields=get_scheme_fields(scheme),
        path=path,
    )


def get_scheme_fields(scheme: Document) -> Document:
    """Return the members under snake_case names, without RESERVED_FIELDS."""
    fields = {
        RENAMED_FIELDS.get(key, to_field_name(key)): scheme[key] for key in scheme
    }
    return {
        name: value for name, value in fields.items() if name not in RESERVED_FIELDS
    }


def get_scheme_method(scheme_type: str, scheme: Document) -> str:
    """Return how the scheme is applied, such as Bearer, header, clientCredentials."""
    if scheme_type == "oauth2":
        flows = scheme.get("flows")
        return ", ".join(flows) if isinstance(flows, dict) else ""
    method = scheme.get("scheme") or scheme.get("location") or scheme.get("in")
    return method if isinstance(method, str) else ""


def to_field_name(name: str) -> str:
    """Return the name of a member in snake_case."""
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower()


def read_signatures(document: Document, problems: Problems) -> Iterator[A2ASignature]:
    for path, signature in problems.iter_objects(document, "signatures"):
        problems.warn_unknown(signature, SIGNATURE_MEMBERS, path)
        protected = problems.string(signature, "protected", path)
        header = decode_protected_header(protected)
        algorithm = get_header_string(header, "alg")
        if not algorithm:
            message = "should be a base64url-encoded JSON header with an alg"
            problems.warning(member_path(path, "protected"), message)
        yield A2ASignature(
            name=algorithm or "unknown",
            algorithm=algorithm or "unknown",
            key_id=get_header_string(header, "kid"),
            protected=protected,
            signature=problems.string(signature, "signature", path),
            header=problems.object(signature, "header", path) or None,
            path=path,
        )


def decode_protected_header(protected: str) -> Document | None:
    try:
        padded = protected + "=" * (-len(protected) % 4)
        header = json.loads(base64.urlsafe_b64decode(padded))
    except (binascii.Error, ValueError, RecursionError):
        return None
    return header if isinstance(header, dict) else None


def get_header_string(header: Document | None, key: str) -> str:
    """Return a string of the header, "" if it is missing or cannot be stored.

    The strings of the header are checked here: in the document, they are encoded.
    """
    value = (header or {}).get(key)
    if not isinstance(value, str) or not value.strip() or find_text_error(value):
        return ""
    return value
