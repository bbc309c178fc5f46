"""A browser that stalls between touchend and click: the hit-target guard still applies to the late click."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bridge import Session
from bridge.deadline import Deadline
from bridge.page.input.touch import touch
from bridge.virtual_device import VirtualDeviceHandle
from tests.conftest import LocalServer
from tests.page.main_world import in_page
from tests.temp_devices import own_device

pytestmark = pytest.mark.browser

ROW = "document.querySelector('span').textContent"
# The page is busy in its touchend handler, so the browser has to wait for the reply.
ROWS = """document.body.innerHTML='<ul><li><span>Ada</span> <button>Delete</button></li>'+
  '<li><span>Ben</span> <button>Delete</button></li></ul>';
globalThis.clicked=[];
addEventListener('click',(e)=>clicked.push(e.target.parentElement.firstChild.textContent),true);
addEventListener('lostpointercapture',()=>{const end=Date.now()+1500;while(Date.now()<end);},true)"""


def browser_of(device: VirtualDeviceHandle) -> int:
    """The browser process of its Chromium, which forwards input to the renderers."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        if parent == device.pid and any(word.startswith(b"--remote-debugging") for word in words):
            return int(folder.name)
    raise AssertionError("the device has no browser")


@pytest.fixture
async def device(adb_port: int) -> AsyncIterator[VirtualDeviceHandle]:
    async with own_device() as handle:
        yield handle


@pytest.mark.parametrize("when", ["before the finger goes up", "after settling"])
async def test_a_row_that_was_reused_gets_no_late_click(
    device: VirtualDeviceHandle, local_server: LocalServer, when: str
) -> None:
    async with Session.open(device.serial, grants=[local_server.grant]) as session:
        page = await session.new_page(local_server.url("second.html"))
        await in_page(page, ROWS)
        actions, deadline = page._operations.attached.actions, Deadline.after(30)
        assert actions is not None
        entry = actions.look_up((await page.snapshot()).find(role="button", name="Delete", nth=0).ref)
        x, y, _ = await actions.point(entry, "click", deadline)
        await actions.send([touch("touchStart", (x, y))], "finger down", deadline)
        change = f"{ROW}='Cleo'"
        await in_page(page, change if when.startswith("before") else f"setTimeout(()=>{{{change}}},2500)")
        settling = asyncio.ensure_future(
            actions.send_and_settle(entry, [touch("touchEnd")], 0.1, deadline, expect="click")
        )
        await asyncio.sleep(0.7)
        browser = browser_of(device)
        os.kill(browser, signal.SIGSTOP)
        try:
            await asyncio.sleep(3)
        finally:
            os.kill(browser, signal.SIGCONT)
        await settling
        await in_page(page, "new Promise(done=>setTimeout(done,500))")
        assert await in_page(page, "clicked.join()") == ""
