"""Reading of event streams (server-sent events)."""

from typing import NamedTuple


class StreamEvent(NamedTuple):
    name: str
    data: bytes


class FirstEventReader:
    """Finds the first event with data in the chunks of a stream.

    Comments and events without data only keep a stream open.
    """

    def __init__(self) -> None:
        self.line = bytearray()
        self.name = ""
        self.data: list[bytes] = []

    def feed(self, chunk: bytes) -> StreamEvent | None:
        """Return the event when the chunk completes it, else None."""
        first, *others = chunk.split(b"\n")
        self.line += first
        for part in others:
            if event := self.read_line(bytes(self.line).removesuffix(b"\r")):
                return event
            self.line = bytearray(part)
        return None

    def read_line(self, line: bytes) -> StreamEvent | None:
        if not line:
            event = StreamEvent(self.name, b"\n".join(self.data))
            self.name, self.data = "", []
            return event if event.data.strip() else None
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"event":
            self.name = value.decode(errors="replace")
        elif field == b"data":
            self.data.append(value)
        return None
