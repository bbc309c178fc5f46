"""Refs that are not what a snapshot is asked to take them for: given out before a renumbering, or no cut."""

from __future__ import annotations

import pytest

from bridge.errors import RefNotFound, UsageError
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
    with pytest.raises(RefNotFound, match="before the refs were renumbered"):
        await page.click(before.ref)
    assert (await page.click("e1")).ref == "e1"


async def test_more_goes_on_where_a_snapshot_was_cut_and_nowhere_else(page: Page, local_server: LocalServer) -> None:
    await page.goto(local_server.url("controls.html"))
    cut = await page.snapshot(max_nodes=3)
    assert cut.more
    rest = await page.snapshot(more=cut.more[0])
    assert cut.more[0] in rest.refs
    first = next(ref for ref in cut.refs if ref not in (*cut.more, *rest.more))
    with pytest.raises(UsageError, match=f"more={first}: no snapshot was cut at {first}"):
        await page.snapshot(more=first)
