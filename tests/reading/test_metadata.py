"""What a page says about itself, as `metadata`."""

from __future__ import annotations

import pytest

from bridge.reading.metadata import page_facts
from bridge.reading.parsing import parse_html

URL = "https://weekly.example/2024/tea"
LINKED = """<script type="application/ld+json">{"@context": "https://schema.org", "@graph": [
{"@type": "BreadcrumbList", "name": "no text"},
{"@type": "NewsArticle", "headline": "Growing tea", "description": "How to", "inLanguage": "en-GB",
 "author": [{"@type": "Person", "name": "Ada Leaf"}, "Bo Pot", {"name": "Ada Leaf"}],
 "publisher": {"name": "Garden Weekly"}, "datePublished": "2024-05-01", "dateModified": "2024-05-02",
 "image": [{"url": "/tea.jpg"}]}]}</script>"""


def facts(head: str, body: str = "", lang: str = "") -> dict[str, str]:
    html = f"<html{f' lang={lang}' if lang else ''}><head>{head}</head><body>{body}</body></html>"
    return page_facts(parse_html(html), URL).to_json()


def test_open_graph_and_meta_elements_go_before_structured_data() -> None:
    found = facts(
        '<meta property="og:title" content="Tea &amp; us"><meta property="og:site_name" content="Weekly">'
        '<meta property="og:image" content="/og.png"><meta name="author" content="Cy  Cup">'
        '<meta property="article:published_time" content="2024-04-30T10:00Z">' + LINKED,
        lang="de",
    )
    assert found == {
        "title": "Tea & us",
        "description": "How to",
        "author": "Cy Cup",
        "published": "2024-04-30T10:00Z",
        "modified": "2024-05-02",
        "language": "de",
        "site_name": "Weekly",
        "image": "https://weekly.example/og.png",
    }


def test_structured_data_fill_what_meta_elements_do_not_say() -> None:
    assert facts(LINKED) == {
        "title": "Growing tea",
        "description": "How to",
        "author": "Ada Leaf, Bo Pot",
        "published": "2024-05-01",
        "modified": "2024-05-02",
        "language": "en-GB",
        "site_name": "Garden Weekly",
        "image": "https://weekly.example/tea.jpg",
    }


def test_microdata_and_rel_author_name_author_and_dates() -> None:
    body = (
        '<p itemprop="author" itemscope>By <span itemprop="name">Di Dew</span>, gardener</p>'
        '<a rel="author" href="/bo">Bo Pot</a><a rel="author" href="/bo">Bo Pot</a>'
        '<time itemprop="datePublished" datetime="2023-01-02">yesterday</time>'
        '<span itemprop="dateModified">3 January 2023</span>'
    )
    assert facts("<title>T</title>", body) == {
        "title": "T",
        "author": "Di Dew, Bo Pot",
        "published": "2023-01-02",
        "modified": "3 January 2023",
    }


def test_an_address_is_not_an_author() -> None:
    head = '<meta property="article:author" content="https://social.example/ada">'
    assert "author" not in facts(head)
    assert facts(head + LINKED)["author"] == "Ada Leaf, Bo Pot"


@pytest.mark.parametrize(
    "head",
    [
        '<script type="application/ld+json">{"headline": {"name": ["x"]}, "author": 7, "image": [[]]}</script>',
        '<script type="application/ld+json">[[[[</script>',
        '<meta property="og:image" content="http://[">',
        '<meta name="author" content="http://[">',
        '<link rel="canonical">',
        "<meta>",
    ],
)
def test_metadata_that_make_no_sense_are_left_out(head: str) -> None:
    assert set(facts(head)) <= {"author"}


def test_metadata_are_bounded() -> None:
    long = "word " * 100_000
    found = facts(f'<title>{long}</title><meta name=description content="{long}"><meta name=author content="{long}">')
    assert max(map(len, found.values())) <= 1_000


def test_soft_hyphens_are_left_out() -> None:
    html = "<title>So\u00adft</title><p>Was&shy;ser&#173;kes&#xAD;sel</p>"
    tree = parse_html(html)
    assert "".join(tree.itertext()) == "SoftWasserkessel"
