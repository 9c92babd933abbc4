"""A pytest plugin: leaves out tests that touch neither the database nor Redis.

They prove the same beside any database, so they run once, without this plugin.
Tests that use the services through no fixture of Django's are marked `services`.
"""

import pytest

# All fixtures of pytest-django that open the database depend on it.
DATABASE_FIXTURE = "django_db_setup"
LEFT_OUT = pytest.StashKey[int]()


def uses_services(item: pytest.Item) -> bool:
    if item.get_closest_marker("django_db") or item.get_closest_marker("services"):
        return True
    return DATABASE_FIXTURE in getattr(item, "fixturenames", ())


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items) -> None:
    left_out = [item for item in items if not uses_services(item)]
    items[:] = [item for item in items if uses_services(item)]
    config.hook.pytest_deselected(items=left_out)
    config.stash[LEFT_OUT] = len(left_out)


def pytest_sessionfinish(session) -> None:
    """Hand the number from a worker to the process that reports."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["left_out"] = session.config.stash.get(LEFT_OUT, 0)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node) -> None:
    """Take the number from a worker; all of them collect the same tests."""
    node.config.stash[LEFT_OUT] = getattr(node, "workeroutput", {}).get("left_out", 0)


def pytest_terminal_summary(terminalreporter, config) -> None:
    count = config.stash.get(LEFT_OUT, 0)
    reason = "touch neither the database nor Redis"
    terminalreporter.write_line(f"{count} tests left out, which {reason}")
