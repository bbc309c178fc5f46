"""What rows share: an adb server of the run's own, virtual devices, tabs, and the same browser without adb."""

from __future__ import annotations

import asyncio
import json
import os
import re
import socket
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import IO, TypeVar

from bridge import Session
from bridge.adb import AdbServer
from bridge.cdp import CdpConnection, open_cdp
from bridge.page.page import Page
from bridge.policy.grant import TestServerGrant
from bridge.virtual_device import VirtualDeviceHandle, start_virtual_device
from bridge.virtual_device.engine import find_chromium
from tools.benchmarks.measuring import Finding

START_S = 60.0
T = TypeVar("T")


@dataclass(frozen=True)
class Bench:
    """How thorough the run is."""

    quick: bool = False

    def choose(self, whole: T, quick: T) -> T:
        return quick if self.quick else whole


@dataclass(frozen=True)
class Row:
    """One or several lines of the table, measured together.

    Attributes:
        name: For `--only`.
        run: Gives the findings; what it raises becomes a line that says so.
    """

    name: str
    run: Callable[[Bench], Awaitable[Sequence[Finding]]]


@contextmanager
def own_adb_server() -> Iterator[None]:
    """A private adb server for the block: the user's own server and devices are left alone."""
    from adbutils import adb_path

    before = os.environ.get("ANDROID_ADB_SERVER_PORT")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    os.environ["ANDROID_ADB_SERVER_PORT"] = str(port)
    try:
        yield
    finally:
        subprocess.run([adb_path(), "-P", str(port), "kill-server"], capture_output=True, timeout=20, check=False)
        if before is None:
            del os.environ["ANDROID_ADB_SERVER_PORT"]
        else:
            os.environ["ANDROID_ADB_SERVER_PORT"] = before


@asynccontextmanager
async def device(*, quirks: bool = False) -> AsyncIterator[VirtualDeviceHandle]:
    """A virtual device, by default without WebView's quirks, whose imitation takes time that a phone does not."""
    server = AdbServer.from_environment()
    await server.ensure_running(timeout_s=START_S)
    async with start_virtual_device(server=server, quirks=quirks, timeout_s=START_S) as handle:
        yield handle


@asynccontextmanager
async def opened(
    grants: Iterable[TestServerGrant], *, quirks: bool = False
) -> AsyncIterator[tuple[VirtualDeviceHandle, Session, Page]]:
    """A device, a session and a tab."""
    async with (
        device(quirks=quirks) as handle,
        Session.open(handle.serial, grants=list(grants), on_notice=_no_notice) as session,
    ):
        yield handle, session, await session.new_page()


def _no_notice(_: str) -> None:
    """A run says itself what it runs on."""


@asynccontextmanager
async def straight(url: str) -> AsyncIterator[CdpConnection]:
    """Our own CDP connection to a tab at `url` in a Chromium of its own with a devtools port: the same without adb."""
    with tempfile.TemporaryDirectory(prefix="wvb-", ignore_cleanup_errors=True) as folder:
        flags = ["--headless=new", "--no-sandbox", "--no-first-run", "--disable-gpu", "--remote-debugging-port=0"]
        command = [str(find_chromium(os.environ)), *flags, f"--user-data-dir={folder}", url]
        browser = subprocess.Popen(  # noqa: ASYNC220 - it returns at once
            command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        assert browser.stderr is not None
        try:
            port = await asyncio.to_thread(_devtools_port, browser.stderr)
            path = f"/devtools/page/{await asyncio.to_thread(_target_at, url, port)}"
            sock = socket.create_connection(("127.0.0.1", port))
            sock.setblocking(False)
            async with open_cdp(sock, path, timeout_s=10) as connection:
                yield connection
        finally:
            browser.kill()
            browser.wait()
            browser.stderr.close()


def _devtools_port(stderr: IO[str]) -> int:
    for line in stderr:
        if found := re.search(r"DevTools listening on ws://127\.0\.0\.1:(\d+)/", line):
            return int(found[1])
    raise RuntimeError("Chromium did not start")


def _target_at(url: str, port: int) -> str:
    end = time.monotonic() + START_S
    while time.monotonic() < end:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list", timeout=10) as reply:
            for target in json.load(reply):
                if target["url"] == url:
                    return str(target["id"])
        time.sleep(0.05)
    raise RuntimeError(f"Chromium shows no tab at {url}")
