"""On a page that is too long to be sent whole, what is only left out has not gone, and what is new is told."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from bridge.page.page import Page
from tests.temp_sites import own_page

pytestmark = pytest.mark.browser

ROWS = "".join(f"<li id=r{number}>Item {number} <button>Delete {number}</button></li>" for number in range(300))
LONG = f"""<!doctype html><title>Long</title>
<button onclick="l.firstChild.remove();r1.hidden=true">Drop</button><ul id=l>{ROWS}</ul>
<button popovertarget=pop>More</button><div popover id=pop>Popped <button>Inside</button></div>
"""


@pytest.fixture
async def page(webview_device: str) -> AsyncIterator[Page]:
    async with own_page(webview_device, LONG) as page:
        yield page


@pytest.mark.parametrize("interactive_only", [True, False])
async def test_rows_that_the_budget_cut_are_not_removed_and_new_content_is_reported(
    page: Page, interactive_only: bool
) -> None:
    opener = (await page.snapshot(scope="[popovertarget]")).find(name="More").ref
    shot = await page.snapshot(interactive_only=interactive_only)

    changes = (await page.click(opener)).changes

    assert not changes.removed
    assert "\n- -" not in changes.text
    assert 'button "Inside"' in changes.text
    assert (await page.query(shot.find(name="Delete 0").ref, "text")).value == "Delete 0"


async def test_rows_that_have_gone_from_a_long_page_are_removed(page: Page) -> None:
    shot = await page.snapshot()
    gone = {shot.find(name=name).ref for name in ("Delete 0", "Delete 1")}

    changes = (await page.click(shot.find(name="Drop").ref)).changes

    assert gone <= set(changes.removed)
    assert len(changes.removed) <= 4  # with their list items
    assert '- - button "Delete 0"' in changes.text


async def test_a_requested_delta_contains_only_the_changes(page: Page) -> None:
    opener = (await page.snapshot(scope="[popovertarget]")).find(name="More").ref
    await page.snapshot(interactive_only=False)
    await page.scroll_into_view_if_needed(opener)
    assert "\n- -" not in (await page.snapshot(interactive_only=False, delta=True)).text
