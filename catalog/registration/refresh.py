"""Periodic refresh of imported definitions."""

import asyncio
import logging
from dataclasses import replace
from datetime import datetime, timedelta

from django.db.models import Q
from django.utils import timezone

from capabilities.parsers import ParseError

from ..conf import conf
from ..discovery import build_resolver_for_entry
from ..health import ERROR_LIMIT, add_jitter, claim_rows, run_in_database
from ..ingestion import EntryChanged, ProbeTiming, ingest
from ..models import CatalogEntry, Source
from ..outbound import FetchError
from .service import NotRefreshable, check_same_agent

logger = logging.getLogger(__name__)


def claim_due_entries(due_at: datetime) -> list[CatalogEntry]:
    """Claim imported entries due at that time; they are due again after the lease."""
    is_due = Q(next_refresh_at__isnull=True) | Q(next_refresh_at__lte=due_at)
    # Definitions fetched with an Authorization header are refreshed only by hand.
    imported = CatalogEntry.objects.monitored().filter(
        source=Source.IMPORT, authorized=False
    )
    entries = imported.exclude(source_url="").filter(is_due).with_agent_type()
    until = timezone.now() + timedelta(seconds=conf.REFRESH_LEASE)
    return claim_rows(entries, "next_refresh_at", conf.REFRESH_BATCH, until)


async def refresh_due_entries() -> int:
    """Try to refresh every definition that is due; return how many were due."""
    if not conf.REFRESH_INTERVAL:
        return 0
    # Entries that become due meanwhile are left out: a short interval would never end.
    due_at, count = timezone.now(), 0
    while entries := await run_in_database(claim_due_entries, due_at):
        await asyncio.gather(*(refresh_definition(entry) for entry in entries))
        count += len(entries)
    return count


async def refresh_definition(entry: CatalogEntry) -> None:
    """Ingest the published definition, or save on the entry why that failed."""
    try:
        resolver = await run_in_database(build_resolver_for_entry, entry)
        resolved = await resolver.run()
        check_same_agent(entry, resolved)
        definition = replace(
            resolved.definition.as_refresh_of(entry),
            probe_timing=ProbeTiming.ON_SCHEDULE,
        )
        await run_in_database(ingest, definition)
    except EntryChanged as error:
        logger.info("Skipped the refresh of %s: %s", entry.pk, error)
    except (FetchError, ParseError, NotRefreshable) as error:
        await run_in_database(save_failure, entry, str(error))
    except Exception:
        logger.exception("Failed to refresh the definition of %s", entry.pk)


def save_failure(entry: CatalogEntry, reason: str) -> None:
    """Save why the refresh failed and schedule the next one."""
    CatalogEntry.objects.filter(pk=entry.pk).update(
        definition_problem=reason[:ERROR_LIMIT],
        next_refresh_at=timezone.now() + add_jitter(conf.REFRESH_INTERVAL),
    )
