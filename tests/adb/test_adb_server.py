"""The server we find, start and ask: a real one."""

from __future__ import annotations

import asyncio
import math
import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from bridge.adb import AdbServer
from bridge.errors import AdbUnavailable, DeadlineExceeded, DeviceNotFound, UsageError


@pytest.mark.parametrize(
    ("address", "environ", "server"),
    [
        (None, {}, AdbServer("127.0.0.1", 5037)),
        (None, {"ANDROID_ADB_SERVER_PORT": "7000"}, AdbServer("127.0.0.1", 7000)),
        (None, {"ANDROID_ADB_SERVER_ADDRESS": "lab", "ANDROID_ADB_SERVER_PORT": "7000"}, AdbServer("lab", 7000)),
        (None, {"ADB_SERVER_SOCKET": "tcp:lab:1", "ANDROID_ADB_SERVER_PORT": "2"}, AdbServer("lab", 1)),
        (None, {"ADB_SERVER_SOCKET": "tcp:5038"}, AdbServer("127.0.0.1", 5038)),
        ("lab:3", {"ADB_SERVER_SOCKET": "tcp:other:1"}, AdbServer("lab", 3)),
        ("[::1]:3", {}, AdbServer("::1", 3)),
    ],
)
def test_the_server_is_the_one_that_adb_itself_would_use(
    address: str | None, environ: dict[str, str], server: AdbServer
) -> None:
    assert AdbServer.from_environment(address, environ) == server


@pytest.mark.parametrize("address", ["lab", "lab:", "lab:x", "lab:0", "lab:70000", "::1:5037", "localabstract:x"])
def test_an_address_that_is_none_is_a_usage_error_that_quotes_it(address: str) -> None:
    with pytest.raises(UsageError, match=address):
        AdbServer.from_environment(address, {})


def test_only_a_loopback_address_is_local() -> None:
    assert AdbServer("127.0.0.1", 1).is_local
    assert AdbServer("localhost", 1).is_local
    assert not AdbServer("10.0.0.2", 1).is_local


async def test_a_running_server_reports_its_version(adb_server: AdbServer) -> None:
    assert await adb_server.ensure_running(timeout_s=10) >= 41


async def test_a_server_without_devices_lists_none(adb_server: AdbServer) -> None:
    assert await adb_server.devices(timeout_s=10) == ()


async def test_every_request_to_an_unknown_serial_is_not_found(adb_server: AdbServer) -> None:
    device = adb_server.device("nobody")
    with pytest.raises(DeviceNotFound, match="nobody"):
        await device.state(timeout_s=10)
    with pytest.raises(DeviceNotFound, match="nobody"):
        await device.shell("id", timeout_s=10)
    with pytest.raises(DeviceNotFound, match="nobody"):
        await device.open_stream("localabstract:x", timeout_s=10)
    with pytest.raises(DeviceNotFound, match="nobody"):
        async with device.forward("tcp:0", "localabstract:x", timeout_s=10):
            pass
    with pytest.raises(DeviceNotFound, match="nobody"):
        async with device.reverse("tcp:0", "tcp:1", timeout_s=10):
            pass


async def test_waiting_for_a_device_reports_the_last_state(adb_server: AdbServer) -> None:
    with pytest.raises(DeadlineExceeded, match=r"nobody becoming device timed out after 0\.2 s; last seen: absent"):
        await adb_server.device("nobody").wait_for_state("device", timeout_s=0.2)


async def test_a_device_that_is_gone_is_absent_at_once(adb_server: AdbServer) -> None:
    await adb_server.device("nobody").wait_for_state("absent", timeout_s=10)


async def test_tracking_starts_with_the_present_list_and_survives_a_cancelled_wait(
    adb_server: AdbServer, open_files: Callable[[], set[str]]
) -> None:
    before = open_files()
    async with adb_server.track(timeout_s=math.inf) as lists:
        assert await anext(lists) == ()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(anext(lists), 0.05)
        with pytest.raises(DeviceNotFound):
            await adb_server.connect("127.0.0.1:9", timeout_s=10)
    assert open_files() == before


async def test_the_time_for_tracking_is_for_all_of_it(adb_server: AdbServer) -> None:
    async with adb_server.track(timeout_s=0.2) as lists:
        assert await anext(lists) == ()
        with pytest.raises(DeadlineExceeded, match="last seen: no device"):
            await anext(lists)


async def test_connecting_where_nothing_listens_reports_the_servers_reason(adb_server: AdbServer) -> None:
    with pytest.raises(DeviceNotFound, match=r"127\.0\.0\.1:9.*refused"):
        await adb_server.connect("127.0.0.1:9", timeout_s=10)


async def test_disconnecting_an_unknown_device_reports_it(adb_server: AdbServer) -> None:
    with pytest.raises(DeviceNotFound, match="no such device"):
        await adb_server.disconnect("127.0.0.1:9", timeout_s=10)


async def test_a_remote_server_that_is_not_there_is_not_started() -> None:
    remote = AdbServer("127.0.0.2", 9)  # an address of this machine that is not the loopback name
    assert not remote.is_local
    with pytest.raises(AdbUnavailable, match=r"No adb server at 127\.0\.0\.2:9: .*refused"):
        await remote.ensure_running(timeout_s=10)


async def test_concurrent_starts_share_a_server_and_its_end_is_reported(adb_program: Path) -> None:
    server = AdbServer(port=random.randrange(32_000, 32_700))  # noqa: S311
    versions = await asyncio.gather(*(server.ensure_running(timeout_s=30) for _ in range(2)))
    assert versions[0] == versions[1]
    async with server.track(timeout_s=30) as lists:
        assert await anext(lists) == ()
        killing = await asyncio.create_subprocess_exec(adb_program, "-P", str(server.port), "kill-server")
        assert await killing.wait() == 0
        with pytest.raises(AdbUnavailable, match=server.address):
            await anext(lists)
    with pytest.raises(AdbUnavailable, match=f"No adb server at {server.address}"):
        await server.devices(timeout_s=10)


async def test_without_any_adb_program_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("ADBUTILS_ADB_PATH", "/nowhere/adb")
    with pytest.raises(AdbUnavailable, match="/nowhere/adb cannot be run"):
        await AdbServer(port=9).ensure_running(timeout_s=10)


async def test_a_program_on_the_path_comes_first_and_its_complaint_is_quoted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program = tmp_path / "adb"
    program.write_text("#!/bin/sh\necho no usb here $*\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(AdbUnavailable, match="no usb here -P 9 start-server"):
        await AdbServer(port=9).ensure_running(timeout_s=10)


async def test_an_adb_program_that_hangs_is_ended_at_the_deadline(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, open_files: Callable[[], set[str]]
) -> None:
    pid_file = tmp_path / "pid"
    program = tmp_path / "adb"
    program.write_text(f"#!/bin/sh\necho $$ > {pid_file}\nexec sleep 60\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    before = open_files()
    with pytest.raises(DeadlineExceeded, match="start-server"):
        await AdbServer(port=9).ensure_running(timeout_s=1)
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid_file.read_text()), 0)
    assert {name for name in open_files() - before if name.startswith(("socket", "pipe"))} == set()
