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
from typing import Any

import click
import django
from django.core.exceptions import ImproperlyConfigured

# Clients send almost nothing over a WebSocket.
WEBSOCKET_MESSAGE_BYTES_LIMIT = 65_536
# The exit code of a command that was called with wrong options.
USAGE_EXIT_CODE = 2
# The longest text in a table cell; anything longer is truncated.
CELL_LENGTH_LIMIT = 40


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Which agent can do X? One catalog across protocols."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "agentlens.settings")
    try:
        django.setup()
    except ImproperlyConfigured as error:
        raise click.ClickException(str(error)) from error


@contextlib.contextmanager
def report_database_errors() -> Iterator[None]:
    """Turn a database connection error into a one-line error message."""
    from django.db import OperationalError

    try:
        yield
    except OperationalError as error:
        reason = str(error).strip().partition("\n")[0].rstrip(".")
        raise click.ClickException(
            f"Cannot use the database: {reason}. Check DATABASE_URL."
        ) from error


def run_management_command(name: str, *arguments: str, **options: Any) -> None:
    """Run a Django management command and report its errors as click does."""
    from django.core.management import CommandError, call_command

    try:
        call_command(name, *arguments, **options)
    except CommandError as error:
        is_usage_error = error.returncode == USAGE_EXIT_CODE
        exception_class = click.UsageError if is_usage_error else click.ClickException
        raise exception_class(str(error)) from error


class DatabaseCommand(click.Command):
    """A command that needs a database to which all migrations are applied."""

    def invoke(self, ctx: click.Context) -> Any:
        from .start import is_database_current

        with report_database_errors():
            is_current = is_database_current()
        if not is_current:
            raise click.ClickException(
                "The database is not up to date. Run `agentlens manage migrate` or"
                " `agentlens serve` to migrate it."
            )
        return super().invoke(ctx)


@main.command()
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="Address to listen on."
)
@click.option(
    "--port",
    default=8000,
    show_default=True,
    type=click.IntRange(0, 65535),
    help="Port to listen on.",
)
@click.option(
    "--workers",
    default=1,
    show_default=True,
    type=click.IntRange(1),
    help="Number of worker processes.",
)
@click.option(
    "--no-prober",
    is_flag=True,
    help="Do not run the background worker in this process; run `agentlens probe`"
    " instead.",
)
def serve(host: str, port: int, workers: int, no_prober: bool) -> None:
    """Migrate the database, then start the server."""
    import uvicorn
    from django.conf import settings

    from .start import prepare_database

    require_free_address(host, port)
    with report_database_errors():
        password = prepare_database()
    if password:
        click.echo(f"Created the user admin with the password {password}")
        click.echo(
            "The password is shown only this once. Change it at /account/password."
        )
    if no_prober:
        # The setting is for this process, the variable for the workers it starts.
        settings.AGENTLENS_PROBER = False
        os.environ["AGENTLENS_PROBER"] = "off"
    click.echo(f"AgentLens is at http://{format_address(host, port)}/")
    if workers > 1 and not settings.REDIS_URL:
        click.echo(
            "REDIS_URL is not set: live updates reach only clients of the same worker"
            " process. Set REDIS_URL to share them."
        )
    # uvicorn shuts down cleanly and then raises the signal again: without a handler
    # that would end the process before the temporary directory is removed.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with shared_metrics_directory(workers):
        uvicorn.run(
            "agentlens.asgi:application",
            host=host,
            port=port,
            workers=workers,
            log_level="warning",
            server_header=False,
            timeout_graceful_shutdown=5,
            ws_max_size=WEBSOCKET_MESSAGE_BYTES_LIMIT,
        )


def require_free_address(host: str, port: int) -> None:
    """Raise an error if the server cannot listen on this address."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        socket.create_server((host, port), family=family).close()
    except OSError as error:
        reason = (error.strerror or str(error)).partition(" (")[0]
        raise click.ClickException(
            f"Cannot listen on {format_address(host, port)}: {reason}."
            " Choose another --host or --port."
        ) from error


def format_address(host: str, port: int) -> str:
    """Return host and port as in a URL, where IPv6 addresses are in brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


@contextlib.contextmanager
def shared_metrics_directory(workers: int) -> Iterator[None]:
    """Give several workers a temporary directory for their common metrics."""
    if workers == 1:
        yield
        return
    with tempfile.TemporaryDirectory(prefix="agentlens-metrics-") as directory:
        os.environ.setdefault("PROMETHEUS_MULTIPROC_DIR", directory)
        yield


@main.command(cls=DatabaseCommand)
@click.option("--once", is_flag=True, help="Do all work that is due, then exit.")
def probe(once: bool) -> None:
    """Run the background worker.

    It probes agents, checks registrations and refreshes definitions when they are due,
    and runs periodic tasks.

    Any number of these processes can share one database, even on different machines.
    """
    run_management_command("probe_agents", once=once)


@main.command(name="import", cls=DatabaseCommand)
@click.argument("targets", metavar="PATH_OR_URL...", nargs=-1, required=True)
@click.option(
    "--protocol",
    default="",
    help="Protocol of the definitions. Detected if not given.",
)
@click.option(
    "--endpoint",
    default="",
    help="Endpoint of the agent, for a single AG-UI file.",
)
@click.option(
    "--capabilities-url",
    default="",
    help="URL of the capabilities, for a single AG-UI agent.",
)
@click.option(
    "--authorization",
    default="",
    envvar="AGENTLENS_IMPORT_AUTHORIZATION",
    show_envvar=True,
    help="Authorization header, sent only to the origin of the URL. Requires a single"
    " URL. Never stored.",
)
@click.option(
    "--allow-stub",
    is_flag=True,
    help="Register agents whose servers require authorization without their"
    " definitions.",
)
@click.option("--warnings", is_flag=True, help="Show warnings about the definitions.")
def import_(targets: tuple[str, ...], **options: str | bool) -> None:
    """Import definitions from files, folders, URLs and exports (.jsonl)."""
    # After the dashes, targets are never parsed as options.
    run_management_command("import_agents", "--", *targets, **options)


@main.command(cls=DatabaseCommand)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False),
    default="-",
    help="File to write to. Standard output if not given.",
)
def export(output: str) -> None:
    """Export the catalog as JSON Lines, which `import` can read."""
    run_management_command("export_agents", output=output)


@main.group()
def token() -> None:
    """Manage API tokens."""


def parse_lifetime(
    ctx: click.Context, param: click.Parameter, text: str
) -> timedelta | None:
    if text == "never":
        return None
    match = re.fullmatch(r"([1-9][0-9]{0,4})([dh])", text)
    if not match:
        raise click.BadParameter("must be days or hours, such as 30d or 12h, or never")
    number, unit = int(match[1]), match[2]
    return timedelta(days=number) if unit == "d" else timedelta(hours=number)


@token.command(cls=DatabaseCommand)
@click.argument("user")
@click.option(
    "--expires",
    default="90d",
    show_default=True,
    callback=parse_lifetime,
    help="Lifetime in days (30d) or hours (12h), or never.",
)
def create(user: str, expires: timedelta | None) -> None:
    """Create a token for USER and print it.

    The last line of the output is the token alone. It cannot be shown again.
    """
    from django.contrib.auth import get_user_model
    from knox.models import AuthToken

    owner = get_user_model().objects.filter(username=user).first()
    if owner is None:
        raise click.ClickException(
            f"There is no user {user!r}. Create it in the admin or with `agentlens"
            " manage createsuperuser`."
        )
    _, secret = AuthToken.objects.create(owner, expiry=expires)
    click.echo(secret)


@main.command(cls=DatabaseCommand)
@click.option("--remove", is_flag=True, help="Remove the demo agents.")
@click.option(
    "--first-start",
    is_flag=True,
    help="Load the demo agents only if there are no users yet.",
)
def demo(remove: bool, first_start: bool) -> None:
    """Load demo agents into the catalog, or remove them."""
    from django.contrib.auth import get_user_model

    from catalog import demo as demo_catalog

    if first_start and get_user_model().objects.exists():
        return
    if remove:
        click.echo(f"Demo agents removed: {demo_catalog.remove()}")
        return
    agents = demo_catalog.read_agents()
    with click.progressbar(
        demo_catalog.load(),
        length=len(agents),
        label="Loading",
        show_pos=True,
        width=30,
        file=sys.stderr,
    ) as progress:
        count = sum(1 for _ in progress)
    click.echo(f"Demo agents loaded: {count}")


@main.command(cls=DatabaseCommand)
@click.argument("query", default="")
@click.option(
    "--kind", default="", help="Only capabilities of this kind, such as a2a.skill."
)
@click.option(
    "--sort",
    default="name_asc",
    show_default=True,
    help="Sort order: name_asc or agentName_asc.",
)
@click.option(
    "--limit",
    default=50,
    show_default=True,
    type=click.IntRange(1),
    help="Maximum number of results.",
)
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print one JSON object per line, with the fields of the API.",
)
def search(query: str, kind: str, sort: str, limit: int, as_json: bool) -> None:
    """Find capabilities of reachable agents.

    The results are the same as on the capabilities page and in the API. Every word of
    QUERY must occur in the name, description or tags. Put a phrase in double quotes.
    Without QUERY, all capabilities are listed.
    """
    from catalog.filters import CapabilitySearchForm
    from catalog.search import search_capabilities

    form = CapabilitySearchForm({"q": query, "kind": kind, "sort": sort})
    for field, errors in form.errors.items():
        hint = "QUERY" if field == "q" else f"--{field}"
        raise click.BadParameter(" ".join(map(str, errors)), param_hint=hint)
    page = search_capabilities(form.search_query(), limit)
    lines = map(format_json, page.items) if as_json else format_table(page.items)
    for line in lines:
        click.echo(line.rstrip())
    click.echo(f"{len(page.items)} of {page.total} capabilities", err=True)


def format_json(item: dict[str, Any]) -> str:
    return json.dumps(item, ensure_ascii=False)


def format_table(items: list[dict[str, Any]]) -> Iterator[str]:
    """Yield a header and one aligned line per item; nothing if there are no items."""
    columns = {"name": "Capability", "kind": "Kind", "agent_name": "Agent"}
    columns |= {"protocol": "Protocol", "status": "Status", "provider_org": "Provider"}
    rows = [[format_cell(item[name]) for name in columns] for item in items]
    if rows:
        rows.insert(0, list(columns.values()))
    widths = [max(map(measure_width, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = zip(row, widths, strict=True)
        yield "  ".join(
            cell + " " * (width - measure_width(cell)) for cell, width in cells
        )


def format_cell(text: str | None) -> str:
    """Return the text without control characters, truncated to the cell length."""
    printable = "".join(c if c.isprintable() else " " for c in text or "")
    if len(printable) <= CELL_LENGTH_LIMIT:
        return printable
    return f"{printable[: CELL_LENGTH_LIMIT - 1]}…"


def measure_width(text: str) -> int:
    """Return the number of terminal columns: 2 for 日, 0 for a combining accent."""
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return len(text) + wide - sum(unicodedata.combining(c) > 0 for c in text)


@main.command(cls=DatabaseCommand)
def reindex() -> None:
    """Read all stored definitions again and rebuild the search index.

    Needed after an upgrade that reads more of definitions, after the index was damaged,
    or after the database was edited by hand.
    """
    run_management_command("reindex_capabilities")


@main.command(
    context_settings={"ignore_unknown_options": True, "help_option_names": []}
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def manage(arguments: tuple[str, ...]) -> None:
    """Run a Django management command."""
    from django.core.management import execute_from_command_line

    execute_from_command_line(["agentlens manage", *arguments])


if __name__ == "__main__":
    main()
