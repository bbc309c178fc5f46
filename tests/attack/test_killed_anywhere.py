"""Our process is killed at any moment of start, operation and stop: nothing of it stays."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from bridge import Session
from bridge.adb import AdbServer
from bridge.deadline import Deadline
from tests.attack.processes import Process, family
from tests.temp_devices import own_adb_server, own_device

pytestmark = [
    pytest.mark.browser,
    pytest.mark.timeout(900),
    pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc"),
]

PHASES = (
    "starting",
    "started",
    "opening",
    "opened",
    "navigating",
    "navigated",
    "acting",
    "acted",
    "closing",
    "stopping",
)
DEVICE_AND_CLIENT = textwrap.dedent(
    """
    import asyncio, os, sys
    from bridge import Session
    from bridge.adb import AdbServer
    from bridge.virtual_device import start_virtual_device

    def phase(name):
        print(name, flush=True)

    async def work(serial):
        phase("opening")
        async with Session.open(serial, adb_server=f"127.0.0.1:{sys.argv[1]}") as session:
            phase("opened")
            page = await session.new_page()
            phase("navigating")
            await page.set_content("<title>T</title><button>Press</button>")
            phase("navigated")
            ref = (await page.snapshot()).find(role="button").ref
            phase("acting")
            await page.tap(ref)
            await page.screenshot()
            phase("acted")
            phase("closing")
        phase("closed")

    async def main():
        if len(sys.argv) > 2:
            return await work(sys.argv[2])
        phase("starting")
        async with start_virtual_device(server=AdbServer(port=int(sys.argv[1])), timeout_s=60) as handle:
            phase("started")
            await work(handle.serial)
            phase("stopping")

    asyncio.run(main())
    """
)
# Ends when adbd has carried out the request, before anything else can happen.
KILLED_AS_ITS_PORT_IS_MAPPED = textwrap.dedent(
    """
    import asyncio, os, signal, sys
    from bridge.adb import AdbServer, ports

    made = ports._make_reverse

    async def made_at_last(*arguments):
        await made(*arguments)
        os.kill(os.getpid(), signal.SIGKILL)

    async def main():
        ports._make_reverse = made_at_last
        device = AdbServer(port=int(sys.argv[1])).device(sys.argv[2])
        async with device.reverse(sys.argv[3], "tcp:9", timeout_s=10):
            pass

    asyncio.run(main())
    """
)
# After a phase has begun: at once, and somewhat into it.
DELAYS_S = (0.0, 0.05, 0.3, 1.0)
# What a killed process leaves is gone after this time.
LEFT_S = 5.0


@pytest.fixture(scope="module")
def server() -> Iterator[AdbServer]:
    with own_adb_server() as server:
        yield server


class Place:
    """A temporary folder, which all processes of a test have in their environment. Socket paths need it short."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="kill-", dir="/tmp"))
        # Chromium's children overwrite their environment, and are orphans when their parents have been killed.
        self._seen: set[Process] = set()

    def look(self) -> set[Process]:
        """The processes of the test that run now."""
        mark, marked = f"TMPDIR={self.folder}".encode(), set()
        for path in Path("/proc").glob("[0-9]*/environ"):
            with contextlib.suppress(OSError):
                if mark in path.read_bytes():
                    marked.add(int(path.parent.name))
        found = family(marked | {process.pid for process in self._seen})
        # What has the number of an old process, and is another one, is none of ours.
        reused = {process.pid for process in self._seen} - {process.pid for process in self._seen & found}
        self._seen = {process for process in found if process.pid not in reused}
        return self._seen

    def left(self) -> list[object]:
        """Processes and files that are there because of the client."""
        return [*self.look(), *(path.name for path in self.folder.iterdir())]


@pytest.fixture
def place() -> Iterator[Place]:
    place = Place()
    yield place
    shutil.rmtree(place.folder, ignore_errors=True)


async def killed_in(phase: str, delay_s: float, server: AdbServer, place: Place, *arguments: str) -> None:
    """Runs the client until that long after the phase has begun, and kills it."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        DEVICE_AND_CLIENT,
        str(server.port),
        *arguments,
        stdout=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(place.folder), "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert process.stdout is not None
    async with asyncio.timeout(120):
        while (line := (await process.stdout.readline()).decode().strip()) != phase:
            assert line, f"the client ended before {phase}"
    await asyncio.sleep(delay_s)
    place.look()
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(signal.SIGKILL)
    await process.wait()


async def eventually(is_so: Callable[[], Awaitable[bool]], what: Callable[[], object]) -> None:
    deadline = Deadline.after(LEFT_S)
    while not await is_so():
        assert not deadline.passed, what()
        await asyncio.sleep(0.1)


async def check_nothing_is_left(server: AdbServer, place: Place) -> None:
    async def is_clean() -> bool:
        return not (place.left() or await server.devices(timeout_s=10))

    await eventually(is_clean, lambda: place.left())


async def reverses_of(server: AdbServer, serial: str) -> str:
    async with server.device(serial).service("reverse:list-forward", Deadline.after(10)) as stream:
        return (await stream.read_to_end()).decode()[4:]


async def check_a_killed_device_and_client_leave_nothing(
    phase: str, delay_s: float, server: AdbServer, place: Place
) -> None:
    await killed_in(phase, delay_s, server, place)
    await check_nothing_is_left(server, place)


@pytest.mark.parametrize("phase", ["starting", "opening", "acting", "stopping"])
async def test_a_killed_process_leaves_no_process_folder_or_device(phase: str, server: AdbServer, place: Place) -> None:
    delay_s = random.choice(DELAYS_S)  # noqa: S311
    await check_a_killed_device_and_client_leave_nothing(phase, delay_s, server, place)


@pytest.mark.slow
@pytest.mark.parametrize("delay_s", DELAYS_S)
@pytest.mark.parametrize("phase", PHASES)
async def test_a_process_killed_in_any_phase_leaves_nothing(
    phase: str, delay_s: float, server: AdbServer, place: Place
) -> None:
    await check_a_killed_device_and_client_leave_nothing(phase, delay_s, server, place)


async def check_the_device_is_free(phase: str, delay_s: float, server: AdbServer, serial: str, place: Place) -> None:
    """No process, folder or reversed port of the killed client stays, and the next session opens."""
    await killed_in(phase, delay_s, server, place, serial)

    left: list[object] = []

    async def is_clean() -> bool:
        left[:] = [*place.left(), *(await reverses_of(server, serial)).splitlines()]
        return not left

    await eventually(is_clean, lambda: (phase, delay_s, left))
    async with Session.open(serial, adb_server=f"127.0.0.1:{server.port}") as session:
        page = await session.new_page()
        await page.set_content("<title>Next</title>")
        assert await page.title() == "Next"


async def test_a_killed_client_leaves_its_device_as_it_was(
    server: AdbServer, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANDROID_ADB_SERVER_PORT", str(server.port))
    async with own_device() as device:
        for phase in ("opening", "navigated", "closing"):
            await check_the_device_is_free(phase, random.choice(DELAYS_S), server, device.serial, place)  # noqa: S311


@pytest.mark.parametrize("remote", ["tcp:0", "tcp:39999"])
async def test_a_process_killed_as_its_port_is_mapped_leaves_no_mapping(
    remote: str, server: AdbServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANDROID_ADB_SERVER_PORT", str(server.port))
    async with (
        own_device(has_engine=False) as device,
        server.device(device.serial).reverse("tcp:0", "tcp:9", timeout_s=10) as theirs,
    ):
        command = [sys.executable, "-c", KILLED_AS_ITS_PORT_IS_MAPPED, str(server.port), device.serial, remote]
        process = await asyncio.create_subprocess_exec(
            *command, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        )
        assert await process.wait() == -signal.SIGKILL
        left: list[str] = []

        async def is_alone() -> bool:
            left[:] = [line.split()[1] for line in (await reverses_of(server, device.serial)).splitlines()]
            return left == [theirs]

        await eventually(is_alone, lambda: left)


@pytest.mark.slow
async def test_a_client_killed_in_any_phase_leaves_its_device_as_it_was(
    server: AdbServer, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANDROID_ADB_SERVER_PORT", str(server.port))
    async with own_device() as device:
        for phase in PHASES[2:-1]:
            for delay_s in DELAYS_S:
                await check_the_device_is_free(phase, delay_s, server, device.serial, place)


async def test_one_of_two_clients_is_killed_and_the_other_goes_on(
    server: AdbServer, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANDROID_ADB_SERVER_PORT", str(server.port))
    async with own_device() as ours, Session.open(ours.serial) as session:
        page = await session.new_page()
        await page.set_content("<title>Ours</title><button>Press</button>")
        await killed_in("acting", 0.0, server, place)
        assert (await page.snapshot()).find(role="button", name="Press")

        async def is_clean() -> bool:
            serials = [entry.serial for entry in await server.devices(timeout_s=10)]
            return not place.left() and serials == [ours.serial]

        await eventually(is_clean, lambda: place.left())
        assert await page.title() == "Ours"
