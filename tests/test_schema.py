"""The OpenAPI schema: committed, valid and usable by a client generator."""

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

SCHEMA_FILE = Path(__file__).parent.parent / "docs" / "openapi.yaml"


@pytest.fixture(scope="module")
def schema():
    return SchemaGenerator().get_schema(request=None, public=True)


def test_committed_schema_matches_generated_schema(schema):
    assert yaml.safe_load(SCHEMA_FILE.read_text("utf-8")) == schema, "run `make schema`"


def test_api_guide_lists_all_error_codes():
    guide = (SCHEMA_FILE.parent / "api.md").read_text("utf-8")
    table = re.findall(r"^\| [45]\d\d.*$", guide, re.MULTILINE)

    assert set(re.findall(r"`([A-Z_]{5,})`", "".join(table))) == set(ERROR_CODES)


def test_schema_is_valid_openapi(schema):
    validate_schema(schema)
    OpenAPIV31SpecValidator(schema).validate()


def test_every_operation_has_summary_and_error_responses(schema):
    for path, operations in schema["paths"].items():
        for method, operation in operations.items():
            assert operation.get("summary"), (path, method)
            assert {"400", "401", "403"} <= operation["responses"].keys()


@pytest.fixture
def import_generated(tmp_path, monkeypatch):
    """Generate a client from the schema; return a function that imports its modules."""
    subprocess.run(
        [
            Path(sys.executable).with_name("openapi-python-client"),
            *("generate", "--path", SCHEMA_FILE, "--meta", "none"),
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
def test_generated_client_registers_lists_and_retrieves(import_generated, live_server):
    _, token = AuthToken.objects.create(UserFactory(role="Editor"))
    client = import_generated("generated_client").AuthenticatedClient(
        live_server.url, token, raise_on_unexpected_status=True
    )
    operations = "generated_client.api.catalog.catalog_"
    body = import_generated("generated_client.models").CatalogRegisterCreateJsonBody
    register_entry = import_generated(f"{operations}register_create")
    list_entries = import_generated(f"{operations}list")
    retrieve_entry = import_generated(f"{operations}retrieve")

    registered = register_entry.sync(client=client, body=body.from_dict(CARD))
    listed = list_entries.sync(client=client, q="contract")
    retrieved = retrieve_entry.sync(registered.id, client=client)

    assert [item.id for item in listed.items] == [registered.id]
    assert retrieved.display_name == CARD["name"]
