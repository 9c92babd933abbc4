"""Packages of a `server.json`: how to run them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import urlsplit

from ...connections import UNSAFE_COMMAND, build_shell_command
from ...problems import Document
from .arguments import read_arguments
from .inputs import (
    ENVIRONMENT_VARIABLE,
    Input,
    ServerSetting,
    Value,
    get_member,
    get_objects,
    get_short_text,
    get_text,
    read_setting,
    shorten,
)
from .servers import LocalServer, select_values

# The command that runs a package of each registry, without an installation.
RUNTIMES = {"npm": "npx", "pypi": "uvx", "oci": "docker", "nuget": "dnx"}
REGISTRY_ALIASES = {"docker": "oci"}
REGISTRY_LABELS = {
    "npm": "npm package",
    "pypi": "PyPI package",
    "oci": "OCI image",
    "nuget": "NuGet package",
    "cargo": "Cargo package",
    "mcpb": "MCP bundle",
}
# Commands that accept `name@version`.
VERSIONED_RUNTIMES = {"npx", "bunx", "pnpx", "uvx", "uv", "dnx"}
CONTAINER_RUNTIMES = {"docker", "podman"}
# Options that name the package, so that the identifier is a command of that package.
PACKAGE_OPTIONS = {"--from", "--from=", "--package", "--package=", "-p"}
VARIABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,199}")
EXACT_VERSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+_-]{0,99}")
FLOATING_VERSIONS = {"latest"}
IDENTIFIER_LIMIT = 300
# Packages with more arguments or variables are described, but not configured.
SETTING_LIMIT = 100
SETTING_KEYS = ("runtimeArguments", "packageArguments", "environmentVariables")


@dataclass(frozen=True, slots=True)
class Package:
    """A package: its registry, identifier and version, each "" if missing."""

    registry: str
    identifier: str
    version: str
    runtime: str
    document: Document

    @classmethod
    def from_document(cls, document: Document) -> Self:
        registry = get_text(document, "registryType") or get_text(
            document, "registry_name"
        )
        registry = REGISTRY_ALIASES.get(registry, registry)
        identifier = get_text(document, "identifier") or get_text(document, "name")
        version = get_text(document, "version").strip()
        is_exact = EXACT_VERSION.fullmatch(version) and version not in FLOATING_VERSIONS
        return cls(
            registry=registry,
            identifier=identifier.strip(),
            version=version if is_exact else "",
            runtime=get_text(document, "runtimeHint").strip()
            or RUNTIMES.get(registry, ""),
            document=document,
        )

    @property
    def label(self) -> str:
        fallback = f"{shorten(self.registry)} package".strip()
        return REGISTRY_LABELS.get(self.registry, fallback)

    @property
    def title(self) -> str:
        return f"{self.label} {shorten(self.identifier)} {self.version}".strip()

    @property
    def transport(self) -> Document:
        transport: Any = self.document.get("transport")
        return transport if isinstance(transport, dict) else {}

    @property
    def unavailable_reason(self) -> str:
        """Why no client can be configured to run the package, and what to do."""
        if not self.identifier or len(self.identifier) > IDENTIFIER_LIMIT:
            return "The definition does not name the package."
        if self.registry == "mcpb":
            return describe_bundle(self)
        if not self.runtime and self.registry == "cargo":
            return describe_crate(self)
        if not self.runtime:
            return (
                "No command is known for packages of this registry. Install the"
                " package as its documentation says, then configure your client with"
                " the command that it installs."
            )
        if any(is_too_long(get_member(self.document, key)) for key in SETTING_KEYS):
            return (
                "The package declares too many arguments or variables to show a"
                " configuration. See the raw definition."
            )
        return ""

    @property
    def preparation(self) -> str:
        """What to do before a client can run the command; usually nothing."""
        if self.runtime in VERSIONED_RUNTIMES | CONTAINER_RUNTIMES:
            return ""
        name = f"{self.identifier} {self.version}".strip()
        return f"First install {name}: `{self.runtime}` may not do so."


def describe_bundle(package: Package) -> str:
    digest = get_short_text(package.document, "fileSha256")
    check = f" Its SHA-256 digest must be {digest}." if digest else ""
    return (
        f"Download {package.identifier} and open it with a client that installs MCP"
        f" bundles.{check}"
    )


def describe_crate(package: Package) -> str:
    version = ["--version", package.version] if package.version else []
    words = ["cargo", "install", package.identifier, *version]
    command = build_shell_command([words])
    if not command:
        return UNSAFE_COMMAND
    return (
        f"Run `{command}`, then configure your client with the command that it"
        " installs."
    )


def is_too_long(values: Any) -> bool:
    return isinstance(values, list) and len(values) > SETTING_LIMIT


def read_environment(package: Package) -> list[ServerSetting]:
    """Return the environment variables with a valid name."""
    return [
        read_setting(variable, ENVIRONMENT_VARIABLE, name)
        for variable in get_objects(package.document, "environmentVariables")
        if VARIABLE_NAME.fullmatch(name := get_text(variable, "name").strip())
    ]


def read_local_server(package: Package) -> tuple[LocalServer, list[Input]]:
    """Return how to run the package, and what users can supply."""
    runtime_arguments, runtime_inputs = read_arguments(
        package.document, "runtimeArguments"
    )
    package_arguments, package_inputs = read_arguments(
        package.document, "packageArguments"
    )
    settings = read_environment(package)
    environment = select_values(settings)
    if package.runtime in CONTAINER_RUNTIMES:
        runtime_arguments = build_container_options(runtime_arguments, environment)
    elif package.runtime == "npx" and not {("-y",), ("--yes",)} & set(
        runtime_arguments
    ):
        runtime_arguments = [("-y",), *runtime_arguments]
    server = LocalServer(
        command=package.runtime,
        arguments=[
            *runtime_arguments,
            (pin_identifier(package, runtime_arguments),),
            *iter_separators(package, package_arguments),
            *package_arguments,
        ],
        environment=environment,
    )
    environment_inputs = [item for setting in settings for item in setting.inputs]
    return server, [*environment_inputs, *runtime_inputs, *package_inputs]


def build_container_options(
    arguments: list[Value], environment: dict[str, Value]
) -> list[Value]:
    """Return `run -i --rm`, the declared options and the names of the variables.

    Without its name, a variable would not reach the container.
    """
    declared = set(arguments)
    options = [value for value in arguments if value != ("run",)]
    if not declared & {("-i",), ("--interactive",), ("-it",), ("-i", "-t")}:
        options = [("-i",), *options]
    if ("--rm",) not in declared:
        options = [*options[:1], ("--rm",), *options[1:]]
    for name in environment:
        if (name,) not in declared:
            options += [("-e",), (name,)]
    return [("run",), *options]


def iter_separators(package: Package, arguments: list[Value]) -> Iterator[Value]:
    """Yield what dnx needs to run without a question and to pass arguments on."""
    if package.runtime == "dnx":
        yield ("--yes",)
        if arguments:
            yield ("--",)


def pin_identifier(package: Package, runtime_arguments: list[Value]) -> str:
    """Return the identifier with the version, unless it already has one."""
    if package.runtime in CONTAINER_RUNTIMES:
        return pin_image(package)
    names_package = any(value[0] in PACKAGE_OPTIONS for value in runtime_arguments)
    has_version = "@" in package.identifier[1:] or "==" in package.identifier
    is_pinnable = package.runtime in VERSIONED_RUNTIMES and package.version
    if names_package or has_version or not is_pinnable:
        return package.identifier
    return f"{package.identifier}@{package.version}"


def pin_image(package: Package) -> str:
    """Return the image with the host of its registry and its tag."""
    image = package.identifier
    host = find_host(get_text(package.document, "registryBaseUrl"))
    first_part, _, rest = image.partition("/")
    has_host = bool(rest) and bool(re.search(r"[.:]|^localhost$", first_part))
    if host and not has_host:
        image = f"{host}/{image}"
    has_tag = "@" in image or ":" in image.rsplit("/", 1)[-1]
    return image if has_tag or not package.version else f"{image}:{package.version}"


def find_host(url: str) -> str:
    """Return host and port of a URL, "" if it has none."""
    try:
        return urlsplit(url).netloc
    except ValueError:
        return ""
