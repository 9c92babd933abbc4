"""Whatever a client sends that fits the schema, or does not, the answer fits it."""

from pathlib import Path

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from knox.models import AuthToken
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from catalog.registration.service import register
from tests.factories import UserFactory, card_bytes

COMMITTED = Path(__file__).parent.parent / "docs" / "openapi.yaml"
# Without import, which would look up hosts that somebody made up, and without the
# stream of events, which does not end.
LEFT_OUT = "/(import|events)$"
schema = schemathesis.openapi.from_path(COMMITTED).exclude(path_regex=LEFT_OUT)
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]


@pytest.fixture
def admin_of(server):
    """The served API and a token that may do everything."""
    register(card_bytes())
    _, token = AuthToken.objects.create(UserFactory(role="Admin"))
    return server, {"Authorization": f"Bearer {token}"}


@schema.parametrize()
@settings(
    max_examples=12,
    suppress_health_check=list(HealthCheck),
)
def test_every_operation_keeps_its_word(case, admin_of):
    server, headers = admin_of
    case.call_and_validate(base_url=server, headers=headers, checks=CHECKS)
