"""`snapshot(controls_only=True)` of a live page."""

from __future__ import annotations

import pytest

from bridge.errors import UsageError
from bridge.page.page import Page
from tests.conftest import LocalServer

pytestmark = pytest.mark.browser


async def test_a_snapshot_of_the_controls_has_their_refs_and_nothing_to_read(
    page: Page, local_server: LocalServer
) -> None:
    await page.goto(local_server.url("controls.html"))
    whole = await page.snapshot()
    controls = await page.snapshot(controls_only=True)
    assert len(controls.text) < len(whole.text)
    assert "heading" in whole.text
    assert "heading" not in controls.text
    assert not [line for line in controls.lines if line.kind == "text"]
    assert controls.find(role="button", name="Twice").ref == whole.find(role="button", name="Twice").ref
    assert (await page.click(controls.find(name="Twice").ref)).ref == whole.find(name="Twice").ref


async def test_changes_are_relative_to_the_last_snapshot_of_the_page_and_not_of_its_controls(
    page: Page, local_server: LocalServer
) -> None:
    await page.goto(local_server.url("controls.html"))
    await page.snapshot()
    await page.snapshot(controls_only=True)
    assert (await page.snapshot(delta=True)).text == "no change"
    with pytest.raises(UsageError, match="controls_only"):
        await page.snapshot(delta=True, controls_only=True)
