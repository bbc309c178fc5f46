"""A device through the real adb server: the virtual one, or a phone by `--webview-device=SERIAL`."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bridge.adb import AdbDevice, AdbServer
from bridge.errors import DeadlineExceeded, InstallFailed, ServiceRefused, ShellFailed, UsageError


@pytest.fixture
async def device(webview_device: str, adb_port: int) -> AdbDevice:
    server = AdbServer(port=adb_port)
    await server.ensure_running(timeout_s=30)
    return server.device(webview_device)


@pytest.fixture
def adb(device: AdbDevice, adb_program: Path) -> Callable[..., str]:
    """Android's own client, as a second opinion."""

    def run(*words: str) -> str:
        command = [str(adb_program), "-P", str(device.server.port), "-s", device.serial, *words]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=30).stdout

    return run


@asynccontextmanager
async def shouting_server() -> AsyncIterator[int]:
    """A server on this machine that answers a line in capitals; yields its port."""

    async def shout(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write((await reader.readline()).upper())
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(shout, "127.0.0.1", 0) as listener:
        yield listener.sockets[0].getsockname()[1]


async def test_an_attached_device_is_listed_as_a_device(device: AdbDevice) -> None:
    await device.wait_for_state("device", timeout_s=10)
    assert await device.state(timeout_s=10) == "device"
    assert device.serial in [entry.serial for entry in await device.server.devices(timeout_s=10)]


async def test_a_command_brings_exit_code_and_both_outputs(device: AdbDevice) -> None:
    result = await device.shell("echo out; echo err >&2; exit 7", timeout_s=10)
    assert (result.exit_code, result.stdout, result.stderr) == (7, "out\n", "err\n")


async def test_the_words_of_a_sequence_arrive_unchanged(device: AdbDevice) -> None:
    odd = "a b  'c\" $HOME `id` ; # é"
    assert (await device.shell(["echo", odd], timeout_s=10)).stdout == odd + "\n"


async def test_a_checked_command_that_fails_raises_its_output(device: AdbDevice) -> None:
    with pytest.raises(ShellFailed, match="ended with exit code 3: nope"):
        await device.shell("echo nope >&2; exit 3", timeout_s=10, check=True)


async def test_a_command_that_does_not_end_is_left_at_the_deadline(device: AdbDevice) -> None:
    with pytest.raises(DeadlineExceeded, match=r"sleep 60.*timed out after 0\.5 s"):
        await device.shell("sleep 60", timeout_s=0.5)


async def test_commands_run_side_by_side(device: AdbDevice) -> None:
    results = await asyncio.gather(*(device.shell(["echo", str(n)], timeout_s=20) for n in range(10)))
    assert [result.stdout for result in results] == [f"{n}\n" for n in range(10)]


async def test_a_property_is_its_text_and_an_unset_one_is_empty(device: AdbDevice) -> None:
    assert int(await device.getprop("ro.build.version.sdk", timeout_s=10)) >= 26
    assert await device.getprop("wvb.no.such.property", timeout_s=10) == ""


async def test_a_file_comes_back_as_it_was_sent(device: AdbDevice, tmp_path: Path) -> None:
    content = os.urandom(3_000_000)
    source, copy, remote = tmp_path / "source", tmp_path / "copy", "/data/local/tmp/wvb-test file"
    source.write_bytes(content)
    progress: list[tuple[int, int]] = []
    try:
        await device.push(source, remote, timeout_s=60, on_progress=lambda sent, size: progress.append((sent, size)))
        assert await device.pull(remote, copy, timeout_s=60) == len(content)
    finally:
        await device.shell(["rm", "-f", remote], timeout_s=10)
    assert copy.read_bytes() == content
    assert progress[-1] == (len(content), len(content))
    assert sorted(os.listdir(tmp_path)) == ["copy", "source"]  # noqa: PTH208


async def test_a_file_that_is_not_there_leaves_nothing_behind(device: AdbDevice, tmp_path: Path) -> None:
    with pytest.raises(ServiceRefused, match="No such file"):
        await device.pull("/data/local/tmp/wvb-no-such-file", tmp_path / "x", timeout_s=10)
    with pytest.raises(UsageError, match="cannot be read"):
        await device.push(tmp_path / "nothing", "/data/local/tmp/x", timeout_s=10)
    assert os.listdir(tmp_path) == []  # noqa: PTH208


@pytest.mark.parametrize("size_bytes", [1, 2_000_000])
async def test_a_place_that_may_not_be_written_is_refused_with_the_devices_reason(
    device: AdbDevice, size_bytes: int
) -> None:
    with pytest.raises(ServiceRefused, match=r"push of /system/wvb-test was refused: .*(Read-only|denied)"):
        await device.push(bytes(size_bytes), "/system/wvb-test", timeout_s=30)


async def test_a_file_that_is_not_a_package_is_refused_with_the_managers_code(
    device: AdbDevice, tmp_path: Path
) -> None:
    apk = tmp_path / "not-a.apk"
    apk.write_bytes(os.urandom(300_000))
    with pytest.raises(InstallFailed, match=r"did not install not-a\.apk: INSTALL_") as failed:
        await device.install(apk, timeout_s=60)
    assert failed.value.details["pm_code"].startswith("INSTALL_")


async def test_a_package_that_is_not_there_cannot_be_removed(device: AdbDevice) -> None:
    with pytest.raises(ShellFailed, match="Failure"):
        await device.uninstall("dev.webviewbridge.nosuch", timeout_s=30)


async def test_a_socket_without_a_listener_is_refused(device: AdbDevice) -> None:
    with pytest.raises(ServiceRefused, match="localabstract:wvb-nobody was refused"):
        await device.open_stream("localabstract:wvb-nobody", timeout_s=10)


async def test_a_reverse_connects_the_device_to_this_machine_during_its_block(
    device: AdbDevice, adb: Callable[..., str]
) -> None:
    loop = asyncio.get_running_loop()
    async with shouting_server() as port:
        async with device.reverse("tcp:0", f"tcp:{port}", timeout_s=10) as remote:
            assert f"{remote} tcp:{port}" in await asyncio.to_thread(adb, "reverse", "--list")
            with await device.open_stream(remote, timeout_s=10) as sock:
                await loop.sock_sendall(sock, b"hello\n")
                assert await loop.sock_recv(sock, 100) == b"HELLO\n"
        assert remote not in await asyncio.to_thread(adb, "reverse", "--list")


async def test_a_reverse_of_another_process_is_used_if_it_fits_and_never_replaced_or_removed(
    device: AdbDevice, adb: Callable[..., str]
) -> None:
    async with device.reverse("tcp:0", "tcp:9", timeout_s=10) as theirs:
        async with device.reverse(theirs, "tcp:9", timeout_s=10) as ours:
            assert ours == theirs
        with pytest.raises(ServiceRefused, match="rebind"):
            await device.reverse(theirs, "tcp:10", timeout_s=10).__aenter__()
        assert f"{theirs} tcp:9" in await asyncio.to_thread(adb, "reverse", "--list")


async def test_a_forward_is_there_for_its_block_only(device: AdbDevice, adb: Callable[..., str]) -> None:
    async with device.forward("tcp:0", "localabstract:wvb-x", timeout_s=10) as port:
        assert f"tcp:{port} localabstract:wvb-x" in await asyncio.to_thread(adb, "forward", "--list")
    assert f"tcp:{port} " not in await asyncio.to_thread(adb, "forward", "--list")


async def test_mappings_go_although_the_block_is_cancelled(device: AdbDevice, adb: Callable[..., str]) -> None:
    entered = asyncio.Event()
    names: list[str] = []

    async def hold() -> None:
        async with (
            device.reverse("tcp:0", "tcp:9", timeout_s=10) as remote,
            device.forward("tcp:0", "localabstract:wvb-x", timeout_s=10) as port,
        ):
            names.extend([f"{remote} ", f"tcp:{port} "])
            entered.set()
            await asyncio.Event().wait()

    holding = asyncio.create_task(hold())
    await asyncio.wait_for(entered.wait(), 20)
    holding.cancel()
    with pytest.raises(asyncio.CancelledError):
        await holding
    listed = await asyncio.to_thread(lambda: adb("reverse", "--list") + adb("forward", "--list"))
    assert [name for name in names if name in listed] == []
