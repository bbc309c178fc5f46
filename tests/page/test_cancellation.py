"""An operation cancelled at any of its awaits leaves a page that works at once, and no task and no file."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from bridge import Session, expect
from bridge.page.page import Page
from tests.conftest import LocalServer

pytestmark = pytest.mark.browser

Operation = Callable[[Page, LocalServer], Awaitable[Any]]


async def _response(page: Page, server: LocalServer) -> None:
    async with page.expect_response("**/second.html") as info:
        await page.goto(server.url("second.html"))
    await info.value


async def _download(page: Page, server: LocalServer) -> None:
    async with page.expect_download(timeout_s=5):
        await page.evaluate("() => { location.href = 'data:application/octet-stream,abc' }")


async def _recording(page: Page, server: LocalServer) -> None:
    async with page.recording():
        await page.scroll("down", 50)


OPERATIONS: dict[str, Operation] = {
    "goto": lambda page, server: page.goto(server.url("second.html")),
    "reload": lambda page, _: page.reload(),
    "go_back": lambda page, _: page.go_back(),
    "snapshot": lambda page, _: page.snapshot(),
    "read": lambda page, _: page.read(),
    "title": lambda page, _: page.title(),
    "content": lambda page, _: page.content(),
    "evaluate": lambda page, _: page.evaluate("() => new Promise((done) => setTimeout(done, 20))"),
    "click": lambda page, _: page.get_by_role("button", name="Nothing").click(),
    "dblclick": lambda page, _: page.dblclick("text=Nothing"),
    "hover": lambda page, _: page.hover("text=Nothing"),
    "fill": lambda page, _: page.locator("input").first.fill("words"),
    "press": lambda page, _: page.locator("input").first.press("a"),
    "type": lambda page, _: page.locator("input").first.press_sequentially("ab"),
    "keyboard": lambda page, _: page.keyboard.press("Tab"),
    "scroll": lambda page, _: page.scroll("down", 50),
    "swipe": lambda page, _: page.swipe("up"),
    "screenshot": lambda page, _: page.screenshot(),
    "full_page": lambda page, _: page.screenshot(full_page=True),
    "count": lambda page, _: page.get_by_role("button").count(),
    "inner_text": lambda page, _: page.locator("body").inner_text(),
    "expect": lambda page, _: expect(page.locator("body")).to_be_visible(),
    "expect_failing": lambda page, _: expect(page.locator("#nowhere")).to_be_visible(timeout_s=0.3),
    "wait_for": lambda page, _: page.wait_for(selector="#nowhere", timeout_s=0.3),
    "wait_for_url": lambda page, _: page.wait_for_url("**/nowhere", timeout_s=0.3),
    "route": lambda page, _: page.route("**/nowhere", lambda _: None),
    "emulate_media": lambda page, _: page.emulate_media(color_scheme="dark"),
    "expect_response": _response,
    "expect_download": _download,
    "recording": _recording,
}
SHORT = ("goto", "click", "fill", "snapshot", "screenshot", "expect", "expect_download", "recording")
#: No operation of these awaits more often; a cancellation after its end is none.
MOST_AWAITS = 400


class _Stepped:
    """Runs a coroutine as a task would, and throws CancelledError into it at its n-th await."""

    def __init__(self, work: Awaitable[Any], cancelled_at: int) -> None:
        self._work = work.__await__()
        self._left = cancelled_at
        self.was_cancelled = False

    def __await__(self) -> Any:
        value, error = None, None
        while True:
            if self._left == 0 and not self.was_cancelled:
                self.was_cancelled, error = True, asyncio.CancelledError()
            self._left -= 1
            try:
                waiting = self._work.throw(error) if error is not None else self._work.send(value)
            except StopIteration as ended:
                return ended.value
            value, error = None, None
            try:
                value = yield waiting
            except BaseException as thrown:
                error = thrown


async def _run(work: Awaitable[Any], cancelled_at: int) -> bool:
    stepped = _Stepped(work, cancelled_at)
    with suppress(Exception, asyncio.CancelledError):
        await stepped
    return stepped.was_cancelled


async def _check(webview_device: str, server: LocalServer, folder: Path, name: str, stride: int) -> int:
    """Cancel at every `stride`-th await; the number of cancellations."""
    async with Session.open(webview_device, grants=[server.grant], downloads_root=folder) as session:
        page = await session.new_page(server.url("shop.html"))
        await page.goto(server.url("controls.html"))
        await page.goto(server.url("shop.html"))
        await page.evaluate("() => document.body.prepend(document.createElement('input'))")
        await OPERATIONS["snapshot"](page, server)
        resting = len(asyncio.all_tasks())
        cancelled = 0
        for at in range(0, MOST_AWAITS, stride):
            if page.url != server.url("shop.html"):
                await page.goto(server.url("shop.html"))
                await page.evaluate("() => document.body.prepend(document.createElement('input'))")
            if not await _run(OPERATIONS[name](page, server), at):
                break
            cancelled += 1
            shot = await page.snapshot(timeout_s=10)
            assert shot.title, f"{name} cancelled at its await {at}: {shot.text[:200]}"
            await asyncio.sleep(0)
            left = asyncio.all_tasks()
            assert len(left) <= resting, f"{name} cancelled at its await {at} left {[task.get_name() for task in left]}"
        else:
            raise AssertionError(f"{name} awaits more than {MOST_AWAITS} times")
    assert not any(folder.iterdir())  # noqa: ASYNC240 - the session has ended
    return cancelled


@pytest.mark.timeout(120)
@pytest.mark.parametrize("name", SHORT)
async def test_a_cancelled_operation_leaves_the_page_usable(
    webview_device: str, local_server: LocalServer, tmp_path: Path, name: str
) -> None:
    assert await _check(webview_device, local_server, tmp_path, name, 3) >= 1


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", OPERATIONS)
async def test_every_operation_may_be_cancelled_at_every_await(
    webview_device: str, local_server: LocalServer, tmp_path: Path, name: str
) -> None:
    assert await _check(webview_device, local_server, tmp_path, name, 1) >= 1
