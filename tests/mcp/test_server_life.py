"""How the server's process begins and ends, and what it survives."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp import Client

from tests.conftest import adb_program
from tests.mcp.conftest import LIMIT_S, Address, Serving, text_of

pytestmark = [pytest.mark.browser, pytest.mark.timeout(180)]

HANDSHAKE: list[dict[str, Any]] = [
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    },
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
]


def say(process: subprocess.Popen[str], *messages: Any) -> None:
    assert process.stdin is not None
    for message in messages:
        process.stdin.write((message if isinstance(message, str) else json.dumps(message)) + "\n")
    process.stdin.flush()


def hear(process: subprocess.Popen[str]) -> dict[str, Any]:
    """The next message. Every line of stdout has to be one."""
    assert process.stdout is not None
    found: dict[str, Any] = json.loads(process.stdout.readline())
    return found


def called(number: int, tool: str, **arguments: Any) -> dict[str, Any]:
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


def test_tools_are_listed_and_no_device_is_touched(serving: Serving) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    serving.environment["ANDROID_ADB_SERVER_PORT"] = str(port)
    process = serving.start()
    say(process, *HANDSHAKE, {"jsonrpc": "2.0", "id": 2, "method": "tools/list"})
    hear(process)
    assert len(hear(process)["result"]["tools"]) == 23
    with pytest.raises(ConnectionRefusedError):  # who touches a device starts the adb server
        socket.create_connection(("127.0.0.1", port), timeout=LIMIT_S)
    process.communicate(timeout=LIMIT_S)


def test_stdout_holds_nothing_but_the_protocol_and_hostile_lines_are_survived(serving: Serving) -> None:
    process = serving.start("--verbose")
    say(process, "this is not JSON", "[]", '{"jsonrpc": "2.0"}', "null", "{" * 5000, *HANDSHAKE)
    say(process, called(2, "web_open", url=serving.local.url("hostile.html")), called(3, "web_snapshot"))
    say(process, {"jsonrpc": "2.0", "id": 4, "method": "no/such/method"})
    say(process, {"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"name": 5, "arguments": []}})
    answers = {}
    while not {2, 3, 4, 5} <= answers.keys():
        message = hear(process)
        answers[message.get("id")] = message
    assert "HTTP 200" in answers[2]["result"]["content"][0]["text"]
    assert "error" in answers[4]
    assert "error" in answers[5]
    rest, _ = process.communicate(timeout=LIMIT_S)
    assert all(json.loads(line) for line in rest.splitlines())
    assert process.returncode == 0


def open_targets(serving: Serving) -> int:
    """How many WebViews the device has, as its devtools socket tells."""
    from bridge.virtual_device import list_virtual_devices

    return len(list_virtual_devices())


@pytest.mark.parametrize("ending", ["eof", "SIGTERM", "SIGINT"])
def test_the_end_of_the_client_ends_the_server_and_the_device_is_free_again(serving: Serving, ending: str) -> None:
    for _ in range(2):  # a session that was not closed would still own the device
        process = serving.start()
        say(process, *HANDSHAKE, called(2, "web_open", url=serving.local.url("second.html")))
        hear(process)
        assert "HTTP 200" in hear(process)["result"]["content"][0]["text"]
        if ending != "eof":
            process.send_signal(getattr(signal, ending))
            process.wait(timeout=20)
        process.communicate(timeout=20)
        assert process.returncode == {"eof": 0, "SIGTERM": 143, "SIGINT": 130}[ending]


def test_http_ends_on_a_signal_while_a_client_is_connected(serving: Serving) -> None:
    process = serving.start("--http", "--port", "0")
    address = Address.said_by(process)
    url, headers = address.url, address.headers
    with httpx.stream("POST", url, json=HANDSHAKE[0], headers=headers, timeout=20) as answer:
        assert answer.status_code == 200
        session = answer.headers["mcp-session-id"]
    with httpx.stream("GET", url, headers={**headers, "mcp-session-id": session}, timeout=20):
        process.terminate()
        process.communicate(timeout=20)
    assert process.returncode == 143


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "attacker.example"}, 421),
        ({"Host": "127.0.0.1.attacker.example:80"}, 421),
        ({"Origin": "https://attacker.example"}, 403),
    ],
)
def test_http_refuses_other_hosts_and_origins(serving: Serving, headers: dict[str, str], status: int) -> None:
    with serving.http() as address:
        sent = {**address.headers, **headers}
        assert httpx.post(address.url, json=HANDSHAKE[0], headers=sent, timeout=20).status_code == status


async def test_two_clients_at_once_have_tabs_refs_and_fences_of_their_own(serving: Serving) -> None:
    with serving.http() as address:
        async with address.client(mode="legacy") as one, address.client(mode="legacy") as two:
            first, second = await asyncio.gather(
                one.call_tool("web_open", {"url": serving.local.url("second.html")}),
                two.call_tool("web_open", {"url": serving.local.url("controls.html")}),
            )
            nonces = {re.findall(r"<page-content (\w+)", text_of(each))[0] for each in (first, second)}
            assert len(nonces) == 2
            tabs = [text_of(await each.call_tool("web_tabs", {})) for each in (one, two)]
            assert "second.html" in tabs[0]
            assert "controls.html" not in tabs[0]
            assert "controls.html" in tabs[1]
            other = re.findall(r"\n(t\d+) ", tabs[1])[0]
            taken = await one.call_tool("web_tabs", {"action": "select", "tab": other})
            assert "tab_lost" in text_of(taken)


async def test_clients_without_sessions_get_tabs_of_their_own_by_a_name_in_the_address(serving: Serving) -> None:
    with serving.http() as address:
        one_s, two_s = (address.client(query=f"?session={name}", mode="auto") for name in "ab")
        async with one_s as one, two_s as two:
            await one.call_tool("web_open", {"url": serving.local.url("second.html")})
            assert "no tab is open" in text_of(await two.call_tool("web_snapshot", {}))


def shell(serial: str, command: str) -> None:
    port = os.environ["ANDROID_ADB_SERVER_PORT"]
    subprocess.run([adb_program(), "-P", port, "-s", serial, "shell", command], check=True, timeout=30)


async def test_a_host_app_that_is_stopped_in_the_middle_comes_back_with_its_tab(
    serving: Serving, webview_device: str
) -> None:
    async with serving.client("stdio") as client:
        await client.call_tool("web_open", {"url": serving.local.url("second.html")})
        waiting = asyncio.create_task(client.call_tool("web_wait", {"text": "never", "timeout_seconds": 30}))
        await asyncio.to_thread(shell, webview_device, "am force-stop dev.webviewbridge.host")
        interrupted = await asyncio.wait_for(waiting, 60)
        assert interrupted.is_error
        again = await client.call_tool("web_snapshot", {})
        assert not again.is_error, text_of(again)
        assert "opened again" in text_of(again)
        assert "second.html" in text_of(again)


async def test_a_virtual_device_that_dies_is_started_again(serving: Serving) -> None:
    serving.options = ("--device", "virtual", "--local", str(serving.local.port))
    process = serving.parameters()
    async with Client(process) as client:
        await client.call_tool("web_open", {"url": serving.local.url("second.html")})
        for pid in virtual_devices_of(os.getpid()):
            os.kill(pid, signal.SIGKILL)
        lost = await client.call_tool("web_snapshot", {})
        opened = await client.call_tool("web_open", {"url": serving.local.url("second.html")})
        assert "HTTP 200" in text_of(opened)
        assert "restarted" in text_of(lost) + text_of(opened)


def virtual_devices_of(pid: int) -> list[int]:
    """The virtual devices that a server below process `pid` runs, by their command lines; not the suite's own."""
    children: dict[int, list[int]] = {}
    lines: dict[int, str] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
                lines[int(folder.name)] = (folder / "cmdline").read_text().replace("\0", " ")
            except OSError:
                continue
            children.setdefault(parent, []).append(int(folder.name))
    servers = [child for child in children.get(pid, []) if " mcp " in f"{lines[child]} "]
    return [child for server in servers for child in children.get(server, []) if "virtual_device" in lines[child]]


def test_the_sdk_is_imported_by_one_module_only() -> None:
    importers = [
        path.name
        for path in Path("bridge").rglob("*.py")
        if re.search(r"^\s*(import mcp|from mcp|import mcp_types|from mcp_types)\b", path.read_text(), re.MULTILINE)
    ]
    assert importers == ["protocol.py"]


def test_no_server_is_started_for_options_that_make_no_sense(serving: Serving) -> None:
    for text in ("--allow-javascript", "--port 1", "--secrets-env NOT_THERE", "--uploads-root /nope"):
        done = subprocess.run(
            serving.command(*text.split()),
            env=serving.environment,
            input="",
            capture_output=True,
            text=True,
            timeout=30,
        )
        assert done.returncode == 2, done.stderr
        assert done.stdout == ""
    assert sys.executable
