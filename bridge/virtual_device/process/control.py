"""The control channel of a running device: one JSON line in, one JSON line out, on an owner-only unix socket.

Requests are `{"do": "status"}`, `{"do": "stop"}` and `{"do": "fault", "name": …, "arguments": {…}}`; the reply has
`"ok": true` and facts, or `"error": {"code", "message"}`.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from bridge.errors import BridgeError, UsageError, VirtualDeviceFailed

MAX_LINE_BYTES = 64 * 1024

Answer = Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]


@asynccontextmanager
async def control_socket(path: Path, answer: Answer) -> AsyncIterator[None]:
    """Listens at `path`, which must be in a folder of mode 0700."""
    clients: set[asyncio.Task[Any]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        clients.add(task)
        try:
            await _serve(reader, writer, answer)
        finally:
            clients.discard(task)
            writer.close()

    server = await asyncio.start_unix_server(serve, path, limit=MAX_LINE_BYTES)
    try:
        yield
    finally:
        server.close()
        current = asyncio.current_task()
        pending = [task for task in clients if task is not current]
        _, late = await asyncio.wait(pending, timeout=1.0) if pending else ((), ())
        for task in late:
            task.cancel()


async def _serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, answer: Answer) -> None:
    with contextlib.suppress(ConnectionError, ValueError):  # ValueError: the line exceeds the limit
        while line := await reader.readline():
            try:
                request = json.loads(line)
                if not isinstance(request, dict):
                    raise UsageError("The request is not a JSON object.")
                reply = {"ok": True, **await answer(request)}
            except json.JSONDecodeError as error:
                reply = {"ok": False, "error": UsageError(f"Not JSON: {error}.").to_json()}
            except BridgeError as error:
                reply = {"ok": False, "error": error.to_json()}
            writer.write(json.dumps(reply).encode() + b"\n")
            await writer.drain()


async def ask(path: str, request: dict[str, Any], *, timeout_s: float) -> dict[str, Any]:
    """The device's reply.

    Raises:
        VirtualDeviceFailed: The device is not running, or replied with an error (`details["code"]`).
    """
    writer: asyncio.StreamWriter | None = None
    try:
        async with asyncio.timeout(timeout_s):
            reader, writer = await asyncio.open_unix_connection(path, limit=MAX_LINE_BYTES)
            writer.write(json.dumps(request).encode() + b"\n")
            line = await reader.readline()
    except TimeoutError as error:
        raise VirtualDeviceFailed(
            f"The virtual device did not respond to {request.get('do')} in {timeout_s:g} s."
        ) from error
    except (OSError, ValueError) as error:
        raise VirtualDeviceFailed(f"The virtual device at {path} is not running: {error}.") from error
    finally:
        if writer is not None:
            writer.close()
    if not line:
        raise VirtualDeviceFailed(f"The virtual device ended during the request {request.get('do')}.")
    reply = json.loads(line)
    if not reply.get("ok"):
        failure = reply.get("error", {})
        raise VirtualDeviceFailed(str(failure.get("message", "no reason given")), code=failure.get("code", "error"))
    assert isinstance(reply, dict)
    return reply
