"""What adbd and the shell of a device do, asked the same of a phone and of the virtual device.

`pytest tests/adb/conformance --serial S` asks an attached device. Each row holds on a user build of Android 8 or newer:
the rows are what AOSP's adbd, mksh and toybox do.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from bridge.adb import AdbDevice
from bridge.deadline import Deadline
from bridge.errors import BridgeError, DeviceError, ServiceRefused

pytestmark = pytest.mark.asyncio(loop_scope="module")

TIMEOUT_S = 15.0
FOLDER = "FOLDER"


@dataclass(frozen=True)
class Row:
    """A command line, with FOLDER for an empty folder, and what it prints and ends with; outputs are full matches."""

    line: str
    stdout: str = ""
    stderr: str = ""
    exit_code: int = 0


SHELL = [
    # The shell protocol: streams, exit codes, quoting.
    Row("echo out; echo err >&2; exit 3", "out\n", "err\n", 3),
    Row("true"),
    Row("false", exit_code=1),
    Row("exit 255", exit_code=255),
    Row("exit 256"),
    Row("printf 'no line end'", "no line end"),
    Row("printf 'a\\tb' | wc -c", r"\s*3\n"),
    Row('echo \'single "$HOME"\' "double"', 'single "\\$HOME" double\n'),
    Row("echo grün 日本", "grün 日本\n"),
    Row("false || echo or; true && echo and", "or\nand\n"),
    Row("false; echo $?", "1\n"),
    Row("no-such-command", "", r".*no-such-command:.*not found\n", 127),
    Row("/no/such/program", "", r".*/no/such/program:.*not found\n", 127),
    Row("/data/local/tmp", "", r".*/data/local/tmp:.*(Is a directory|Permission denied)\n", 126),
    Row("kill $$", exit_code=143),
    Row("kill -9 $$", exit_code=137),
    Row("echo one | cat | tr o 0", "0ne\n"),
    Row("pwd", "/\n"),
    Row("cd /data/local/tmp && pwd", "/data/local/tmp\n"),
    Row("echo $USER $HOME", r"shell /\n"),
    Row("id -u; id -g", "2000\n2000\n"),
    Row("whoami", "shell\n"),
    Row("getprop ro.adb.secure", r"[01]?\n"),
    Row("getprop ro.build.version.sdk", r"(2[6-9]|3\d)\n"),
    Row("getprop no.such.property", "\n"),
    # Files: what the shell may do where.
    Row("cat /no/such/file", "", r"cat: /no/such/file: No such file or directory\n", 1),
    Row("cat /data/local/tmp", "", r"cat: /data/local/tmp: Is a directory\n", 1),
    Row("echo x > /system/x", "", r".*/system/x: Read-only file system\n", 1),
    Row("echo x > /data/x", "", r".*/data/x: Permission denied\n", 1),
    Row("echo x > /dev/x", "", r".*/dev/x: Permission denied\n", 1),
    Row("echo x > /data/local/tmp", "", r".*/data/local/tmp: Is a directory\n", 1),
    Row("mkdir /system/x", "", r"mkdir: '/system/x': Read-only file system\n", 1),
    Row("ls /data", "", r"ls: /data/?: Permission denied\n", 1),
    Row("ls /no/such", "", r"ls: /no/such: No such file or directory\n", 1),
    Row("echo gone > /dev/null; cat /dev/null"),
    Row("cat /dev/zero | head -c 5 | wc -c", r"\s*5\n"),
    Row("head -c 5 /dev/zero | wc -c", r"\s*5\n"),
    Row("dd if=/dev/zero bs=1k count=3 2>/dev/null | wc -c", r"\s*3072\n"),
    Row("echo a > FOLDER/f; echo b >> FOLDER/f; cat FOLDER/f", "a\nb\n"),
    Row("mkdir FOLDER/d; mkdir FOLDER/d", "", r"mkdir: '.*/d': File exists\n", 1),
    Row("mkdir -p FOLDER/p/q/r; ls FOLDER/p/q", "r\n"),
    Row("touch FOLDER/f; stat -c %s FOLDER/f", "0\n"),
    Row("touch FOLDER/f; chmod 640 FOLDER/f; stat -c %a FOLDER/f", "640\n"),
    Row("touch FOLDER/f; mv FOLDER/f FOLDER/g; ls FOLDER", "g\n"),
    Row("mkdir FOLDER/d; touch FOLDER/d/f; rmdir FOLDER/d", "", r"rmdir: .*d.*: Directory not empty\n", 1),
    Row("rm FOLDER/no", "", r"rm: .*no: No such file or directory\n", 1),
    Row("rm -f FOLDER/no"),
    Row("echo 'echo run' > FOLDER/s; chmod 755 FOLDER/s; FOLDER/s", "run\n"),
    Row("echo x > FOLDER/s; chmod 644 FOLDER/s; FOLDER/s", "", r".*: can't execute: Permission denied\n", 126),
    # Android's own commands.
    Row("pm path android", r"package:/system/framework/.*apk\n|package:/.*\.apk\n"),
    Row("pm path no.such.package", exit_code=1),
    Row("am force-stop no.such.package"),
    Row("pidof no.such.process", exit_code=1),
    Row("settings get global adb_enabled", "1\n"),
]


@pytest.mark.parametrize("row", SHELL, ids=lambda row: row.line)
async def test_the_shell(device: AdbDevice, folder: str, row: Row) -> None:
    result = await device.shell(row.line.replace(FOLDER, folder), timeout_s=TIMEOUT_S)
    assert (result.exit_code, result.stderr) == (row.exit_code, result.stderr)
    assert re.fullmatch(row.stdout, result.stdout, re.DOTALL), result
    assert re.fullmatch(row.stderr, result.stderr, re.DOTALL), result


async def pushed(device: AdbDevice, path: str, content: bytes, mode: int = 0o644) -> None:
    await device.push(content, path, timeout_s=TIMEOUT_S, mode=mode)


@pytest.mark.parametrize("size", [0, 1, 65_536, 65_537, 3_000_000])
async def test_a_file_comes_back_as_it_was_pushed(device: AdbDevice, folder: str, tmp_path: Path, size: int) -> None:
    content = bytes(number * 31 % 251 for number in range(size))
    await pushed(device, f"{folder}/f", content)
    assert await device.pull(f"{folder}/f", tmp_path / "f", timeout_s=TIMEOUT_S) == size
    assert await asyncio.to_thread((tmp_path / "f").read_bytes) == content


@pytest.mark.parametrize(("mode", "seen"), [(0o644, "666"), (0o600, "666"), (0o755, "777")])
async def test_a_pushed_file_gives_all_what_its_owner_may(device: AdbDevice, folder: str, mode: int, seen: str) -> None:
    await pushed(device, f"{folder}/f", b"x", mode)
    result = await device.shell(f"stat -c %a {folder}/f", timeout_s=TIMEOUT_S)
    assert result.stdout == f"{seen}\n"


async def test_a_pushed_script_runs(device: AdbDevice, folder: str) -> None:
    await pushed(device, f"{folder}/s", b"#!/system/bin/sh\necho it runs\n", 0o755)
    assert (await device.shell(f"{folder}/s", timeout_s=TIMEOUT_S)).stdout == "it runs\n"


async def test_a_push_makes_the_folders_of_its_path(device: AdbDevice, folder: str) -> None:
    await pushed(device, f"{folder}/a/b/f", b"x")
    assert (await device.shell(["ls", f"{folder}/a/b"], timeout_s=TIMEOUT_S)).stdout == "f\n"


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/system/f", "Read-only file system"),
        ("/data/f", "Permission denied"),
        ("/data/local/tmp", "Is a directory"),
    ],
)
async def test_a_push_is_refused_with_the_reason(device: AdbDevice, path: str, reason: str) -> None:
    with pytest.raises(DeviceError, match=reason):
        await pushed(device, path, b"x")


async def test_a_pull_of_a_missing_file_is_refused(device: AdbDevice, tmp_path: Path) -> None:
    with pytest.raises(BridgeError, match="No such file"):
        await device.pull("/data/local/tmp/no-such-file", tmp_path / "f", timeout_s=TIMEOUT_S)


@pytest.mark.parametrize("service", ["no-such-service:", "localabstract:no-such-socket", "tcp:1", "tcp:99999"])
async def test_a_service_that_does_not_exist_is_refused(device: AdbDevice, service: str) -> None:
    with pytest.raises(ServiceRefused):
        await device.open_stream(service, timeout_s=TIMEOUT_S)
    assert (await device.shell("echo still", timeout_s=TIMEOUT_S)).stdout == "still\n"


async def test_the_features_that_the_bridge_uses(device: AdbDevice) -> None:
    assert {"shell_v2", "cmd", "stat_v2"} <= await device.features(Deadline.after(TIMEOUT_S))


async def test_a_port_of_the_device_reaches_this_machine(device: AdbDevice) -> None:
    async def greet(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"hello")
        writer.close()

    server = await asyncio.start_server(greet, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server, device.reverse("tcp:0", f"tcp:{port}", timeout_s=TIMEOUT_S) as remote:
        sock = await device.open_stream(remote, timeout_s=TIMEOUT_S)
        reader, writer = await asyncio.open_connection(sock=sock)
        assert await asyncio.wait_for(reader.read(), TIMEOUT_S) == b"hello"
        writer.close()


async def test_two_hundred_short_commands_leave_the_connection_usable(device: AdbDevice) -> None:
    for _ in range(20):
        results = await asyncio.gather(*(device.shell(f"echo {number}", timeout_s=60) for number in range(10)))
        assert [result.stdout for result in results] == [f"{number}\n" for number in range(10)]


async def test_a_command_whose_client_leaves_does_not_block_others(device: AdbDevice) -> None:
    with pytest.raises(BridgeError):
        await device.shell("sleep 30", timeout_s=0.5)
    assert (await device.shell("echo here", timeout_s=TIMEOUT_S)).stdout == "here\n"
