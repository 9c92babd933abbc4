"""How clients run an AG-UI agent."""

from ...connections import Connection, Endpoint, ShellWord, build_command_option
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
            build_command_option("Run the agent", build_curl_lines(record.endpoint))
        ],
    )


def build_curl_lines(url: str) -> list[list[ShellWord]]:
    """Return a command that runs the agent once and prints its event stream."""
    return [
        ["curl", "-N", "-X", "POST", url],
        ["-H", "Content-Type: application/json"],
        ["-H", "Accept: text/event-stream"],
        ["-d", MINIMAL_RUN_INPUT],
    ]
