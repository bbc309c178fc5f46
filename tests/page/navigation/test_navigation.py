"""History, reloading, waiting and dialogs, as a user of a page sees them."""

from __future__ import annotations

import pytest

from bridge.errors import DeadlineExceeded, PolicyRefused, UsageError
from bridge.page.page import Page
from bridge.page.target.page_state import Dialog
from tests.conftest import LocalServer

pytestmark = pytest.mark.browser


async def run(page: Page, source: str) -> None:
    attachment = await page.attached()
    await attachment.call("Runtime.evaluate", {"expression": source}, timeout_s=20)


async def test_back_and_forward_report_the_end_of_the_history(page: Page, local_server: LocalServer) -> None:
    with pytest.raises(UsageError, match="cannot go back"):
        await page.go_back()
    await page.goto(local_server.url("shop.html"))
    with pytest.raises(UsageError, match="cannot go back: this is page 1 of 1"):
        await page.go_back()
    await page.goto(local_server.url("second.html"))
    there = await page.go_back()
    assert (there.title, there.url, there.status) == ("Gold prices", local_server.url("shop.html"), 200)
    assert (await page.snapshot()).title == "Gold prices"
    assert (await page.go_forward()).title == "Second"
    with pytest.raises(UsageError, match="cannot go forward"):
        await page.go_forward()


async def test_back_within_a_document(page: Page, local_server: LocalServer) -> None:
    await page.goto(local_server.url("second.html"))
    await run(page, "history.pushState({}, '', '/pushed')")
    await page.wait_for(url="**/pushed", timeout_s=20)
    assert (await page.go_back(timeout_s=20)).url == local_server.url("second.html")


async def test_reload_loads_a_new_document(page: Page, local_server: LocalServer) -> None:
    await page.goto(local_server.url("second.html"))
    await run(page, "window.mark = 1")
    there = await page.reload(ignore_cache=True)
    assert (there.title, there.status) == ("Second", 200)
    await page.wait_for(function="() => window.mark === undefined", timeout_s=20)


@pytest.mark.parametrize("wait_until", ["commit", "domcontentloaded", "load", "networkidle"])
async def test_goto_waits_for_each_wait_until_value(page: Page, local_server: LocalServer, wait_until: str) -> None:
    there = await page.goto(local_server.url("shop.html"), wait_until=wait_until, timeout_s=10)  # type: ignore[arg-type]
    assert there.waited_for == wait_until
    with pytest.raises(UsageError, match="wait_until"):
        await page.goto(local_server.url("shop.html"), wait_until="soon")  # type: ignore[arg-type]


async def test_page_that_navigates_endlessly_times_out_and_can_be_left(page: Page, local_server: LocalServer) -> None:
    await page.add_init_script("if (location.pathname == '/second.html') location.replace('?' + Math.random())")
    with pytest.raises(DeadlineExceeded, match=r"networkidle of|opening"):
        await page.goto(local_server.url("second.html"), wait_until="networkidle", timeout_s=1.5)
    assert (await page.goto(local_server.url("shop.html"), timeout_s=10)).title == "Gold prices"


async def test_wait_for_function_runs_until_it_is_truthy(page: Page, local_server: LocalServer) -> None:
    await page.goto(local_server.url("second.html"))
    await run(page, "setTimeout(() => { window.ready = {now: 1} }, 150)")
    waited = await page.wait_for(function="() => ready.now", timeout_s=20)
    assert waited.cost.round_trips == 1
    with pytest.raises(DeadlineExceeded, match="not defined"):
        await page.wait_for(function="neverDefined", timeout_s=0.2)
    with pytest.raises(UsageError, match="cannot be run"):
        await page.wait_for(function="this is no JavaScript", timeout_s=1)


async def test_wait_for_url_sends_no_command(page: Page, local_server: LocalServer) -> None:
    await page.goto(local_server.url("second.html"))
    waited = await page.wait_for(url="**/second.html", timeout_s=1)
    assert waited.cost.round_trips == 0
    with pytest.raises(DeadlineExceeded, match=r"last seen: at .*second\.html"):
        await page.wait_for(url="**/elsewhere", timeout_s=0.2)


async def test_dialogs_are_answered_as_set_and_reported_once(page: Page, local_server: LocalServer) -> None:
    asked: list[Dialog] = []

    async def answer(dialog: Dialog) -> str | bool | None:
        asked.append(dialog)
        return "Ada" if dialog.kind == "prompt" else None

    await page.goto(local_server.url("second.html"))
    page.answer_dialogs(answer)
    await run(page, "document.title = prompt('Your name?', 'nobody')")
    there = await page.reload()
    assert there.notices == ('prompt "Your name?" (accepted with "Ada")',)
    assert [dialog.kind for dialog in asked] == ["prompt"]
    page.answer_dialogs("accept")
    await run(page, "document.title = confirm('Sure?')")
    await page.wait_for(function="document.title == 'true'", timeout_s=20)
    page.answer_dialogs("dismiss")
    await run(page, "document.title = confirm('Sure?')")
    await page.wait_for(function="document.title == 'false'", timeout_s=20)
    assert len((await page.reload()).notices) == 2
    assert (await page.reload()).notices == ()


async def test_failing_dialog_handler_does_not_block_the_page(page: Page, local_server: LocalServer) -> None:
    def broken(_dialog: Dialog) -> bool:
        raise RuntimeError("a mistake")

    await page.goto(local_server.url("second.html"))
    page.answer_dialogs(broken)
    await run(page, "document.title = String(confirm('Sure?'))")
    await page.wait_for(function="document.title == 'false'", timeout_s=20)


async def test_unload_handlers_do_not_block_navigation(page: Page, local_server: LocalServer) -> None:
    await page.goto(local_server.url("shop.html"))
    shot = await page.snapshot()
    await page.click(shot.find(name="Nothing").ref)  # a page may only ask after it has been touched
    await run(page, "onbeforeunload = e => { e.preventDefault(); return e.returnValue = 'Stay!' }; onunload = () => 1")
    there = await page.goto(local_server.url("second.html"), timeout_s=10)
    assert there.title == "Second"
    assert there.notices == ('beforeunload "" (accepted)',)


async def test_history_navigation_obeys_the_policy(page: Page, local_server: LocalServer) -> None:
    await page.goto(local_server.url("shop.html"))
    await page.goto(local_server.url("second.html"))
    allowed = page._tab.check_url

    async def check_url(url: str) -> str:
        if "shop" in url:
            raise PolicyRefused(url)
        return await allowed(url)

    page._tab.check_url = check_url  # type: ignore[method-assign]
    with pytest.raises(PolicyRefused):
        await page.go_back()
    assert page.url == local_server.url("second.html")
