"""The `agentlens` command."""

import contextlib
import json
import os
import re
import signal
import socket
import sys
import tempfile
import unicodedata
from collections.abc import Iterator
from datetime import timedelta

import click
import django
from django.core.exceptions import ImproperlyConfigured

PROGRESS = {"show_pos": True, "width": 30, "file": sys.stderr}
# Clients have little to say over a socket.
SOCKET_BYTES = 65_536
# How a command ends whose options make no sense.
USAGE = 2
# As much of a text as a table shows.
CELL_LENGTH = 40


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main():
    """Which agent can do X? One catalog across protocols."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "agentlens.settings")
    try:
        django.setup()
    except ImproperlyConfigured as error:
        raise click.ClickException(str(error)) from error


@contextlib.contextmanager
def on_database():
    """That there is none, or that it does not answer, is told in words."""
    from django.db import OperationalError

    try:
        yield
    except OperationalError as error:
        reason = str(error).strip().partition("\n")[0]
        raise click.ClickException(f"The database cannot be used: {reason}") from error


def run_command(name: str, *arguments: str, **options) -> None:
    """Run one of Django's management commands, with its errors in click's words."""
    from django.core.management import CommandError, call_command

    try:
        call_command(name, *arguments, **options)
    except CommandError as error:
        is_usage = error.returncode == USAGE
        kind = click.UsageError if is_usage else click.ClickException
        raise kind(str(error)) from error


class OnTables(click.Command):
    """A command for a database that is there and up to date."""

    def invoke(self, context):
        from .start import is_prepared

        with on_database():
            prepared = is_prepared()
        if not prepared:
            raise click.ClickException(
                "The database is not up to date: `agentlens serve`, or"
                " `agentlens manage migrate`, brings it there."
            )
        return super().invoke(context)


@main.command()
@click.option("--host", default="127.0.0.1", show_default=True)
@click.option("--port", default=8000, show_default=True, type=click.IntRange(0, 65535))
@click.option("--workers", default=1, show_default=True, type=click.IntRange(1))
@click.option("--no-prober", is_flag=True, help="Leave probing to `agentlens probe`.")
def serve(host: str, port: int, workers: int, no_prober: bool):
    """Serve the catalog; bring the database up to date first."""
    import uvicorn
    from django.conf import settings

    from .start import prepare

    refuse_taken(host, port)
    with on_database():
        password = prepare()
    if password:
        click.echo(f"Created the user admin with the password {password}")
        click.echo("It is shown only this once; change it at /account/password.")
    if no_prober:
        # For this process, and for the workers it starts.
        settings.AGENTLENS_PROBER = False
        os.environ["AGENTLENS_PROBER"] = "off"
    click.echo(f"AgentLens is at http://{host}:{port}/")
    if workers > 1 and not settings.REDIS_URL:
        click.echo("Without REDIS_URL live updates stay within one worker.")
    # uvicorn ends well and then as the signal says: so that we can tidy up as well.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with shared_metrics(workers):
        uvicorn.run(
            "agentlens.asgi:application",
            host=host,
            port=port,
            workers=workers,
            log_level="warning",
            server_header=False,
            timeout_graceful_shutdown=5,
            ws_max_size=SOCKET_BYTES,
        )


def refuse_taken(host: str, port: int) -> None:
    """Before anything is done, say where nobody can be served."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        socket.create_server((host, port), family=family).close()
    except OSError as error:
        reason = (error.strerror or str(error)).partition(" (")[0]
        raise click.ClickException(
            f"Cannot serve at {host}:{port}: {reason}"
        ) from error


@contextlib.contextmanager
def shared_metrics(workers: int):
    """Where several workers keep their counts together, while they run."""
    if workers == 1:
        yield
        return
    with tempfile.TemporaryDirectory(prefix="agentlens-metrics-") as shared:
        os.environ.setdefault("PROMETHEUS_MULTIPROC_DIR", shared)
        yield


@main.command(cls=OnTables)
@click.option("--once", is_flag=True, help="Do what is due now, and end.")
def probe(once: bool):
    """Probe agents as they come due; run as many of these as you like, anywhere."""
    run_command("probe_agents", once=once)


@main.command(name="import", cls=OnTables)
@click.argument("targets", metavar="PATH_OR_URL...", nargs=-1, required=True)
@click.option("--protocol", default="", help="Instead of recognising it.")
@click.option("--endpoint", default="", help="Where the agent of one AG-UI file is.")
@click.option("--capabilities-url", default="", help="Where one AG-UI agent declares.")
@click.option(
    "--authorization",
    default="",
    envvar="AGENTLENS_IMPORT_AUTHORIZATION",
    show_envvar=True,
    help="An Authorization header for the host of one URL; never stored.",
)
@click.option("--warnings", is_flag=True, help="Tell what is odd about definitions.")
def import_(targets: tuple[str, ...], protocol: str, warnings: bool, **given: str):
    """Catalogue definitions from files, folders, URLs and exports (.jsonl)."""
    # After the dashes nothing is an option, whatever it looks like.
    given |= {"protocol": protocol, "warnings": warnings}
    run_command("import_agents", "--", *targets, **given)


@main.command(cls=OnTables)
@click.option("-o", "--output", type=click.Path(dir_okay=False), default="-")
def export(output):
    """Write the catalog as JSON lines, which `import` reads again."""
    run_command("export_agents", output=output)


@main.group()
def token():
    """API tokens."""


def lifetime(context, parameter, text: str) -> timedelta | None:
    if text == "never":
        return None
    match = re.fullmatch(r"([1-9][0-9]{0,4})([dh])", text)
    if not match:
        raise click.BadParameter("must be like 30d, 12h, or never")
    number, unit = int(match[1]), match[2]
    return timedelta(days=number) if unit == "d" else timedelta(hours=number)


@token.command(cls=OnTables)
@click.argument("user")
@click.option("--expires", default="90d", show_default=True, callback=lifetime)
def create(user: str, expires: timedelta | None):
    """Print a new token for USER, once, alone on the last line."""
    from django.contrib.auth import get_user_model
    from knox.models import AuthToken

    owner = get_user_model().objects.filter(username=user).first()
    if owner is None:
        raise click.ClickException(f"There is no user {user!r}")
    _, secret = AuthToken.objects.create(owner, expiry=expires)
    click.echo(secret)


@main.command(cls=OnTables)
@click.option("--remove", is_flag=True, help="Take the demo agents away again.")
@click.option("--first-start", is_flag=True, help="Only if nobody was here before.")
def demo(remove: bool, first_start: bool):
    """Load a catalog of invented agents."""
    from django.contrib.auth import get_user_model

    from catalog import demo as demo_catalog

    if first_start and get_user_model().objects.exists():
        return
    if remove:
        click.echo(f"{demo_catalog.remove()} demo agents removed")
        return
    agents = demo_catalog.agents()
    with click.progressbar(
        demo_catalog.load(), len(agents), "Loading", **PROGRESS
    ) as progress:
        count = sum(1 for _ in progress)
    click.echo(f"{count} demo agents loaded")


@main.command(cls=OnTables)
@click.argument("query", default="")
@click.option("--kind", default="", help="Only this kind, such as a2a.skill.")
@click.option("--sort", default="name_asc", show_default=True, help="Or agentName_asc.")
@click.option("--limit", default=50, show_default=True, type=click.IntRange(1))
@click.option(
    "--json", "as_json", is_flag=True, help="JSON lines, as the API has them."
)
def search(query: str, kind: str, sort: str, limit: int, as_json: bool):
    """Find capabilities of reachable agents, as the page and the API do.

    All words of QUERY must occur in name, description or tags; double quotes keep a
    phrase together. Without QUERY, everything is listed.
    """
    from catalog.filters import CapabilityQuestion
    from catalog.search import find

    form = CapabilityQuestion({"q": query, "kind": kind, "sort": sort})
    for name, problems in form.errors.items():
        hint = "QUERY" if name == "q" else f"--{name}"
        raise click.BadParameter(" ".join(problems), param_hint=hint)
    found = find(form.question(), limit)
    for line in map(json_line, found.items) if as_json else table(found.items):
        click.echo(line.rstrip())
    click.echo(f"{len(found.items)} of {found.total} capabilities", err=True)


def json_line(item: dict) -> str:
    return json.dumps(item, ensure_ascii=False)


def table(items: list[dict]) -> Iterator[str]:
    """Lines of aligned columns under their names, or none for no items."""
    columns = {"name": "Capability", "kind": "Kind", "agent_name": "Agent"}
    columns |= {"protocol": "Protocol", "status": "Status", "provider_org": "Provider"}
    cells = [[one_line(item[name]) for name in columns] for item in items]
    lines = [list(columns.values()), *cells] if cells else []
    widths = [max(map(width, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        pairs = zip(line, widths, strict=True)
        yield "  ".join(cell + " " * (room - width(cell)) for cell, room in pairs)


def one_line(text: str | None) -> str:
    """A text that moves no cursor, and leaves its neighbours their room."""
    plain = "".join(c if c.isprintable() else " " for c in text or "")
    return plain if len(plain) <= CELL_LENGTH else f"{plain[: CELL_LENGTH - 1]}…"


def width(text: str) -> int:
    """How many columns a terminal gives it: two to 日, none to an accent of its own."""
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return len(text) + wide - sum(unicodedata.combining(c) > 0 for c in text)


@main.command(cls=OnTables)
def reindex():
    """Rebuild the search index: needed only if it was damaged from outside."""
    run_command("reindex_capabilities")


@main.command(
    context_settings={"ignore_unknown_options": True, "help_option_names": []}
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def manage(arguments: tuple[str, ...]):
    """Django's own commands."""
    from django.core.management import execute_from_command_line

    execute_from_command_line(["agentlens manage", *arguments])


if __name__ == "__main__":
    main()
