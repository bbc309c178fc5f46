"""Devices come, fail and go, and leave nothing behind."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import stat
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from bridge.adb import AdbServer
from bridge.errors import ChromiumMissing, DeviceNotFound, UsageError, VirtualDeviceFailed
from bridge.virtual_device.device_options import DeviceOptions
from bridge.virtual_device.process.client import (
    VirtualDeviceHandle,
    list_virtual_devices,
    start_detached,
    start_virtual_device,
    stop_virtual_device,
)
from bridge.virtual_device.process.private_folder import make_private_folder
from tests.virtual_device.conftest import Adb


async def until(condition: Callable[[], bool], *, timeout_s: float = 60) -> None:
    """Waits for something that another process does."""
    end = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        await asyncio.sleep(0.05)


async def states(server: AdbServer) -> dict[str, str]:
    return {entry.serial: entry.state for entry in await server.devices(timeout_s=10)}


def folder_of(handle: VirtualDeviceHandle) -> Path:
    return Path(handle.control_path).parent


async def test_a_device_lives_as_long_as_its_block(adb_server: AdbServer) -> None:
    async with start_virtual_device(server=adb_server, name="block", has_engine=False) as handle:
        assert (await states(adb_server))[handle.serial] == "device"
        assert handle in list_virtual_devices()
        assert stat.S_IMODE(folder_of(handle).stat().st_mode) == 0o700
        status = await handle.status()
        assert (status["name"], status["api_level"]) == ("block", 34)
    assert handle.serial not in await states(adb_server)
    assert handle not in list_virtual_devices()
    assert not folder_of(handle).exists()


async def test_several_devices_live_side_by_side(adb_server: AdbServer, adb_program: Adb) -> None:
    async with (
        start_virtual_device(server=adb_server, has_engine=False, api_level=29) as old,
        start_virtual_device(server=adb_server, has_engine=False, api_level=36) as new,
    ):
        for handle, level in ((old, b"29\n"), (new, b"36\n")):
            adb = Adb(adb_program.program, adb_program.port, handle.serial)
            assert (await adb.run("shell", "getprop ro.build.version.sdk")).stdout == level
        assert {old, new} <= set(list_virtual_devices())


async def test_a_killed_device_leaves_nothing(adb_server: AdbServer) -> None:
    options = DeviceOptions("killed", adb_port=adb_server.port, has_engine=False, is_detached=True)
    handle = await start_detached(options)
    os.kill(handle.pid, signal.SIGKILL)
    await until(lambda: not folder_of(handle).exists())
    assert handle not in list_virtual_devices()
    assert handle.serial not in await states(adb_server)
    await stop_virtual_device(handle)


async def test_a_device_ends_when_the_process_that_started_it_is_killed(adb_server: AdbServer) -> None:
    script = textwrap.dedent(
        f"""
        import asyncio
        from bridge.adb import AdbServer
        from bridge.virtual_device.process.client import start_virtual_device
        async def main():
            async with start_virtual_device(server=AdbServer(port={adb_server.port}), has_engine=False) as handle:
                print(handle.pid, handle.control_path, flush=True)
                await asyncio.sleep(100)
        asyncio.run(main())
        """
    )
    parent = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        script,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert parent.stdout is not None
    line = await parent.stdout.readline()
    folder = Path(line.split()[1].decode()).parent
    assert folder.exists()
    parent.kill()
    await parent.wait()
    await until(lambda: not folder.exists())


async def test_a_detached_device_is_found_and_stopped_by_others(adb_server: AdbServer) -> None:
    options = DeviceOptions("detached", adb_port=adb_server.port, has_engine=False, is_detached=True)
    started = await start_detached(options)
    found = next(handle for handle in list_virtual_devices() if handle.name == "detached")
    assert found == started
    await stop_virtual_device(found)
    assert not folder_of(found).exists()
    await stop_virtual_device(found)


async def test_the_folder_of_a_dead_device_is_not_listed_although_its_pid_is_in_use(
    adb_server: AdbServer,
) -> None:
    options = DeviceOptions("old", adb_port=adb_server.port, has_engine=False, is_detached=True)
    old = await start_detached(options)
    record = json.loads((folder_of(old) / "device.json").read_text())
    await stop_virtual_device(old)
    stranger = await asyncio.create_subprocess_exec("sleep", "60")
    left = make_private_folder()
    try:
        facts = record | {"pid": stranger.pid, "control_path": str(left / "control")}
        (left / "device.json").write_text(json.dumps(facts))
        as_listed = replace(old, pid=stranger.pid, control_path=facts["control_path"])
        assert as_listed not in list_virtual_devices()
        await stop_virtual_device(as_listed)
        assert stranger.returncode is None
        assert not left.exists()
    finally:
        stranger.kill()
        await stranger.wait()


async def test_a_device_that_does_not_answer_is_killed(adb_server: AdbServer) -> None:
    options = DeviceOptions("stuck", adb_port=adb_server.port, has_engine=False, is_detached=True)
    stuck = await start_detached(options)
    os.kill(stuck.pid, signal.SIGSTOP)
    (folder_of(stuck) / "control").unlink()  # nobody answers there at once
    await stop_virtual_device(stuck)
    assert not folder_of(stuck).exists()
    assert stuck not in list_virtual_devices()


async def test_an_unauthorized_device_is_listed_as_such(adb_server: AdbServer) -> None:
    async with start_virtual_device(server=adb_server, has_engine=False, authorize="never") as handle:
        assert (await states(adb_server))[handle.serial] == "unauthorized"
        await handle.fault("authorize")
        assert (await states(adb_server))[handle.serial] == "device"
        await handle.fault("unauthorize")
        assert (await states(adb_server))[handle.serial] == "unauthorized"


async def test_a_pulled_cable_takes_the_device_away_until_it_is_put_back(adb_server: AdbServer, tmp_path: Path) -> None:
    async with start_virtual_device(server=adb_server, has_engine=False) as handle:
        device = adb_server.device(handle.serial)
        await device.shell("echo kept > /sdcard/kept", timeout_s=10, check=True)
        await handle.fault("drop_cable")
        assert handle.serial not in await states(adb_server)
        with pytest.raises(DeviceNotFound):
            await device.shell("id", timeout_s=20)
        await handle.fault("connect")
        assert (await device.shell("cat /sdcard/kept", timeout_s=10)).stdout == "kept\n"


async def test_a_reboot_takes_it_away_and_brings_it_back(adb_server: AdbServer, adb_program: Adb) -> None:
    async with start_virtual_device(server=adb_server, has_engine=False) as handle:
        adb = Adb(adb_program.program, adb_program.port, handle.serial)
        await adb.run("reverse", "tcp:3000", "tcp:9")
        assert (await adb.run("reboot")).returncode == 0
        await until(lambda: handle.serial.encode() not in adb_program("devices").stdout)
        await until(lambda: f"{handle.serial}\tdevice".encode() in adb_program("devices").stdout)
        assert (await adb.run("shell", "getprop sys.boot_completed")).stdout == b"1\n"
        assert (await handle.status())["reverse"] == {}


async def test_a_fault_that_does_not_exist_is_an_error(adb_server: AdbServer) -> None:
    async with start_virtual_device(server=adb_server, has_engine=False) as handle:
        with pytest.raises(VirtualDeviceFailed, match="unknown fault 'explode'"):
            await handle.fault("explode")
        with pytest.raises(VirtualDeviceFailed, match="latency_ms is 'much'"):
            await handle.fault("slow_link", latency_ms="much")


async def test_a_device_without_chromium_says_so(adb_server: AdbServer) -> None:
    with pytest.raises(ChromiumMissing):
        async with start_virtual_device(server=adb_server, engine={"chromium": "/nowhere/chromium"}):
            pass


@pytest.mark.browser
async def test_a_killed_device_takes_its_chromium_along(adb_server: AdbServer) -> None:
    options = DeviceOptions("with-chromium", adb_port=adb_server.port, is_detached=True)
    handle = await start_detached(options)
    webview = await adb_server.device(handle.serial).shell("dumpsys webviewupdate", timeout_s=10)
    assert "(com.google.android.webview, " in webview.stdout
    profile = str(folder_of(handle) / "chromium").encode()
    assert _processes_with(profile)
    os.kill(handle.pid, signal.SIGKILL)
    await until(lambda: not folder_of(handle).exists())
    await until(lambda: not _processes_with(profile))


@pytest.mark.browser
async def test_a_device_whose_chromiums_end_as_fast_as_they_start_ends_too(adb_server: AdbServer) -> None:
    """Nobody is to wait for WebViews that will not come."""
    async with start_virtual_device(server=adb_server, timeout_s=60) as handle:
        folder = folder_of(handle)

        def kill() -> bool:
            for pid in _processes_with(str(folder / "chromium").encode()):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            return not folder.exists()

        await until(kill)
        assert handle.serial not in await states(adb_server)


def _processes_with(argument: bytes) -> list[int]:
    """Processes of this machine that have those bytes on their command line."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if argument in path.read_bytes():
                found.append(int(path.parent.name))
    return found


def test_options_that_make_no_sense_are_refused() -> None:
    with pytest.raises(UsageError, match="API level 12"):
        DeviceOptions("x", api_level=12)
    with pytest.raises(UsageError, match="name"):
        DeviceOptions("../x")
    with pytest.raises(UsageError, match="unknown options"):
        DeviceOptions.from_json(json.dumps({"name": "x", "colour": "red"}))
