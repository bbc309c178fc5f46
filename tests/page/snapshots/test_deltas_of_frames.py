"""What an action does to other frames than its own is told by its own result, and not by the next one's."""

from __future__ import annotations

import pytest

from bridge.page.page import Page
from tests.conftest import LocalServer

pytestmark = pytest.mark.browser


@pytest.mark.parametrize(("button", "words"), [("Accept", "accepted"), ("Run", "ran")])
async def test_a_click_reports_its_changes_in_another_frame(
    page: Page, local_server: LocalServer, button: str, words: str
) -> None:
    await page.goto(local_server.url("talking.html"))
    ref = (await page.snapshot(interactive_only=False)).find(name=button).ref
    for times in range(1, 5):
        assert f'"{words} {times}"' in (await page.click(ref)).changes.text
