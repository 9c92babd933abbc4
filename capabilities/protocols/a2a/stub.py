"""Cards that stand for agents whose card needs authorization."""

from ...interfaces import GuardedAgent, StubBuilder
from ...problems import Document

# Marks a stub; no revision of A2A defines this member.
STUB_MEMBER = "x-agentlens-stub"


class A2AStubBuilder(StubBuilder):
    def build_stub(self, agent: GuardedAgent) -> Document:
        scheme = {"type": "http"}
        if details := agent.describe_authorization():
            scheme = {"type": "oauth2", "description": details}
        return {
            "name": agent.name,
            "description": "",
            "version": "",
            "url": agent.url,
            "capabilities": {},
            "defaultInputModes": [],
            "defaultOutputModes": [],
            "skills": [],
            "securitySchemes": {"authorization": scheme},
            STUB_MEMBER: True,
        }

    def is_stub(self, document: Document) -> bool:
        return document.get(STUB_MEMBER) is True
