"""A device for each test, and the resources counted before and after a fault."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import socket
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass

import pytest

from bridge import Session
from bridge.adb import AdbServer
from bridge.deadline import Deadline
from bridge.errors import BridgeError
from bridge.surfaces.local_server import QuietHandler, listening
from bridge.virtual_device import VirtualDeviceHandle
from tests.conftest import LocalServer, adb_program
from tests.temp_devices import free_port, own_device

# How much longer than its timeout an operation may take.
GRACE_S = 2.0
# Distinguishes an operation that ends from one that hangs, on a machine that is busy with other tests.
LOAD_S = 15.0

PAGES = {
    "/calm": "<title>Calm</title><h1>Calm</h1><a href='/other'>Other</a><button>Press</button>",
    "/other": "<title>Other</title><h1>Other</h1>",
    "/opener": "<title>Opener</title><button onclick='window.open(`/closing`)'>Open</button>",
    "/closing": "<title>Closing</title><h1>Window</h1><script>fetch('/never').finally(() => window.close())</script>",
    "/loop-on-click": "<title>Loop</title><button onclick='for(;;);'>Spin</button>",
    "/loop-at-once": "<title>Loop</title><h1>Never</h1><script>for(;;);</script>",
    "/loop-later": "<title>Loop</title><h1>Soon</h1><script>onload=()=>setInterval(()=>{for(;;);},50)</script>",
    "/storm": "<title>Storm</title><button onclick='for(;;)alert(1)'>Storm</button>",
    "/storm-at-once": "<title>Storm</title><script>for(let i=0;i<300;i++)alert(i)</script><h1>After 300</h1>",
    "/console": "<title>Console</title><script>for(let i=0;i<6e4;i++)console.log(i)</script><h1>Said</h1>",
    "/console-for-ever": "<title>Console</title><button onclick='for(;;)console.log(1)'>Talk</button>",
    "/for-ever": "<title>Ever</title><script>location.replace('/for-ever?'+Math.random())</script>",
    "/unload": "<title>Unload</title><button>Touch</button><script>"
    "onbeforeunload=e=>{e.preventDefault();return e.returnValue='stay'};"
    "onpagehide=()=>{const end=Date.now()+300;while(Date.now()<end);};onunload=()=>{for(let i=0;i<5;i++)alert(i)}"
    "</script>",
    "/many": "<title>Many</title><h1>Many</h1><script>const p=[];for(let i=0;i<2e5;i++)p.push('<i>'+i+'</i>');"
    "document.body.insertAdjacentHTML('beforeend',p.join(''))</script>",
    "/deep": "<title>Deep</title><h1>Deep</h1><button>Top</button><div hidden id=d></div><script>"
    "let e=d;for(let i=0;i<2e4;i++)e=e.appendChild(document.createElement('div'));e.textContent='bottom'</script>",
    "/large": "x" * 2_000_000,
    "/text": "<title>Text</title><h1>Text</h1><button>Here</button><p style='height:50px;overflow:hidden' id=p></p>"
    "<script>p.textContent='word '.repeat(1e7)</script>",
}


class _Faulty(QuietHandler):
    def do_GET(self) -> None:
        if self.path == "/half-closed":
            self.half_close()
            return
        if self.path == "/never":
            self.rfile.read(1)  # until the client gives up
            return
        body = PAGES.get(self.path.partition("?")[0])
        self.send_response(404 if body is None else 200)
        content = b"<!doctype html>" + (body or "").encode()
        self.send_header("content-type", "text/html; charset=utf-8")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def half_close(self) -> None:
        """Half of the announced body, then a half-closed connection."""
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.send_header("content-length", "100000")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>Half</title><h1>Half</h1>")
        self.wfile.flush()
        self.connection.shutdown(socket.SHUT_WR)
        self.rfile.read(1)


@pytest.fixture(scope="session")
def faulty_server() -> Iterator[LocalServer]:
    with listening(_Faulty) as server:
        yield server


@pytest.fixture(scope="session")
def faulty_adb_port() -> Iterator[int]:
    """An adb server of its own: faults must not affect other devices of the suite."""
    port = free_port()
    yield port
    subprocess.run([adb_program(), "-P", str(port), "kill-server"], capture_output=True, timeout=20, check=False)


@pytest.fixture
def adb_port(faulty_adb_port: int, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setenv("ANDROID_ADB_SERVER_PORT", str(faulty_adb_port))
    return faulty_adb_port


@pytest.fixture
async def device(adb_port: int) -> AsyncIterator[VirtualDeviceHandle]:
    async with own_device() as handle:
        yield handle


@dataclass(frozen=True)
class Held:
    """Resources of this process, the adb server and the device."""

    fds: int
    tasks: int
    forwards: str
    reverses: str
    temp_files: frozenset[str]

    @classmethod
    async def now(cls, serial: str, *, with_browsers: bool) -> Held:
        gc.collect()
        server = AdbServer.from_environment()
        await server.ensure_running(timeout_s=20)
        deadline = Deadline.after(10)
        try:
            async with server.device(serial).service("reverse:list-forward", deadline) as stream:
                reverses = (await stream.read_to_end()).decode()
        except BridgeError as error:
            reverses = error.code
        return cls(
            fds=len(_own_fds(with_browsers)),
            tasks=len(_own_tasks(with_browsers)),
            forwards=await server.query("host:list-forward", deadline),
            reverses=reverses,
            temp_files=frozenset(name for name in os.listdir(tempfile.gettempdir()) if "bridge" in name),  # noqa: PTH208
        )


def _own_fds(with_browsers: bool) -> list[str]:
    """Our open files; the browser's connections through this process only with `with_browsers`.

    Those are what the page server and the egress gate have accepted, and what the gate has dialled to the page server;
    the browser keeps them for a while, as long as it has a tab.
    """
    found: list[tuple[str, int, int]] = []
    listening: set[int] = set()
    for fd in os.listdir("/proc/self/fd"):  # noqa: PTH208
        with contextlib.suppress(OSError):
            text, near, far = os.readlink(f"/proc/self/fd/{fd}"), 0, 0  # noqa: PTH115
            if text.startswith("socket:"):
                with socket.socket(fileno=os.dup(int(fd))) as sock:
                    if sock.family == socket.AF_INET:
                        near = sock.getsockname()[1]
                        if sock.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
                            listening.add(near)
                            near = 0
                        else:
                            far = sock.getpeername()[1]
                        text = f"{near} -> {far}"
            found.append((text, near, far))
    if with_browsers:
        return [text for text, _, _ in found]
    return [text for text, near, far in found if near not in listening and far not in listening]


def _own_tasks(with_browsers: bool) -> list[str]:
    """Our tasks; those that serve the browser's connections only with `with_browsers`."""
    tasks = [repr(task) for task in asyncio.all_tasks()]
    return [text for text in tasks if with_browsers or ("/gate" not in text and "/egress" not in text)]


@asynccontextmanager
async def nothing_leaks(serial: str, *, with_browsers: bool = False) -> AsyncIterator[None]:
    """The block releases what it has acquired; background clean-up gets ten seconds.

    Args:
        with_browsers: Around a whole session: nothing of the browser's connections is left either.
    """
    before = await Held.now(serial, with_browsers=with_browsers)
    yield
    deadline = Deadline.after(10)
    while (  # noqa: ASYNC110 - no event reports it
        after := await Held.now(serial, with_browsers=with_browsers)
    ) != before and not deadline.passed:
        await asyncio.sleep(0.1)
    assert after.fds <= before.fds, _own_fds(with_browsers)
    assert after.tasks <= before.tasks, _own_tasks(with_browsers)
    assert after.forwards == before.forwards
    assert after.reverses == before.reverses
    assert after.temp_files <= before.temp_files


Opened = Callable[..., AbstractAsyncContextManager[Session]]


@pytest.fixture
def opened(device: VirtualDeviceHandle, faulty_server: LocalServer) -> Opened:
    """Opens sessions on the device with a grant for the server of faulty pages."""

    @asynccontextmanager
    async def opened(**options: object) -> AsyncIterator[Session]:
        async with Session.open(device.serial, grants=[faulty_server.grant], **options) as session:  # type: ignore[arg-type]
            yield session

    return opened


@asynccontextmanager
async def within(timeout_s: float) -> AsyncIterator[None]:
    """The block's operation ends within its timeout and the grace period."""
    began = time.monotonic()
    try:
        yield
    finally:
        took_s = time.monotonic() - began
    assert took_s <= timeout_s + GRACE_S + LOAD_S, f"it took {took_s:.1f} s with a deadline of {timeout_s} s"
