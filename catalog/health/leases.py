"""Work that many share: whoever claims something holds it for a while."""

from datetime import datetime, timedelta
from typing import Any, TypeVar

from django.db import models, transaction
from django.utils import timezone

from ..conf import conf

Row = TypeVar("Row", bound=models.Model)


def lease_end() -> datetime:
    """Until when what is claimed now is left to whoever claimed it."""
    return timezone.now() + timedelta(seconds=conf.PROBE_LEASE)


@transaction.atomic
def claim_rows(
    rows: "models.QuerySet[Row]", column: str, limit: int, until: datetime
) -> list[Row]:
    """The first of these by that column, put off until then for all others."""
    free = rows.select_for_update(skip_locked=True, of=("self",)).order_by(column)
    claimed = list(free[:limit])
    later: dict[str, Any] = {column: until}
    held: Any = rows.model._default_manager
    held.filter(pk__in=[row.pk for row in claimed]).update(**later)
    return claimed
