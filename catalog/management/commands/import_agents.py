import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser

from capabilities.parsers import ParseError, find_endpoint_error, parsers
from catalog.discovery import get_failed_search
from catalog.ingestion import IngestResult
from catalog.models import Source
from catalog.outbound import FetchError, find_authorization_error
from catalog.registration import (
    AlreadyDefined,
    ImportFailed,
    ImportItem,
    ImportPlan,
    InvalidExportLine,
    SkippedPath,
    import_url,
    plan_import,
    register,
)

from ..progress import progress_bar

URL_PATTERN = re.compile(r"[A-Za-z][\w+.-]*://")
IMPORT_ERRORS = (AlreadyDefined, FetchError, ImportFailed, InvalidExportLine)
# The number of skipped files that are named for each reason.
NAMED_FILES_LIMIT = 5


class UsageError(CommandError):
    """Invalid options, or options that cannot be combined."""

    def __init__(self, message: str) -> None:
        super().__init__(message, returncode=2)


class Command(BaseCommand):
    help = "Import definitions from files, folders, URLs and exports (.jsonl)."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("targets", metavar="PATH_OR_URL", nargs="+")
        parser.add_argument(
            "--protocol",
            default="",
            help="Protocol of the definitions. Detected if not given.",
        )
        parser.add_argument(
            "--endpoint",
            default="",
            help="Endpoint of the agent, for a single file that does not contain it.",
        )
        parser.add_argument(
            "--capabilities-url",
            default="",
            help="URL of the capabilities, for a single AG-UI agent.",
        )
        parser.add_argument(
            "--authorization",
            default="",
            help="Authorization header, sent only to the origin of the URL. Requires a"
            " single URL. Never stored.",
        )
        parser.add_argument(
            "--allow-stub",
            action="store_true",
            help="Register agents whose servers require authorization without their"
            " definitions.",
        )
        parser.add_argument(
            "--warnings",
            action="store_true",
            help="Show warnings about the definitions.",
        )

    def handle(self, *args: Any, targets: list[str], **options: Any) -> None:
        protocol = options["protocol"]
        if protocol and protocol not in parsers:
            slugs = ", ".join(parser.slug for parser in parsers)
            raise UsageError(f"--protocol must be one of: {slugs}")
        plan = build_plan(
            targets,
            protocol,
            endpoint=options["endpoint"],
            capabilities_url=options["capabilities_url"],
            authorization=options["authorization"],
            allow_stub=options["allow_stub"],
        )
        results: Counter[str] = Counter()
        lines: list[str] = []
        with progress_bar(plan.items, "Importing") as progress:
            for item in progress:
                lines += import_item(item, results, options["warnings"])
        lines += iter_skipped_lines(plan.skipped)
        if not plan.items:
            lines.append(f"No definitions found in {', '.join(targets)}.")
        for line in lines:
            self.stderr.write(line, style_func=str)
        self.stdout.write(format_summary(results))
        found_nothing = plan.skipped and not plan.items
        if results["rejected"] or found_nothing:
            raise SystemExit(1)


def build_plan(
    targets: list[str],
    protocol: str,
    *,
    endpoint: str,
    **url_options: Any,
) -> ImportPlan:
    """Return what to import from all targets, URLs first.

    `url_options` are those of `import_url`.

    Raise UsageError for an option that is invalid or does not fit the targets.
    """
    urls = [target for target in targets if URL_PATTERN.match(target)]
    paths = [Path(target) for target in targets if target not in urls]
    authorization = url_options["authorization"]
    if (authorization or url_options["capabilities_url"]) and len(urls) > 1:
        raise UsageError(
            "--authorization and --capabilities-url can be used with one URL only"
        )
    if error := find_authorization_error(authorization):
        raise UsageError(f"--authorization {error}")
    url_items = [
        ImportItem(url, partial(import_url, url, protocol, **url_options))
        for url in urls
    ]
    if endpoint:
        return ImportPlan([*url_items, build_file_item(paths, protocol, endpoint)])
    plan = plan_import(paths, protocol)
    return ImportPlan([*url_items, *plan.items], plan.skipped)


def build_file_item(paths: list[Path], protocol: str, endpoint: str) -> ImportItem:
    """Return the import of the only file, whose definition contains no endpoint."""
    if missing := [path for path in paths if not path.exists()]:
        raise UsageError(f"{missing[0]}: No such file or directory")
    if len(paths) != 1 or not paths[0].is_file():
        raise UsageError("--endpoint can be used with one file only")
    raw = paths[0].read_bytes()
    if error := find_endpoint_error(raw, protocol):
        raise UsageError(f"--endpoint {error}")
    run = partial(
        register, raw, protocol, default_source=Source.IMPORT, endpoint=endpoint
    )
    return ImportItem(str(paths[0]), run)


def iter_skipped_lines(skipped: list[SkippedPath]) -> Iterator[str]:
    """Yield one line for each reason, with the number of files and some names."""
    paths_by_reason: dict[str, list[str]] = defaultdict(list)
    for skipped_path in skipped:
        paths_by_reason[skipped_path.reason].append(str(skipped_path.path))
    for reason, paths in paths_by_reason.items():
        names = ", ".join(paths[:NAMED_FILES_LIMIT])
        rest = len(paths) - NAMED_FILES_LIMIT
        more = f" and {rest} more" if rest > 0 else ""
        yield f"Skipped {len(paths)} ({reason}): {names}{more}"


def import_item(
    item: ImportItem, results: Counter[str], show_warnings: bool
) -> list[str]:
    """Import an item and count its result; return the lines to print about it."""
    try:
        ingest_result = item.run()
    except ParseError as error:
        messages = [
            f"{problem.path} {problem.message}" for problem in error.result.errors
        ]
        messages += list_attempts(error)
    except ValidationError as error:
        messages = list(iter_validation_messages(error))
    except IMPORT_ERRORS as error:
        messages = [str(error), *list_attempts(error)]
    except OSError as error:
        messages = [error.strerror or str(error)]
    else:
        results[ingest_result.outcome] += 1
        results["warnings"] += len(ingest_result.warnings)
        return [
            f"{item.name}: warning: {text}"
            for text in select_warnings(ingest_result, show_warnings)
        ]
    results["rejected"] += 1
    return [f"{item.name}: " + "\n  ".join(messages)]


def list_attempts(error: Exception) -> list[str]:
    """Return a line for each URL that was tried before an import failed."""
    return [str(attempt) for attempt in get_failed_search(error).attempts]


def iter_validation_messages(error: ValidationError) -> Iterator[str]:
    """Yield `field: message` for each error of an entry's fields."""
    for field, messages in error.message_dict.items():
        yield from (f"{field}: {message}" for message in messages)


def select_warnings(ingest_result: IngestResult, show_all: bool) -> list[str]:
    """Return all warnings, or only why the definition is incomplete."""
    if show_all:
        return [
            f"{problem.path} {problem.message}" for problem in ingest_result.warnings
        ]
    problem = ingest_result.entry.definition_problem
    return [problem] if problem else []


def format_summary(results: Counter[str]) -> str:
    text = (
        f"{results['created']} new, {results['updated']} updated,"
        f" {results['unchanged']} unchanged, {results['rejected']} rejected"
    )
    count = results["warnings"]
    return f"{text}; warnings: {count} (shown with --warnings)" if count else text
