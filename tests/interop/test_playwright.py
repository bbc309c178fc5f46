"""An independent client: unmodified Playwright connects to the WebView over a forwarded port.

`tools/test` installs playwright-core into .cache; WEBVIEW_BRIDGE_PLAYWRIGHT names another folder of node modules.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from pathlib import Path

import pytest

from bridge import Session
from bridge.page.page import Page
from tests.conftest import LocalServer

PLAYWRIGHT_VERSION = "1.65.1"
HERE = Path(__file__).parent
_CACHED = HERE.parent.parent / ".cache" / f"playwright-core-{PLAYWRIGHT_VERSION}" / "node_modules"
MODULES = Path(os.environ.get("WEBVIEW_BRIDGE_PLAYWRIGHT", _CACHED))

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(shutil.which("node") is None, reason="there is no Node.js"),
    pytest.mark.skipif(not (MODULES / "playwright-core").is_dir(), reason=f"no playwright-core in {MODULES}"),
]


async def connected(port: int, *, no_defaults: bool) -> dict[str, str]:
    words = [str(HERE / "drive_playwright.mjs"), str(MODULES), str(port), str(no_defaults).lower()]
    process = await asyncio.create_subprocess_exec(
        "node", *words, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    printed, failed = await process.communicate()
    assert process.returncode == 0, failed.decode()
    seen: dict[str, str] = json.loads(printed)
    return seen


async def test_playwright_reads_the_title_and_clicks(session: Session, page: Page, local_server: LocalServer) -> None:
    await page.goto(local_server.url("shop.html"))
    async with session.forward() as port:
        assert await connected(port, no_defaults=True) == {"title": "Gold prices", "cart": "Cart: 1"}
    assert "Cart: 1" in (await page.snapshot(interactive_only=False)).text


async def test_playwrights_defaults_are_refused_as_a_webview_refuses_them(session: Session, page: Page) -> None:
    async with session.forward() as port:
        seen = await connected(port, no_defaults=False)
    assert "Browser context management is not supported" in seen["refused"]
