"""What locators tell of focus and classes, and what is dragged from one to the other."""

from __future__ import annotations

import pytest

from bridge import expect
from bridge.errors import ExpectationFailed
from bridge.page.page import Page
from tests.conftest import LocalServer

pytestmark = pytest.mark.browser


@pytest.fixture
async def controls(page: Page, local_server: LocalServer) -> Page:
    await page.goto(local_server.url("controls.html"))
    return page


async def test_a_field_is_focused_when_it_was_tapped_and_not_before(controls: Page) -> None:
    field = controls.get_by_label("Name")
    with pytest.raises(ExpectationFailed, match="not focused"):
        await expect(field).to_be_focused(timeout_s=1)
    await field.click()
    await expect(field).to_be_focused(timeout_s=10)


async def test_one_of_several_classes_is_asked_for_by_its_whole_name(controls: Page) -> None:
    script = "document.querySelector('button').className = 'wide primary'"
    await (await controls.attached()).evaluate_raw({"expression": script}, timeout_s=5)
    button = controls.get_by_role("button").first
    await expect(button).to_contain_class("primary", timeout_s=10)
    with pytest.raises(ExpectationFailed, match="wide primary"):
        await expect(button).to_contain_class("prim", timeout_s=1)


async def test_an_element_is_dragged_to_what_another_locator_finds(controls: Page) -> None:
    result = await controls.get_by_role("button", name="Card").drag_to(controls.get_by_role("button", name="Bin"))
    assert "dropped card" in result.changes.text
