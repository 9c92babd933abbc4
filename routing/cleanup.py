"""What time alone does to registrations."""

from datetime import timedelta

from django.db.models import Exists, OuterRef
from django.utils import timezone

from . import service
from .metrics import HOUR
from .models import CapabilityRegistration, CheckHour, RequestSecond

KEEP_HOURS = timedelta(days=2)


def sweep() -> int:
    """Remove what has drained; how many that was."""
    drained = CapabilityRegistration.objects.filter(drain_until__lte=timezone.now())
    return service.remove(drained)


def forget() -> None:
    """Old counts; of requests of more than an hour ago the last one is still needed."""
    now = timezone.now()
    CheckHour.objects.filter(hour__lt=now - KEEP_HOURS).delete()
    old = RequestSecond.objects.filter(second__lte=int(now.timestamp()) - HOUR)
    same = old.filter(registration=OuterRef("registration"))
    later = same.filter(second__gt=OuterRef("second"))
    RequestSecond.objects.filter(pk__in=old.filter(Exists(later)).values("pk")).delete()
