"""The URLs of an AG-UI agent and of its capabilities."""

from urllib.parse import urlsplit, urlunsplit

CAPABILITIES_PATH = "/capabilities"


def build_capabilities_url(url: str) -> str:
    """Return the URL of the agent's capabilities: `/capabilities` below its path."""
    parts = urlsplit(url)
    path = f"{parts.path.rstrip('/')}{CAPABILITIES_PATH}"
    return urlunsplit(parts._replace(path=path, fragment=""))


def get_origin(url: str) -> tuple[str, str]:
    """Return the scheme and the host with its port."""
    parts = urlsplit(url)
    return parts.scheme, parts.netloc


def derive_agent_url(url: str) -> str:
    """Return the URL of an agent, from that URL or the URL of its capabilities."""
    parts = urlsplit(url)
    path = parts.path.rstrip("/")
    if not path.endswith(CAPABILITIES_PATH):
        return url
    return urlunsplit(parts._replace(path=path.removesuffix(CAPABILITIES_PATH)))


def remove_trailing_slashes(url: str) -> str:
    """Return the URL without slashes at the end of its path."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(path=parts.path.rstrip("/")))


def add_trailing_slash(url: str) -> str:
    """Return the URL with a slash at the end of its path."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(path=parts.path + "/"))
