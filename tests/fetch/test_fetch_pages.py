"""What webfetch makes of pages that come as they should."""

from __future__ import annotations

import pytest
from fetched_pages import ARTICLE, shop
from site_server import MappedEgress, Site

from bridge.errors import FetchFailed, HttpFailed, UsageError
from bridge.reading.fetch import webfetch


async def test_an_article_comes_as_markdown_with_absolute_links_and_without_the_noise(
    site: Site, egress: MappedEgress
) -> None:
    page = await webfetch(site.add("/a/b", ARTICLE), egress=egress)
    assert page.markdown.startswith("# Gold today\n\nGold, which is a metal, costs ")
    assert f"[more than yesterday]({site.url('/prices')})" in page.markdown
    assert "## Why" in page.markdown
    assert "Imprint" not in page.markdown
    assert "Home" not in page.markdown
    assert (page.status, page.content_type, page.charset, page.kind) == (200, "text/html", "utf-8", "article")
    assert page.title == "Gold today - The Daily"
    assert page.truncated is False
    assert page.body_bytes == len(ARTICLE)
    assert page.cost.round_trips == 1
    assert page.cost.bytes_received > len(ARTICLE)


async def test_metadata_is_shown_with_the_description_first(site: Site, egress: MappedEgress) -> None:
    page = await webfetch(site.add("/", ARTICLE), egress=egress, metadata=True)
    assert page.markdown.startswith("> What gold costs\n\n# Gold today")
    assert page.metadata is not None
    assert page.metadata.to_json() == {
        "title": "Gold today - The Daily",
        "description": "What gold costs",
        "author": "A. Writer",
        "published": "2026-03-01",
        "canonical": site.url("/gold"),
        "language": "en",
    }


async def test_facts_are_also_taken_from_linked_data(site: Site, egress: MappedEgress) -> None:
    linked = '{"@graph": [{"headline": "H", "author": [{"name": "B"}, {"name": "C"}], "datePublished": "2020"}]}'
    url = site.add("/", f'<script type="application/ld+json">{linked}</script><p>words</p>')
    page = await webfetch(url, egress=egress, metadata=True)
    assert page.metadata is not None
    assert (page.metadata.title, page.metadata.author, page.metadata.published) == ("H", "B, C", "2020")


async def test_the_outline_is_the_headings_with_their_anchors(site: Site, egress: MappedEgress) -> None:
    page = await webfetch(site.add("/", ARTICLE), egress=egress, outline=True)
    assert page.markdown == "- Gold today\n  - [Why](#why)"
    assert [(heading.level, heading.text, heading.anchor) for heading in page.outline] == [
        (1, "Gold today", ""),
        (2, "Why", "why"),
    ]


async def test_a_selector_picks_one_element(site: Site, egress: MappedEgress) -> None:
    url = site.add("/", ARTICLE)
    assert (await webfetch(url, egress=egress, selector="p.note")).markdown.startswith("A note at the end")
    with pytest.raises(FetchFailed, match=r"matches the selector 'p\.none'"):
        await webfetch(url, egress=egress, selector="p.none")
    with pytest.raises(UsageError, match="not a valid CSS selector"):
        await webfetch(url, egress=egress, selector="p[")


async def test_raw_mode_keeps_what_is_around_the_article(site: Site, egress: MappedEgress) -> None:
    page = await webfetch(site.add("/", ARTICLE), egress=egress, mode="raw")
    assert "Imprint" in page.markdown


@pytest.mark.parametrize("limit", [50, 120, 200])
async def test_a_cut_ends_with_its_notice(site: Site, egress: MappedEgress, limit: int) -> None:
    page = await webfetch(site.add("/", ARTICLE), egress=egress, max_length=limit)
    text, _, notice = page.markdown.rpartition("\n\n")
    assert notice == f"[Content truncated at {limit} characters]"
    assert len(text) <= limit
    assert page.truncate_reasons == ("maxLength",)


@pytest.mark.parametrize("limit", [0, -1])
async def test_a_limit_of_zero_cuts_nothing(site: Site, egress: MappedEgress, limit: int) -> None:
    url = site.add("/", "w " * 100_000, "text/plain")
    page = await webfetch(url, egress=egress, max_length=limit)
    assert len(page.markdown) == 199_999
    assert not page.truncated


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("application/json", '{"a": "*not* Markdown"}'),
        ("text/markdown", "# As *it* is"),
        ("text/csv", "a,b\n1,2"),
        ("application/ld+json", "[]"),
        ("image/svg+xml", "<svg/>"),
        ("application/octet-stream", "only words after all"),
        ("", "nobody said what this is"),
        ("nonsense", "neither did they"),
    ],
)
async def test_text_that_is_not_html_is_returned_unchanged(
    site: Site, egress: MappedEgress, content_type: str, body: str
) -> None:
    page = await webfetch(site.add("/", body, content_type), egress=egress)
    assert page.markdown == body
    assert page.kind == "text"


async def test_html_without_a_type_is_still_html(site: Site, egress: MappedEgress) -> None:
    page = await webfetch(site.add("/", "<!-- hello --><!DOCTYPE html><p>Hi <b>there</b>", ""), egress=egress)
    assert page.markdown == "Hi **there**"
    assert page.content_type == "text/html"


async def test_a_body_without_head_and_body_tags_loses_nothing(site: Site, egress: MappedEgress) -> None:
    page = await webfetch(site.add("/", "<title>T</title><p>first</p><p>second</p>"), egress=egress)
    assert page.markdown == "# T\n\nfirst\n\nsecond"


async def test_further_pages_are_joined(site: Site, egress: MappedEgress) -> None:
    site.add("/1", shop("<p>one</p><a rel=next href=2>next</a>"))
    site.add("/2", "<head><link rel=next href=/3></head><body><p>two</p>")
    site.add("/3", "<p>three</p><a rel='nofollow next' href=/1>again</a>")
    page = await webfetch(site.url("/1"), egress=egress, pages=2, mode="raw")
    assert page.markdown.endswith("two")
    assert page.markdown.startswith("one")
    assert page.pages == 2
    page = await webfetch(site.url("/1"), egress=egress, pages=9, mode="raw")
    assert page.pages == 3
    assert len(site.requests) == 5


async def test_a_next_page_that_fails_is_reported_and_the_first_is_kept(site: Site, egress: MappedEgress) -> None:
    site.add("/1", shop("<p>one</p><a rel=next href=/gone>next</a>"))
    page = await webfetch(site.url("/1"), egress=egress, pages=3, mode="raw")
    assert page.markdown.startswith("one")
    assert page.pages == 1
    assert "Page 2 at" in page.notes[0]
    assert "HTTP 404" in page.notes[0]


async def test_its_json_has_everything_but_the_bytes(site: Site, egress: MappedEgress) -> None:
    told = (await webfetch(site.add("/", ARTICLE), egress=egress, metadata=True)).to_json()
    assert told["url"] == site.url("/")
    assert told["metadata"]["author"] == "A. Writer"
    assert set(told["cost"]) == {"ms", "round_trips", "bytes_sent", "bytes_received", "est_tokens"}


async def test_an_error_status_is_an_error_also_for_an_article(site: Site, egress: MappedEgress) -> None:
    with pytest.raises(HttpFailed) as caught:
        await webfetch(site.add("/", ARTICLE, status="410 Gone"), egress=egress)
    assert caught.value.body_start.startswith("[Home](")
    assert "<" not in caught.value.body_start


async def test_declarations_in_a_doctype_are_not_text(site: Site, egress: MappedEgress) -> None:
    doctype = '<?xml version="1.0"?>\n<!DOCTYPE html [ <!ENTITY unit "g"> <!ELEMENT b ANY> ]>\n'
    page = f'{doctype}<html xmlns="http://www.w3.org/1999/xhtml"><body><p>Gold today</p></body></html>'
    url = site.add("/", page, "application/xhtml+xml")
    assert (await webfetch(url, egress=egress, mode="raw")).markdown == "Gold today"
