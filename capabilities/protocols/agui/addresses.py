"""Where an AG-UI agent is, and where it tells what it can do."""

from urllib.parse import urlsplit, urlunsplit

CAPABILITIES = "/capabilities"


def capabilities_url(url: str) -> str:
    """`/capabilities` under the agent's own path; a query string stays."""
    parts = urlsplit(url)
    path = f"{parts.path.rstrip('/')}{CAPABILITIES}"
    return urlunsplit(parts._replace(path=path, fragment=""))


def host(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc


def agent_url(url: str) -> str:
    """The agent itself, also when somebody gave the place where it tells."""
    parts = urlsplit(url)
    path = parts.path.rstrip("/")
    if not path.endswith(CAPABILITIES):
        return url
    return urlunsplit(parts._replace(path=path.removesuffix(CAPABILITIES)))
