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


def found(query: str) -> set[str]:
    entries = search.filter_matching(CatalogEntry.objects.all(), query)
    return set(entries.values_list("display_name", flat=True))


def in_category(category: str) -> set[str]:
    entries = search.filter_category(CatalogEntry.objects.all(), category)
    return set(entries.values_list("display_name", flat=True))


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


@pytest.mark.parametrize(("one", "other"), SPELLINGS)
def test_folding_gives_one_spelling_for_the_same_word(one, other):
    assert search.fold(one) == search.fold(other)
    assert search.fold(search.fold(one)) == search.fold(one)


@pytest.mark.parametrize(("one", "other"), [("ł", "l"), ("ß", "s"), ("ö", "o")])
def test_folding_keeps_letters_that_differ(one, other):
    assert search.fold(one) != search.fold(other)


def test_folding_keeps_no_separator():
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
def test_a_query_is_split_into_words_and_phrases(query, terms):
    assert search.parse_terms(query) == terms


def test_an_open_quote_before_an_endless_word_is_not_an_endless_search():
    """Minutes, were each letter tried against every other."""
    endless = '"' + "a" * 200_000

    assert search.parse_terms(endless) == [endless]


@pytest.mark.parametrize(("one", "other"), SPELLINGS)
def test_an_entry_is_found_in_any_spelling(one, other):
    CatalogEntryFactory(display_name=f"In {one} at home", offers=[])

    assert found(other) == {f"In {one} at home"}


def test_every_term_must_occur_but_each_where_it_likes():
    entry = CatalogEntryFactory(display_name="Polyglot", description="Speaks Polish")
    CapabilityFactory(agent_type=entry.agent_type, name="Translate")
    index_entries(CatalogEntry.objects.all())

    assert found("polish TRANSLATE glot") == {"Polyglot"}
    assert found("polish translate german") == set()


def test_no_terms_keep_everything():
    CatalogEntryFactory(display_name="Any")

    assert found("") == found("   ") == {"Any"}


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
def test_all_that_an_entry_says_is_searched(query):
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

    assert found(f'"{query}"') == {"Scout"}


@pytest.mark.parametrize(
    "query", ["tags", "input_modes", "organization", "hidden-id", "secret", "a2a.skill"]
)
def test_json_keys_and_what_is_not_searched_never_match(query):
    entry = CatalogEntryFactory(metadata={"secret": "secret"})
    CapabilityFactory(
        agent_type=entry.agent_type,
        properties={"tags": ["x"], "input_modes": ["secret"], "id": "hidden-id"},
    )
    index_entries(CatalogEntry.objects.all())

    assert found(query) == set()


def test_tags_that_are_no_texts_are_passed_over():
    entry = CatalogEntryFactory(display_name="Odd")
    tags = [None, 5, {"a": "hidden"}, "seen"]
    CapabilityFactory(agent_type=entry.agent_type, properties={"tags": tags})
    CapabilityFactory(agent_type=entry.agent_type, properties={"tags": "alone"})
    index_entries(CatalogEntry.objects.all())

    assert found("seen alone") == {"Odd"}
    assert found("hidden") == found("None") == set()


def test_fields_do_not_run_into_one_another():
    CatalogEntryFactory(
        display_name="Alpha", description="Beta", categories=["Gamma", "Delta"]
    )

    assert found("alpha beta gamma delta") == {"Alpha"}
    for phrase in ("alphabeta", '"alpha beta"', '"gamma delta"', "alpha\x1fbetagamma"):
        assert found(phrase) == set()


def test_a_phrase_is_found_whole_and_only_whole():
    CatalogEntryFactory(display_name="Forward", description="read text aloud")
    CatalogEntryFactory(display_name="Backward", description="text read aloud")

    assert found("read text") == {"Forward", "Backward"}
    assert found('"read text"') == {"Forward"}


@pytest.mark.parametrize("character", ["%", "_", "\\", "'", '"', "*", "[", ";", "--"])
def test_characters_that_mean_something_elsewhere_are_plain_here(character):
    CatalogEntryFactory(display_name=f"a{character}b")
    CatalogEntryFactory(display_name="axb")

    assert found(f"a{character}b") == found(character) == {f"a{character}b"}


@pytest.mark.parametrize("category", ["Łódź tours", "ŁÓDŹ TOURS", "łódź tours"])
def test_a_category_is_matched_whole_whatever_its_case(category):
    CatalogEntryFactory(display_name="Guide", categories=["Łódź tours", "Walks"])

    assert in_category(category) == {"Guide"}


@pytest.mark.parametrize("category", ["łódź", "tours", "łódź tours walks", "\x1f", "%"])
def test_part_of_a_category_is_another_category(category):
    CatalogEntryFactory(display_name="Guide", categories=["Łódź tours", "Walks"])

    assert in_category(category) == set()


def test_a_new_definition_is_found_by_what_it_says_now():
    register(card_bytes(skills=[skill("Paint walls")]))
    assert found("paint") == {"Translator"}

    register(card_bytes(skills=[skill("Lay bricks")]))
    assert found("paint") == set()
    assert found("bricks") == {"Translator"}


def test_a_curators_words_are_found_at_once():
    entry = register(card_bytes()).entry
    changes = {"display_name": "Dragoman", "categories": ["Diplomacy"]}
    curate(entry, changes, by=UserFactory())

    assert found("dragoman diplomacy") == in_category("diplomacy") == {"Dragoman"}
    assert found("translator dragoman") == {"Dragoman"}  # its endpoint still says so
    assert EntryText.objects.get().name == "dragoman"


def test_a_renamed_provider_is_found_by_its_new_name():
    entry = CatalogEntryFactory(
        display_name="Scout", agent_type__provider__organization="Acme"
    )
    desk = Client()
    desk.force_login(UserFactory(role="Admin"))
    place = reverse(
        "admin:catalog_provider_change", args=[entry.agent_type.provider_id]
    )
    answer = desk.post(place, {"organization": "Zenith", "team": "", "url": ""})

    assert answer.status_code == 302
    assert found("zenith") == {"Scout"}
    assert found("acme") == set()


def test_a_deleted_entry_leaves_no_text_behind():
    CatalogEntryFactory(display_name="Gone").delete()

    assert found("gone") == set()
    assert not EntryText.objects.exists()


def test_indexing_anew_changes_nothing():
    register(card_bytes())
    before = list(EntryText.objects.values_list())
    index_entries(CatalogEntry.objects.all())

    assert list(EntryText.objects.values_list()) == before


def test_indexing_takes_the_same_number_of_queries_for_many_entries(
    django_assert_num_queries,
):
    for _ in range(30):
        CatalogEntryFactory(offers=["a2a.skill"])

    with django_assert_num_queries(5):
        index_entries(CatalogEntry.objects.all())
