"""What can go wrong between a device and its host app, told by an adb server that plays each case."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bridge.adb import AdbDevice, AdbServer
from bridge.errors import BridgeError, DeadlineExceeded, DeviceBusy, HostFailed, HostMissing, ShellFailed
from bridge.host.installation import HOST_PACKAGE, installed_apk
from bridge.host.launch import start_host
from bridge.host.lease import hold_lease


@pytest.fixture(autouse=True)
def own_leases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))


def block(text: str) -> bytes:
    return b"%04x" % len(text) + text.encode()


def packet(stream: int, payload: bytes) -> bytes:
    return bytes([stream]) + len(payload).to_bytes(4, "little") + payload


@asynccontextmanager
async def scripted_device(commands: dict[str, tuple[int, str]]) -> AsyncIterator[tuple[AdbDevice, list[str]]]:
    """A device whose commands, by their first word, end with this code and these words; and what it was asked."""
    asked: list[str] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                service = (await reader.readexactly(int(await reader.readexactly(4), 16))).decode()
                writer.write(b"OKAY")
                if service.startswith("host:transport:"):
                    continue
                asked.append(service)
                if service.endswith(":features"):
                    writer.write(block("shell_v2,cmd"))
                elif service.startswith("host:devices"):
                    writer.write(block("S device\n"))
                elif service.startswith("shell,v2,raw:"):
                    code, words = commands[service.removeprefix("shell,v2,raw:").split()[0]]
                    writer.write(packet(1, words.encode()) + packet(3, bytes([code])))
                break
            await writer.drain()
        except asyncio.IncompleteReadError:
            pass
        finally:
            writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as listener:
        yield AdbServer(port=listener.sockets[0].getsockname()[1]).device("S"), asked


async def start(device: AdbDevice, timeout_s: float = 10) -> None:
    async with start_host(device, owner="me", policy_digest="p", timeout_s=timeout_s):
        pass


@pytest.mark.parametrize("am_code", [0, 255])
async def test_an_app_that_is_not_installed_is_missing_whatever_code_am_ends_with(am_code: int) -> None:
    commands = {"am": (am_code, "Error: Not found; no service started.\n"), "pm": (1, "")}
    async with scripted_device(commands) as (device, _):
        with pytest.raises(HostMissing, match=rf"{HOST_PACKAGE} is not installed on S.*host install"):
            await start(device)


async def test_a_refused_service_reports_androids_message_without_the_token() -> None:
    words = "Starting service: Intent { cmp=x }\nError: app is in background\n"
    async with scripted_device({"am": (0, words), "pm": (0, "package:/data/app/base.apk\n")}) as (device, asked):
        with pytest.raises(HostFailed, match="app is in background") as failed:
            await start(device)
    token = re.search(r"--es token ([0-9a-f]{64})", asked[1])
    assert token is not None
    assert token[1] not in str(failed.value)


async def test_a_package_manager_that_does_not_answer_yet_is_not_a_missing_app() -> None:
    commands = {"am": (255, "Error: no"), "pm": (20, "cmd: Can't find service: package\n")}
    async with scripted_device(commands) as (device, _):
        with pytest.raises(ShellFailed, match="Can't find service"):
            await start(device)


async def test_an_installed_app_is_found_with_its_path() -> None:
    listed = "package:/data/app/~~x==/base.apk\npackage:/data/app/~~x==/split.apk\n"
    async with scripted_device({"pm": (0, listed)}) as (device, _):
        assert await installed_apk(device, timeout_s=10) == "/data/app/~~x==/base.apk"


async def test_a_service_that_starts_and_hangs_up_is_an_error_of_ours() -> None:
    async with scripted_device({"am": (0, "Starting service: Intent { cmp=x }\n")}) as (device, asked):
        with pytest.raises(BridgeError):
            await start(device)
    assert re.fullmatch(r"localabstract:webview_bridge_[0-9a-f]{32}", asked[-1])


async def test_a_service_that_never_listens_ends_at_the_deadline() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                service = (await reader.readexactly(int(await reader.readexactly(4), 16))).decode()
                if service.startswith("localabstract:"):
                    writer.write(b"FAIL" + block("closed"))
                    break
                writer.write(b"OKAY")
                if service.endswith(":features"):
                    writer.write(block("shell_v2"))
                elif service.startswith("host:devices"):
                    writer.write(block("S device\n"))
                elif service.startswith("shell"):
                    writer.write(packet(1, b"Starting service\n") + packet(3, b"\0"))
            await writer.drain()
        except asyncio.IncompleteReadError:
            pass
        finally:
            writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as listener:
        device = AdbServer(port=listener.sockets[0].getsockname()[1]).device("S")
        with pytest.raises(
            DeadlineExceeded, match=r"control socket timed out after 0\.5 s; last seen: nothing listens"
        ):
            await start(device, timeout_s=0.5)


async def test_a_device_that_is_held_is_not_touched() -> None:
    async with scripted_device({}) as (device, asked):
        with hold_lease("S", owner="somebody", policy_digest="p"), pytest.raises(DeviceBusy, match="somebody"):
            await start(device)
    assert asked == []


async def test_a_refused_service_is_tried_as_an_instrumentation_and_both_refusals_are_reported() -> None:
    words = "Error: app is in background\n"
    async with scripted_device({"am": (0, words), "pm": (0, "package:/data/app/base.apk\n")}) as (device, asked):
        with pytest.raises(HostFailed) as failed:
            await start(device)
    started = [service for service in asked if ":am " in service]
    assert [re.search(r":am (\S+)", service)[1] for service in started] == ["start-foreground-service", "instrument"]  # type: ignore[index]
    assert started[1].endswith(" dev.webviewbridge.host/.HostInstrumentation")
    tokens = [re.search(r"[0-9a-f]{64}", service)[0] for service in started]  # type: ignore[index]
    assert tokens[0] != tokens[1], "an endpoint that did not come up is not used again"
    assert not any(token in str(failed.value) for token in tokens)


async def test_an_instrumentation_that_is_not_there_is_named() -> None:
    words = "INSTRUMENTATION_STATUS: Error=Unable to find instrumentation info\nINSTRUMENTATION_STATUS_CODE: -1\n"
    async with scripted_device({"am": (0, words), "pm": (0, "package:/data/app/base.apk\n")}) as (device, _):
        with pytest.raises(HostFailed, match="Unable to find instrumentation info"):
            async with start_host(device, owner="me", policy_digest="p", timeout_s=10, plans=("instrumentation",)):
                pass


async def test_an_error_that_quotes_the_command_does_not_quote_the_token() -> None:
    asked: list[str] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while size := await reader.read(4):
            request = (await reader.readexactly(int(size, 16))).decode()
            asked.append(request)
            # The reason repeats what it is about, as a device might.
            refused = f"error: cannot run {request}".encode() if ":am " in request else b""
            writer.write(b"FAIL%04x" % len(refused) + refused if refused else b"OKAY")
            if request.endswith(":features"):
                writer.write(b"0008shell_v2")
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as listener:
        device = AdbServer(port=listener.sockets[0].getsockname()[1]).device("S")
        with pytest.raises(BridgeError) as failed:
            await start(device)
    (token,) = {found for request in asked for found in re.findall(r"-e?s? token ([0-9a-f]{64})", request)}
    assert "cannot run" in str(failed.value)
    assert token not in str(failed.value) + str(failed.value.to_json()) + repr(failed.value.args)
