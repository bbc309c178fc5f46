"""Ports that `targets --forward` keeps for other tools while it runs."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from urllib.request import urlopen

import pytest

from bridge import Session
from bridge.adb import AdbServer
from bridge.deadline import Deadline
from bridge.page.page import Page
from tests.conftest import LocalServer

pytestmark = pytest.mark.browser


async def test_a_port_leads_to_the_webview_until_the_command_is_interrupted(
    session: Session, page: Page, local_server: LocalServer
) -> None:
    await page.goto(local_server.url("shop.html"))
    words = ["-c", "from bridge.surfaces.cli import main; main()", "targets", "--device", session.serial, "--forward"]
    process = await asyncio.create_subprocess_exec(sys.executable, *words, stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    try:
        async with asyncio.timeout(30):
            line = (await process.stdout.readline()).decode()
        address = line.split()[0]
        listed = json.loads(await asyncio.to_thread(lambda: urlopen(f"{address}/json/list", timeout=30).read()))
        assert [target["title"] for target in listed if target["type"] == "page"] == ["Gold prices"]
    finally:
        process.send_signal(signal.SIGINT)
        async with asyncio.timeout(20):
            code = await process.wait()
    assert code == 130
    forwards = await AdbServer.from_environment().query("host:list-forward", Deadline.after(10))
    assert address.rpartition(":")[2] not in forwards
