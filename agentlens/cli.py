"""The `agentlens` command."""

import asyncio
import contextlib
import json
import os
import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import click
import django

PROGRESS = {"show_pos": True, "width": 30, "file": sys.stderr}
# As much of a text as a table shows.
CELL_LENGTH = 40


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main():
    """Which agent can do X? One catalog across protocols."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "agentlens.settings")
    django.setup()


@main.command()
@click.option("--host", default="127.0.0.1", show_default=True)
@click.option("--port", default=8000, show_default=True, type=click.IntRange(0, 65535))
@click.option("--workers", default=1, show_default=True, type=click.IntRange(1))
@click.option("--no-prober", is_flag=True, help="Leave probing to `agentlens probe`.")
def serve(host: str, port: int, workers: int, no_prober: bool):
    """Serve the catalog; bring the database up to date first."""
    import uvicorn

    from .start import prepare

    if password := prepare():
        click.echo(f"Created the user admin with the password {password}")
        click.echo("It is shown only this once: change it in the admin.")
    if no_prober:
        os.environ["AGENTLENS_PROBER"] = "off"
    click.echo(f"AgentLens is at http://{host}:{port}/")
    uvicorn.run(
        "agentlens.asgi:application",
        host=host,
        port=port,
        workers=workers,
        log_level="warning",
        server_header=False,
        timeout_graceful_shutdown=5,
    )


@main.command()
@click.option("--once", is_flag=True, help="Probe what is due now, and end.")
def probe(once: bool):
    """Probe agents as they come due; run as many of these as you like, anywhere."""
    from catalog.prober import probe_due, probe_on

    if once:
        click.echo(f"{asyncio.run(probe_due())} agents probed")
        return
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(probe_on())


@dataclass(frozen=True)
class Item:
    """One thing to import: what to call it, and how to do it."""

    name: str
    run: Callable


@main.command(name="import")
@click.argument("targets", metavar="PATH_OR_URL...", nargs=-1, required=True)
@click.option("--protocol", default="", help="Instead of recognising it.")
@click.option(
    "--authorization",
    default="",
    envvar="AGENTLENS_IMPORT_AUTHORIZATION",
    help="An Authorization header for running MCP servers; never stored.",
)
def import_(targets: tuple[str, ...], protocol: str, authorization: str):
    """Catalogue definitions from files, folders, URLs and exports (.jsonl)."""
    from capabilities.parsers import parsers

    if protocol and protocol not in parsers:
        known = ", ".join(parser.slug for parser in parsers)
        raise click.BadParameter(f"must be one of: {known}", param_hint="--protocol")
    given = (protocol, authorization)
    items = [item for target in targets for item in items_of(target, *given)]
    results: Counter[str] = Counter()
    refused: list[str] = []
    with click.progressbar(items, label="Importing", **PROGRESS) as progress:
        for item in progress:
            reason = attempt(item, results)
            refused += [f"{item.name}: {reason}"] if reason else []
    for line in refused:
        click.echo(line, err=True)
    click.echo(summary(results, len(refused)))
    sys.exit(1 if refused else 0)


def items_of(target: str, protocol: str, authorization: str) -> Iterator[Item]:
    from catalog.intake import import_url, register
    from catalog.models import Source
    from catalog.transfer import import_line

    if re.match(r"https?://", target):
        yield Item(target, lambda: import_url(target, protocol, authorization))
        return
    for path in paths_of(Path(target)):
        if path.suffix == ".jsonl":
            for n, line in enumerate(path.read_text("utf-8").split("\n"), start=1):
                if line.strip():
                    yield Item(f"{path}:{n}", lambda line=line: import_line(line))
        else:
            yield Item(
                str(path),
                lambda path=path: register(path.read_bytes(), protocol, Source.IMPORT),
            )


def paths_of(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    found = (p for p in path.rglob("*") if p.suffix in (".json", ".jsonl"))
    return sorted(p for p in found if p.is_file())


def attempt(item: Item, results: Counter[str]) -> str:
    """Do it and count it; the reason when it was refused."""
    from django.core.exceptions import ValidationError

    from capabilities.parsers import ParseError
    from catalog.fetch import FetchError
    from catalog.transfer import NotTransferable

    try:
        results[item.run().result] += 1
    except ParseError as error:
        problems = [f"{p.path} {p.message}" for p in error.reading.errors]
        return "\n  ".join(problems)
    except (FetchError, NotTransferable, ValidationError) as error:
        return str(error)
    except OSError as error:
        return error.strerror or str(error)
    return ""


def summary(results: Counter[str], refused: int) -> str:
    return (
        f"{results['created']} new, {results['updated']} updated,"
        f" {results['unchanged']} unchanged, {refused} refused"
    )


@main.command()
@click.option("-o", "--output", type=click.File("w", "utf-8", lazy=True), default="-")
def export(output):
    """Write the catalog as JSON lines, which `import` reads again."""
    from catalog.models import CatalogEntry
    from catalog.transfer import export_lines

    length = CatalogEntry.objects.count()
    lines = export_lines()
    with click.progressbar(lines, length, "Exporting", **PROGRESS) as progress:
        for line in progress:
            output.write(line + "\n")


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


@token.command()
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


@main.command()
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


@main.command()
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


@main.command()
def reindex():
    """Rebuild the search index: needed only if it was damaged from outside."""
    from catalog.models import CatalogEntry
    from catalog.search import rebuild

    length, count = CatalogEntry.objects.count(), 0
    with click.progressbar(length=length, label="Indexing", **PROGRESS) as progress:
        for indexed in rebuild():
            progress.update(indexed)
            count += indexed
    click.echo(f"{count} entries indexed")


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
