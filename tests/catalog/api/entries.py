"""URLs, members and names of catalog entries in the API."""

CATALOG_URL = "/api/v1/catalog"
REGISTER_URL = f"{CATALOG_URL}/register"
VALIDATE_URL = f"{CATALOG_URL}/validate"
IMPORT_URL = f"{CATALOG_URL}/import"
COMPARE_URL = f"{CATALOG_URL}/compare"

# The members of an entry in a list, in order.
ENTRY_MEMBERS = [
    "id",
    "display_name",
    "description",
    "protocol",
    "endpoint",
    "version",
    "spec_version",
    "agent_key",
    "status",
    "source",
    "source_url",
    "declared",
    "provider",
    "capability_count",
    "technical_count",
    "categories",
    "metadata",
    "validity",
    "health",
    "created_at",
    "updated_at",
]


def entry_url(entry, *segments: str) -> str:
    return "/".join([CATALOG_URL, str(entry.pk), *segments])


def list_names(client, query: str = "") -> list[str]:
    """Return the display names of the entries that the query finds, in order."""
    response = client.get(f"{CATALOG_URL}?{query}")
    assert response.status_code == 200, response.json()
    items = response.json()["items"]
    assert response.json()["total"] == len(items)
    return [item["display_name"] for item in items]


def select_capabilities(entry: dict, kind: str) -> list[dict]:
    """Return the capabilities of this kind from an entry's JSON."""
    return [item for item in entry["capabilities"] if item["kind"] == kind]
