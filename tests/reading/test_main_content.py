"""Main content on pages of many kinds: found by evidence, not by one name or one place."""

from __future__ import annotations

import json

import pytest

from bridge.reading.main_content import main_content
from bridge.reading.markdown import to_markdown
from bridge.reading.parsing import parse_html

_SENTENCES = (
    "The river rose in the night, as it does in spring, and by morning the meadow was a lake.",
    "Two farmers took their cattle to the hill, where the grass is short, and waited for the water to fall.",
    "In the village the school stayed closed, so the children built a raft of doors, barrels and rope.",
    "By evening the bridge stood dry again, though the road behind it was covered with mud and branches.",
    "The council will now decide, after three floods in five years, whether to build the dam at last.",
)
_ARTICLE = "".join(f"<p>{sentence}</p>" for sentence in _SENTENCES)
_AROUND = """<html><head><title>The river | Valley News</title></head><body>
<header class="site-header"><a href="/">Valley News</a></header>
<nav class="menu"><ul><li><a href="/w">Weather</a></li><li><a href="/s">Sport</a></li></ul></nav>
{content}
<aside class="sidebar"><h3>Most read</h3><ul><li><a href="/1">A cow on the roof of the mill</a></li></ul></aside>
<footer class="footer"><p>© Valley News. All rights reserved.</p></footer></body></html>"""


def _read(content: str, around: str = _AROUND) -> str:
    return to_markdown(main_content(parse_html(around.replace("{content}", content))).tree)


@pytest.mark.parametrize("class_name", ["", "x7f3", "widget", "print-step", "match-comment", "tab-content"])
def test_a_misleading_class_name_does_not_lose_the_text(class_name: str) -> None:
    text = _read(f"<div id=main><h1>The river</h1><div class='{class_name}'>{_ARTICLE}</div></div>")
    assert all(sentence in text for sentence in _SENTENCES)


def test_a_lead_above_the_body_is_kept() -> None:
    lead = "After the third flood in five years, the valley asks for a dam."
    text = _read(
        f"<article><h1>The river</h1><div class=lead>{lead}</div><div class=article-body>{_ARTICLE}</div></article>"
    )
    assert lead in text


@pytest.mark.parametrize("separator", ["<br><br>", "<br>\n<br/>"])
def test_paragraphs_without_elements_are_read(separator: str) -> None:
    text = _read(f"<table><tr><td><h1>The river</h1>{separator.join(_SENTENCES)}</td></tr></table>")
    assert all(sentence in text for sentence in _SENTENCES)


def test_what_surrounds_an_article_is_left_out() -> None:
    text = _read(f"<article><h1>The river</h1>{_ARTICLE}</article>")
    assert [word for word in ("Valley News", "Weather", "Most read", "A cow on", "All rights") if word in text] == []


def test_a_code_block_inside_the_text_stays_whole() -> None:
    code = "<pre><code>def level():\n    return 3\n\nprint(level())</code></pre>"
    text = _read(f"<article><h1>The river</h1>{_ARTICLE}{code}{_ARTICLE}</article>")
    assert "```\ndef level():\n    return 3\n\nprint(level())\n```" in text


def test_a_caption_belongs_to_its_picture() -> None:
    figure = '<figure><img src="m.png" alt="A lake"><figcaption>The "meadow" today</figcaption></figure>'
    text = _read(f"<article><h1>The river</h1>{_ARTICLE}{figure}{_ARTICLE}</article>")
    assert r'![A lake](m.png "The \"meadow\" today")' in text
    assert text.count("meadow") == 3  # once in each part of the article, once as caption


def test_words_for_screen_readers_inside_a_line_are_left_out() -> None:
    hidden = "<span class='sr-only'>opens in a new window</span>"
    line = f"<p>The level{hidden}, says the mill, is three metres above what it was in May.</p>"
    text = _read(f"<article><h1>The river</h1>{_ARTICLE}{line}</article>")
    assert "The level, says the mill" in text
    assert "new window" not in text


def test_a_page_without_text_is_read_from_its_structured_data() -> None:
    data = json.dumps({"@context": "https://schema.org", "@graph": [{"articleBody": "\n".join(_SENTENCES)}]})
    html = (
        f"<html><head><script type='application/ld+json'>{data}</script></head><body><div id=app></div></body></html>"
    )
    assert to_markdown(main_content(parse_html(html)).tree) == "\n\n".join(_SENTENCES)


@pytest.mark.parametrize("data", ["{", "[" * 5_000, '{"articleBody": 7}', '{"articleBody": "short"}', "null"])
def test_structured_data_that_is_of_no_use_changes_nothing(data: str) -> None:
    script = f"<script type='application/ld+json'>{data}</script>"
    assert _SENTENCES[0] in _read(f"{script}<article><h1>The river</h1>{_ARTICLE}</article>")


def test_a_page_without_text_is_read_from_its_template() -> None:
    html = f"<body><p>Wait</p><script type='text/template'><div><h2>The river</h2>{_ARTICLE}</div></script></body>"
    text = to_markdown(main_content(parse_html(html)).tree)
    assert all(sentence in text for sentence in _SENTENCES)


def test_a_very_short_text_is_better_than_none() -> None:
    assert "The mill is closed." in _read("<main><h1>The mill</h1><p>The mill is closed.</p></main>")
