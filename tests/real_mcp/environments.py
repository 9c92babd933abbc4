"""Environments with one version of an MCP server each, installed when missing.

They are kept in `.venv/mcp-servers` and shared by all runs and xdist workers.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

ENVIRONMENTS = Path(__file__).parents[2] / ".venv" / "mcp-servers"
REQUIREMENTS = Path(__file__).with_name("requirements")
EVERYTHING = "@modelcontextprotocol/server-everything"
INSTALL_TIMEOUT = 300
ERROR_LENGTH = 500


class InstallationFailed(Exception):
    """An environment cannot be installed on this machine."""


@dataclass(frozen=True)
class CurrentEnvironment:
    """The environment of the tests."""

    def install(self) -> str:
        return sys.executable


@dataclass(frozen=True)
class PythonEnvironment:
    """A virtual environment with exactly the packages of a requirements file.

    The files are made by `uv pip compile --universal --no-header --no-annotate`. Old
    versions of the SDK are combined with recent dependencies, as in a new installation;
    those of 2025 need `pydantic<2.12`.
    """

    name: str

    def install(self) -> str:
        """Return the path of the Python interpreter; install it if it is missing."""
        requirements = REQUIREMENTS / f"{self.name}.txt"
        digest = compute_digest(requirements.read_text(), sys.version)
        uv = [sys.executable, "-m", "uv"]
        with installation(f"{self.name}-{digest}") as (folder, is_missing):
            python = str(folder / "bin" / "python")
            if is_missing:
                run([*uv, "venv", "--quiet", "--python", sys.executable, folder])
                install = [*uv, "pip", "install", "--quiet", "--python", python]
                run([*install, "--no-deps", "--requirements", requirements])
        return python


@dataclass(frozen=True)
class NodeEnvironment:
    """A folder with one version of an npm package."""

    package: str
    version: str

    def install(self) -> str:
        """Return the folder of the package; install it if it is missing."""
        for command in ("node", "npm"):
            if shutil.which(command) is None:
                raise InstallationFailed(f"{command} is not installed")
        with installation(f"{Path(self.package).name}-{self.version}") as (
            folder,
            is_missing,
        ):
            if is_missing:
                npm = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts"]
                target = ["--prefix", folder, "--no-package-lock", "--omit=dev"]
                run([*npm, *target, f"{self.package}@{self.version}"])
        return str(folder / "node_modules" / self.package)


Environment = CurrentEnvironment | PythonEnvironment | NodeEnvironment


@contextmanager
def install_all(
    environments: Iterable[Environment],
) -> Iterator[dict[Environment, Future[str]]]:
    """Install environments at the same time; map each one to its future."""
    with ThreadPoolExecutor() as pool:
        yield {
            environment: pool.submit(environment.install)
            for environment in environments
        }


def wait_for_installation(future: Future[str]) -> str:
    """Return what `install` returned; if it failed, skip the test.

    With AGENTLENS_REQUIRE_SERVICES set, fail the test in that case.
    """
    try:
        return future.result()
    except InstallationFailed as error:
        reason = f"This MCP server cannot be installed: {error}"
        if os.environ.get("AGENTLENS_REQUIRE_SERVICES"):
            pytest.fail(reason)
        pytest.skip(reason)


@contextmanager
def installation(name: str) -> Iterator[tuple[Path, bool]]:
    """Yield an environment's folder, and whether it is empty and must be filled.

    Hold a lock meanwhile. If the installation fails, the next one starts again.
    """
    ENVIRONMENTS.mkdir(parents=True, exist_ok=True)
    folder, marker = ENVIRONMENTS / name, ENVIRONMENTS / f"{name}.installed"
    with (ENVIRONMENTS / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        is_missing = not (marker.exists() and folder.exists())
        if is_missing:
            marker.unlink(missing_ok=True)
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
        yield folder, is_missing
        marker.touch()


def run(command: list) -> None:
    """Run a command of an installer; raise InstallationFailed if it fails."""
    try:
        result = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=INSTALL_TIMEOUT,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InstallationFailed(f"{command[0]}: {error}") from error
    if result.returncode:
        raise InstallationFailed(result.stderr.strip()[-ERROR_LENGTH:])


def compute_digest(*texts: str) -> str:
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:8]
