"""What time alone does to registrations."""

from datetime import timedelta

from django.utils import timezone

from . import registry
from .models import CapabilityRegistration, CheckHour

KEEP_HOURS = timedelta(days=2)


def sweep() -> int:
    """Remove what has drained, and forget old counts; how many were removed."""
    now = timezone.now()
    drained = CapabilityRegistration.objects.filter(drain_until__lte=now)
    gone = registry.remove(drained)
    CheckHour.objects.filter(hour__lt=now - KEEP_HOURS).delete()
    return gone
