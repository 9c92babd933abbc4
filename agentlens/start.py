"""Prepare the database before the server accepts requests."""

import fcntl
import secrets
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.core.management import call_command
from django.db import connection, transaction
from django.db.migrations.executor import MigrationExecutor

# An arbitrary number that all versions of AgentLens must share.
ADVISORY_LOCK_ID = 0x_A6E7_1E45


def prepare_database() -> str:
    """Migrate and create the first admin; return their password if it was generated."""
    with startup_lock():
        call_command("migrate", verbosity=0, interactive=False)
        return create_first_admin()


def is_database_current() -> bool:
    """Return whether all migrations of this version are applied."""
    executor = MigrationExecutor(connection)
    return not executor.migration_plan(executor.loader.graph.leaf_nodes())


@contextmanager
def startup_lock() -> Iterator[None]:
    """Let one process at a time prepare the database.

    PostgreSQL's lock excludes processes on all machines, the lock file for SQLite those
    with the same data directory.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_lock(%s)", [ADVISORY_LOCK_ID])
            try:
                yield
            finally:
                cursor.execute("SELECT pg_advisory_unlock(%s)", [ADVISORY_LOCK_ID])
        return
    settings.DATA_DIR.mkdir(parents=True, exist_ok=True)
    with (settings.DATA_DIR / "start.lock").open("w") as lock_file:
        fcntl.flock(lock_file, fcntl.LOCK_EX)
        yield


@transaction.atomic
def create_first_admin() -> str:
    """Make the user `admin` a superuser with a new password, unless there is one.

    The user is created if necessary. Return the password if it was generated. Return ""
    if a superuser exists or the password came from `AGENTLENS_ADMIN_PASSWORD`.
    """
    users = get_user_model().objects
    if users.filter(is_superuser=True).exists():
        return ""
    configured_password = settings.AGENTLENS_ADMIN_PASSWORD
    password = configured_password or secrets.token_urlsafe(12)
    user, _ = users.get_or_create(username="admin")
    user.is_superuser = user.is_staff = user.is_active = True
    user.set_password(password)
    user.save()
    user.groups.add(Group.objects.get(name="Admin"))
    return "" if configured_password else password
