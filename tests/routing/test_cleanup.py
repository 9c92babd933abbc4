"""What time alone does to registrations."""

import contextlib
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from catalog import worker
from routing import events, service
from routing.cleanup import delete_old_counts, remove_drained
from routing.models import CapabilityRegistration, CheckHour, DesiredState
from tests.routing.factories import RegistrationFactory

pytestmark = pytest.mark.django_db


def age(registration, seconds):
    end = timezone.now() - timedelta(seconds=seconds)
    CapabilityRegistration.objects.filter(pk=registration.pk).update(drain_until=end)


def test_draining_takes_no_traffic_at_once_and_goes_when_its_time_is_over(settings):
    settings.AGENTLENS_DRAIN_SECONDS = 60
    registration = RegistrationFactory()
    service.unregister(registration, drain=True)
    one = CapabilityRegistration.objects.present().with_state().get()
    assert (one.status, one.takes_traffic) == ("draining", False)
    left = one.drain_until - timezone.now()
    assert timedelta(seconds=55) < left <= timedelta(seconds=60)
    assert remove_drained() == 0

    age(registration, 1)
    assert not CapabilityRegistration.objects.present().exists()
    assert CapabilityRegistration.objects.exists()
    assert remove_drained() == 1
    assert not CapabilityRegistration.objects.exists()


def test_only_registrations_are_counted_and_not_what_goes_with_them():
    gone = RegistrationFactory(drain_until=timezone.now())
    gone.request_seconds.create(second=int(time.time()), total=1)
    gone.check_hours.create(hour=timezone.now(), probes=1)

    assert remove_drained() == 1


def test_who_becomes_active_again_stays():
    registration = RegistrationFactory()
    service.unregister(registration, drain=True)
    service.update(registration, {"intent": DesiredState.ACTIVE})

    assert CapabilityRegistration.objects.get().drain_until is None
    assert remove_drained() == 0


def test_set_to_drain_by_hand_it_goes_as_well():
    registration = RegistrationFactory()
    service.update(registration, {"intent": DesiredState.DRAINING})
    assert CapabilityRegistration.objects.get().drain_until is not None

    age(registration, 1)
    assert remove_drained() == 1


def test_the_same_offer_may_be_made_again_before_the_sweep():
    drained = RegistrationFactory()
    age(drained, 1)
    again = service.register(drained.entry, drained.capability)

    assert CapabilityRegistration.objects.get() == again


def test_old_counts_are_forgotten():
    registration = RegistrationFactory()
    now = timezone.now()
    for hours in (0, 30, 60):
        registration.check_hours.create(hour=now - timedelta(hours=hours), probes=1)
    delete_old_counts()

    assert CheckHour.objects.count() == 2


def test_of_requests_long_ago_the_last_count_is_remembered_of_each():
    now = int(timezone.now().timestamp())
    for _ in range(2):
        registration = RegistrationFactory(requests_total=9)
        for total, ago in enumerate((9000, 8000, 3700, 3000), start=1):
            registration.request_seconds.create(second=now - ago, total=total)
    delete_old_counts()

    for registration in CapabilityRegistration.objects.all():
        kept = registration.request_seconds.order_by("second")
        assert [one.total for one in kept] == [3, 4]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("remove", [remove_drained, service.unregister])
def test_of_many_who_remove_the_same_one_does_and_tells(remove, monkeypatch):
    told = []
    monkeypatch.setattr(
        events, "send_to_group", lambda group, event: told.append(event)
    )
    drained = RegistrationFactory.create_batch(5, drain_until=timezone.now())
    for n, one in enumerate(drained):
        CapabilityRegistration.objects.filter(pk=one.pk).update(capability=f"task-{n}")
    given = [()] * 6 if remove is remove_drained else [(drained[0],)] * 6

    def work(arguments):
        try:
            with contextlib.suppress(CapabilityRegistration.DoesNotExist):
                remove(*arguments)
        finally:
            connection.close()

    with ThreadPoolExecutor(6) as threads:
        list(threads.map(work, given))

    assert len(told) == (5 if remove is remove_drained else 1)


def test_the_sweep_is_one_of_the_chores():
    assert remove_drained in [task for task, _ in worker.periodic_tasks]
