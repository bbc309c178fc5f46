"""`Page.read`: what a person sees of a rendered page is there, what a person does not see is not."""

from __future__ import annotations

import pytest

from bridge import Session
from bridge.errors import UsageError
from bridge.page.page import Page
from tests.conftest import LocalServer

pytestmark = pytest.mark.browser


@pytest.fixture
async def article(page: Page, local_server: LocalServer) -> Page:
    await page.goto(local_server.url("reading.html"))
    return page


async def test_an_article_is_read_without_what_surrounds_it(article: Page) -> None:
    result = await article.read()
    assert result.kind == "article"
    assert result.markdown.startswith("# Growing tea\n\nTea grows slowly")
    assert "Garden Weekly" not in result.markdown
    assert "Shop of the garden" not in result.markdown
    assert "cookies" not in result.markdown
    assert "| Aphid | Soap |" in result.markdown
    assert "```python\nwater(tea,\n      litres=2)\n```" in result.markdown


async def test_it_takes_one_round_trip(article: Page) -> None:
    await article.read()
    assert (await article.read()).cost.round_trips == 1


async def test_invisible_text_is_left_out_and_counted(article: Page) -> None:
    result = await article.read()
    assert "Ignore" not in result.markdown
    assert "Closed menu" not in result.markdown
    assert "plain words stay" in result.markdown
    assert result.hidden_text_removed == 7


async def test_addresses_are_absolute_and_lazy_pictures_are_found(article: Page, local_server: LocalServer) -> None:
    text = (await article.read()).markdown
    assert f"[the second page]({local_server.url('second.html')})" in text
    assert f"![A leaf]({local_server.url('leaf.png')})" in text


async def test_shadow_roots_and_frames_of_the_same_origin_are_read(article: Page) -> None:
    text = (await article.read()).markdown
    assert "From the shadow" in text
    assert "From the frame" in text


async def test_a_link_that_was_read_can_be_clicked(article: Page) -> None:
    text = (await article.read(links="ref")).markdown
    ref = text.split("[the second page](")[1].split(")")[0]
    assert ref.startswith("e")
    await article.click(ref)
    assert article.url.endswith("second.html")


async def test_a_link_in_a_frame_has_its_address_where_others_have_refs(page: Page, local_server: LocalServer) -> None:
    await page.goto(local_server.url("reading.html"))
    frame = (
        "document.querySelector('iframe').contentDocument.body.innerHTML += '<p><a href=shop.html>to the shop</a></p>'"
    )
    await (await page.attached()).call("Runtime.evaluate", {"expression": frame}, timeout_s=20)
    text = (await page.read(mode="raw", links="ref")).markdown
    assert f"[to the shop]({local_server.url('shop.html')})" in text


async def test_links_can_be_left_out(article: Page) -> None:
    assert "see the second page for more" in (await article.read(links="none")).markdown


async def test_an_outline_names_the_anchors(article: Page) -> None:
    assert "[Pests](#pests)" in (await article.read(outline=True)).markdown


async def test_a_section_is_read_alone(article: Page) -> None:
    text = (await article.read(section="pests")).markdown
    assert text.startswith("## Pests")
    assert "Tea grows" not in text


async def test_a_section_that_is_not_there_is_refused_with_those_that_are(article: Page) -> None:
    with pytest.raises(UsageError, match="'Pests'"):
        await article.read(section="Harvest")


async def test_a_selector_reads_just_that(article: Page) -> None:
    result = await article.read(selector="nav")
    assert "Shop of the garden" in result.markdown
    assert "Tea grows" not in result.markdown


@pytest.mark.parametrize("selector", ["#nowhere", "p["])
async def test_a_selector_that_finds_nothing_is_refused(article: Page, selector: str) -> None:
    with pytest.raises(UsageError, match=r"selector|matches nothing"):
        await article.read(selector=selector)


async def test_the_whole_page_is_read_raw(article: Page) -> None:
    text = (await article.read(mode="raw")).markdown
    assert "Shop of the garden" in text
    assert "Ignore" not in text


async def test_a_long_text_is_cut_at_a_block_and_says_so(article: Page) -> None:
    result = await article.read(max_length=200)
    assert result.truncated
    assert result.markdown.endswith("\n\n[Content truncated at 200 characters]")


async def test_a_page_that_draws_itself_late_is_read_when_it_has(page: Page, local_server: LocalServer) -> None:
    await page.goto(local_server.url("reading-late.html"))
    assert "long after the load event" in (await page.read()).markdown


async def test_a_page_of_cards_is_read_as_a_list(page: Page, local_server: LocalServer) -> None:
    await page.goto(local_server.url("reading-cards.html"))
    result = await page.read()
    assert result.kind == "list"
    wanted = f"- [New kettles have arrived]({local_server.url('second.html?1')}) — Five kinds, from copper to glass."
    assert wanted in result.markdown
    assert result.markdown.count("\n- [") == 5


async def test_an_empty_page_gives_an_empty_text(session: Session) -> None:
    page = await session.new_page()
    assert (await page.read()).markdown == ""


async def test_metadata_are_what_the_page_says_about_itself(page: Page, local_server: LocalServer) -> None:
    await page.goto(local_server.url("metadata.html"))
    result = await page.read(metadata=True)
    assert result.metadata is not None
    assert result.metadata.to_json() == {
        "title": "Tea for two",
        "description": 'Leaves, "water" & time',
        "author": "Ada Leaf",
        "published": "2024-05-01",
        "canonical": local_server.url("tea"),
        "language": "en-GB",
        "site_name": "Garden Weekly",
        "image": local_server.url("tea.jpg"),
    }
    assert "only for machines" not in result.markdown
    assert (await page.read()).metadata is None


async def test_metadata_are_redacted_like_the_text(page: Page, local_server: LocalServer) -> None:
    await page.goto(local_server.url("metadata.html"))
    result = await page.read(metadata=True, redact=lambda text: text.replace("Leaf", "[secret]"))
    assert result.metadata is not None
    assert result.metadata.author == "Ada [secret]"
