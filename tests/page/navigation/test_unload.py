"""Leaving a page for the next one: what is waited for, who tells the title, and what becomes of a page that hangs."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from bridge.page.fetch_messages import Fulfil, PausedRequest, Proceed
from bridge.page.page import Page
from bridge.page.target.page_state import Dialog
from tests.conftest import LocalServer

pytestmark = pytest.mark.browser


async def answer_with(page: Page, body: str) -> None:
    await page.route("**/made.html", Fulfil(headers={"content-type": "text/html; charset=utf-8"}, body=body))


async def test_goto_costs_one_round_trip_without_unload_check_or_title(page: Page, local_server: LocalServer) -> None:
    waits: list[int] = []
    for name, title in (("shop.html", "Gold prices"), ("second.html", "Second"), ("shop.html", "Gold prices")):
        there = await page.goto(local_server.url(name))
        assert (there.title, there.status) == (title, 200)
        waits.append(there.cost.round_trips)
    again = await page.reload()
    assert (again.title, again.status) == ("Gold prices", 200)
    early = await page.goto(local_server.url("second.html"), wait_until="domcontentloaded")
    assert early.title == "Second"
    waits += (again.cost.round_trips, early.cost.round_trips)
    # A machine on which the title comes late is one on which it is asked for.
    assert sorted(waits)[2] == 1, waits


@pytest.mark.parametrize(
    ("body", "title"),
    [
        ("<title>First</title><body onload='document.title=`From a handler`'>", "From a handler"),
        ("<title>a \u2028 \\ \" ' \U0001f600</title>", "a \u2028 \\ \" ' \U0001f600"),
        ("<p>none", ""),
        (f"<title>{'long ' * 1000}</title>", ("long " * 1000).strip()),
        ("<form name=title></form>", ""),
        (
            "<title>Kept</title><script>addEventListener('load',event=>event.stopImmediatePropagation())</script>",
            "Kept",
        ),
        (
            "<title>First</title><script>let once=1;addEventListener('load',()=>{"
            "if(once--)dispatchEvent(new Event('load'));document.title+=once})</script>",
            "First-1-1",
        ),
    ],
)
async def test_title_is_that_of_the_loaded_page(page: Page, local_server: LocalServer, body: str, title: str) -> None:
    await answer_with(page, body)
    await page.goto(local_server.url("second.html"))
    assert (await page.goto(local_server.url("made.html"))).title == title


async def test_title_is_reported_before_the_load_event(page: Page, local_server: LocalServer) -> None:
    """On a link where a packet waits until the one before was taken, what comes later comes a round trip later."""
    told: list[str] = []

    def hear(method: str, params: dict[str, Any], _session_id: str | None) -> None:
        told.append(f"{method} {params.get('payload', '')}")

    await page.goto(local_server.url("shop.html"))
    stop = (await page.attached()).connection.on_event(hear)
    await page.goto(local_server.url("second.html"))
    stop()
    for milestone, said in (("DOMContentLoaded", "Page.domContentEventFired "), ("load", "Page.loadEventFired ")):
        title = f'Runtime.bindingCalled ["{milestone}","Second"]'
        assert told.index(title) < told.index(said)


async def test_page_can_neither_fake_nor_detect_the_title_report(page: Page, local_server: LocalServer) -> None:
    await answer_with(
        page,
        "<title>Pretended</title><script>"
        "dispatchEvent(new Event('load'));document.dispatchEvent(new Event('DOMContentLoaded'));"
        "const seen=Object.getOwnPropertyNames(window).filter(name=>/bridge/i.test(name)).join();"
        "try{webviewBridgeTitle(JSON.stringify(['load','Pretended']))}catch(error){}"
        "onload=()=>{document.title='True'+seen}</script>",
    )
    assert (await page.goto(local_server.url("made.html"))).title == "True"


async def test_same_document_navigation_has_the_current_title(page: Page, local_server: LocalServer) -> None:
    await page.goto(local_server.url("second.html"))
    attachment = await page.attached()
    await attachment.call("Runtime.evaluate", {"expression": "document.title='Changed since'"}, timeout_s=5)
    assert (await page.goto(f"{local_server.url('second.html')}#below")).title == "Changed since"


async def test_hung_page_is_recovered_before_the_next_document_is_requested(
    page: Page, local_server: LocalServer
) -> None:
    seen: list[str] = []

    async def count(request: PausedRequest) -> Proceed:
        seen.append(request.url)
        return Proceed()

    await page.goto(local_server.url("shop.html"))
    attachment = await page.attached()
    await page.route("**/second.html", count)
    attachment.connection.send("Runtime.evaluate", {"expression": "for(;;);"}).abandon()
    there = await page.goto(local_server.url("second.html"), timeout_s=20)
    assert (there.title, there.status) == ("Second", 200)
    assert there.notices == ("the document that was left did not respond; its script was terminated",)
    # Decided, held and given up; then decided and carried out. An engine that lets the old document unload before it
    # requests the new one (Chromium 91) requests it once. The tab and its connection are the same.
    assert len(seen) in (1, 2)
    assert await page.attached() is attachment
    assert [entry.status for entry in page.network(url="/second.html").entries if entry.status] == [200]


async def test_slow_dialog_answer_is_not_diagnosed_as_a_hung_page(page: Page, local_server: LocalServer) -> None:
    asked: list[Dialog] = []

    async def think(dialog: Dialog) -> bool:
        asked.append(dialog)
        await asyncio.sleep(1.3)  # a person; longer than a page that hangs is given
        return True

    await answer_with(
        page,
        "<title>Form</title><script>onbeforeunload=e=>e.returnValue='asks'</script><button>B</button>",
    )
    await page.goto(local_server.url("made.html"))
    await page.click((await page.snapshot()).find(role="button").ref)
    page.answer_dialogs(think)
    there = await page.goto(local_server.url("second.html"), timeout_s=20)
    assert [dialog.kind for dialog in asked] == ["beforeunload"]
    assert there.title == "Second"
    assert "terminated" not in " ".join(there.notices)
