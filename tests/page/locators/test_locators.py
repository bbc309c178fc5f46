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


async def test_click_by_role_and_name(shop: Page) -> None:
    result = await shop.get_by_role("button", name="nothing").click()
    assert result.ref == (await shop.snapshot()).find(name="Nothing").ref


async def test_several_matches_are_listed_and_not_clicked(shop: Page) -> None:
    with pytest.raises(SeveralMatches, match=r'matches 3 elements: e[0-9]+ button "Add to cart", e'):
        await shop.get_by_role("button", name="Add to cart").click()
    assert "Cart: 1" in (await shop.get_by_role("button", name="Add to cart").nth(1).click()).changes.text


async def test_locator_without_match_times_out(shop: Page) -> None:
    with pytest.raises(DeadlineExceeded, match=r"get_by_text\('Nowhere'\).*nothing matches"):
        await shop.get_by_text("Nowhere").click(timeout_s=0.3)


async def test_controls_by_label_placeholder_css_and_pattern(controls: Page) -> None:
    await controls.get_by_label("Name").fill("Grace")
    await expect(controls.get_by_label("Name", exact=True)).to_have_value("Grace")
    await expect(controls.locator("#name")).to_have_value(re.compile("^Gr"))
    await expect(controls.get_by_role("textbox", name=re.compile("^upp", re.IGNORECASE))).to_be_editable()
    await controls.get_by_label("Opt in").check()
    await expect(controls.get_by_label("Opt in")).to_be_checked()
    await expect(controls.get_by_role("radio", name="One")).not_to_be_checked()
    await controls.get_by_label("Size").select_option("Medium")
    await expect(controls.get_by_label("Size")).to_have_value("m")
    await controls.get_by_label("Toppings").select_option("Ham", "Corn")
    await expect(controls.get_by_label("Toppings")).to_have_values(["Ham", "Corn"])


async def test_locators_chain(controls: Page) -> None:
    await expect(controls.get_by_role("list").get_by_role("button")).to_have_text("Card")
    await expect(controls.locator("label").filter(has_text="Secret").locator("input")).to_have_attribute(
        "type", "password"
    )
    await expect(controls.get_by_role("button").last).to_have_text("Bottom")
    await expect(controls.get_by_role("radio")).to_have_count(2)


async def test_locator_waits_for_a_late_element(controls: Page) -> None:
    await controls.get_by_role("switch", name="Late").click()
    await expect(controls.get_by_role("switch", name="Late")).to_be_checked()
    await expect(controls.get_by_text("Tip shown")).to_be_hidden()
    await controls.get_by_role("button", name="Hover me").hover()
    await expect(controls.get_by_text("Tip shown")).to_be_visible()


async def test_failed_expectation_is_an_assertion_error_with_what_was_seen(controls: Page) -> None:
    with pytest.raises(AssertionError, match=r"expected to have text 'Settings'; last seen after 0\.2 s: Controls"):
        await expect(controls.get_by_role("heading")).to_have_text("Settings", timeout_s=0.2)
    with pytest.raises(ExpectationFailed, match="expected not to be visible"):
        await expect(controls.get_by_role("heading")).not_to_be_visible(timeout_s=0.2)
    with pytest.raises(ExpectationFailed, match="nothing matches"):
        await expect(controls.locator("#nowhere")).not_to_have_text("x", timeout_s=0.2)
    with pytest.raises(SeveralMatches):
        await expect(controls.get_by_role("radio")).to_be_enabled(timeout_s=0.2)


async def test_absent_element_is_hidden_and_not_visible(controls: Page) -> None:
    await expect(controls.locator("#nowhere")).to_be_hidden()
    await expect(controls.locator("#nowhere")).not_to_be_visible()
    await expect(controls.locator("#nowhere")).not_to_be_attached()


async def test_expect_page_url_and_title(shop: Page) -> None:
    await expect(shop).to_have_title("Gold prices")
    await shop.get_by_role("link", name="Second page").click()
    await expect(shop).to_have_url("**/second.html")
    await expect(shop).not_to_have_title("Gold prices")
    with pytest.raises(ExpectationFailed, match="last seen"):
        await expect(shop).to_have_title("Nothing of the kind", timeout_s=0.2)


async def test_locators_search_frames_and_shadow_roots(page: Page, local_server: LocalServer) -> None:
    await page.goto(local_server.url("frames.html"))
    inner = page.get_by_role("button", name="Inner button")
    assert await inner.count() == 3
    assert "Inner clicked true" in (await inner.nth(1).click()).changes.text
    await page.get_by_role("button", name="In the shadow").click()


async def test_invalid_selector_is_a_usage_error(shop: Page) -> None:
    with pytest.raises(UsageError):
        await shop.locator("li[").count()
    with pytest.raises(UsageError):
        shop.get_by_text(7)  # type: ignore[arg-type]


async def test_finding_an_element_is_one_round_trip(shop: Page) -> None:
    attachment = await shop.attached()
    with attachment.connection.measure() as meter:
        assert await shop.get_by_role("button", name="Add to cart").count() == 3
    assert meter.cost().round_trips == 1


async def test_busy_page_times_out_soon_after_the_deadline(page: Page, local_server: LocalServer) -> None:
    await page.goto(local_server.url("second.html"))
    attachment = await page.attached()
    busy = "setTimeout(() => { for (const end = Date.now() + 60000; Date.now() < end;); })"
    await attachment.call("Runtime.evaluate", {"expression": busy}, timeout_s=20)
    start = time.monotonic()
    with pytest.raises(DeadlineExceeded):
        await page.get_by_text("Never there").click(timeout_s=0.5)
    assert time.monotonic() - start < 30
