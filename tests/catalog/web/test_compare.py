import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.api_errors import assert_error_response
from tests.catalog.test_comparison import declare, offer
from tests.factories import CatalogEntryFactory

pytestmark = pytest.mark.django_db


def page(client, *entries):
    place = "/catalog/compare?" + "&".join(f"id={entry.pk}" for entry in entries)
    return client.get(place)


def test_agents_stand_side_by_side(reader):
    first = CatalogEntryFactory(display_name="Polyglot")
    second = CatalogEntryFactory(display_name="<b>Hostile</b>")
    declare(first, transport__streaming=True)
    declare(second, transport__streaming=False)
    offer(first, "<script>alert(1)</script>")
    told = page(reader, first, second).content.decode()

    assert "Polyglot" in told
    assert "&lt;b&gt;Hostile" in told
    assert 'class="feature-value supported"' in told
    assert 'class="feature-value unsupported"' in told
    assert "<script>alert" not in told


def test_too_few_are_told_how_to_choose(reader):
    answer = page(reader, CatalogEntryFactory())

    assert answer.status_code == 200
    assert "Choose 2 to 4 agents" in answer.content.decode()


def test_the_way_back_keeps_the_choice(reader):
    first, second = CatalogEntryFactory.create_batch(2)
    told = page(reader, first, second).content.decode()

    assert f"/catalog?chosen={first.pk}&amp;chosen={second.pk}" in told


def test_too_many_may_be_made_fewer(reader):
    entries = CatalogEntryFactory.create_batch(5)
    told = page(reader, *entries).content.decode()

    assert "Choose 2 to 4 agents" in told
    assert str(entries[3].pk) in told
    assert str(entries[4].pk) not in told


def test_one_that_is_gone_is_told_in_words(reader):
    first, second, gone = CatalogEntryFactory.create_batch(3)
    gone_pk = gone.pk
    gone.delete()
    answer = reader.get(f"/catalog/compare?id={first.pk}&id={second.pk}&id={gone_pk}")

    assert answer.status_code == 404
    assert "Not all of these agents are in the catalog any more" in (
        answer.content.decode()
    )


def test_a_long_value_can_be_read_to_its_end(reader):
    first, second = CatalogEntryFactory.create_batch(2)
    declare(first, custom__story="word " * 100 + "the end")
    told = page(reader, first, second).content.decode()

    assert "<summary>word word" in told
    assert "the end" in told


def test_a_choice_outlives_a_search_that_finds_nobody(reader):
    chosen = CatalogEntryFactory()
    answer = reader.get(f"/catalog?q=zzzznothing&chosen={chosen.pk}")
    told = answer.content.decode()

    assert "No agents found" in told
    assert f'<input type="hidden" name="chosen" value="{chosen.pk}">' in told
    assert f'href="/catalog?chosen={chosen.pk}"' in told


def test_a_feature_that_there_is_not_is_left_out_and_told(reader):
    streaming, _ = CatalogEntryFactory.create_batch(2)
    declare(streaming, transport__streaming=True)
    asked = "feature=transport.streaming&feature=reasoning.suported"
    answer = reader.get(f"/catalog?{asked}")

    assert list(answer.context["page"]) == [streaming]
    (chip,) = answer.context["features"]
    assert chip["value"] == "transport.streaming"
    told = "There is no feature “reasoning.suported”; it was left out."
    assert told in answer.content.decode()


def test_what_was_asked_for_is_what_all_of_them_have(reader):
    CatalogEntryFactory()
    CatalogEntryFactory.create_batch(2, offers=["mcp.tool"])
    answer = reader.get("/catalog?feature=tools.items")

    (chip,) = answer.context["features"]
    assert (chip["label"], chip["count"]) == ("Tools", 2)


@pytest.mark.parametrize("query", ["?id=x&id=y", "?id=%00&id=1"])
def test_nonsense_is_not_found(reader, query):
    assert reader.get(f"/catalog/compare{query}").status_code == 404


def test_the_catalog_offers_to_choose_and_to_narrow_by_feature(reader):
    streaming, other = CatalogEntryFactory.create_batch(2)
    declare(streaming, transport__streaming=True, reasoning__supported=False)
    declare(other, transport__streaming=False)
    answer = reader.get("/catalog?feature=transport.streaming")
    told = answer.content.decode()

    assert list(answer.context["page"]) == [streaming]
    assert [(f["value"], f["count"]) for f in answer.context["features"]] == [
        ("transport.streaming", 1)
    ]
    assert f'name="chosen" value="{streaming.pk}"' in " ".join(told.split())


def test_who_is_chosen_stays_chosen_whatever_else_is_asked(reader):
    first = CatalogEntryFactory(display_name="Zephyr")
    second, third = CatalogEntryFactory.create_batch(2)
    asked = f"?q=zephyr&chosen={first.pk}&chosen={second.pk}&chosen=nonsense"
    answer = reader.get(f"/catalog{asked}")
    told = " ".join(answer.content.decode().split())

    assert list(answer.context["page"]) == [first]
    assert f'value="{first.pk}" checked' in told
    assert f'<input type="hidden" name="chosen" value="{second.pk}">' in told
    assert [one["entry"] for one in answer.context["chosen"]] == [first, second]
    assert str(second.pk) not in answer.context["chosen"][1]["without"]
    assert str(third.pk) not in told


def test_of_four_no_fifth_can_be_chosen(reader):
    entries = CatalogEntryFactory.create_batch(5)
    asked = "&".join(f"chosen={entry.pk}" for entry in entries[:4])
    told = " ".join(reader.get(f"/catalog?{asked}").content.decode().split())

    assert f'value="{entries[4].pk}" disabled' in told
    assert told.count("disabled") == 1


def test_choosing_takes_one_query_however_many(reader):
    entries = CatalogEntryFactory.create_batch(4)

    def queries(count):
        asked = "&".join(f"chosen={entry.pk}" for entry in entries[:count])
        with CaptureQueriesContext(connection) as captured:
            reader.get(f"/catalog?{asked}")
        return len(captured)

    assert queries(1) == queries(4) == queries(0) + 1


def test_the_form_of_the_catalog_leads_to_the_choice_alone(reader):
    first, second = CatalogEntryFactory.create_batch(2)
    ids = f"id={first.pk}&id={second.pk}"
    asked = f"q=x&sort=&chosen={first.pk}&chosen={second.pk}"
    plain = reader.get(f"/catalog/compare?{asked}")
    htmx = reader.get(f"/catalog/compare?{asked}", headers={"HX-Request": "true"})

    assert plain["Location"] == htmx["HX-Redirect"] == f"/catalog/compare?{ids}"


def test_an_empty_id_is_as_good_as_none(reader):
    first, second = CatalogEntryFactory.create_batch(2)

    place = f"/catalog/compare?id=&id={first.pk}&id={second.pk}"
    assert reader.get(place).status_code == 200


def test_a_page_takes_as_many_queries_for_four_as_for_two(reader):
    entries = CatalogEntryFactory.create_batch(4)
    for entry in entries:
        offer(entry, *(f"tool {n}" for n in range(30)))
    counts = []
    for count in (2, 4):
        with CaptureQueriesContext(connection) as captured:
            assert page(reader, *entries[:count]).status_code == 200
        counts.append(len(captured))

    assert counts[0] == counts[1]


def test_standard_features_are_not_pushed_out_by_anybody_s_own(reader):
    painter, other = CatalogEntryFactory.create_batch(2)
    declare(painter, multimodal__input__image=True)
    declare(other, **{f"custom__k{n}": True for n in range(60)})
    declare(other, output__supportedMimeTypes=["text/plain"])
    asked = "feature=custom.k1&feature=output.supportedMimeTypes"
    plain = reader.get("/catalog").context["features"]
    narrowed = reader.get(f"/catalog?{asked}").context["features"]

    assert [f["label"] for f in plain] == ["Takes images"]
    assert [(f["value"], f["count"]) for f in narrowed] == [
        ("custom.k1", 1),
        ("output.supportedMimeTypes", 1),
    ]


def test_a_feature_may_be_asked_for_in_any_spelling(reader, viewer):
    painter = CatalogEntryFactory()
    declare(painter, multimodal__input__image=True)
    found = viewer.get("/api/v1/catalog?feature=multimodal.imageInput").json()
    told = reader.get("/catalog?feature=multimodal.imageInput")

    assert found["total"] == 1
    assert [f["value"] for f in told.context["features"]] == ["multimodal.input.image"]


def test_an_endless_feature_is_refused_and_a_blank_in_it_is_meant(viewer):
    entry = CatalogEntryFactory()
    declare(entry, **{"custom__on ": True})
    endless = viewer.get(f"/api/v1/catalog?feature={'x' * 501}")

    assert_error_response(endless, 400, "INVALID_PARAMETER")
    assert viewer.get("/api/v1/catalog?feature=custom.on%20").json()["total"] == 1


def test_an_agents_page_shows_what_it_declares_and_nothing_else(reader):
    entry = CatalogEntryFactory()
    assert 'id="supports"' not in reader.get(f"/catalog/{entry.pk}").content.decode()

    declare(entry, reasoning__supported=True)
    told = reader.get(f"/catalog/{entry.pk}").content.decode()
    assert 'id="supports"' in told
    assert "Reasoning" in told
    assert "Human in the loop" not in told
