"""The Markdown rules, case by case, and the options of `to_markdown`."""

from __future__ import annotations

import pytest
from markdown_cases import CASES

from bridge.errors import UsageError
from bridge.reading.markdown import to_markdown


@pytest.mark.parametrize(("html", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_html_becomes(html: str, expected: str) -> None:
    assert to_markdown(html, base_url="http://e.com/d/") == expected


def test_an_address_of_a_page_length_is_dropped_and_its_text_kept() -> None:
    assert to_markdown(f'<a href="http://e.com/{"x" * 5_000}">a</a>') == "a"


def test_links_can_be_left_out() -> None:
    assert to_markdown('<a href="/x">a</a> <img src="i.png" alt="b">', links="none") == "a b"


def test_links_can_carry_refs() -> None:
    assert to_markdown('<a href="/x" data-ref="e5">a</a> <a href="/y">b</a>', links="ref") == "[a](e5) [b](/y)"


def test_a_style_of_links_that_is_none_is_refused() -> None:
    with pytest.raises(UsageError, match="links"):
        to_markdown("a", links="both")  # type: ignore[arg-type]


def test_the_title_goes_first() -> None:
    assert to_markdown("<p>a</p>", title="T *x*") == "# T \\*x\\*\n\na"


@pytest.mark.parametrize("html", ["<h1>T x</h1><p>a</p>", "<h2>T  X!</h2><p>a</p>"])
def test_a_title_that_is_there_is_not_repeated(html: str) -> None:
    assert "# T x\n\n#" not in to_markdown(html, title="T x")


def test_an_outline_nests_headings_and_names_anchors() -> None:
    html = '<h1 id="a">A</h1><p>x</p><h2>B</h2><h3 id="c">C</h3><h2><a id="d"></a>D</h2>'
    assert to_markdown(html, outline=True) == "- [A](#a)\n  - B\n    - [C](#c)\n  - [D](#d)"


@pytest.mark.parametrize("wanted", ["Setup", "setup", "#set", "set", "Set"])
def test_a_section_goes_to_the_next_heading_of_its_level(wanted: str) -> None:
    html = '<h1>A</h1><h2 id="set">Setup</h2><p>x</p><h3>More</h3><p>y</p><h2>End</h2><p>z</p>'
    assert to_markdown(html, section=wanted) == "## Setup\n\nx\n\n### More\n\ny"


@pytest.mark.parametrize("wanted", ["nothing", "", "#"])
def test_a_section_that_is_not_there_is_refused(wanted: str) -> None:
    with pytest.raises(UsageError, match="'Setup'"):
        to_markdown("<h2>Setup</h2>", section=wanted)


def test_a_section_of_a_page_without_headings_is_refused() -> None:
    with pytest.raises(UsageError, match="no headings"):
        to_markdown("<p>a</p>", section="x")


def test_text_is_cut_behind_the_last_block_of_the_second_half() -> None:
    html = f"<p>{'a' * 40}</p><p>{'b' * 40}</p><p>{'c' * 40}</p>"
    assert to_markdown(html, max_length=100) == (f"{'a' * 40}\n\n{'b' * 40}\n\n[Content truncated at 100 characters]")


def test_one_long_paragraph_is_cut_between_words() -> None:
    text = to_markdown(f"<p>{'word ' * 100}</p>", max_length=52)
    assert text == f"{('word ' * 10).strip()}\n\n[Content truncated at 52 characters]"


def test_a_cut_takes_a_whole_link_or_none() -> None:
    text = to_markdown(f'<p>{"a " * 20}<a href="http://e.com/{"x" * 50}">the link</a></p>', max_length=60)
    assert "[the" not in text
    assert "http" not in text


def test_a_cut_in_code_closes_the_fence() -> None:
    lines = "\n".join(f"line {n}" for n in range(100))
    text = to_markdown(f"<pre>{lines}</pre>", max_length=60)
    assert text.startswith("```\nline 0\n")
    assert text.count("```") == 2


def test_a_cut_in_a_table_is_between_rows() -> None:
    rows = "".join(f"<tr><td>{n}</td><td>{n}</td></tr>" for n in range(100))
    text = to_markdown(f"<table><tr><th>a</th><th>b</th></tr>{rows}</table>", max_length=100)
    body = text.removesuffix("\n\n[Content truncated at 100 characters]")
    assert all(line.startswith("| ") and line.endswith(" |") for line in body.split("\n"))


def test_a_cut_takes_no_half_of_a_joined_emoji() -> None:
    family = "👩‍👩‍👧"
    text = to_markdown(f"<p>{family * 30}</p>", max_length=52)
    assert text.split("\n")[0] == family * 10


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_of_zero_cuts_nothing(limit: int) -> None:
    assert "truncated" not in to_markdown("<p>a</p>" * 100, max_length=limit)
