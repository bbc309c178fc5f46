"""The virtual device's Chromium asks no servers of its own, and leaves nothing of a page on the disk."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bridge.cdp import CdpConnection
from bridge.virtual_device.engine.chromium import command_line, find_chromium, run_chromium
from bridge.virtual_device.engine.pipe import open_pipe
from bridge.virtual_device.process.private_folder import make_private_folder, remove_folder

pytestmark = pytest.mark.browser

LOGIN = "data:text/html,<form><input type=password name=p></form>"
# The first requests for updates, accounts and the time follow within seconds of the start.
LISTENED_S = 20.0


@asynccontextmanager
async def chromium(folder: Path, *extra: str) -> AsyncIterator[CdpConnection]:
    profile = folder / "chromium"
    command = command_line(find_chromium(os.environ), profile, socks_port=None, user_agent="test", extra=extra)
    async with run_chromium(command, profile, timeout_s=60) as running, open_pipe(running.sock) as pipe:
        yield pipe.cdp


async def test_chromium_reaches_no_server_of_its_own() -> None:
    folder = make_private_folder()
    log = folder / "net.json"
    try:
        async with chromium(folder, f"--log-net-log={log}") as cdp:
            await cdp.call("Target.createTarget", {"url": LOGIN}, timeout_s=30)
            await asyncio.sleep(LISTENED_S)
            cdp.send("Browser.close").abandon()
            await asyncio.wait_for(cdp.closed.wait(), 30)  # it has ended, and with it the log
        assert _resolved(log.read_text()) <= {"~notfound"}
    finally:
        remove_folder(folder)


def _resolved(log: str) -> set[str]:
    """The hosts whose addresses were asked for, in a log of one event per line whose end may be missing."""
    head, _, rest = log.partition('"events": [\n')
    constants = json.loads(head.rstrip().removesuffix(",") + "}")["constants"]
    kinds = {number: name for name, number in constants["logEventTypes"].items()}
    found = set()
    for line in rest.splitlines():
        with contextlib.suppress(ValueError):
            event = json.loads(line.removesuffix(","))
            if kinds[event["type"]].startswith("HOST_RESOLVER") and "host" in event.get("params", {}):
                found.add(event["params"]["host"].rpartition("/")[2])
    return found


async def test_a_crashed_renderer_leaves_nothing_in_the_users_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BRIDGE_CHROMIUM", str(find_chromium(os.environ)))
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "CHROME_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    folder = make_private_folder()
    try:
        async with chromium(folder) as cdp:
            made = await cdp.call("Target.createTarget", {"url": "about:blank"}, timeout_s=30)
            to = {"targetId": made["targetId"], "flatten": True}
            session_id = (await cdp.call("Target.attachToTarget", to, timeout_s=30))["sessionId"]
            with cdp.events("Page.loadEventFired", session_id=session_id) as loaded:
                await cdp.call("Page.enable", session_id=session_id, timeout_s=30)
                await cdp.call("Page.navigate", {"url": LOGIN}, session_id=session_id, timeout_s=30)
                await loaded.next(timeout_s=30)
            with cdp.events("Inspector.targetCrashed", session_id=session_id) as crashed:
                await cdp.call("Inspector.enable", session_id=session_id, timeout_s=30)
                cdp.send("Page.crash", session_id=session_id).abandon()
                await crashed.next(timeout_s=30)
            assert open_folders_in(folder) == []
        assert files_in(tmp_path) == []
    finally:
        remove_folder(folder)


def files_in(folder: Path) -> list[str]:
    return [str(path) for path in folder.rglob("*") if path.is_file()]


def open_folders_in(folder: Path) -> list[str]:
    """Those that other users may look into."""
    return [str(path) for path in folder.rglob("*") if path.is_dir() and path.stat().st_mode & 0o077]
