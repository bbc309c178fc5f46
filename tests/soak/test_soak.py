"""A session that works for long holds at the end what it held after its first rounds."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import shutil
import tempfile
import threading
import tracemalloc
from collections.abc import AsyncIterator, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import pytest

from bridge import Session
from bridge.adb import AdbServer
from bridge.cdp.discovery import list_targets
from bridge.deadline import Deadline
from bridge.page.interception import url_policy
from bridge.page.logs import request_log, request_reducer, session_logs
from bridge.page.logs.session_logs import SessionLogs
from bridge.page.page import Page
from bridge.page.snapshots import refs
from bridge.page.target import inflight_requests
from bridge.surfaces.local_server import QuietHandler, listening
from bridge.virtual_device import VirtualDeviceHandle
from tests.conftest import LocalServer
from tests.temp_devices import own_device

pytestmark = pytest.mark.browser

WARM_UP = 20
# Logs and tables are bounded, by thousands; by so few here, that the first rounds fill them.
KEPT = 40
# What a heap may vary by for reasons of its own, and what a round may leave: less than one small object.
HEAP_BYTES = 150_000
HEAP_BYTES_PER_ROUND = 150

SHOP = (
    "<!doctype html><title>Shop {n}</title><h1>Shop {n}</h1><label>Search <input id=q></label>"
    "<button onclick='console.log(1);out.textContent=q.value'>Go</button><output id=out></output>"
    "<iframe srcdoc='<button>Inside</button>'></iframe><a href='/other'>Other</a>"
    f"{'<p>A paragraph that can be read, of some length, with a comma.</p>' * 30}"
)


class _Shop(QuietHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        text = {"/other": "<title>Other</title><h1>Other</h1>"}.get(path)
        if text is None:
            text = SHOP.replace("{n}", path.removeprefix("/")) if path.startswith("/shop") else ""
        body = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@dataclass(frozen=True)
class Held:
    """What a session holds, in this process and in the device's."""

    fds: int
    tasks: int
    threads: int
    device_fds: int
    device_threads: int
    browser_tabs: int
    forwards: str
    reverses: str
    temp_files: tuple[str, ...]


@pytest.fixture
def temp_folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The only place for temporary files, of this process and of those it starts; short, for the sockets in it."""
    folder = Path(tempfile.mkdtemp(prefix="soak"))
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", None)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def small_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SessionLogs.__init__, "__kwdefaults__", {"console_kept": KEPT, "requests_kept": KEPT})
    monkeypatch.setattr(session_logs, "_REPLAYED", KEPT)
    monkeypatch.setattr(request_log, "PAGES_KEPT", KEPT)
    monkeypatch.setattr(request_reducer, "_PENDING_KEPT", KEPT)
    monkeypatch.setattr(inflight_requests, "_DOCUMENTS_KEPT", KEPT // 4)
    monkeypatch.setattr(refs, "_MAX_UNLOADED", KEPT)
    monkeypatch.setattr(url_policy, "_MAX_CHAINS", KEPT)


@pytest.fixture
def shop() -> Iterator[LocalServer]:
    with listening(_Shop) as server:
        yield server


@pytest.fixture
async def device(adb_port: int, temp_folder: Path) -> AsyncIterator[VirtualDeviceHandle]:
    async with own_device() as handle:
        yield handle


@pytest.mark.parametrize(
    "rounds",
    [
        pytest.param(30, marks=pytest.mark.timeout(300)),
        pytest.param(1_000, marks=[pytest.mark.slow, pytest.mark.timeout(3600)]),
    ],
)
@pytest.mark.usefixtures("small_bounds")
async def test_rounds_of_work_leave_nothing_behind(
    rounds: int, device: VirtualDeviceHandle, shop: LocalServer, temp_folder: Path, request: pytest.FixtureRequest
) -> None:
    tracemalloc.start()
    try:
        async with Session.open(device.serial, grants=[shop.grant]) as session:
            page = await session.new_page()
            for number in range(WARM_UP):
                await work(session, page, shop, number)
            before, heap_before = await settled(device, temp_folder), heap()
            there = tracemalloc.take_snapshot()
            for number in range(rounds):
                await work(session, page, shop, number)
            after, heap_after = await settled(device, temp_folder, like=before), heap()
            grown = tracemalloc.take_snapshot().compare_to(there, "lineno")
    finally:
        tracemalloc.stop()
    # The browser opens and closes its connections to the servers here as it likes, a few at a time.
    spare = 12
    assert after.fds <= before.fds + spare
    assert after.threads <= before.threads + spare
    assert after.tasks <= before.tasks + spare
    assert after.device_fds <= before.device_fds + spare
    assert after.device_threads <= before.device_threads + spare
    assert after.browser_tabs == before.browser_tabs
    assert after.forwards == before.forwards
    assert after.reverses == before.reverses
    assert after.temp_files == before.temp_files
    request.node.user_properties.append(("heap_bytes_grown", heap_after - heap_before))
    most = "\n".join(map(str, grown[:12]))
    print(json.dumps({"rounds": rounds, "heap": [heap_before, heap_after], "before": asdict(before)}), f"\n{most}")
    assert heap_after - heap_before <= HEAP_BYTES + HEAP_BYTES_PER_ROUND * rounds, most


async def work(session: Session, page: Page, shop: LocalServer, number: int) -> None:
    """One round: navigate, snapshot, act, capture, read; now and then a second tab and a picture of the whole page."""
    await page.goto(shop.url(f"shop{number % 7}"))
    shot = await page.snapshot()
    while "jsTime" in shot.stats.truncate_reasons:  # on a loaded machine: what is not shown cannot be acted on
        shot = await page.snapshot()
    done = await page.fill(shot.find(role="textbox").ref, f"gold {number}")
    assert done.changes is not None
    await page.click(shot.find(role="button", name="Go").ref)
    assert f"gold {number}" in (await page.read(mode="raw")).markdown
    await page.screenshot(full_page=number % 5 == 0)
    assert page.console().entries
    assert page.network().entries
    if number % 5 == 0:
        other = await session.new_page(shop.url("other"))
        await other.snapshot()
        await other.close()
    session.egress.audit.clear()


def heap() -> int:
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


async def settled(device: VirtualDeviceHandle, temp_folder: Path, *, like: Held | None = None) -> Held:
    """What is held; what ends in the background gets a moment to do so."""
    deadline = Deadline.after(10)
    while True:
        now = await held(device, temp_folder)
        if like is None or now == like or deadline.passed:
            return now
        await asyncio.sleep(0.2)


async def held(device: VirtualDeviceHandle, temp_folder: Path) -> Held:
    gc.collect()
    server = AdbServer.from_environment()
    deadline = Deadline.after(10)
    async with server.device(device.serial).service("reverse:list-forward", deadline) as stream:
        reverses = (await stream.read_to_end()).decode()
    return Held(
        fds=count(f"/proc/{os.getpid()}/fd"),
        tasks=len(asyncio.all_tasks()),
        threads=threading.active_count(),
        device_fds=count(f"/proc/{device.pid}/fd"),
        device_threads=count(f"/proc/{device.pid}/task"),
        browser_tabs=await browser_tabs(device, server),
        forwards=await server.query("host:list-forward", deadline),
        reverses=reverses,
        temp_files=tuple(sorted(left_in(temp_folder))),
    )


def count(folder: str) -> int:
    return sum(1 for _ in Path(folder).iterdir())


async def browser_tabs(device: VirtualDeviceHandle, server: AdbServer) -> int:
    sockets = (await device.status())["abstract_sockets"]
    name = next(name for name in sockets if name.startswith("webview_devtools_remote_"))
    sock = await server.device(device.serial).open_stream(f"localabstract:{name}", timeout_s=30)
    return sum(target.kind == "page" for target in await list_targets(sock, timeout_s=30))


def left_in(folder: Path) -> Iterator[str]:
    """Files and folders here, but not what the browser keeps in its profile."""
    for path in folder.iterdir():
        yield path.name
        if path.is_dir():
            yield from (f"{path.name}/{below.name}" for below in path.iterdir())
