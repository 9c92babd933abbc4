"""Row leases: a worker claims due rows so that no other worker processes them."""

from datetime import datetime, timedelta
from typing import Any, TypeVar

from django.db import models, transaction
from django.utils import timezone

from ..conf import conf

M = TypeVar("M", bound=models.Model)


def compute_lease_end() -> datetime:
    """Return when a row that is claimed now becomes due again for all workers."""
    return timezone.now() + timedelta(seconds=conf.PROBE_LEASE)


@transaction.atomic
def claim_rows(
    rows: "models.QuerySet[M]", column: str, limit: int, until: datetime
) -> list[M]:
    """Return the first rows ordered by `column`, and set that column to `until`."""
    free = rows.select_for_update(skip_locked=True, of=("self",)).order_by(column)
    claimed = list(free[:limit])
    new_due_time: dict[str, Any] = {column: until}
    manager: models.Manager[M] = rows.model._default_manager
    manager.filter(pk__in=[row.pk for row in claimed]).update(**new_due_time)
    return claimed
