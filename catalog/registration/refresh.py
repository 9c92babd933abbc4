"""Definitions change where they are published: look again, from time to time."""

import asyncio
import logging
from dataclasses import replace
from datetime import datetime, timedelta

from django.db.models import Q
from django.utils import timezone

from capabilities.parsers import ParseError

from ..conf import conf
from ..discovery import resolver_for_entry
from ..health import ERROR_LIMIT, claim_rows, in_database, spread
from ..ingestion import Due, Outdated, ingest
from ..models import CatalogEntry, Source
from ..outbound import FetchError
from .service import NotRefreshable, same_agent

logger = logging.getLogger(__name__)


def claim(due: datetime) -> list[CatalogEntry]:
    """Imported entries to look at again; ours until the lease ends, then due again."""
    was_due = Q(next_refresh_at__isnull=True) | Q(next_refresh_at__lte=due)
    # What was told to one who showed an Authorization, we could not see again.
    imported = CatalogEntry.objects.watched().filter(
        source=Source.IMPORT, authorized=False
    )
    found = imported.exclude(source_url="").filter(was_due)
    until = timezone.now() + timedelta(seconds=conf.REFRESH_LEASE)
    return claim_rows(found.to_be_asked(), "next_refresh_at", conf.REFRESH_BATCH, until)


async def refresh_due() -> int:
    """Refresh every definition that is due now; how many that was."""
    if not conf.REFRESH_INTERVAL:
        return 0
    # Not what comes due meanwhile: with a short interval this would never end.
    due, count = timezone.now(), 0
    while entries := await in_database(claim, due):
        await asyncio.gather(*(refresh_one(entry) for entry in entries))
        count += len(entries)
    return count


async def refresh_one(entry: CatalogEntry) -> None:
    """Catalogue what is published now; what stands in the way is told on the entry."""
    try:
        resolver = await in_database(resolver_for_entry, entry)
        found = same_agent(entry, await resolver.run())
        definition = replace(found.definition.again_for(entry), due=Due.AS_PLANNED)
        await in_database(ingest, definition)
    except Outdated as reason:
        logger.info("The definition of %s was left alone: %s", entry.pk, reason)
    except (FetchError, ParseError, NotRefreshable) as reason:
        await in_database(note, entry, str(reason))
    except Exception:
        logger.exception("The definition of %s was not refreshed", entry.pk)


def note(entry: CatalogEntry, reason: str) -> None:
    """Tell it on the entry, and look again in its time."""
    CatalogEntry.objects.filter(pk=entry.pk).update(
        definition_problem=reason[:ERROR_LIMIT],
        next_refresh_at=timezone.now() + spread(conf.REFRESH_INTERVAL),
    )
