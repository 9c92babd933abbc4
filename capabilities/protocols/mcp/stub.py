"""Documents that stand for servers whose definition needs authorization."""

from ...interfaces import GuardedAgent, StubBuilder
from ...problems import Document, Problems

# Marks a stub, in `_meta`.
STUB_KEY = "agentlens/stub"


class MCPStubBuilder(StubBuilder):
    def build_stub(self, agent: GuardedAgent) -> Document:
        stub = {
            "authorization_servers": list(agent.authorization_servers),
            "scopes": list(agent.scopes),
        }
        return {
            "serverInfo": {"name": agent.name},
            "url": agent.url,
            "_meta": {STUB_KEY: stub},
        }

    def is_stub(self, document: Document) -> bool:
        return is_stub(document)


def is_stub(document: Document) -> bool:
    meta = document.get("_meta")
    return isinstance(meta, dict) and isinstance(meta.get(STUB_KEY), dict)


def describe_stub_credentials(document: Document) -> list[str]:
    """Return what the metadata of a stub's server says about credentials."""
    if not is_stub(document):
        return []
    stub, problems = document["_meta"][STUB_KEY], Problems()
    agent = GuardedAgent(
        url="",
        name="",
        authorization_servers=tuple(
            problems.string_list(stub, "authorization_servers") or ()
        ),
        scopes=tuple(problems.string_list(stub, "scopes") or ()),
    )
    details = agent.describe_authorization()
    return [
        f"OAuth 2.0, {details}"
        if details
        else "Required; the server does not say which kind"
    ]
