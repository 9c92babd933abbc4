import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from capabilities.documents import DOCUMENT_BYTES_LIMIT
from catalog.models import CatalogEntry
from tests.published import agent

pytestmark = pytest.mark.django_db

PLACE = "/catalog/register"
DEFINITION = json.dumps(agent("Polyglot", "Translate text"))


def look(client, **given):
    answer = client.post(PLACE, given)
    assert answer.status_code == 200
    return answer.context["review"], answer


def test_a_look_stores_nothing(curator):
    review, _ = look(curator, definition=DEFINITION)

    assert review.parse_result.record.display_name == "Polyglot"
    assert not CatalogEntry.objects.exists()


def test_what_was_looked_at_is_what_is_registered(curator):
    review, _ = look(curator, definition=DEFINITION)
    answer = curator.post(PLACE, {"signed": review.signed})

    entry = CatalogEntry.objects.get()
    assert (answer.status_code, answer["Location"]) == (302, f"/catalog/{entry.pk}")
    assert entry.agent_type.definition.decode() == DEFINITION
    assert "is now in the catalog" in curator.get(answer["Location"]).content.decode()


def test_a_configuration_agent_is_pasted_and_says_that_it_is_not_probed(curator):
    text = "---\r\nname: Analyst\r\ncapabilities: [data-analysis]\r\n---\r\nPrompt"
    review, _ = look(curator, definition=text)
    answer = curator.post(PLACE, {"signed": review.signed}, follow=True)

    entry = CatalogEntry.objects.get()
    page = answer.content.decode()
    assert entry.source == "config"
    assert entry.agent_type.definition.decode() == text.replace("\r\n", "\n")
    assert "/catalog/capabilities/config.capability%3A%3Adata-analysis" in page
    assert "There is no address" in page
    assert "declared, not probed" in page
    assert "Probe now" not in page


def test_what_it_says_of_a_capability_is_shown_as_text(curator):
    metadata = "{formats: [csv, '<b>'], fast: true, items: 1}"
    text = f"name: X\ncapabilities: ['a:v2']\ncapability_metadata: {{a: {metadata}}}"
    review, _ = look(curator, definition=text)
    page = curator.post(PLACE, {"signed": review.signed}, follow=True).content.decode()

    for words in ("formats: csv, &lt;b&gt;", "fast: yes", "items: 1"):
        assert words in page
    assert '<span class="small muted">2.0.0</span>' in page


def test_a_seal_that_is_not_ours_registers_nothing(curator):
    review, _ = look(curator, definition=DEFINITION)
    for signed in ("", "nonsense", review.signed[:-1], review.signed + "x"):
        answer = curator.post(PLACE, {"signed": signed}, follow=True)
        assert "The preview has expired" in answer.content.decode()

    assert not CatalogEntry.objects.exists()


def test_errors_are_shown_at_their_paths(curator):
    review, answer = look(curator, definition=json.dumps(agent("", {})))

    assert not review.signed
    for path in ("$.name", "$.skills[0].name"):
        assert f"<code>{path}</code>" in answer.content.decode()


@pytest.mark.parametrize("definition", ["{", "[]", "nonsense", '{"a": 1}', "\ud800"])
def test_what_is_no_definition_is_told_as_such(curator, definition):
    body = definition.encode("utf-8", "surrogatepass")
    file = SimpleUploadedFile("agent.json", body)
    review, answer = look(curator, file=file)

    assert not review.signed
    assert "This cannot be catalogued" in answer.content.decode()


@pytest.mark.parametrize(
    "given", [{}, {"url": "https://a.example", "definition": DEFINITION}]
)
def test_one_thing_is_to_be_given(curator, given):
    review, answer = look(curator, **given)

    assert review is None
    told = "Give one of the three: a URL, a definition or a file."
    assert told in answer.content.decode()


def test_a_file_too_large_is_refused(curator):
    file = SimpleUploadedFile("agent.json", b" " * (DOCUMENT_BYTES_LIMIT + 1))
    review, answer = look(curator, file=file)

    assert review is None
    assert "Larger than" in answer.content.decode()


def test_an_address_inside_is_refused_at_its_field(curator):
    review, answer = look(curator, url="http://127.0.0.1/card.json")

    assert review is None
    assert answer.context["form"].errors.keys() == {"url"}


@pytest.mark.parametrize("sent", [{"definition": DEFINITION}, {"signed": "x"}])
def test_viewers_may_not_register(reader, sent):
    assert reader.post(PLACE, sent).status_code == 403
