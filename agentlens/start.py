"""What must be true before the first request: tables, and somebody who may log in."""

import fcntl
import secrets
from contextlib import contextmanager

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.core.management import call_command
from django.db import connection, transaction
from django.db.migrations.executor import MigrationExecutor

# Any number; the same for every AgentLens that shares a database.
LOCK = 0x_A6E7_1E45


def prepare() -> str:
    """Migrate, and make the first admin; returns a password nobody has seen yet."""
    with alone():
        call_command("migrate", verbosity=0, interactive=False)
        return create_first_admin()


def is_prepared() -> bool:
    """Whether the database has all the tables that this version needs."""
    executor = MigrationExecutor(connection)
    return not executor.migration_plan(executor.loader.graph.leaf_nodes())


@contextmanager
def alone():
    """One process at a time, on this machine or, with PostgreSQL, on any."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_lock(%s)", [LOCK])
            try:
                yield
            finally:
                cursor.execute("SELECT pg_advisory_unlock(%s)", [LOCK])
        return
    settings.DATA_DIR.mkdir(parents=True, exist_ok=True)
    with (settings.DATA_DIR / "start.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@transaction.atomic
def create_first_admin() -> str:
    """The user `admin`, if nobody can administer yet; '' when somebody can."""
    users = get_user_model().objects
    if users.filter(is_superuser=True).exists():
        return ""
    given = settings.AGENTLENS_ADMIN_PASSWORD
    password = given or secrets.token_urlsafe(12)
    user, _ = users.get_or_create(username="admin")
    user.is_superuser = user.is_staff = user.is_active = True
    user.set_password(password)
    user.save()
    user.groups.add(Group.objects.get(name="Admin"))
    return "" if given else password
