"""Which tests are run again beside PostgreSQL and Redis."""

import pytest

from tests.services_only import uses_services


def test_plain_python_uses_no_services(request):
    assert not uses_services(request.node)


@pytest.mark.django_db
def test_the_mark_of_the_database_uses_services(request):
    assert uses_services(request.node)


@pytest.mark.services
def test_the_mark_of_services_uses_services(request):
    assert uses_services(request.node)


def test_a_fixture_that_needs_the_database_uses_services(request, viewer):
    assert uses_services(request.node)
