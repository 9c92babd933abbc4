"""Health checks of their own, made by the catalog's prober."""

from datetime import datetime
from urllib.parse import quote, urljoin

from django.db import transaction
from django.utils import timezone

from catalog.health import (
    ProbeOutcome,
    ProbeTarget,
    claim_rows,
    is_recent,
    lease_end,
    next_probe_time,
    next_state,
    start_of_hour,
)
from catalog.models import Source, Status

from .events import publish_health_changed
from .models import CapabilityRegistration, CheckHour


def health_check_url_for(registration: CapabilityRegistration) -> str:
    """Its health check URL in full: relative ones belong to the agent, not to us."""
    agent_id = quote(registration.agent_id, safe="")
    path = registration.health_check_url.replace("{agent_id}", agent_id)
    try:
        return urljoin(registration.entry.agent_type.endpoint, path)
    except ValueError:
        # Some endpoints only look like addresses: `config://[x`.
        return ""


class HealthChecks:
    """Registrations that say where to ask; the others share their agent's health."""

    def claim(self, limit: int, due: datetime) -> list[CapabilityRegistration]:
        offers = CapabilityRegistration.objects.present()
        offers = offers.exclude(entry__status=Status.DEPRECATED)
        found = offers.filter(next_check_at__lte=due).with_agent_type()
        return claim_rows(found, "next_check_at", limit, until=lease_end())

    def get_target(self, registration: CapabilityRegistration) -> ProbeTarget:
        protocol = registration.entry.agent_type.protocol
        return ProbeTarget(protocol, "", health_url=health_check_url_for(registration))

    def is_down(self, registration: CapabilityRegistration) -> bool:
        gone = registration.check_state == Status.OFFLINE
        return gone and is_recent(registration.checked_at)

    def postpone(self, registration: CapabilityRegistration, until: datetime) -> int:
        mine = CapabilityRegistration.objects.filter(
            pk=registration.pk, next_check_at__isnull=False
        )
        return mine.update(next_check_at=until)

    def save_results(
        self, outcomes: list[tuple[CapabilityRegistration, ProbeOutcome]]
    ) -> None:
        for outcome in outcomes:
            record_probe(*outcome)


@transaction.atomic
def record_probe(registration: CapabilityRegistration, probe: ProbeOutcome) -> bool:
    """Write the outcome down, and tell when it means another health."""
    rows = CapabilityRegistration.objects.select_for_update().defer("window")
    found = rows.filter(pk=registration.pk).first()
    if found is None or found.health_check_url != registration.health_check_url:
        return False
    probe = probe.truncated()
    hour = (found.pk, start_of_hour(probe.at))
    CheckHour.objects.add_probes("registration_id", {hour: probe})
    # A late result never overwrites a newer state.
    if found.checked_at is not None and found.checked_at >= probe.at:
        return False
    before, state = found.check_state, next_state(probe, found.check_failures)
    found.check_state, found.check_failures = state.status, state.failures
    found.checked_at, found.check_error = probe.at, probe.error
    if probe.ok:
        found.check_latency_ms = probe.latency_ms
    found.next_check_at = next_probe_time(state.failures)
    found.save(update_fields=CHECK_FIELDS)
    publish_health_changed(found, before, state.status, probe.error)
    return True


def reset_health_check(registration: CapabilityRegistration) -> None:
    """Nothing is known of a new address, and there may be none to ask any more."""
    has_address = health_check_url_for(registration).startswith(("http://", "https://"))
    told = registration.health_check_url and registration.entry.source != Source.DEMO
    asked = bool(told) and has_address
    registration.next_check_at = timezone.now() if asked else None
    registration.check_state = Status.UNKNOWN
    registration.checked_at = registration.check_latency_ms = None
    registration.check_error, registration.check_failures = "", 0


CHECK_FIELDS = [
    "check_state",
    "checked_at",
    "check_latency_ms",
    "check_error",
    "check_failures",
    "next_check_at",
]
