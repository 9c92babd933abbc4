"""The `agentlens` command."""

import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import click
import django

PROGRESS = {"show_pos": True, "width": 30, "file": sys.stderr}


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main():
    """Which agent can do X? One catalog across protocols."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "agentlens.settings")
    django.setup()


@main.command()
@click.option("--host", default="127.0.0.1", show_default=True)
@click.option("--port", default=8000, show_default=True, type=click.IntRange(0, 65535))
@click.option("--workers", default=1, show_default=True, type=click.IntRange(1))
def serve(host: str, port: int, workers: int):
    """Serve the catalog; bring the database up to date first."""
    import uvicorn

    from .start import prepare

    if password := prepare():
        click.echo(f"Created the user admin with the password {password}")
        click.echo("It is shown only this once: change it in the admin.")
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


@dataclass(frozen=True)
class Item:
    """One thing to import: what to call it, and how to do it."""

    name: str
    run: Callable


@main.command(name="import")
@click.argument("targets", metavar="PATH_OR_URL...", nargs=-1, required=True)
@click.option("--protocol", default="", help="Instead of recognising it.")
def import_(targets: tuple[str, ...], protocol: str):
    """Catalogue definitions from files, folders, URLs and exports (.jsonl)."""
    from capabilities.parsers import parsers

    if protocol and protocol not in parsers:
        known = ", ".join(parser.slug for parser in parsers)
        raise click.BadParameter(f"must be one of: {known}", param_hint="--protocol")
    items = [item for target in targets for item in items_of(target, protocol)]
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


def items_of(target: str, protocol: str) -> Iterator[Item]:
    from catalog.intake import import_url, register
    from catalog.models import Source
    from catalog.transfer import import_line

    if re.match(r"https?://", target):
        yield Item(target, lambda: import_url(target, protocol))
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
def reindex():
    """Write anew what is searched of every entry."""
    from catalog import search
    from catalog.models import CatalogEntry

    search.index(CatalogEntry.objects.all())
    click.echo(f"{CatalogEntry.objects.count()} entries indexed")


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
