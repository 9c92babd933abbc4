"""Two-step registration: preview a definition, then confirm it."""

import base64
from dataclasses import asdict, dataclass
from datetime import datetime

from django.core import signing

from capabilities.parsers import ParseResult, parse, try_parse
from capabilities.problems import Problem

from ..discovery import ResolvedDefinition
from ..ingestion import (
    IngestOutcome,
    IngestResult,
    build_replaced_warnings,
    check_stub_is_needed,
    find_entry,
    preview_ingest,
    preview_replaced_name,
)
from ..models import CatalogEntry
from ..outbound import FetchResult
from .service import (
    import_resolved,
    register,
    resolve_refresh,
    resolve_url,
)

SALT = "catalog.review"
# Seconds for which a preview can be confirmed.
MAX_AGE = 24 * 3600
CONFIRMATIONS = {
    IngestOutcome.CREATED: "“{}” is now in the catalog.",
    IngestOutcome.UPDATED: "“{}” was updated.",
    IngestOutcome.UNCHANGED: "“{}” is already in the catalog with this definition.",
}


class PreviewExpired(Exception):
    """The signed preview is invalid or too old."""

    def __init__(self) -> None:
        super().__init__("The preview has expired. Preview the agent again")


@dataclass(frozen=True, slots=True)
class PendingDefinition:
    """A previewed definition, sent signed to the browser and back.

    Renaming a field makes previews that are open during an upgrade invalid.
    """

    raw_base64: str
    protocol: str
    url: str = ""
    etag: str = ""
    # The agent's URL, for definitions that do not contain it.
    endpoint: str = ""
    # Why the definition is incomplete, "" if it is complete.
    incomplete_reason: str = ""
    # Whether an `Authorization` header was sent to get it.
    authorized: bool = False
    # When the entry being refreshed was last seen, "" for a registration.
    as_of: str = ""

    @classmethod
    def from_document(
        cls, raw: bytes, protocol: str, endpoint: str
    ) -> "PendingDefinition":
        return cls(base64.b64encode(raw).decode(), protocol, endpoint=endpoint)

    @classmethod
    def from_resolved(
        cls, resolved: ResolvedDefinition, as_of: str = ""
    ) -> "PendingDefinition":
        fetched, record = resolved.fetched, resolved.record
        return cls(
            base64.b64encode(fetched.body).decode(),
            record.protocol,
            url=fetched.url,
            etag=fetched.etag,
            endpoint=record.endpoint,
            incomplete_reason=resolved.incomplete_reason,
            authorized=resolved.authorized,
            as_of=as_of,
        )

    @property
    def document(self) -> bytes:
        return base64.b64decode(self.raw_base64)

    def resolve(self) -> ResolvedDefinition:
        """Return the definition as it was fetched for the preview."""
        fetched = FetchResult(self.url, self.document, self.etag)
        record, warnings = parse(self.document, self.protocol, self.endpoint, self.url)
        return ResolvedDefinition(
            fetched,
            record,
            warnings=warnings,
            incomplete_reason=self.incomplete_reason,
            authorized=self.authorized,
        )

    def sign(self) -> str:
        return signing.dumps(asdict(self), salt=SALT, compress=True)

    @classmethod
    def from_signed(cls, text: str) -> "PendingDefinition":
        try:
            return cls(**signing.loads(text, salt=SALT, max_age=MAX_AGE))
        except (signing.BadSignature, TypeError) as error:
            # A TypeError if the preview was made before a field was renamed.
            raise PreviewExpired from error


@dataclass(frozen=True, slots=True)
class Preview:
    """What a registration would store; `signed` confirms it, "" if it is invalid."""

    parse_result: ParseResult
    signed: str = ""
    # The name of the agent that it would replace by another one, "" for none.
    replaced_name: str = ""


@dataclass(frozen=True, slots=True)
class RefreshPreview:
    """What a refresh would change; `signed` confirms it."""

    ingest_result: IngestResult
    signed: str
    # Why the definition is incomplete, "" if it is complete.
    incomplete_reason: str


def preview_definition(raw: bytes, protocol: str = "", endpoint: str = "") -> Preview:
    """Return what registering a document would store, or all its errors."""
    return build_preview(PendingDefinition.from_document(raw, protocol, endpoint))


def preview_url(
    url: str,
    protocol: str = "",
    authorization: str = "",
    capabilities_url: str = "",
    allow_stub: bool = False,
) -> Preview:
    """Return what importing a URL would store; raise AlreadyDefined as an import."""
    resolved = resolve_url(url, protocol, authorization, capabilities_url, allow_stub)
    record = resolved.record
    check_stub_is_needed(find_entry(record), resolved.fetched.body, record.protocol)
    return build_preview(PendingDefinition.from_resolved(resolved))


def preview_refresh(entry: CatalogEntry, authorization: str = "") -> RefreshPreview:
    """Return what a refresh would change, without storing anything.

    Unlike `dry_run_refresh`, the result can be confirmed later.
    """
    resolved = resolve_refresh(entry, authorization)
    ingest_result = preview_ingest(entry, resolved.definition)
    pending = PendingDefinition.from_resolved(
        resolved, entry.validity_last_seen.isoformat()
    )
    return RefreshPreview(ingest_result, pending.sign(), resolved.incomplete_reason)


def build_preview(pending: PendingDefinition) -> Preview:
    parse_result = try_parse(
        pending.document, pending.protocol, pending.endpoint, pending.url
    )
    if pending.incomplete_reason:
        parse_result.warnings.insert(0, Problem("$", pending.incomplete_reason))
    if parse_result.record is None or not parse_result.is_valid:
        return Preview(parse_result)
    replaced_name = preview_replaced_name(parse_result.record)
    parse_result.warnings[:0] = build_replaced_warnings(replaced_name)
    return Preview(parse_result, pending.sign(), replaced_name)


def confirm_preview(
    signed: str, refreshed_entry: CatalogEntry | None = None
) -> tuple[IngestResult, str]:
    """Register a previewed definition; return the result and a message for people.

    Raise PreviewExpired if the preview is invalid, too old, or not of a refresh when
    `refreshed_entry` is given. Raise EntryChanged as `ingest` does.
    """
    pending = PendingDefinition.from_signed(signed)
    if refreshed_entry is not None and not pending.as_of:
        raise PreviewExpired
    if pending.url:
        if refreshed_entry is not None:
            refreshed_entry.validity_last_seen = datetime.fromisoformat(pending.as_of)
        result = import_resolved(pending.resolve(), refreshed_entry)
    else:
        result = register(pending.document, pending.protocol, endpoint=pending.endpoint)
    return result, CONFIRMATIONS[result.outcome].format(result.entry)
