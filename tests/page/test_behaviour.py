"""What a user of a page sees, on the device under test."""

from __future__ import annotations

import pytest

from bridge import Session
from bridge.deadline import Deadline
from bridge.errors import (
    Covered,
    DeadlineExceeded,
    ElementDisabled,
    NavigationFailed,
    NotEditable,
    PolicyRefused,
    RefNotFound,
    UsageError,
)
from bridge.page.page import Page
from tests.conftest import LocalServer

pytestmark = pytest.mark.browser


@pytest.fixture
async def shop(page: Page, local_server: LocalServer) -> Page:
    await page.goto(local_server.url("shop.html"))
    return page


async def test_goto_returns_url_title_and_status(page: Page, local_server: LocalServer) -> None:
    there = await page.goto(local_server.url("shop.html"))
    assert (there.url, there.title, there.status) == (local_server.url("shop.html"), "Gold prices", 200)
    assert page.url == there.url


async def test_http_error_page_is_a_result(page: Page, local_server: LocalServer) -> None:
    there = await page.goto(local_server.url("no-such-page"))
    assert there.status == 404


async def test_snapshot_has_roles_names_and_refs_in_one_round_trip(shop: Page) -> None:
    shot = await shop.snapshot()
    assert shot.cost is not None
    assert shot.cost.round_trips == 1
    assert shot.text.startswith("[snapshot] url=")
    assert 'searchbox "Search"' in shot.text
    assert shot.find(role="heading", name="Gold today").tag == "h1"
    assert [ref.name for ref in shot.refs.values()].count("Add to cart") == 3


async def test_refs_stay_with_their_elements(shop: Page) -> None:
    first, second = await shop.snapshot(), await shop.snapshot()
    assert first.text == second.text
    assert first.refs.keys() == second.refs.keys()


async def test_click_is_two_round_trips_and_reports_changes(shop: Page) -> None:
    shot = await shop.snapshot()
    result = await shop.click(shot.find(role="button", name="Add to cart", nth=1).ref)
    assert result.cost.round_trips <= 2
    assert "Cart: 1" in result.changes.text
    assert result.changes.settled == "quiet"


async def test_click_without_effect_reports_no_change(shop: Page) -> None:
    shot = await shop.snapshot()
    result = await shop.click(shot.find(role="button", name="Nothing").ref)
    assert (result.changes.added, result.changes.removed, result.changes.changed) == ((), (), ())
    assert "no change" in result.changes.text


async def test_fill_and_enter_submit_a_search(shop: Page) -> None:
    shot = await shop.snapshot()
    search = shot.find(role="searchbox").ref
    filled = await shop.fill(search, "coin")
    assert (filled.value, filled.cost.round_trips) == ("coin", 1)
    pressed = await shop.press(search, "Enter")
    assert pressed.cost.round_trips <= 2
    after = await shop.snapshot()
    assert [ref.name for ref in after.refs.values()].count("Add to cart") == 1


async def test_click_scrolls_to_the_element(shop: Page) -> None:
    shot = await shop.snapshot()
    result = await shop.click(shot.find(name="Far below").ref)
    assert "reached" in result.changes.text


async def test_dead_ref_names_the_removed_element(shop: Page) -> None:
    shot = await shop.snapshot()
    ring = shot.find(role="button", name="Add to cart", nth=0).ref
    search = shot.find(role="searchbox").ref
    await shop.fill(search, "coin")
    await shop.press(search, "Enter")
    with pytest.raises(RefNotFound, match=f'{ring} was button "Add to cart"'):
        await shop.click(ring)


async def test_ref_of_an_earlier_page_names_that_page(shop: Page, local_server: LocalServer) -> None:
    shot = await shop.snapshot()
    ref = shot.find(role="link", name="Second page").ref
    result = await shop.click(ref)
    assert result.changes.settled == "navigation"
    assert result.changes.url == local_server.url("second.html")
    assert "Second page" in result.changes.text
    with pytest.raises(RefNotFound, match=r"navigated away from .*shop\.html"):
        await shop.click(ref)


async def test_click_waits_for_the_request_it_started(shop: Page) -> None:
    shot = await shop.snapshot()
    result = await shop.click(shot.find(name="Load late").ref)
    assert 'button "Arrived"' in result.changes.text


async def test_covered_error_names_the_covering_element(shop: Page) -> None:
    shot = await shop.snapshot()
    await shop.click(shot.find(name="Cover everything").ref)
    with pytest.raises((Covered, DeadlineExceeded), match="veil"):
        await shop.click(shot.find(name="Nothing").ref, timeout_s=1)


async def test_tap_follows_a_moved_element(shop: Page) -> None:
    ref = (await shop.snapshot()).find(name="Add to cart", nth=0).ref
    attachment = await shop.attached()
    actions = shop._operations.attached.actions
    assert actions is not None
    entry = actions.look_up(ref)
    deadline = Deadline.after(10)
    ready = await actions.prepare(entry, "click", deadline)
    await attachment.call("Runtime.evaluate", {"expression": "document.body.style.paddingTop='200px'"}, timeout_s=20)
    settled = await actions.tap(entry, ready, "click", 1.0, deadline)
    assert settled.reply.is_hit
    assert "Cart: 1" in (await shop.snapshot()).text


async def test_disabled_element_is_not_tapped(shop: Page) -> None:
    shot = await shop.snapshot()
    with pytest.raises((ElementDisabled, DeadlineExceeded), match="disabled"):
        await shop.click(shot.find(name="Not now").ref, timeout_s=1)


async def test_fill_refuses_an_element_without_text(shop: Page) -> None:
    shot = await shop.snapshot()
    with pytest.raises(NotEditable):
        await shop.fill(shot.find(name="Nothing").ref, "x", timeout_s=1)


async def test_dialogs_do_not_block_and_are_reported(shop: Page) -> None:
    shot = await shop.snapshot()
    alert = await shop.click(shot.find(name="Alert me").ref)
    assert alert.changes.dialogs == ('alert "Hello" (accepted)',)
    asked = await shop.click(shot.find(name="Ask me").ref)
    assert asked.changes.dialogs == ('confirm "Sure?" (dismissed)',)
    assert "answer: false" in asked.changes.text


async def test_the_same_ref_asks_again_although_the_page_said_more_in_between(shop: Page) -> None:
    ref = (await shop.snapshot()).find(name="Ask me").ref
    for _ in range(2):
        shop.answer_dialogs("accept")
        asked = await shop.click(ref)
        assert asked.changes.dialogs == ('confirm "Sure?" (accepted)',)
        assert "answer: true" in await shop.evaluate("document.body.textContent")
        await shop.evaluate("document.querySelector('.cart').before('One more line')")


async def test_snapshot_joins_frames_and_shadow_roots(page: Page, local_server: LocalServer) -> None:
    await page.goto(local_server.url("frames.html"))
    shot = await page.snapshot()
    assert shot.cost is not None
    assert shot.cost.round_trips == 1
    assert [ref.name for ref in shot.refs.values()].count("Inner button") == 3
    assert shot.find(name="In the shadow").role == "button"
    inner = [ref for ref, node in shot.refs.items() if node.name == "Inner button"]
    for ref in inner[:2]:
        result = await page.click(ref)
        assert "Inner clicked true" in result.changes.text


async def test_page_that_overwrites_builtins_cannot_break_or_detect_the_script(
    page: Page, session: Session, local_server: LocalServer
) -> None:
    await page.goto(local_server.url("hostile.html"))
    attachment = await page.attached()
    # What the parser did to the page before the observer's first turn is not ours.
    await attachment.call("Runtime.evaluate", {"expression": "seen = []"}, timeout_s=20)
    shot = await page.snapshot()
    await page.fill(shot.find(name="Name").ref, "x")
    assert shot.find(role="heading").name == "Hostile"
    seen = await attachment.call("Runtime.evaluate", {"expression": "seen.length ? seen[0] : 'nothing'"}, timeout_s=20)
    assert seen["result"]["value"] == "nothing"
    await page.click(shot.find(name="Press").ref)
    assert (await page.snapshot()).title == "Pressed true"


async def test_wait_for_sees_late_text_and_reports_what_was_last_seen(shop: Page) -> None:
    shot = await shop.snapshot()
    waited = await shop.wait_for(role="button", name="Far below", timeout_s=20)
    assert waited.cost.round_trips == 1
    with pytest.raises(DeadlineExceeded, match="text 'never'"):
        await shop.wait_for(text="never", timeout_s=0.3)
    await shop.click(shot.find(name="Second page").ref)
    await shop.wait_for(url="**/second.html", timeout_s=20)
    await shop.wait_for(gone="#list", timeout_s=20)


async def test_refused_connection_has_chromiums_net_error(page: Page, session: Session) -> None:
    with pytest.raises(NavigationFailed, match="ERR_"):
        await page.goto("http://no-such-host.invalid/", timeout_s=10)


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "javascript:alert(1)", "http://127.0.0.1:1/", "chrome://version"]
)
async def test_refused_address_is_not_opened(page: Page, url: str) -> None:
    before = page.url
    with pytest.raises(PolicyRefused):
        await page.goto(url)
    assert page.url == before


@pytest.mark.parametrize("url", ["", " ", "http://", "https:// /", "http://[::1"])
async def test_invalid_url_is_a_usage_error(page: Page, url: str) -> None:
    with pytest.raises((UsageError, PolicyRefused)):
        await page.goto(url)


async def test_silent_server_times_out(page: Page, local_server: LocalServer) -> None:
    with pytest.raises(DeadlineExceeded, match="no response from the server yet"):
        await page.goto(local_server.url("hang"), timeout_s=1)
    there = await page.goto(local_server.url("second.html"))
    assert there.title == "Second"


async def test_annotated_screenshot_has_viewport_size_and_boxes_by_ref(shop: Page) -> None:
    shot = await shop.screenshot(annotate=True)
    assert (shot.width_px, shot.height_px, shot.strategy) == (412, 915, "cdp-viewport")
    snapshot = await shop.snapshot()
    assert {box.ref for box in shot.legend} <= snapshot.refs.keys()
    assert snapshot.find(name="Go").ref in {box.ref for box in shot.legend}
    assert snapshot.find(name="Far below").ref not in {box.ref for box in shot.legend}
