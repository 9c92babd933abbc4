"""How clients run an AG-UI agent."""

import shlex

from ...connections import Connection, ConnectionOption, Endpoint, Snippet, dump_snippet
from ...records import AgentRecord, is_web_url

# The smallest RunAgentInput that AG-UI accepts.
MINIMAL_RUN_INPUT = {
    "threadId": "thread-1",
    "runId": "run-1",
    "state": {},
    "messages": [{"id": "1", "role": "user", "content": "Hello"}],
    "tools": [],
    "context": [],
    "forwardedProps": {},
}


def build_connection(record: AgentRecord) -> Connection:
    if not is_web_url(record.endpoint):
        return Connection(unavailable_reason="The definition contains no endpoint.")
    return Connection(
        endpoints=[Endpoint(record.endpoint, "AG-UI over HTTP")],
        options=[
            ConnectionOption(
                "Run the agent",
                [Snippet("curl", build_curl_command(record.endpoint), "sh")],
            )
        ],
    )


def build_curl_command(url: str) -> str:
    """Return a shell command that runs the agent once and prints its event stream."""
    return " \\\n  ".join(
        [
            "curl -N -X POST " + shlex.quote(url),
            "-H 'Content-Type: application/json'",
            "-H 'Accept: text/event-stream'",
            "-d " + shlex.quote(dump_snippet(MINIMAL_RUN_INPUT)),
        ]
    )
