"""The installation of environments for MCP servers."""

from concurrent.futures import Future

import pytest

from tests.real_mcp import environments
from tests.real_mcp.environments import (
    InstallationFailed,
    NodeEnvironment,
    PythonEnvironment,
    install_all,
    installation,
    run,
    wait_for_installation,
)


@pytest.fixture(autouse=True)
def environments_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(environments, "ENVIRONMENTS", tmp_path)
    return tmp_path


def test_finished_installation_is_not_repeated():
    with installation("a") as (folder, is_missing):
        assert is_missing
        (folder / "file").touch()

    with installation("a") as (folder, is_missing):
        assert not is_missing
        assert (folder / "file").exists()


def test_failed_installation_starts_again_in_an_empty_folder():
    def fail():
        with installation("a") as (folder, _):
            (folder / "file").touch()
            raise InstallationFailed

    with pytest.raises(InstallationFailed):
        fail()

    with installation("a") as (folder, is_missing):
        assert is_missing
        assert list(folder.iterdir()) == []


def test_simultaneous_installations_install_once():
    calls = []

    class Environment:
        def install(self):
            with installation("a") as (_, is_missing):
                calls.append(is_missing)

    with install_all([Environment() for _ in range(4)]) as futures:
        assert len(futures) == 4
    assert sorted(calls) == [False, False, False, True]


def test_failed_command_reports_its_error():
    with pytest.raises(InstallationFailed, match="/does/not/exist"):
        run(["ls", "/does/not/exist"])
    with pytest.raises(InstallationFailed, match="does-not-exist"):
        run(["does-not-exist"])


def test_node_environment_requires_node(monkeypatch):
    monkeypatch.setenv("PATH", "")

    with pytest.raises(InstallationFailed, match="node is not installed"):
        NodeEnvironment("a", "1").install()


def test_requirements_of_python_environment_exist_and_hold_no_url():
    for path in environments.REQUIREMENTS.iterdir():
        assert PythonEnvironment(path.stem).name.replace("-", "==") in path.read_text()
        assert "://" not in path.read_text()


@pytest.mark.parametrize(
    ("value", "outcome"), [("", pytest.skip.Exception), ("1", pytest.fail.Exception)]
)
def test_failed_installation_skips_or_fails_tests(monkeypatch, value, outcome):
    monkeypatch.setenv("AGENTLENS_REQUIRE_SERVICES", value)
    future = Future()
    future.set_exception(InstallationFailed("no network"))

    with pytest.raises(outcome, match="cannot be installed: no network"):
        wait_for_installation(future)
