"""How to run an AG-UI agent, given where it is."""

import json
import shlex

from ...connections import Connection, Way
from ...records import AgentRecord, is_web

# The least that AG-UI takes as the input of a run.
RUN = {
    "threadId": "thread-1",
    "runId": "run-1",
    "state": {},
    "messages": [{"id": "1", "role": "user", "content": "Hello"}],
    "tools": [],
    "context": [],
    "forwardedProps": {},
}


def connection(record: AgentRecord) -> Connection:
    if not is_web(record.endpoint):
        return Connection(remark="There is no address: the definition names none.")
    return Connection(
        ways=[Way(record.endpoint, "AG-UI over HTTP")],
        title="Run the agent",
        snippet=curl(record.endpoint),
    )


def curl(url: str) -> str:
    """One run, its events as they come."""
    return " \\\n  ".join(
        [
            "curl -N -X POST " + shlex.quote(url),
            "-H 'Content-Type: application/json'",
            "-H 'Accept: text/event-stream'",
            "-d " + shlex.quote(json.dumps(RUN)),
        ]
    )
