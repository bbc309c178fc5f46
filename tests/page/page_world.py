"""What a page itself knows: scripts of a test's own, run in the page's world."""

from __future__ import annotations

from typing import Any

from bridge.page.page import Page


async def in_page(page: Page, expression: str) -> Any:
    """The JSON value of an expression, or of what it promises; None for what is no such value."""
    attachment = await page.attached()
    wanted = {"expression": expression, "returnByValue": True, "awaitPromise": True}
    return (await attachment.call("Runtime.evaluate", wanted, timeout_s=30))["result"].get("value")
