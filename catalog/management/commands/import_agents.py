import re
from collections import Counter
from functools import partial
from pathlib import Path

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from capabilities.parsers import ParseError, parsers
from catalog.models import Source
from catalog.outbound import FetchError, authorization_error
from catalog.registration import (
    ImportFailed,
    ImportItem,
    InvalidExportLine,
    import_url,
    iter_import_items,
    register,
)

from ..progress import progress_bar

URL = re.compile(r"[A-Za-z][\w+.-]*://")
REFUSALS = (FetchError, ImportFailed, InvalidExportLine, ValidationError)


class UsageError(CommandError):
    """Options that do not go together."""

    def __init__(self, message: str) -> None:
        super().__init__(message, returncode=2)


class Command(BaseCommand):
    help = "Catalogue definitions from files, folders, URLs and exports (.jsonl)."

    def add_arguments(self, parser):
        parser.add_argument("targets", metavar="PATH_OR_URL", nargs="+")
        parser.add_argument("--protocol", default="", help="Instead of recognising it.")
        parser.add_argument(
            "--endpoint", default="", help="Where the agent of one file is."
        )
        parser.add_argument(
            "--capabilities-url",
            default="",
            help="Where one agent declares what it can do.",
        )
        parser.add_argument(
            "--authorization",
            default="",
            help="An Authorization header for the host of one URL; never stored.",
        )
        parser.add_argument(
            "--warnings", action="store_true", help="Show the warnings as well."
        )

    def handle(self, *args, targets, protocol, warnings, **options):
        if protocol and protocol not in parsers:
            known = ", ".join(parser.slug for parser in parsers)
            raise UsageError(f"--protocol must be one of: {known}")
        given = {
            name: options[name]
            for name in ("endpoint", "capabilities_url", "authorization")
        }
        items = list(targeted_items(targets, protocol, **given))
        results: Counter[str] = Counter()
        lines: list[str] = []
        with progress_bar(items, "Importing") as progress:
            for item in progress:
                lines += import_item(item, results, warnings)
        if not items:
            lines.append("There is nothing to import there.")
        for line in lines:
            self.stderr.write(line, style_func=str)
        self.stdout.write(summary(results))
        if results["refused"]:
            raise SystemExit(1)


def targeted_items(targets, protocol, endpoint, capabilities_url, authorization):
    """What each target holds; options for a single agent are refused for several."""
    urls = [target for target in targets if URL.match(target)]
    paths = [Path(target) for target in targets if target not in urls]
    if (authorization or capabilities_url) and len(urls) > 1:
        raise UsageError("Give one URL at a time with what is meant for one.")
    if fault := authorization_error(authorization):
        raise UsageError(f"--authorization {fault}")
    for url in urls:
        given = (url, protocol, authorization, capabilities_url)
        yield ImportItem(url, partial(import_url, *given))
    if endpoint:
        if len(paths) != 1 or not paths[0].is_file():
            raise UsageError("--endpoint is for one file")
        given = {"default_source": Source.IMPORT, "endpoint": endpoint}
        raw = paths[0].read_bytes()
        yield ImportItem(str(paths[0]), partial(register, raw, protocol, **given))
        return
    yield from iter_import_items(paths, protocol)


def import_item(item: ImportItem, results: Counter[str], warnings: bool) -> list[str]:
    """Import it and count the result; the lines to print about it."""
    reasons: list[str] = []
    try:
        outcome = item.run()
    except ParseError as error:
        reasons = [f"{p.path} {p.message}" for p in error.result.errors]
    except REFUSALS as error:
        reasons = [str(error)]
    except OSError as error:
        reasons = [error.strerror or str(error)]
    else:
        results[outcome.result] += 1
        results["warnings"] += len(outcome.warnings)
        everything = [f"{p.path} {p.message}" for p in outcome.warnings]
        problem = outcome.entry.definition_problem
        shown = everything if warnings else [problem] if problem else []
        return [f"{item.name}: warning: {text}" for text in shown]
    results["refused"] += 1
    return [f"{item.name}: " + "\n  ".join(reasons)]


def summary(results: Counter[str]) -> str:
    text = (
        f"{results['created']} new, {results['updated']} updated,"
        f" {results['unchanged']} unchanged, {results['refused']} refused"
    )
    count = results["warnings"]
    return f"{text}; {count} warnings (--warnings tells them)" if count else text
