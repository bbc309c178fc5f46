"""Fixtures of the suite: those of the pytest plugin, on an adb server of the suite's own.

The adb server has a private port, so a user's server and devices are left alone unless a serial is asked for.
"""

from __future__ import annotations

import gc
import logging
import os
import shutil
import signal
import subprocess
import threading
from collections.abc import AsyncIterator, Iterator
from importlib.metadata import entry_points
from pathlib import Path

import hypothesis
import pytest

from bridge import Session
from bridge.page.page import Page
from bridge.surfaces.daemon.client import end
from bridge.surfaces.daemon.session_files import recorded
from bridge.surfaces.local_server import LocalServer as LocalServer
from bridge.surfaces.pytest_plugin.local_server import FolderHandler, serving
from tests.temp_devices import free_port

TESTS = Path(__file__).parent
PAGES = TESTS / "pages"
# A checkout that is not installed has no entry point; loading the plugin twice is refused.
IS_INSTALLED = any(point.name == "webview" for point in entry_points(group="pytest11"))
# Started in the background of a shell, a process is deaf to Ctrl-C and so are its children; tests send it to theirs.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
# How long one example takes is the machine's affair; what takes too long has a test that measures it.
hypothesis.settings.register_profile("suite", deadline=None)
hypothesis.settings.load_profile("suite")
# asyncio's messages about a task whose error was never retrieved, and about one destroyed while pending.
_ABANDONED_TASK = ("never retrieved", "was destroyed but it is pending", "closing of asynchronous generator")
pytest_plugins = () if IS_INSTALLED else ("bridge.surfaces.pytest_plugin",)


def adb_program() -> str:
    """The adb program that tests drive by hand: the one on PATH, else the one that adbutils ships."""
    from adbutils import adb_path

    return shutil.which("adb") or adb_path()


@pytest.fixture(scope="module", autouse=True)
def no_abandoned_tasks() -> Iterator[None]:
    """Fails a test module that leaves a failed, pending or unclosed task behind."""
    messages: list[str] = []

    class Listener(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if any(words in record.getMessage() for words in _ABANDONED_TASK):
                messages.append(self.format(record))

    listener = Listener()
    asyncio_log = logging.getLogger("asyncio")
    asyncio_log.addHandler(listener)
    try:
        yield
        gc.collect()
    finally:
        asyncio_log.removeHandler(listener)
    assert not messages, "\n".join(messages)


@pytest.fixture(scope="session", autouse=True)
def own_runtime_folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Sessions that commands keep are not the user's, and are ended with the run; of a run that was killed, they end
    soon by themselves. Runs on a phone share the user's folder: its leases say whose turn it is."""
    if request.config.getoption("--webview-device") != "virtual":
        yield
        return
    folder = tmp_path_factory.mktemp("runtime")
    folder.chmod(0o700)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", str(folder))
        patch.setenv("WEBVIEW_BRIDGE_IDLE_EXIT_S", "60")
        yield
        for record in recorded():
            end(record.name)


@pytest.fixture(scope="session")
def adb_port(request: pytest.FixtureRequest) -> Iterator[int]:
    """The port of the suite's adb server; the variable that names it is set for the whole run."""
    if request.config.getoption("--webview-device") != "virtual":
        yield int(os.environ.get("ANDROID_ADB_SERVER_PORT", "5037"))
        return
    before = os.environ.get("ANDROID_ADB_SERVER_PORT")
    port = free_port()
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
def webview_device(adb_port: int, webview_device: str) -> str:
    """The plugin's, once the adb server is the suite's own."""
    return webview_device


class _Pages(FolderHandler):
    """Files of tests/pages; `/hang` is never answered while the suite runs."""

    over = threading.Event()

    def do_GET(self) -> None:
        if self.path == "/hang":
            self.over.wait()
            return
        super().do_GET()


@pytest.fixture(scope="session")
def local_server() -> Iterator[LocalServer]:
    with serving(PAGES, _Pages) as server:
        yield server
        _Pages.over.set()


@pytest.fixture
async def session(webview_device: str, local_server: LocalServer) -> AsyncIterator[Session]:
    """Without the plugin's isolation, which is a behaviour under test here."""
    async with Session.open(webview_device, grants=[local_server.grant]) as session:
        yield session


@pytest.fixture
async def page(session: Session) -> Page:
    return await session.new_page()
