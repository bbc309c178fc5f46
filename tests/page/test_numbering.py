"""`snapshot(renumber=True)` on a page that has changed in between."""

from __future__ import annotations

import pytest

from bridge.errors import RefNotFound
from bridge.page.page import Page
from tests.conftest import LocalServer

pytestmark = pytest.mark.browser

ABOVE = "document.body.prepend(Object.assign(document.createElement('button'),{textContent:'Delete all',id:'all'}))"


async def test_a_ref_of_an_earlier_snapshot_presses_nothing_after_a_renumbering(
    page: Page, local_server: LocalServer
) -> None:
    await page.goto(local_server.url("controls.html"))
    before = next(iter((await page.snapshot()).refs.values()))
    attachment = await page.attached()
    await attachment.call("Runtime.evaluate", {"expression": ABOVE}, timeout_s=20)
    anew = await page.snapshot(renumber=True, delta=True)
    assert anew.text.startswith("[snapshot]"), "what has other numbers is told whole"
    assert anew.find(name="Delete all").ref == "e1"
    with pytest.raises(RefNotFound, match="before the refs were numbered anew"):
        await page.click(before.ref)
    assert (await page.click("e1")).ref == "e1"
