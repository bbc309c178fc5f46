"""An independent client finds and drives the WebView: unmodified pychrome over a forwarded port."""

from __future__ import annotations

import asyncio
import base64
import io
import subprocess
from typing import Any

import pychrome
import pytest
from PIL import Image

from bridge import Session
from bridge.page.page import Page
from tests.conftest import LocalServer, adb_program

# pychrome's reader thread takes the end of its own connection for a message and dies of it, whatever the server.
pytestmark = [
    pytest.mark.browser,
    pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning"),
]


def drive(port: int, url: str) -> dict[str, Any]:
    browser = pychrome.Browser(url=f"http://127.0.0.1:{port}")
    tabs = browser.list_tab()
    tab = tabs[0]
    tab.start()
    try:
        loaded: list[str] = []
        tab.set_listener("Page.loadEventFired", lambda **_: loaded.append("load"))
        tab.call_method("Page.enable", _timeout=30)
        tab.call_method("Page.navigate", url=url, _timeout=30)
        for _ in range(100):
            if loaded:
                break
            tab.wait(0.05)
        title = tab.call_method("Runtime.evaluate", expression="document.title", _timeout=30)
        clicked = tab.call_method(
            "Runtime.evaluate",
            expression="document.querySelector('li button').click(); document.querySelector('.cart').textContent",
            _timeout=30,
        )
        shot = tab.call_method("Page.captureScreenshot", format="png", _timeout=30)
        picture = Image.open(io.BytesIO(base64.b64decode(shot["data"]))).convert("RGB")
        return {
            "tabs": len(tabs),
            "title": title["result"]["value"],
            "cart": clicked["result"]["value"],
            "size": picture.size,
            "colours": len(picture.getcolors(picture.width * picture.height) or ()),
        }
    finally:
        tab.stop()


def forward_and_drive(adb_port: int, serial: str, url: str) -> dict[str, Any]:
    adb = [adb_program(), "-P", str(adb_port), "-s", serial]

    def run(*words: str) -> str:
        return subprocess.run([*adb, *words], capture_output=True, text=True, check=True, timeout=30).stdout

    sockets = run("shell", "cat", "/proc/net/unix").split()
    name = next(word[1:] for word in sockets if word.startswith("@webview_devtools_remote_"))
    port = int(run("forward", "tcp:0", f"localabstract:{name}"))
    try:
        return drive(port, url)
    finally:
        run("forward", "--remove", f"tcp:{port}")


async def test_pychrome_finds_and_drives_and_pictures_the_webview_over_a_forwarded_port(
    session: Session, page: Page, local_server: LocalServer, adb_port: int
) -> None:
    seen = await asyncio.to_thread(forward_and_drive, adb_port, session.serial, local_server.url("shop.html"))
    assert seen.pop("colours") > 20
    assert seen == {"tabs": 1, "title": "Gold prices", "cart": "Cart: 1", "size": (412, 915)}
