"""Request the pages and the API of this project, and print the responses as JSON."""

import json
import os
import sys

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "host.settings")
django.setup()

from django.apps import apps  # noqa: E402 - needs django.setup()
from django.contrib.auth import get_user_model  # noqa: E402
from django.contrib.auth.models import Permission  # noqa: E402
from django.test import Client  # noqa: E402

JSON = {"content_type": "application/json"}


def card(name: str, skill: str) -> dict:
    """Build an A2A card with a loopback address, so that no request leaves the host."""
    url = f"http://127.0.0.1:9/{name.lower()}"
    interface = {"url": url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
    return {
        "name": name,
        "description": f"{skill} quickly",
        "version": "1.0.0",
        "supportedInterfaces": [interface],
        "capabilities": {},
        "defaultInputModes": ["text/plain"],
        "defaultOutputModes": ["text/plain"],
        "skills": [{"id": "main", "name": skill, "description": skill, "tags": []}],
    }


DEFINITION = json.dumps(card("Translator", "Translate text"))
OTHER = json.dumps(card("Transcriber", "Transcribe speech"))
INVALID = json.dumps(card("", "Nameless"))
# Search shows active agents only, and probes of these agents fail.
PATCH = json.dumps({"categories": ["text"], "status": "active"})
WRITES = [
    ("POST", "/api/catalog/register"),
    ("POST", "/api/catalog/validate"),
    ("POST", "/api/catalog/import"),
    ("POST", "/api/catalog/{id}/probe"),
    ("POST", "/api/catalog/{id}/refresh"),
    ("PATCH", "/api/catalog/{id}"),
    ("DELETE", "/api/catalog/{id}"),
]
READS = [
    "/api/catalog",
    "/api/catalog/{id}",
    "/api/catalog/{id}/card",
    "/api/catalog/{id}/versions",
    "/api/catalog/{id}/health",
    "/api/catalog/compare?id={id}&id={other}",
    "/api/capabilities",
    "/api/capabilities/a2a.skill::Translate%20text",
    "/api/kinds",
    "/api/stats",
]
PAGES = [
    "/catalog",
    "/catalog/register",
    "/catalog/compare?id={id}&id={other}",
    "/catalog/capabilities?q=translate",
    "/catalog/capabilities/a2a.skill::Translate%20text",
    "/catalog/{id}",
]
ADMIN_PAGES = [
    "/admin/",
    "/admin/catalog/catalogentry/",
    "/admin/catalog/catalogentry/add/",
    "/admin/catalog/catalogentry/{id}/change/",
    "/admin/catalog/agenttype/",
    "/admin/catalog/provider/",
]


def build_client(username: str, *permissions: str) -> Client:
    """Return a client with a logged-in user who has these permissions."""
    user, _ = get_user_model().objects.get_or_create(username=username)
    user.is_staff = user.is_superuser = "all" in permissions
    user.save()
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    client = Client()
    client.force_login(user)
    return client


def summarize(response) -> dict:
    """Return the parts of a response that the tests check."""
    is_json = response.get("Content-Type", "").startswith("application/json")
    return {
        "status": response.status_code,
        "location": response.get("Location", ""),
        "body": response.json() if is_json else response.content.decode(),
    }


def main() -> dict:
    owner, anonymous = build_client("owner", "all"), Client()
    reader = build_client("reader", "view_catalogentry")
    first = owner.post("/api/catalog/register", DEFINITION, **JSON)
    second = owner.post("/api/catalog/register", OTHER, **JSON)
    ids = {"id": first.json()["id"], "other": second.json()["id"]}

    def send(client: Client, method: str, path: str):
        return summarize(client.generic(method, path.format(**ids), "{}", **JSON))

    def open_page(client: Client, path: str):
        return summarize(client.get(path.format(**ids)))

    return {
        "register": summarize(first),
        "invalid": summarize(owner.post("/api/catalog/register", INVALID, **JSON)),
        "preview": summarize(owner.post("/catalog/register", {"definition": OTHER})),
        "patched": summarize(owner.patch(f"/api/catalog/{ids['id']}", PATCH, **JSON)),
        "options": send(owner, "OPTIONS", "/api/catalog"),
        "reads": {path: send(reader, "GET", path) for path in READS},
        "pages": {path: open_page(owner, path) for path in PAGES},
        "admin": {
            path: open_page(owner, path)
            for path in ADMIN_PAGES
            if apps.is_installed("django.contrib.admin")
        },
        "anonymous reads": {path: send(anonymous, "GET", path) for path in READS},
        "anonymous pages": {path: open_page(anonymous, path) for path in PAGES},
        "anonymous writes": {
            f"{method} {path}": send(anonymous, method, path) for method, path in WRITES
        },
        "reader writes": {
            f"{method} {path}": send(reader, method, path)
            for method, path in WRITES
            if "validate" not in path
        },
        "agent after reader writes": send(owner, "GET", "/api/catalog/{id}"),
        "modules": sorted({name.partition(".")[0] for name in sys.modules}),
    }


if __name__ == "__main__":
    json.dump(main(), sys.stdout)
