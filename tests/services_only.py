"""A pytest plugin that deselects tests which use neither the database nor Redis.

Their results do not depend on the database, so they run once, without this plugin.
Tests that use the services without a fixture of pytest-django are marked `services`.
"""

import pytest

# All database fixtures of pytest-django depend on this one.
DATABASE_FIXTURE = "django_db_setup"
DESELECTED_COUNT = pytest.StashKey[int]()


def uses_services(item: pytest.Item) -> bool:
    if item.get_closest_marker("django_db") or item.get_closest_marker("services"):
        return True
    return DATABASE_FIXTURE in getattr(item, "fixturenames", ())


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items) -> None:
    deselected = [item for item in items if not uses_services(item)]
    items[:] = [item for item in items if uses_services(item)]
    config.hook.pytest_deselected(items=deselected)
    config.stash[DESELECTED_COUNT] = len(deselected)


def pytest_sessionfinish(session) -> None:
    """Send the count from an xdist worker to the main process."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["deselected"] = session.config.stash.get(
            DESELECTED_COUNT, 0
        )


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node) -> None:
    """Receive the count of a worker; all workers collect the same tests."""
    node.config.stash[DESELECTED_COUNT] = getattr(node, "workeroutput", {}).get(
        "deselected", 0
    )


def pytest_terminal_summary(terminalreporter, config) -> None:
    count = config.stash.get(DESELECTED_COUNT, 0)
    reason = "they use neither the database nor Redis"
    terminalreporter.write_line(f"{count} tests deselected, because {reason}")
