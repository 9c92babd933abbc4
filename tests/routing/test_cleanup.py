"""Cleanup of drained registrations and old counts."""

import contextlib
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from catalog import worker
from routing import events, service
from routing.cleanup import delete_old_counts, remove_drained_registrations
from routing.models import CapabilityRegistration, CheckHour, DesiredState
from tests.routing.factories import RegistrationFactory

pytestmark = pytest.mark.django_db


def expire_drain(registration, seconds):
    end = timezone.now() - timedelta(seconds=seconds)
    CapabilityRegistration.objects.filter(pk=registration.pk).update(drain_until=end)


def test_draining_registration_takes_no_traffic_and_is_removed_after_drain_time(
    settings,
):
    settings.AGENTLENS_DRAIN_SECONDS = 60
    registration = RegistrationFactory()
    service.unregister(registration, drain=True)
    draining = CapabilityRegistration.objects.not_drained().with_state().get()
    assert (draining.status, draining.takes_traffic) == ("draining", False)
    remaining = draining.drain_until - timezone.now()
    assert timedelta(seconds=55) < remaining <= timedelta(seconds=60)
    assert remove_drained_registrations() == 0

    expire_drain(registration, 1)
    assert not CapabilityRegistration.objects.not_drained().exists()
    assert CapabilityRegistration.objects.exists()
    assert remove_drained_registrations() == 1
    assert not CapabilityRegistration.objects.exists()


def test_remove_drained_counts_only_registrations():
    registration = RegistrationFactory(drain_until=timezone.now())
    registration.request_seconds.create(second=int(time.time()), total=1)
    registration.check_hours.create(hour=timezone.now(), probes=1)

    assert remove_drained_registrations() == 1


def test_reactivated_registration_is_not_removed():
    registration = RegistrationFactory()
    service.unregister(registration, drain=True)
    service.update(registration, {"desired_state": DesiredState.ACTIVE})

    assert CapabilityRegistration.objects.get().drain_until is None
    assert remove_drained_registrations() == 0


def test_registration_set_to_draining_is_removed():
    registration = RegistrationFactory()
    service.update(registration, {"desired_state": DesiredState.DRAINING})
    assert CapabilityRegistration.objects.get().drain_until is not None

    expire_drain(registration, 1)
    assert remove_drained_registrations() == 1


def test_drained_capability_can_be_registered_before_cleanup():
    drained = RegistrationFactory()
    expire_drain(drained, 1)
    registration = service.register(drained.entry, drained.capability)

    assert CapabilityRegistration.objects.get() == registration


def test_old_check_hours_are_deleted():
    registration = RegistrationFactory()
    now = timezone.now()
    for hours in (0, 30, 60):
        registration.check_hours.create(hour=now - timedelta(hours=hours), probes=1)
    delete_old_counts()

    assert CheckHour.objects.count() == 2


def test_last_request_count_before_the_hour_is_kept_per_registration():
    now = int(timezone.now().timestamp())
    for _ in range(2):
        registration = RegistrationFactory(requests_total=9)
        for total, ago in enumerate((9000, 8000, 3700, 3000), start=1):
            registration.request_seconds.create(second=now - ago, total=total)
    delete_old_counts()

    for registration in CapabilityRegistration.objects.all():
        remaining = registration.request_seconds.order_by("second")
        assert [count.total for count in remaining] == [3, 4]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("remove", [remove_drained_registrations, service.unregister])
def test_concurrent_removals_publish_each_event_once(remove, monkeypatch):
    events_sent = []
    monkeypatch.setattr(
        events, "send_to_group", lambda group, event: events_sent.append(event)
    )
    drained = RegistrationFactory.create_batch(5, drain_until=timezone.now())
    for n, registration in enumerate(drained):
        CapabilityRegistration.objects.filter(pk=registration.pk).update(
            capability=f"task-{n}"
        )
    calls = [()] * 6 if remove is remove_drained_registrations else [(drained[0],)] * 6

    def remove_in_thread(arguments):
        try:
            with contextlib.suppress(CapabilityRegistration.DoesNotExist):
                remove(*arguments)
        finally:
            connection.close()

    with ThreadPoolExecutor(6) as threads:
        list(threads.map(remove_in_thread, calls))

    assert len(events_sent) == (5 if remove is remove_drained_registrations else 1)


def test_remove_drained_is_a_periodic_task():
    assert remove_drained_registrations in [task for task, _ in worker.periodic_tasks]
