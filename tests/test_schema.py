"""docs/openapi.yaml is what the code says, and a client can be made from it."""

import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.validation import validate_schema
from knox.models import AuthToken
from openapi_spec_validator import OpenAPIV31SpecValidator

from agentlens.schema import ERROR_CODES
from catalog.api.examples import CARD
from tests.factories import UserFactory

COMMITTED = Path(__file__).parent.parent / "docs" / "openapi.yaml"


@pytest.fixture(scope="module")
def schema():
    return SchemaGenerator().get_schema(request=None, public=True)


def test_the_committed_schema_is_the_generated_one(schema):
    assert yaml.safe_load(COMMITTED.read_text("utf-8")) == schema, "run `make schema`"


def test_the_error_codes_there_are_the_guide_has_too():
    guide = (COMMITTED.parent / "api.md").read_text("utf-8")
    table = re.findall(r"^\| [45]\d\d.*$", guide, re.MULTILINE)

    assert set(re.findall(r"`([A-Z_]{5,})`", "".join(table))) == set(ERROR_CODES)


def test_the_schema_is_valid(schema):
    validate_schema(schema)
    OpenAPIV31SpecValidator(schema).validate()


def test_every_operation_tells_its_errors_and_has_a_summary(schema):
    for path, operations in schema["paths"].items():
        for method, operation in operations.items():
            assert operation.get("summary"), (path, method)
            assert {"400", "401", "403"} <= operation["responses"].keys()


@pytest.fixture
def generated(tmp_path, monkeypatch):
    """A client package, generated from the committed schema and imported."""
    subprocess.run(
        [
            Path(sys.executable).with_name("openapi-python-client"),
            *("generate", "--path", COMMITTED, "--meta", "none"),
            *("--output-path", tmp_path / "generated_client"),
        ],
        check=True,
        capture_output=True,
    )
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module
    for name in [name for name in sys.modules if name.startswith("generated_client")]:
        del sys.modules[name]


@pytest.mark.django_db(transaction=True)
def test_a_generated_client_can_list_register_and_read(generated, live_server):
    _, token = AuthToken.objects.create(UserFactory(role="Editor"))
    client = generated("generated_client").AuthenticatedClient(
        live_server.url, token, raise_on_unexpected_status=True
    )
    operations = "generated_client.api.catalog.catalog_"
    body = generated("generated_client.models").CatalogRegisterCreateJsonBody
    register = generated(f"{operations}register_create")
    listing = generated(f"{operations}list")
    retrieve = generated(f"{operations}retrieve")

    made = register.sync(client=client, body=body.from_dict(CARD))
    listed = listing.sync(client=client, q="contract")
    read = retrieve.sync(made.id, client=client)

    assert [item.id for item in listed.items] == [made.id]
    assert read.display_name == CARD["name"]
