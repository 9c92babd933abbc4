"""The selection of tests that run again on PostgreSQL and Redis."""

import pytest

from tests.services_only import uses_services


def test_plain_test_uses_no_services(request):
    assert not uses_services(request.node)


@pytest.mark.django_db
def test_django_db_mark_uses_services(request):
    assert uses_services(request.node)


@pytest.mark.services
def test_services_mark_uses_services(request):
    assert uses_services(request.node)


def test_database_fixture_uses_services(request, viewer_api):
    assert uses_services(request.node)
