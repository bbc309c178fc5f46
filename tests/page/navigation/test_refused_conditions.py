"""What can never be found is refused at once, and not waited for."""

from __future__ import annotations

import pytest

from bridge.errors import UsageError
from bridge.page.page import Page
from bridge.page.snapshots.aria_roles import checked_role
from bridge.snapshot.role_table import ROLE_TRAITS

ABOVE_EVERY_WAIT_S = 100.0


@pytest.mark.parametrize(
    ("written", "meant"),
    [("buton", "button"), ("Button", "button"), (" link ", "link"), ("image", "img"), ("text", "textbox")],
)
def test_unknown_role_is_refused_with_a_suggestion(written: str, meant: str) -> None:
    with pytest.raises(UsageError, match="is not a valid role") as refused:
        checked_role(written)
    assert meant in refused.value.hint


def test_every_role_of_a_snapshot_is_accepted() -> None:
    assert [checked_role(role) for role in ROLE_TRAITS] == [*ROLE_TRAITS]


@pytest.mark.browser
async def test_locator_and_wait_for_refuse_an_unknown_role(page: Page) -> None:
    with pytest.raises(UsageError, match="'buton'"):
        page.get_by_role("buton")
    with pytest.raises(UsageError, match="'buton'"):
        page.locator("form").get_by_role("buton")
    with pytest.raises(UsageError, match="'buton'"):
        await page.wait_for(role="buton", timeout_s=ABOVE_EVERY_WAIT_S)


@pytest.mark.browser
@pytest.mark.parametrize("condition", ["selector", "gone"])
async def test_invalid_selector_is_quoted_and_not_waited_for(page: Page, condition: str) -> None:
    with pytest.raises(UsageError, match="'##' is not a valid CSS selector"):
        await page.wait_for(**{condition: "##"}, timeout_s=ABOVE_EVERY_WAIT_S)
