"""Words that nobody would see, and pages that are nothing without their scripts."""

from __future__ import annotations

import time

import pytest
from fetched_pages import ARTICLE, HIDDEN, SHELL
from site_server import MappedEgress, Site

from bridge.errors import ScriptFailed
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
