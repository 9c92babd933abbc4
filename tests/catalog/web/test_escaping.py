"""Everything a definition says is hostile until proven otherwise."""

import json
import re

import pytest

from catalog.models import CatalogEntry
from catalog.templatetags.catalog import capability_url
from tests.factories import ProviderFactory, skill
from tests.published import agent, publish

pytestmark = pytest.mark.django_db

HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>{{ 7 }}"
INDEX = "/catalog/capabilities"


def hostile_card():
    offered = skill(HOSTILE, description=HOSTILE, tags=[HOSTILE])
    return agent(
        HOSTILE,
        offered,
        url="https://hostile.example.com/a2a",
        description=HOSTILE,
        version=HOSTILE[:50],
        provider={"organization": HOSTILE, "url": "https://acme.example"},
        securitySchemes={
            HOSTILE: {"httpAuthSecurityScheme": {"scheme": HOSTILE}},
        },
    )


@pytest.fixture
def entry():
    entry = publish(hostile_card(), last_error=HOSTILE, source_url=HOSTILE)
    CatalogEntry.objects.update(categories=[HOSTILE], metadata={HOSTILE: HOSTILE})
    return entry


def assert_harmless(answer):
    page = answer.content.decode()
    assert "alert(1)" in page
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    assert not re.search(r"\son\w+=alert", page.replace("x onerror", "x%onerror"))


@pytest.mark.parametrize(
    "place", [INDEX, "/catalog", "/catalog/{}", f"{INDEX}?q={HOSTILE}", "/catalog?q={}"]
)
def test_pages_show_it_as_text(reader, entry, place):
    asked = HOSTILE if place.endswith("={}") else entry.pk

    assert_harmless(reader.get(place.replace("{}", str(asked))))


def test_so_do_its_own_page_and_the_one_that_is_not_there(reader, entry):
    assert_harmless(reader.get(capability_url("a2a.skill", HOSTILE)))
    missing = reader.get(capability_url("a2a.skill", HOSTILE + "x"))
    assert missing.status_code == 404
    assert_harmless(missing)


def test_so_does_the_preview_of_it_and_of_its_faults(curator):
    for document in (hostile_card(), hostile_card() | {HOSTILE: 1, "skills": HOSTILE}):
        answer = curator.post("/catalog/register", {"definition": json.dumps(document)})
        assert answer.status_code == 200
        assert_harmless(answer)


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
def test_only_addresses_of_the_web_become_links(reader, url):
    entry = publish(agent("Polyglot", "Translate text"))
    provider = ProviderFactory(organization="Odd", url=url)
    entry.agent_type.provider = provider
    entry.agent_type.save()
    for place in (f"/catalog/{entry.pk}", "/catalog", INDEX):
        page = reader.get(place).content.decode()
        assert not re.search(r'href="(?!/|#|\?)', page)


def test_links_out_tell_the_other_side_nothing(reader):
    entry = publish(agent("Polyglot", "Translate text"))
    page = reader.get(f"/catalog/{entry.pk}").content.decode()

    links = re.findall(r'<a\s[^>]*href="https?:[^>]*>', page)
    assert len(links) == 1
    assert 'rel="noopener noreferrer nofollow"' in links[0]


def test_names_from_right_to_left_turn_nothing_around_them(reader):
    publish(agent("שלום", skill("עולם", id="w")))

    assert 'dir="auto">עולם' in reader.get(INDEX).content.decode()
    assert 'dir="auto">שלום' in reader.get("/catalog").content.decode()
