"""A2A's first form of credentials: `authentication`, before `securitySchemes`."""

from collections.abc import Iterable, Iterator

from ...problems import Document, Problems
from ...records import CAPABILITY_NAME_LIMIT
from .records import A2ASecurityScheme

AUTHENTICATION_MEMBERS = {"credentials", "schemes"}
# Names that mean that callers need no credentials.
OPEN_NAMES = {"anonymous", "none", "public"}
# Type and method of the scheme, by its name in lower case without punctuation.
KNOWN_SCHEMES = {
    "apikey": ("apiKey", ""),
    "basic": ("http", "Basic"),
    "bearer": ("http", "Bearer"),
    "digest": ("http", "Digest"),
    "jwt": ("http", "Bearer"),
    "mtls": ("mutualTLS", ""),
    "mutualtls": ("mutualTLS", ""),
    "oauth": ("oauth2", ""),
    "oauth2": ("oauth2", ""),
    "oidc": ("openIdConnect", ""),
    "openidconnect": ("openIdConnect", ""),
}
PATH = "$.authentication"


def read_authentication(
    document: Document, declared: Iterable[A2ASecurityScheme], problems: Problems
) -> Iterator[A2ASecurityScheme]:
    """Yield the schemes of `authentication` that are not among the declared ones."""
    authentication = problems.object(document, "authentication")
    problems.warn_unknown(authentication, AUTHENTICATION_MEMBERS, PATH)
    if authentication.get("credentials"):
        message = "may be a secret; ignored: definitions must not contain credentials"
        problems.warning(f"{PATH}.credentials", message)
    known = {(scheme.type, scheme.method.lower()) for scheme in declared}
    for path, name in iter_scheme_names(authentication, problems):
        scheme = build_scheme(name, problems, path)
        identity = (scheme.type, scheme.method.lower())
        # An API key is declared with its location, which this form does not have.
        declared_types = {scheme_type for scheme_type, _ in known}
        is_declared = scheme.type in declared_types and not scheme.method
        if identity not in known and not is_declared:
            known.add(identity)
            yield scheme


def iter_scheme_names(
    authentication: Document, problems: Problems
) -> Iterator[tuple[str, str]]:
    """Yield path and name of each scheme; a single name is read as a list."""
    value = authentication.get("schemes")
    path = f"{PATH}.schemes"
    if isinstance(value, str):
        problems.warning(path, "should be a list of strings; read as one")
        authentication = {"schemes": [value]}
    names = problems.string_list(authentication, "schemes", PATH) or []
    for name in names:
        if len(name) > CAPABILITY_NAME_LIMIT:
            problems.warning(path, "has a name that is too long; ignored")
        elif name.strip() and name.strip().lower() not in OPEN_NAMES:
            yield path, name.strip()


def build_scheme(name: str, problems: Problems, path: str) -> A2ASecurityScheme:
    letters = "".join(character for character in name.lower() if character.isalnum())
    scheme_type, method = KNOWN_SCHEMES.get(letters, (name, ""))
    if letters not in KNOWN_SCHEMES:
        problems.warning(path, f"has an unknown security scheme: {name}")
    fields = {"scheme": method} if method else {}
    return A2ASecurityScheme(
        name=scheme_type,
        key=name,
        type=scheme_type,
        method=method,
        fields=fields,
        path=path,
    )
