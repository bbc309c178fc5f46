"""Peers that are silent, wrong, old or dying: each ends in a named error within its deadline, and leaves nothing."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TypeAlias

import pytest

from bridge.adb import AdbDevice, AdbServer
from bridge.errors import (
    AdbUnavailable,
    DeadlineExceeded,
    DeviceLost,
    DeviceOffline,
    DeviceUnauthorized,
    InstallFailed,
    ServiceRefused,
)

Reader: TypeAlias = asyncio.StreamReader
Writer: TypeAlias = asyncio.StreamWriter
Peer = Callable[[Callable[[Reader, Writer], Awaitable[None]]], AbstractAsyncContextManager[AdbServer]]


async def read_request(reader: Reader) -> str:
    return (await reader.readexactly(int(await reader.readexactly(4), 16))).decode()


def block(text: str | bytes) -> bytes:
    payload = text.encode() if isinstance(text, str) else text
    return b"%04x" % len(payload) + payload


async def say_nothing(reader: Reader, writer: Writer) -> None:
    await reader.read()


def answering(answers: dict[str, bytes]) -> Callable[[Reader, Writer], Awaitable[None]]:
    """A server that gives these answers, OKAY to choosing a transport, and closes after anything else."""

    async def handle(reader: Reader, writer: Writer) -> None:
        while True:
            request = await read_request(reader)
            if request.startswith("host:transport:"):
                writer.write(b"OKAY")
                continue
            writer.write(answers[request])
            await writer.drain()
            return

    return handle


EVERY_OPERATION: dict[str, Callable[[AdbDevice], Awaitable[object]]] = {
    "list": lambda device: device.server.devices(timeout_s=0.2),
    "connect": lambda device: device.server.connect("h:1", timeout_s=0.2),
    "disconnect": lambda device: device.server.disconnect("h:1", timeout_s=0.2),
    "state": lambda device: device.state(timeout_s=0.2),
    "shell": lambda device: device.shell("id", timeout_s=0.2),
    "stream": lambda device: device.open_stream("localabstract:x", timeout_s=0.2),
    "push": lambda device: device.push(b"x", "/data/x", timeout_s=0.2),
    "pull": lambda device: device.pull("/data/x", Path("/tmp/wvb-never-written"), timeout_s=0.2),  # noqa: S108
    "install": lambda device: device.install(Path(__file__), timeout_s=0.2),
    "forward": lambda device: device.forward("tcp:0", "tcp:1", timeout_s=0.2).__aenter__(),
    "reverse": lambda device: device.reverse("tcp:0", "tcp:1", timeout_s=0.2).__aenter__(),
    "wait": lambda device: device.wait_for_state("device", timeout_s=0.2),
}


@pytest.mark.parametrize("operation", EVERY_OPERATION)
async def test_a_server_that_never_answers_costs_no_more_than_the_deadline(
    operation: str, peer: Peer, open_files: Callable[[], set[str]]
) -> None:
    async with peer(say_nothing) as server:
        before = open_files()
        started = time.monotonic()
        with pytest.raises(DeadlineExceeded, match=r"timed out after 0\.2 s"):
            await EVERY_OPERATION[operation](server.device("S"))
        assert time.monotonic() - started < 20
        ours = {name for name in open_files() - before if name.startswith("socket")}
    assert len(ours) <= 1, "only the peer's own end of the connection may still be open"


@pytest.mark.parametrize("operation", EVERY_OPERATION)
async def test_a_cancelled_operation_leaves_neither_task_nor_socket(operation: str, peer: Peer) -> None:
    accepted, ended = asyncio.Event(), asyncio.Event()

    async def hold(reader: Reader, writer: Writer) -> None:
        accepted.set()
        await reader.read()
        ended.set()

    async with peer(hold) as server:
        tasks = asyncio.all_tasks()
        running = asyncio.ensure_future(EVERY_OPERATION[operation](server.device("S")))
        await asyncio.wait_for(accepted.wait(), 30)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        await asyncio.wait_for(ended.wait(), 30)
        left = {task.get_name() for task in asyncio.all_tasks() - tasks if "serve" not in repr(task)}
    assert left == set()


async def test_a_silent_listener_is_not_taken_for_an_adb_server(peer: Peer) -> None:
    async with peer(say_nothing) as server:
        with pytest.raises(AdbUnavailable, match=r"did not reply to host:version within 0\.2 s"):
            await server.ensure_running(timeout_s=0.2)


@pytest.mark.parametrize("garbage", [b"HTTP/1.1 400 Bad\r\n\r\n", b"OKAYzzzz", b"SSH-2.0-x\r\n", bytes(64)])
async def test_an_error_quotes_a_server_that_is_not_adb(garbage: bytes, peer: Peer) -> None:
    async def rant(reader: Reader, writer: Writer) -> None:
        await read_request(reader)
        writer.write(garbage)
        await writer.drain()

    async with peer(rant) as server:
        with pytest.raises(AdbUnavailable, match="is not an adb server"):
            await server.ensure_running(timeout_s=20)


async def test_a_version_that_is_not_a_number_is_quoted(peer: Peer) -> None:
    async with peer(answering({"host:version": b"OKAY" + block("new")})) as server:
        with pytest.raises(AdbUnavailable, match="new"):
            await server.ensure_running(timeout_s=20)


async def test_an_old_server_keeps_running_and_the_error_names_its_version(peer: Peer) -> None:
    async with peer(answering({"host:version": b"OKAY" + block("001f")})) as server:
        with pytest.raises(AdbUnavailable, match=r"version 1\.0\.31; 1\.0\.36 is the oldest"):
            await server.ensure_running(timeout_s=20)


async def test_a_newer_server_is_fine(peer: Peer) -> None:
    async with peer(answering({"host:version": b"OKAY" + block("0063")})) as server:
        assert await server.ensure_running(timeout_s=20) == 99


async def test_a_server_that_closes_inside_an_answer_is_unavailable(peer: Peer) -> None:
    async with peer(answering({"host:devices-l": b"OKAY00ffhalf"})) as server:
        with pytest.raises(AdbUnavailable, match="closed the connection: 12 bytes of the reply to host:devices-l"):
            await server.devices(timeout_s=20)


async def test_tracking_ends_with_an_error_when_the_server_is_lost(peer: Peer) -> None:
    answers = {"host:track-devices-l": b"OKAY" + block("S device\n")}
    async with peer(answering(answers)) as server, server.track(timeout_s=20) as lists:
        assert [entry.serial for entry in await anext(lists)] == ["S"]
        with pytest.raises(AdbUnavailable, match="stopped tracking"):
            await anext(lists)


async def test_an_old_server_is_tracked_in_the_short_form(peer: Peer) -> None:
    answers = {
        "host:track-devices-l": b"FAIL" + block("unknown host service"),
        "host:track-devices": b"OKAY" + block("S\toffline\n"),
    }
    async with peer(answering(answers)) as server, server.track(timeout_s=20) as lists:
        assert [entry.state for entry in await anext(lists)] == ["offline"]


async def test_the_listeners_own_exception_passes_through_tracking(peer: Peer) -> None:
    answers = {"host:track-devices-l": b"OKAY" + block("")}

    async def listen(server: AdbServer) -> None:
        async with server.track(timeout_s=20) as lists:
            async for _ in lists:
                raise ZeroDivisionError

    async with peer(answering(answers)) as server:
        with pytest.raises(ZeroDivisionError):
            await listen(server)


@pytest.mark.parametrize(
    ("reason", "error"),
    [
        ("device unauthorized.\nThis adb server's $ADB_VENDOR_KEYS is not set", DeviceUnauthorized),
        ("device still authorizing", DeviceUnauthorized),
        ("device offline", DeviceOffline),
        ("device still connecting", DeviceOffline),
        ("insufficient permissions for device: missing udev rules?", DeviceOffline),
        ("something nobody has seen", ServiceRefused),
    ],
)
async def test_a_refused_device_becomes_the_error_that_names_its_trouble(
    reason: str, error: type[Exception], peer: Peer
) -> None:
    async def refuse(reader: Reader, writer: Writer) -> None:
        await read_request(reader)
        writer.write(b"FAIL" + block(reason))
        await writer.drain()

    async with peer(refuse) as server:
        with pytest.raises(error, match=reason.split()[1]):
            await server.device("S").open_stream("localabstract:x", timeout_s=20)


@pytest.mark.parametrize(
    ("listed", "error"),
    [("S device", ServiceRefused), ("S offline", DeviceOffline), ("T device", DeviceLost)],
)
async def test_a_closed_service_is_distinguished_from_a_lost_device(
    listed: str, error: type[Exception], peer: Peer
) -> None:
    answers = {"localabstract:x": b"FAIL" + block("closed"), "host:devices-l": b"OKAY" + block(listed + "\n")}
    async with peer(answering(answers)) as server:
        with pytest.raises(error):
            await server.device("S").open_stream("localabstract:x", timeout_s=20)


async def test_a_device_without_shell_v2_still_reports_exit_codes(peer: Peer) -> None:
    answers = {
        "host-serial:S:features": b"OKAY" + block("cmd"),
        "shell:(ls /x\n); echo wvb-exit:$?": b"OKAYls: /x: No such file\r\nwvb-exit:1\r\n",
    }
    async with peer(answering(answers)) as server:
        result = await server.device("S").shell("ls /x", timeout_s=20)
    assert (result.exit_code, result.stdout) == (1, "ls: /x: No such file\n")


async def test_a_shell_that_ends_without_an_exit_code_is_a_lost_device(peer: Peer) -> None:
    answers = {
        "host-serial:S:features": b"OKAY" + block("shell_v2,cmd"),
        "shell,v2,raw:ls": b"OKAY\x01\x05\x00\x00\x00half ",
    }
    async with peer(answering(answers)) as server:
        with pytest.raises(DeviceLost, match="half"):
            await server.device("S").shell("ls", timeout_s=20)


async def test_a_shell_that_does_not_end_is_reported_with_its_last_output(peer: Peer) -> None:
    async def hang(reader: Reader, writer: Writer) -> None:
        while True:
            request = await read_request(reader)
            if request.endswith("features"):
                writer.write(b"OKAY" + block("shell_v2"))
            else:
                writer.write(b"OKAY")
            if request.startswith("shell"):
                writer.write(b"\x01\x08\x00\x00\x00step one")

    async with peer(hang) as server:
        with pytest.raises(DeadlineExceeded, match=r"the end of 'logcat' \(last output: 'step one'\)"):
            await server.device("S").shell("logcat", timeout_s=0.3)


async def test_bytes_behind_the_okay_belong_to_the_stream(peer: Peer) -> None:
    async with peer(answering({"localabstract:x": b"OKAYhello"})) as server:
        sock = await server.device("S").open_stream("localabstract:x", timeout_s=20)
        with sock:
            assert await asyncio.get_running_loop().sock_recv(sock, 100) == b"hello"


async def test_a_refusal_of_the_package_manager_that_closes_early_is_reported(peer: Peer, tmp_path: Path) -> None:
    apk = tmp_path / "big.apk"
    apk.write_bytes(bytes(8_000_000))
    size = apk.stat().st_size
    answers = {
        "host-serial:S:features": b"OKAY" + block("shell_v2,cmd"),
        f"exec:cmd package install -r -t -S {size}": b"OKAYFailure [INSTALL_FAILED_INSUFFICIENT_STORAGE: no room]\n",
    }
    async with peer(answering(answers)) as server:
        with pytest.raises(InstallFailed, match="_INSUFFICIENT_STORAGE: no room") as failed:
            await server.device("S").install(apk, timeout_s=10)
    assert failed.value.details["pm_code"] == "INSTALL_FAILED_INSUFFICIENT_STORAGE"


async def test_the_reporters_own_exception_ends_the_installation(peer: Peer, tmp_path: Path) -> None:
    apk = tmp_path / "big.apk"
    apk.write_bytes(bytes(1_000_000))

    async def swallow(reader: Reader, writer: Writer) -> None:
        for _ in range(2):
            request = await read_request(reader)
            if request.endswith("features"):
                writer.write(b"OKAY" + block("abb_exec"))
                return
            writer.write(b"OKAY")
        await reader.read()

    def report(sent: int, size: int) -> None:
        raise ZeroDivisionError

    async with peer(swallow) as server:
        with pytest.raises(ZeroDivisionError):
            await server.device("S").install(apk, timeout_s=10, on_progress=report)


async def test_a_mapping_that_is_made_while_we_are_cancelled_is_taken_back(peer: Peer) -> None:
    """The answer comes after the cancellation: without waiting for it the mapping would stay for ever."""
    asked, cancelled, removed = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def slow(reader: Reader, writer: Writer) -> None:
        request = await read_request(reader)
        if ":forward:norebind:" in request:
            asked.set()
            await cancelled.wait()
            writer.write(b"OKAYOKAY" + block("4444"))
        elif request == "host:list-forward":
            writer.write(b"OKAY" + block("S tcp:4444 tcp:1\nS tcp:5 tcp:1\n"))
        else:
            assert request == "host-serial:S:killforward:tcp:4444"
            removed.set()
            writer.write(b"OKAYOKAY")
        await writer.drain()

    async with peer(slow) as server:
        entering = asyncio.ensure_future(server.device("S").forward("tcp:0", "tcp:1", timeout_s=20).__aenter__())
        await asyncio.wait_for(asked.wait(), 30)
        entering.cancel()
        asyncio.get_running_loop().call_soon(cancelled.set)
        with pytest.raises(asyncio.CancelledError):
            await entering
        assert removed.is_set()


async def test_a_replaced_mapping_is_not_removed(peer: Peer) -> None:
    requests = []

    async def note(reader: Reader, writer: Writer) -> None:
        request = await read_request(reader)
        requests.append(request)
        if request == "host:list-forward":
            writer.write(b"OKAY" + block("S tcp:4444 localabstract:theirs\n"))
        else:
            writer.write(b"OKAYOKAY" + block("4444"))
        await writer.drain()

    async with peer(note) as server, server.device("S").forward("tcp:0", "tcp:1", timeout_s=20) as port:
        assert port == 4444
    assert requests == ["host-serial:S:forward:norebind:tcp:0;tcp:1", "host:list-forward"]
