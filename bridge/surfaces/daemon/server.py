"""The process of a kept session: runs commands from its socket on one session, and exits when idle."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import os
import re
import signal
import socket
import struct
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

import bridge
from bridge.deadline import Deadline
from bridge.errors import BridgeError, TabLost, TransportError, UsageError
from bridge.host.protocol import FrameReader, WireFrame
from bridge.surfaces.daemon.session_files import Kind, Record, SessionFiles, files_of, recorded
from bridge.surfaces.daemon.wire import LIMITS, error_facts, message, reply_message
from bridge.surfaces.kept_session import KeptSession, open_kept_session
from bridge.surfaces.session_command import StartOptions

if TYPE_CHECKING:
    from bridge.session import Session

logger = logging.getLogger(__name__)

IDLE_EXIT_S = 1800.0
_HELLO_S = 10.0
_CLOSE_S = 20.0
_PIECE_BYTES = 256 * 1024


class Daemon:
    """Runs commands, one per connection. The first command opens the session."""

    kind: Kind = "session"

    def __init__(self, files: SessionFiles, *, idle_exit_s: float = IDLE_EXIT_S) -> None:
        self._files = files
        self._idle_exit_s = idle_exit_s
        self._opened: asyncio.Future[KeptSession] | None = None
        self._started_with: StartOptions | None = None
        self._holder: asyncio.Task[None] | None = None
        self._notices: set[Callable[[str], None]] = set()
        self._running = 0
        self._has_succeeded = False
        self._last_used = time.monotonic()
        self._ended = asyncio.Event()

    async def serve(self, ready: Callable[[], None]) -> None:
        """Listen until idle, closed or signalled, then close the session."""
        with suppress(NotImplementedError):
            for number in (signal.SIGTERM, signal.SIGINT):
                asyncio.get_running_loop().add_signal_handler(number, self._ended.set)
        await self.listen(ready)

    async def listen(self, ready: Callable[[], None]) -> None:
        """`serve` for a process that handles signals itself."""
        self._files.socket.unlink(missing_ok=True)
        server = await asyncio.start_unix_server(self._serve_one, path=self._files.socket)
        try:
            self._files.socket.chmod(0o600)
            Record(self._files.name, os.getpid(), bridge.__version__, time.time(), self.kind).write(self._files)
            ready()
            await self._until_over()
        finally:
            # The socket goes first, so that no command finds an exiting process.
            self._files.socket.unlink(missing_ok=True)
            self._files.record.unlink(missing_ok=True)
            server.close()
            self._ended.set()
            if self._holder is not None:
                await asyncio.wait({self._holder}, timeout=_CLOSE_S)

    async def _until_over(self) -> None:
        while not self._ended.is_set():
            idle_s = time.monotonic() - self._last_used
            if self._running == 0 and idle_s >= self._idle_exit_s:
                logger.info("idle for %.0f s", idle_s)
                return
            wait_s = self._idle_exit_s - (idle_s if self._running == 0 else 0)
            with suppress(TimeoutError):
                async with asyncio.timeout(None if math.isinf(wait_s) else wait_s):
                    await self._ended.wait()

    async def _serve_one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            if not _is_same_user(writer):
                return
            self._running += 1
            try:
                await self._serve_command(reader, writer)
            finally:
                self._running -= 1
                self._last_used = time.monotonic()
                if self._running == 0 and not self._has_succeeded:
                    self._ended.set()  # the command that started it failed or was cancelled
        except (OSError, BridgeError) as error:  # a TimeoutError too: it connected and sent nothing
            logger.info("a command disconnected: %s", error)
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    async def _serve_command(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        frames = FrameReader(LIMITS)
        async with asyncio.timeout(_HELLO_S):
            request = (await _next_frame(reader, frames)).header
        if self._ended.is_set():
            return
        writer.write(message({"accepted": True}))

        def send_notice(text: str) -> None:
            writer.write(reply_message({"notice": text}))

        work = asyncio.create_task(self._run(request, send_notice), name=f"command {request.get('command')}")
        gone = asyncio.create_task(reader.read(1), name="the command's end")
        try:
            await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (gone, work):
                if not task.done():
                    task.cancel()
            await asyncio.wait({work, gone})
        if work.cancelled():
            return
        frame = work.result()
        writer.write(reply_message(frame.header, frame.body))
        await writer.drain()
        if request.get("command") == "close" and "result" in frame.header:
            self._ended.set()

    async def _run(self, request: dict[str, Any], on_notice: Callable[[str], None]) -> WireFrame:
        """The response to one request; every error becomes one."""
        try:
            return await self._run_command(request, on_notice)
        except BridgeError as error:
            if error.details.get("has_ended"):
                self._ended.set()  # the session is over
            return WireFrame({"error": error_facts(error)})
        except Exception as error:
            logger.exception("a command failed unexpectedly")
            unexpected = BridgeError(f"unexpected {type(error).__name__}: {error}", hint=f"See {self._files.log}.")
            return WireFrame({"error": error_facts(unexpected)})

    async def _run_command(self, request: dict[str, Any], on_notice: Callable[[str], None]) -> WireFrame:
        command, params, timeout_s = request.get("command"), request.get("params"), request.get("timeout_s")
        if not isinstance(command, str) or not isinstance(params, dict):
            raise UsageError("a request must have a command and params")
        if command == "close":
            return WireFrame({"result": {"closed": self._files.name}})
        if request.get("version") != bridge.__version__:
            return WireFrame({"error": {"code": "version_mismatch", "message": bridge.__version__, "exit_code": 1}})
        deadline = Deadline.after(float(timeout_s)) if isinstance(timeout_s, int | float) else None
        self._notices.add(on_notice)
        try:
            async with deadline.bound(f"webview-bridge {command}") if deadline else contextlib.nullcontext():
                kept = await self._ready(StartOptions.from_json(request.get("start") or {}))
                result = await kept.run(command, params)
        finally:
            self._notices.discard(on_notice)
        self._has_succeeded = True
        return WireFrame({"result": dict(result.json)}, result.blob)

    async def _ready(self, wanted: StartOptions) -> KeptSession:
        if self._opened is None or self._started_with is None:
            self._opened = asyncio.get_running_loop().create_future()
            self._started_with = wanted
            self._holder = asyncio.create_task(self._hold(wanted, self._opened), name="the session")
        else:
            self._started_with.check_covers(wanted, self._files.name)
        # The first command may be cancelled while others wait for the same session.
        return await asyncio.shield(self._opened)

    async def _hold(self, wanted: StartOptions, opened: asyncio.Future[KeptSession]) -> None:
        """Enter and leave the session's block in one task, independent of the command that needed it."""
        try:
            async with open_kept_session(wanted, self._notify) as kept:
                opened.set_result(kept)
                await kept.session.stay_awake(self._ended)
        except Exception as error:
            if not opened.done():
                opened.set_exception(error)
            else:
                logger.exception("closing the session failed")

    def _notify(self, text: str) -> None:
        logger.info(
            "%s", re.sub(r"(https?://[^\s?#]+)[?#]\S*", r"\1", text)
        )  # the live view's token must not be logged
        for on_notice in tuple(self._notices):
            on_notice(text)


class _ServedTabs(Daemon):
    """Shows the tabs of a session that another program of this process has opened."""

    kind = "mcp"

    def __init__(self, files: SessionFiles, session: Callable[[], Session | None]) -> None:
        super().__init__(files, idle_exit_s=math.inf)
        self._session = session
        self._has_succeeded = True  # a failed command does not end it

    async def _run_command(self, request: dict[str, Any], on_notice: Callable[[str], None]) -> WireFrame:
        if request.get("command") not in ("view", "tabs", "tab"):
            raise UsageError(
                f"{self._files.name} is a running MCP server: its model acts on the tabs.",
                hint="'tabs' lists them, 'view' shows one and lets you take over.",
            )
        return await super()._run_command(request, on_notice)

    async def _ready(self, wanted: StartOptions) -> KeptSession:
        session = self._session()
        if session is None:
            raise TabLost("no tab is open yet: the model has opened no page.")
        if self._kept is None or self._kept.session is not session:
            self._kept = KeptSession(session, self._notify)
        return self._kept

    _kept: KeptSession | None = None


@asynccontextmanager
async def serving_tabs(session: Callable[[], Session | None]) -> AsyncIterator[str]:
    """Serve `view` and `tabs` for the session while the block runs; yields the name that the commands take."""
    taken = {record.name for record in recorded()}
    name = "mcp" if "mcp" not in taken else f"mcp-{os.getpid()}"
    serving = asyncio.create_task(_ServedTabs(files_of(name), session).listen(lambda: None), name="tabs for view")
    try:
        yield name
    finally:
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)


def _is_same_user(writer: asyncio.StreamWriter) -> bool:
    """A second check beside the folder's permissions: the kernel names the peer (SO_PEERCRED, unix(7))."""
    sock: socket.socket | None = writer.get_extra_info("socket")
    if sock is None or not hasattr(socket, "SO_PEERCRED"):
        return True
    _, uid, _ = struct.unpack("3i", sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i")))
    return uid in (os.getuid(), 0)


async def _next_frame(reader: asyncio.StreamReader, frames: FrameReader) -> WireFrame:
    """Read until a whole frame has arrived.

    Raises:
        TransportError: The command disconnected first.
        HostProtocolError: Not a valid frame.
    """
    while (frame := frames.next_frame()) is None:
        piece = await reader.read(_PIECE_BYTES)
        if not piece:
            raise TransportError("the command disconnected")
        frames.feed(piece)
    return frame
