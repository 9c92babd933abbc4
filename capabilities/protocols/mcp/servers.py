"""What a client is configured with: a command to run or a URL to connect to."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from .inputs import Input, ServerSetting, Value


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A command that the client runs, and whose stdin and stdout it uses."""

    command: str
    arguments: list[Value] = field(default_factory=list)
    environment: dict[str, Value] = field(default_factory=dict)

    @property
    def inputs(self) -> list[Input]:
        return find_placeholders([*self.environment.values(), *self.arguments])

    @property
    def named_inputs(self) -> list[Input]:
        return self.inputs


@dataclass(frozen=True, slots=True)
class RemoteServer:
    """A URL, for the transport `http` or `sse`, and the headers to send."""

    type: str
    url: Value
    headers: dict[str, Value] = field(default_factory=dict)
    # The inputs of the package that listens at the URL.
    package_inputs: list[Input] = field(default_factory=list)

    @property
    def inputs(self) -> list[Input]:
        return find_placeholders([self.url, *self.headers.values()])

    @property
    def named_inputs(self) -> list[Input]:
        """The inputs in the order in which to name them, as for the package first."""
        return [*self.package_inputs, *self.inputs]


def find_placeholders(values: Iterable[Value]) -> list[Input]:
    """Return the inputs that remain in the values, each once."""
    inputs = (part for value in values for part in value if isinstance(part, Input))
    return list(dict.fromkeys(inputs))


def select_values(settings: Iterable[ServerSetting]) -> dict[str, Value]:
    """Return the value of each setting that has one, by name."""
    return {
        setting.name: setting.value for setting in settings if setting.value is not None
    }
