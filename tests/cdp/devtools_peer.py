"""The server side of a devtools connection in the tests."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

from websockets.asyncio.server import ServerConnection

from bridge.cdp import CdpConnection

Devtools = Callable[[Callable[[ServerConnection], Any]], AbstractAsyncContextManager[CdpConnection]]


async def dial(port: int) -> socket.socket:
    """A connected, non-blocking socket, as AdbDevice.open_stream returns it."""
    sock = socket.socket()
    sock.setblocking(False)
    await asyncio.get_running_loop().sock_connect(sock, ("127.0.0.1", port))
    return sock


async def read_command(websocket: ServerConnection) -> dict[str, Any]:
    command = json.loads(await websocket.recv())
    assert isinstance(command, dict)
    return command


def reply(command: dict[str, Any], **result: Any) -> str:
    return json.dumps({"id": command["id"], "result": result})


def event(method: str, session_id: str | None = None, **params: Any) -> str:
    message: dict[str, Any] = {"method": method, "params": params}
    if session_id is not None:
        message["sessionId"] = session_id
    return json.dumps(message)


async def answer_all(websocket: ServerConnection) -> None:
    """Answer each command with its own method and parameters."""
    async for message in websocket:
        command = json.loads(message)
        await websocket.send(reply(command, method=command["method"], params=command["params"]))
