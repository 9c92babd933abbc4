"""Pages show texts of hostile definitions as plain text."""

import json
import re

import pytest

from catalog.models import CatalogEntry
from catalog.templatetags.catalog import capability_url
from tests.factories import ProviderFactory, skill
from tests.registered_agents import agent_card, register_agent

pytestmark = pytest.mark.django_db

HOSTILE_TEXT = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>{{ 7 }}"
CAPABILITIES_URL = "/catalog/capabilities"


def build_hostile_card():
    hostile_skill = skill(HOSTILE_TEXT, description=HOSTILE_TEXT, tags=[HOSTILE_TEXT])
    return agent_card(
        HOSTILE_TEXT,
        hostile_skill,
        url="https://hostile.example.com/a2a",
        description=HOSTILE_TEXT,
        version=HOSTILE_TEXT[:50],
        provider={"organization": HOSTILE_TEXT, "url": "https://acme.example"},
        securitySchemes={
            HOSTILE_TEXT: {"httpAuthSecurityScheme": {"scheme": HOSTILE_TEXT}},
        },
    )


@pytest.fixture
def hostile_entry():
    entry = register_agent(
        build_hostile_card(), last_error=HOSTILE_TEXT, source_url=HOSTILE_TEXT
    )
    CatalogEntry.objects.update(
        categories=[HOSTILE_TEXT], metadata={HOSTILE_TEXT: HOSTILE_TEXT}
    )
    return entry


def assert_escaped(response):
    html = response.content.decode()
    assert "alert(1)" in html
    assert "<script>alert" not in html
    assert "<img src=x" not in html
    # The hostile text itself contains " onerror=alert", after "x".
    assert not re.search(r"\son\w+=alert", html.replace("x onerror", "x%onerror"))


@pytest.mark.parametrize(
    "url",
    [
        CAPABILITIES_URL,
        "/catalog",
        "/catalog/{}",
        f"{CAPABILITIES_URL}?q={HOSTILE_TEXT}",
        "/catalog?q={}",
    ],
)
def test_page_escapes_hostile_text(viewer_client, hostile_entry, url):
    value = HOSTILE_TEXT if url.endswith("={}") else hostile_entry.pk

    assert_escaped(viewer_client.get(url.replace("{}", str(value))))


def test_capability_page_and_its_404_escape_hostile_text(viewer_client, hostile_entry):
    assert_escaped(viewer_client.get(capability_url("a2a.skill", HOSTILE_TEXT)))
    missing = viewer_client.get(capability_url("a2a.skill", HOSTILE_TEXT + "x"))
    assert missing.status_code == 404
    assert_escaped(missing)


def test_registration_preview_escapes_hostile_text_and_problems(editor_client):
    valid = build_hostile_card()
    invalid = build_hostile_card() | {HOSTILE_TEXT: 1, "skills": HOSTILE_TEXT}
    for document in (valid, invalid):
        form = {"definition": json.dumps(document)}
        response = editor_client.post("/catalog/register", form)
        assert response.status_code == 200
        assert_escaped(response)


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "JavaScript:alert(1)",
        "java\tscript:alert(1)",
        " javascript:alert(1)",
        "data:text/html,x",
        "vbscript:x",
        "file:///etc/passwd",
        "//evil.example",
        "ftp://a.example",
    ],
)
def test_provider_url_with_other_scheme_than_http_is_not_linked(viewer_client, url):
    entry = register_agent(agent_card("Polyglot", "Translate text"))
    provider = ProviderFactory(organization="Odd", url=url)
    entry.agent_type.provider = provider
    entry.agent_type.save()
    for page_url in (f"/catalog/{entry.pk}", "/catalog", CAPABILITIES_URL):
        html = viewer_client.get(page_url).content.decode()
        assert not re.search(r'href="(?!/|#|\?)', html)


def test_external_link_sends_no_referrer(viewer_client):
    entry = register_agent(agent_card("Polyglot", "Translate text"))
    html = viewer_client.get(f"/catalog/{entry.pk}").content.decode()

    links = re.findall(r'<a\s[^>]*href="https?:[^>]*>', html)
    assert len(links) == 1
    assert 'rel="noopener noreferrer nofollow"' in links[0]


def test_right_to_left_name_is_isolated_from_surrounding_text(viewer_client):
    register_agent(agent_card("שלום", skill("עולם", id="w")))

    html = viewer_client.get(CAPABILITIES_URL).content.decode()
    assert 'dir="auto">עולם' in html
    assert 'dir="auto">שלום' in viewer_client.get("/catalog").content.decode()
