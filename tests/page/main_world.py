"""Runs scripts of a test in the main world of a page."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from bridge.page.fetch_messages import PausedRequest
from bridge.page.page import Page
from tests.conftest import LocalServer


async def in_page(page: Page, expression: str) -> Any:
    """The JSON value of an expression, or of what it promises; None for what is no such value."""
    attachment = await page.attached()
    wanted = {"expression": expression, "returnByValue": True, "awaitPromise": True}
    return (await attachment.call("Runtime.evaluate", wanted, timeout_s=30))["result"].get("value")


@asynccontextmanager
async def awaited_frame(page: Page, server: LocalServer, script: str) -> AsyncIterator[Callable[[], None]]:
    """Second.html after a script that puts a frame with inner.html into it, which has to wait.

    Until the block ends, or until what it is given was called.
    """
    release = asyncio.Event()

    async def slow(_request: PausedRequest) -> None:
        await release.wait()

    await page.goto(server.url("second.html"))
    await page.route("**/inner.html", slow)
    await in_page(page, script)
    try:
        yield release.set
    finally:
        release.set()
