"""Locators and expectations: elements by what a person calls them, waited for."""

from __future__ import annotations

import re
import time

import pytest

from bridge import expect
from bridge.errors import DeadlineExceeded, ExpectationFailed, SeveralMatches, UsageError
from bridge.page.page import Page
from tests.conftest import LocalServer

pytestmark = pytest.mark.browser


@pytest.fixture
async def shop(page: Page, local_server: LocalServer) -> Page:
    await page.goto(local_server.url("shop.html"))
    return page


@pytest.fixture
async def controls(page: Page, local_server: LocalServer) -> Page:
    await page.goto(local_server.url("controls.html"))
    return page


async def test_a_role_and_a_name_find_the_one_to_click(shop: Page) -> None:
    result = await shop.get_by_role("button", name="nothing").click()
    assert result.ref == (await shop.snapshot()).find(name="Nothing").ref


async def test_several_matches_are_listed_and_none_is_clicked(shop: Page) -> None:
    with pytest.raises(SeveralMatches, match=r'matches 3 elements: e[0-9]+ button "Add to cart", e'):
        await shop.get_by_role("button", name="Add to cart").click()
    assert "Cart: 1" in (await shop.get_by_role("button", name="Add to cart").nth(1).click()).changes.text


async def test_nothing_found_waits_and_says_so(shop: Page) -> None:
    with pytest.raises(DeadlineExceeded, match=r"get_by_text\('Nowhere'\).*nothing matches"):
        await shop.get_by_text("Nowhere").click(timeout_s=0.3)


async def test_controls_are_found_by_label_placeholder_css_and_pattern(controls: Page) -> None:
    await controls.get_by_label("Name").fill("Grace")
    await expect(controls.get_by_label("Name", exact=True)).to_have_value("Grace")
    await expect(controls.locator("#name")).to_have_value(re.compile("^Gr"))
    await expect(controls.get_by_role("textbox", name=re.compile("^upp", re.IGNORECASE))).to_be_editable()
    await controls.get_by_label("Opt in").check()
    await expect(controls.get_by_label("Opt in")).to_be_checked()
    await expect(controls.get_by_role("radio", name="One")).not_.to_be_checked()
    await controls.get_by_label("Size").select("Medium")
    await expect(controls.get_by_label("Size")).to_have_value("m")
    await controls.get_by_label("Toppings").select("Ham", "Corn")
    await expect(controls.get_by_label("Toppings")).to_have_values(["Ham", "Corn"])


async def test_locators_narrow_each_other_down(controls: Page) -> None:
    await expect(controls.get_by_role("list").get_by_role("button")).to_have_text("Card")
    await expect(controls.locator("label").filter(has_text="Secret").locator("input")).to_have_attribute(
        "type", "password"
    )
    await expect(controls.get_by_role("button").last).to_have_text("Bottom")
    await expect(controls.get_by_role("radio")).to_have_count(2)


async def test_what_comes_late_is_waited_for(controls: Page) -> None:
    await controls.get_by_role("switch", name="Late").click()
    await expect(controls.get_by_role("switch", name="Late")).to_be_checked()
    await expect(controls.get_by_text("Tip shown")).to_be_hidden()
    await controls.get_by_role("button", name="Hover me").hover()
    await expect(controls.get_by_text("Tip shown")).to_be_visible()


async def test_an_expectation_that_fails_is_an_assertion_and_tells_what_was_seen(controls: Page) -> None:
    with pytest.raises(AssertionError, match=r"expected to have text 'Settings'; last seen after 0\.2 s: Controls"):
        await expect(controls.get_by_role("heading")).to_have_text("Settings", timeout_s=0.2)
    with pytest.raises(ExpectationFailed, match="expected not to be visible"):
        await expect(controls.get_by_role("heading")).not_.to_be_visible(timeout_s=0.2)
    with pytest.raises(ExpectationFailed, match="nothing matches"):
        await expect(controls.locator("#nowhere")).not_.to_have_text("x", timeout_s=0.2)
    with pytest.raises(SeveralMatches):
        await expect(controls.get_by_role("radio")).to_be_enabled(timeout_s=0.2)


async def test_absence_is_hidden_and_not_visible(controls: Page) -> None:
    await expect(controls.locator("#nowhere")).to_be_hidden()
    await expect(controls.locator("#nowhere")).not_.to_be_visible()
    await expect(controls.locator("#nowhere")).not_.to_be_attached()


async def test_a_page_is_expected_by_its_address_and_title(shop: Page) -> None:
    await expect(shop).to_have_title("Gold prices")
    await shop.get_by_role("link", name="Second page").click()
    await expect(shop).to_have_url("**/second.html")
    await expect(shop).not_.to_have_title("Gold prices")
    with pytest.raises(ExpectationFailed, match="last seen"):
        await expect(shop).to_have_title("Nothing of the kind", timeout_s=0.2)


async def test_frames_and_shadow_roots_are_searched(page: Page, local_server: LocalServer) -> None:
    await page.goto(local_server.url("frames.html"))
    inner = page.get_by_role("button", name="Inner button")
    assert await inner.count() == 3
    assert "Inner clicked true" in (await inner.nth(1).click()).changes.text
    await page.get_by_role("button", name="In the shadow").click()


async def test_a_selector_that_is_none_is_bad_usage(shop: Page) -> None:
    with pytest.raises(UsageError):
        await shop.locator("li[").count()
    with pytest.raises(UsageError):
        shop.get_by_text(7)  # type: ignore[arg-type]


async def test_looking_is_one_round_trip(shop: Page) -> None:
    attachment = await shop.attached()
    with attachment.connection.measure() as meter:
        assert await shop.get_by_role("button", name="Add to cart").count() == 3
    assert meter.cost().round_trips == 1


async def test_a_page_that_is_busy_is_not_waited_for_much_longer_than_was_asked(
    page: Page, local_server: LocalServer
) -> None:
    await page.goto(local_server.url("second.html"))
    attachment = await page.attached()
    busy = "setTimeout(() => { for (const end = Date.now() + 60000; Date.now() < end;); })"
    await attachment.call("Runtime.evaluate", {"expression": busy}, timeout_s=20)
    start = time.monotonic()
    with pytest.raises(DeadlineExceeded):
        await page.get_by_text("Never there").click(timeout_s=0.5)
    assert time.monotonic() - start < 30
