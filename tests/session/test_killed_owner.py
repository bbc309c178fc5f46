"""The device of a killed process is free for the next session at once."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from bridge import BrowserPolicy, Session
from bridge.errors import DeviceBusy
from tests.temp_devices import own_device

pytestmark = pytest.mark.browser

# Beside it a child that knows nothing of devices, as those of multiprocessing and of data loaders, and that lives on.
HOLD = """
import asyncio, os, sys
from bridge import Session
async def main():
    async with Session.open(sys.argv[1]) as session:
        await session.new_page()
        if os.fork() == 0:
            sys.stdin.read()
            os._exit(0)
        print("held", flush=True)
        sys.stdin.read()
asyncio.run(main())
"""


@contextmanager
def another_process(serial: str) -> Iterator[subprocess.Popen[str]]:
    """A process that holds the device; its child ends with the block."""
    command = [sys.executable, "-c", HOLD, serial]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
async def test_the_device_of_a_killed_process_is_free_although_its_child_lives(adb_port: int) -> None:
    async with own_device() as device:
        with another_process(device.serial) as holder:
            other = BrowserPolicy(allowed_origins=["other.example"])
            with pytest.raises(DeviceBusy, match=rf"process {holder.pid}"):
                async with Session.open(device.serial, policy=other):
                    pass
            holder.kill()
            holder.wait()
            async with Session.open(device.serial, policy=other) as session:
                assert await session.new_page()
