"""Periodic removal of drained registrations and old counts."""

from datetime import timedelta

from django.db.models import Exists, OuterRef
from django.utils import timezone

from . import service
from .metrics import SECONDS_PER_HOUR
from .models import CapabilityRegistration, CheckHour, RequestSecond

CHECK_HOUR_RETENTION = timedelta(days=2)


def remove_drained_registrations() -> int:
    """Remove registrations that have finished draining; return their number."""
    drained = CapabilityRegistration.objects.filter(drain_until__lte=timezone.now())
    return service.remove_registrations(drained)


def delete_old_counts() -> None:
    """Delete old counts of checks and requests.

    The latest request count that is older than an hour is not deleted: the number of
    requests in the last hour is computed from it.
    """
    now = timezone.now()
    CheckHour.objects.filter(hour__lt=now - CHECK_HOUR_RETENTION).delete()
    old_counts = RequestSecond.objects.filter(
        second__lte=int(now.timestamp()) - SECONDS_PER_HOUR
    )
    later_counts = old_counts.filter(
        registration=OuterRef("registration"), second__gt=OuterRef("second")
    )
    superseded = old_counts.filter(Exists(later_counts))
    RequestSecond.objects.filter(pk__in=superseded.values("pk")).delete()
