"""Health checks of registrations with their own URL, made by the catalog's prober."""

from datetime import datetime
from urllib.parse import quote, urljoin

from django.db import transaction
from django.utils import timezone

from catalog.health import (
    ProbeOutcome,
    ProbeTarget,
    claim_rows,
    compute_lease_end,
    compute_next_probe_time,
    is_within_back_off_limit,
    next_state,
    truncate_to_hour,
)
from catalog.models import Source, Status

from .events import publish_health_changed
from .models import CapabilityRegistration, CheckHour

CHECK_FIELDS = [
    "check_state",
    "checked_at",
    "check_latency_ms",
    "check_error",
    "check_failures",
    "next_check_at",
]


def build_health_check_url(registration: CapabilityRegistration) -> str:
    """Return the URL to request; a path is relative to the agent's endpoint.

    If the endpoint is not a web URL, the result for a path is not one either.
    """
    agent_id = quote(registration.agent_id, safe="")
    path = registration.health_check_url.replace("{agent_id}", agent_id)
    try:
        return urljoin(registration.entry.agent_type.endpoint, path)
    except ValueError:
        # Endpoints of agents without a URL can look like one: `config://[x`.
        return ""


class RegistrationTargets:
    """Registrations with a health check URL; the others use their agent's health."""

    def claim(self, limit: int, due: datetime) -> list[CapabilityRegistration]:
        registrations = CapabilityRegistration.objects.not_drained()
        registrations = registrations.exclude(entry__status=Status.DEPRECATED)
        registrations = registrations.filter(next_check_at__lte=due).with_agent_type()
        return claim_rows(
            registrations, "next_check_at", limit, until=compute_lease_end()
        )

    def get_target(self, registration: CapabilityRegistration) -> ProbeTarget:
        protocol = registration.entry.agent_type.protocol
        url = build_health_check_url(registration)
        return ProbeTarget(protocol=protocol, endpoint="", health_url=url)

    def is_recently_offline(self, registration: CapabilityRegistration) -> bool:
        is_offline = registration.check_state == Status.OFFLINE
        return is_offline and is_within_back_off_limit(registration.checked_at)

    def postpone(self, registration: CapabilityRegistration, until: datetime) -> int:
        rows = CapabilityRegistration.objects.filter(
            pk=registration.pk, next_check_at__isnull=False
        )
        return rows.update(next_check_at=until)

    def save_results(
        self, results: list[tuple[CapabilityRegistration, ProbeOutcome]]
    ) -> None:
        for registration, outcome in results:
            record_probe(registration, outcome)


@transaction.atomic
def record_probe(registration: CapabilityRegistration, outcome: ProbeOutcome) -> bool:
    """Save the outcome and publish a change of health.

    Return False for an outcome that no longer counts: the registration was removed or
    has another URL, or a newer outcome is saved already.
    """
    rows = CapabilityRegistration.objects.select_for_update().defer("window")
    current = rows.filter(pk=registration.pk).first()
    if current is None or current.health_check_url != registration.health_check_url:
        return False
    outcome = outcome.truncated()
    hour = (current.pk, truncate_to_hour(outcome.at))
    CheckHour.objects.add_probes("registration_id", {hour: outcome})
    if current.checked_at is not None and current.checked_at >= outcome.at:
        return False
    before, state = current.check_state, next_state(outcome, current.check_failures)
    current.check_state, current.check_failures = state.status, state.failure_count
    current.checked_at, current.check_error = outcome.at, outcome.error
    if outcome.ok:
        current.check_latency_ms = outcome.latency_ms
    current.next_check_at = compute_next_probe_time(state.failure_count)
    current.save(update_fields=CHECK_FIELDS)
    publish_health_changed(current, before, state.status, outcome.error)
    return True


def reset_health_check(registration: CapabilityRegistration) -> None:
    """Clear earlier results, and schedule a check if there is a URL to request."""
    url = build_health_check_url(registration)
    is_checked = (
        bool(registration.health_check_url)
        and registration.entry.source != Source.DEMO
        and url.startswith(("http://", "https://"))
    )
    registration.next_check_at = timezone.now() if is_checked else None
    registration.check_state = Status.UNKNOWN
    registration.checked_at = registration.check_latency_ms = None
    registration.check_error, registration.check_failures = "", 0
