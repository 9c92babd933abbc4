"""What time alone does to registrations."""

from datetime import timedelta

from django.db.models import Exists, OuterRef
from django.utils import timezone

from . import service
from .metrics import SECONDS_PER_HOUR
from .models import CapabilityRegistration, CheckHour, RequestSecond

CHECK_HOUR_RETENTION = timedelta(days=2)


def remove_drained() -> int:
    """Remove what has drained; how many that was."""
    drained = CapabilityRegistration.objects.filter(drain_until__lte=timezone.now())
    return service.remove_registrations(drained)


def delete_old_counts() -> None:
    """Old counts; of requests of more than an hour ago the last one is still needed."""
    now = timezone.now()
    CheckHour.objects.filter(hour__lt=now - CHECK_HOUR_RETENTION).delete()
    old = RequestSecond.objects.filter(
        second__lte=int(now.timestamp()) - SECONDS_PER_HOUR
    )
    same = old.filter(registration=OuterRef("registration"))
    later = same.filter(second__gt=OuterRef("second"))
    RequestSecond.objects.filter(pk__in=old.filter(Exists(later)).values("pk")).delete()
