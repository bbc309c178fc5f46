"""Words that nobody would see, and pages that are nothing without their scripts."""

from __future__ import annotations

import time

import pytest
from fetched_pages import ARTICLE, HIDDEN, SHELL
from site_server import MappedEgress, Site

from bridge.errors import ScriptFailed
from bridge.reading import convert
from bridge.reading.fetch import webfetch
from bridge.reading.fetch.unseen import remove_unseen
from bridge.snapshot.plain_html.parse import parse_html


async def test_an_empty_shell_is_called_one(site: Site, egress: MappedEgress) -> None:
    page = await webfetch(site.add("/", SHELL), egress=egress)
    assert len(page.notes) == 1
    assert "JavaScript" in page.notes[0]
    assert page.rendered is False


async def test_an_article_with_scripts_is_not_an_empty_shell(site: Site, egress: MappedEgress) -> None:
    page = await webfetch(site.add("/", ARTICLE + SHELL), egress=egress)
    assert page.notes == ()


async def test_an_empty_shell_is_passed_to_the_given_renderer(site: Site, egress: MappedEgress) -> None:
    asked: list[tuple[str, bool]] = []

    async def render(url: str, timeout_s: float) -> str:
        asked.append((url, 0 < timeout_s <= 30))
        return "# App\n\nwhat a browser sees"

    site.add("/", status="302 Found", Location="/app")
    site.add("/app", SHELL)
    page = await webfetch(site.url("/"), egress=egress, render=render)
    assert page.markdown == "# App\n\nwhat a browser sees"
    assert page.rendered is True
    assert asked == [(site.url("/app"), True)]


async def test_failed_rendering_keeps_the_fetched_text(site: Site, egress: MappedEgress) -> None:
    async def render(url: str, timeout_s: float) -> str:
        raise ScriptFailed("the page crashed.")

    page = await webfetch(site.add("/", SHELL), egress=egress, render=render)
    assert "Rendering it failed: the page crashed." in page.notes[0]
    assert page.markdown


@pytest.mark.parametrize("mode", ["main_content", "raw"])
async def test_invisible_text_is_left_out_and_counted(site: Site, egress: MappedEgress, mode: str) -> None:
    page = await webfetch(site.add("/", HIDDEN), egress=egress, mode=mode)  # type: ignore[arg-type]
    assert "Ignore" not in page.markdown
    assert "and 5" not in page.markdown
    assert page.hidden_text_removed == 10
    for words in ("Tea grows slowly", "but not this", "It likes rain, and zerowidth", "Folded words stay"):
        assert words in page.markdown


@pytest.mark.parametrize(
    "html",
    [
        "<p hidden>x</p>words " * 50_000,
        "<div style='visibility:hidden'>x" * 20_000,
        "<div style='color:red'>x" * 20_000,
        "<p style='font-size:0'>x</p>" * 50_000,
        "<div hidden>x" * 20_000,
    ],
    ids=["siblings", "deep", "deep and coloured", "small", "deep and hidden"],
)
def test_hiding_a_lot_does_not_cost_the_square_of_it(html: str) -> None:
    root = parse_html(f"<main>{html}</main>")
    began = time.process_time()
    remove_unseen(root)
    assert time.process_time() - began < 20  # what is quadratic takes minutes


@pytest.mark.parametrize("mode", ["main_content", "raw"])
async def test_a_page_that_is_hidden_until_its_scripts_are_ready_is_read(
    site: Site, egress: MappedEgress, mode: str
) -> None:
    url = site.add("/", f"<body style='opacity:0;display:none'>{HIDDEN}")
    page = await webfetch(url, egress=egress, mode=mode)  # type: ignore[arg-type]
    assert "Tea grows slowly" in page.markdown


@pytest.mark.parametrize(
    ("css", "hides"),
    [
        (".a{display:none}", True),
        (".a{display:none}.a{display:block}", False),
        (".a{display:none!important}.a{display:block}", True),
        ("p.a{display:block}.a{display:none}", False),
        ("@layer x{#a{display:none}}.a{display:block}", False),
        ("@media(max-width:500px){.a{display:none}}", True),
        ("@media (min-width:500px){.a{display:none}}", False),
        ("@media (prefers-color-scheme:dark){.a{display:none}}", False),
        ("@supports not (display:grid){.a{display:none}}", False),
        ("body > .a:not(.b){visibility:hidden}", True),
        ("h1 ~ p:nth-child(2){opacity:0}", True),
        ("@font-face{src:url('}')}/* } */.a{opacity:0}", True),
        ("section{font-size:0}.a{font-size:1rem}", False),
        (".a:hover{display:none}", False),
        (".a::before{display:none}", False),
        ("a[{display:none}.a{display:none}", True),
        (":root{--x:none}.a{display:var(--x)}", True),
        (".a{display:none", True),
        ("body{display:none}", False),
    ],
)
def test_style_sheets_of_the_page_hide_what_they_would_in_a_browser(css: str, hides: bool) -> None:
    found = convert(f"<style>{css}</style><h1>Title</h1><p class=a id=a>Words.</p><p>More.</p>")
    assert ("Words" not in found.markdown) is hides
    assert found.hidden_text_removed == hides
    assert "More" in found.markdown


def test_a_page_that_its_scripts_show_in_parts_is_read() -> None:
    parts = "".join(f"<div class=part><p>{f'Part {number} of the article. ' * 40}</p></div>" for number in range(10))
    found = convert(f"<style>.part{{display:none}}</style><h1>Article</h1><p>Begin.</p>{parts}")
    assert all(f"Part {number} of" in found.markdown for number in range(10))


@pytest.mark.parametrize(
    "css",
    [
        ".x .x .x .x .y p{display:none}" * 3_000,
        "p ~ i ~ p, p:nth-child(7), p:nth-last-child(7){display:none}" * 3_000,
        "div:has(p + i), p:has(b), div:has(div:has(i)){display:none}" * 3_000,
        "{" * 50_000,
        "@media screen{" * 50_000,
        "*{display:none}" * 4_000,
        "a:has(" * 999,
    ],
    ids=["descendants", "siblings", "inner", "braces", "deep", "everything", "brackets"],
)
def test_style_sheets_do_not_take_long(css: str) -> None:
    root = parse_html(f"<style>{css}</style>{'<div class=x>' * 50}{'<p>Words' * 2_000}")
    began = time.process_time()
    remove_unseen(root)
    assert time.process_time() - began < 20  # what is quadratic takes minutes
