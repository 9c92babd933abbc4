import pytest
from django.test import Client
from django.urls import reverse

from catalog import search
from catalog.ingestion.curation import curate
from catalog.models import CatalogEntry, EntryText
from catalog.registration.service import register
from catalog.search.indexer import index_entries
from tests.factories import (
    CapabilityFactory,
    CatalogEntryFactory,
    UserFactory,
    card_bytes,
    skill,
)

pytestmark = pytest.mark.django_db


def find_names(query: str) -> set[str]:
    entries = search.filter_matching(CatalogEntry.objects.all(), query)
    return set(entries.values_list("display_name", flat=True))


def find_names_in_category(category: str) -> set[str]:
    entries = search.filter_category(CatalogEntry.objects.all(), category)
    return set(entries.values_list("display_name", flat=True))


# A spelling and an equivalent one.
SPELLINGS = [
    ("Łódź", "łódź"),
    ("Łódź", "ŁÓDŹ"),
    ("Straße", "STRASSE"),
    ("Straße", "straẞe"),
    ("İstanbul", "istanbul"),
    ("istanbul", "İSTANBUL"),
    ("ISPARTA", "ısparta"),
    ("ﬁle", "FILE"),
    ("Ἀθῆναι", "ἈΘΗ͂ΝΑΙ"),
    ("ΣΊΣΥΦΟΣ", "Σίσυφος"),
    ("café", "cafe\u0301"),
    ("ＡＢＣ１２３", "abc123"),
    ("½", "1⁄2"),
    ("①", "1"),
    ("한글", "한글"),
    ("ガ", "ｶﾞ"),
]


@pytest.mark.parametrize(("text", "variant"), SPELLINGS)
def test_fold_gives_same_result_for_equivalent_spellings(text, variant):
    assert search.fold(text) == search.fold(variant)
    assert search.fold(search.fold(text)) == search.fold(text)


@pytest.mark.parametrize(("letter", "other"), [("ł", "l"), ("ß", "s"), ("ö", "o")])
def test_fold_keeps_different_letters_apart(letter, other):
    assert search.fold(letter) != search.fold(other)


def test_fold_replaces_field_separator_with_space():
    assert search.fold("a\x1fb") == "a b"


@pytest.mark.parametrize(
    ("query", "terms"),
    [
        ("", []),
        (" \t\u3000\n", []),
        ("Translate TEXT", ["translate", "text"]),
        ('"Translate text" fast', ["translate text", "fast"]),
        ('fast "Translate text"', ["fast", "translate text"]),
        ('"two  spaces"', ["two  spaces"]),
        ('"', ['"']),
        ('""', ['""']),
        ('" "', ['"']),
        ('5" disk', ['5"', "disk"]),
        ('"open phrase', ['"open', "phrase"]),
        ('say "a b" and "c', ["say", "a b", "and", '"c']),
        ("it's 50%_off", ["it's", "50%_off"]),
        ("＂full width＂", ["full width"]),
        ("a\x1fb", ["a", "b"]),
        ("twice twice Twice", ["twice"]),
    ],
)
def test_parse_terms_splits_words_and_phrases(query, terms):
    assert search.parse_terms(query) == terms


def test_parse_terms_handles_unclosed_quote_before_long_word_quickly():
    """A pattern with quadratic backtracking would take minutes."""
    long_word = '"' + "a" * 200_000

    assert search.parse_terms(long_word) == [long_word]


@pytest.mark.parametrize(("text", "variant"), SPELLINGS)
def test_entry_is_found_by_equivalent_spelling(text, variant):
    CatalogEntryFactory(display_name=f"In {text} at home", offers=[])

    assert find_names(variant) == {f"In {text} at home"}


def test_entry_matches_if_each_term_occurs_in_some_field():
    entry = CatalogEntryFactory(display_name="Polyglot", description="Speaks Polish")
    CapabilityFactory(agent_type=entry.agent_type, name="Translate")
    index_entries(CatalogEntry.objects.all())

    assert find_names("polish TRANSLATE glot") == {"Polyglot"}
    assert find_names("polish translate german") == set()


def test_empty_query_matches_all_entries():
    CatalogEntryFactory(display_name="Any")

    assert find_names("") == find_names("   ") == {"Any"}


@pytest.mark.parametrize(
    "query",
    [
        "Scout",
        "finds things",
        "https://scout.example.com/a2a",
        "field work",
        "Acme",
        "Reconnaissance",
        "Walk ahead",
        "without a sound",
        "stealth",
    ],
)
def test_search_covers_all_texts_of_entry(query):
    entry = CatalogEntryFactory(
        display_name="Scout",
        description="It finds things",
        categories=["Field work"],
        agent_type__endpoint="https://scout.example.com/a2a",
        agent_type__provider__organization="Acme",
        agent_type__provider__team="Reconnaissance",
    )
    CapabilityFactory(
        agent_type=entry.agent_type,
        name="Walk ahead",
        description="And without a sound",
        properties={"tags": ["stealth"], "id": "hidden-id"},
    )
    index_entries(CatalogEntry.objects.all())

    assert find_names(f'"{query}"') == {"Scout"}


@pytest.mark.parametrize(
    "query", ["tags", "input_modes", "organization", "hidden-id", "secret", "a2a.skill"]
)
def test_search_does_not_match_json_keys_and_other_properties(query):
    entry = CatalogEntryFactory(
        metadata={"secret": "secret"}, agent_type__provider__organization="Acme"
    )
    CapabilityFactory(
        agent_type=entry.agent_type,
        properties={"tags": ["x"], "input_modes": ["secret"], "id": "hidden-id"},
    )
    index_entries(CatalogEntry.objects.all())

    assert find_names(query) == set()


def test_tags_that_are_not_strings_are_ignored():
    entry = CatalogEntryFactory(display_name="Odd")
    tags = [None, 5, {"a": "hidden"}, "seen"]
    CapabilityFactory(agent_type=entry.agent_type, properties={"tags": tags})
    CapabilityFactory(agent_type=entry.agent_type, properties={"tags": "alone"})
    index_entries(CatalogEntry.objects.all())

    assert find_names("seen alone") == {"Odd"}
    assert find_names("hidden") == find_names("None") == set()


def test_entry_phrase_does_not_match_across_fields():
    CatalogEntryFactory(
        display_name="Alpha", description="Beta", categories=["Gamma", "Delta"]
    )

    assert find_names("alpha beta gamma delta") == {"Alpha"}
    for phrase in ("alphabeta", '"alpha beta"', '"gamma delta"', "alpha\x1fbetagamma"):
        assert find_names(phrase) == set()


def test_quoted_phrase_matches_only_exact_sequence():
    CatalogEntryFactory(display_name="Forward", description="read text aloud")
    CatalogEntryFactory(display_name="Backward", description="text read aloud")

    assert find_names("read text") == {"Forward", "Backward"}
    assert find_names('"read text"') == {"Forward"}


@pytest.mark.parametrize("character", ["%", "_", "\\", "'", '"', "*", "[", ";", "--"])
def test_special_characters_are_matched_literally(character):
    CatalogEntryFactory(display_name=f"a{character}b")
    CatalogEntryFactory(display_name="axb")

    assert find_names(f"a{character}b") == find_names(character) == {f"a{character}b"}


@pytest.mark.parametrize("category", ["Łódź tours", "ŁÓDŹ TOURS", "łódź tours"])
def test_category_matches_case_insensitively(category):
    CatalogEntryFactory(display_name="Guide", categories=["Łódź tours", "Walks"])

    assert find_names_in_category(category) == {"Guide"}


@pytest.mark.parametrize("category", ["łódź", "tours", "łódź tours walks", "\x1f", "%"])
def test_part_of_category_does_not_match(category):
    CatalogEntryFactory(display_name="Guide", categories=["Łódź tours", "Walks"])

    assert find_names_in_category(category) == set()


def test_changed_definition_is_found_by_new_texts_only():
    register(card_bytes(skills=[skill("Paint walls")]))
    assert find_names("paint") == {"Translator"}

    register(card_bytes(skills=[skill("Lay bricks")]))
    assert find_names("paint") == set()
    assert find_names("bricks") == {"Translator"}


def test_curated_name_and_categories_are_found_at_once():
    entry = register(card_bytes()).entry
    changes = {"display_name": "Dragoman", "categories": ["Diplomacy"]}
    curate(entry, changes, by=UserFactory())

    assert (
        find_names("dragoman diplomacy")
        == find_names_in_category("diplomacy")
        == {"Dragoman"}
    )
    assert find_names("translator dragoman") == {"Dragoman"}  # from the endpoint
    assert EntryText.objects.get().name == "dragoman"


def test_renamed_provider_is_found_by_new_name_only():
    entry = CatalogEntryFactory(
        display_name="Scout", agent_type__provider__organization="Acme"
    )
    client = Client()
    client.force_login(UserFactory(role="Admin"))
    url = reverse("admin:catalog_provider_change", args=[entry.agent_type.provider_id])
    response = client.post(url, {"organization": "Zenith", "team": "", "url": ""})

    assert response.status_code == 302
    assert find_names("zenith") == {"Scout"}
    assert find_names("acme") == set()


def test_deleting_entry_deletes_its_text():
    CatalogEntryFactory(display_name="Deleted").delete()

    assert find_names("deleted") == set()
    assert not EntryText.objects.exists()


def test_indexing_again_changes_nothing():
    register(card_bytes())
    before = list(EntryText.objects.values_list())
    index_entries(CatalogEntry.objects.all())

    assert list(EntryText.objects.values_list()) == before


def test_indexing_query_count_is_independent_of_number_of_entries(
    django_assert_num_queries,
):
    for _ in range(30):
        CatalogEntryFactory(offers=["a2a.skill"])

    with django_assert_num_queries(5):
        index_entries(CatalogEntry.objects.all())
