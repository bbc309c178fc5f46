"""Fixtures of the suite: a device (virtual, or a phone by `--webview-device=SERIAL`), a server for pages, a session.

The suite talks to an adb server of its own on a private port, so a user's server and devices are left alone unless a
serial is asked for.
"""

from __future__ import annotations

import asyncio
import functools
import gc
import http.server
import logging
import os
import shutil
import socket
import subprocess
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from bridge import Session, TestServerGrant
from bridge.page.page import Page

TESTS = Path(__file__).parent
PAGES = TESTS / "pages"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--webview-device",
        default="virtual",
        help="where behaviour tests run: virtual (default), or the serial of an attached device",
    )


def adb_program() -> str:
    """The adb program that tests drive by hand: the one on PATH, else the one that adbutils ships."""
    from adbutils import adb_path

    return shutil.which("adb") or adb_path()


@pytest.fixture(scope="module", autouse=True)
def no_failure_is_left_lying() -> Iterator[None]:
    """What asyncio says of failed tasks that nobody asked, when they are forgotten, fails the module that ran them."""
    told: list[str] = []

    class Listener(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if "never retrieved" in record.getMessage():
                told.append(self.format(record))

    listener = Listener()
    asyncio_log = logging.getLogger("asyncio")
    asyncio_log.addHandler(listener)
    try:
        yield
        gc.collect()
    finally:
        asyncio_log.removeHandler(listener)
    assert not told, "\n".join(told)


@pytest.fixture(scope="session")
def adb_port(request: pytest.FixtureRequest) -> Iterator[int]:
    """The port of the suite's adb server; the variable that names it is set for the whole run."""
    if request.config.getoption("--webview-device") != "virtual":
        yield int(os.environ.get("ANDROID_ADB_SERVER_PORT", "5037"))
        return
    before = os.environ.get("ANDROID_ADB_SERVER_PORT")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    os.environ["ANDROID_ADB_SERVER_PORT"] = str(port)
    try:
        yield port
    finally:
        subprocess.run([adb_program(), "-P", str(port), "kill-server"], capture_output=True, timeout=20, check=False)
        if before is None:
            del os.environ["ANDROID_ADB_SERVER_PORT"]
        else:
            os.environ["ANDROID_ADB_SERVER_PORT"] = before


@pytest.fixture(scope="session")
def webview_device(request: pytest.FixtureRequest, adb_port: int) -> Iterator[str]:
    """The serial of the device under test; a virtual one lives as long as the run."""
    wanted: str = request.config.getoption("--webview-device")
    if wanted != "virtual":
        yield wanted
        return
    from bridge.adb import AdbServer
    from bridge.virtual_device.client import start_virtual_device

    async def live(started: threading.Event, serial: list[str], stop: asyncio.Event) -> None:
        server = AdbServer.from_environment()
        await server.ensure_running(timeout_s=20)
        async with start_virtual_device(server=server, timeout_s=60) as handle:
            serial.append(handle.serial)
            started.set()
            await stop.wait()

    started = threading.Event()
    serial: list[str] = []
    failure: list[BaseException] = []
    loop = asyncio.new_event_loop()
    stop = asyncio.Event()

    def run() -> None:
        try:
            loop.run_until_complete(live(started, serial, stop))
        except BaseException as error:
            failure.append(error)
            started.set()

    thread = threading.Thread(target=run, name="virtual device", daemon=True)
    thread.start()
    started.wait(90)
    if failure or not serial:
        pytest.fail(f"the virtual device did not start: {failure[0] if failure else 'no answer in 90 s'}")
    try:
        yield serial[0]
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(30)
        loop.close()


class _Pages(http.server.SimpleHTTPRequestHandler):
    """Files of tests/pages; `/hang` is never answered while the suite runs."""

    over = threading.Event()

    def do_GET(self) -> None:
        if self.path == "/hang":
            self.over.wait()
            return
        super().do_GET()

    def log_message(self, format: str, *args: object) -> None:
        pass


class LocalServer:
    """A folder on this machine's loopback; `url(path)` and the grant that lets a session open it."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.grant = TestServerGrant("127.0.0.1", port)

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}/{path}"


@pytest.fixture(scope="session")
def local_server() -> Iterator[LocalServer]:
    handler = functools.partial(_Pages, directory=str(PAGES))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield LocalServer(server.server_address[1])
        _Pages.over.set()
        server.shutdown()


@pytest.fixture
async def session(webview_device: str, local_server: LocalServer) -> AsyncIterator[Session]:
    async with Session.open(webview_device, grants=[local_server.grant]) as session:
        yield session


@pytest.fixture
async def page(session: Session) -> Page:
    return await session.new_tab()
