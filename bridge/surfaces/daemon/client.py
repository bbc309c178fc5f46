"""A command's side of a kept session: connect to its process, start it if allowed, send one command.

Blocking sockets and no event loop: most of a warm command's time is its imports.
"""

from __future__ import annotations

import contextlib
import math
import os
import socket
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import bridge
from bridge.errors import BridgeError, DeadlineExceeded, TransportError, UsageError
from bridge.host.filelock import try_lock, unlock
from bridge.host.protocol import FrameReader
from bridge.surfaces.daemon.session_files import SessionFiles, files_of, read_record
from bridge.surfaces.daemon.wire import LIMITS, RemoteError, message
from bridge.surfaces.session_command import CommandResult

if TYPE_CHECKING:
    import subprocess

_START_S = 20.0
END_S = 30.0
# A live process accepts a command at once, whatever it is doing.
_ACCEPT_S = 10.0
# The session's process keeps the command's deadline and knows what it last saw; this is for one that hangs.
_GRACE_S = 5.0
_POLL_S = 0.02
_PIECE_BYTES = 256 * 1024


def send_command(
    name: str,
    command: str,
    params: Mapping[str, Any],
    *,
    timeout_s: float | None,
    start: Mapping[str, Any],
    may_start: bool,
    on_notice: Callable[[str], None],
) -> CommandResult:
    """Run a command in the session `name`. Interrupting it closes the connection, which cancels the command.

    Args:
        start: How to open the session, and what an open one has to cover.
        may_start: Start the session if it is not open; otherwise it has to be.

    Raises:
        UsageError: The session is not open and `may_start` is false.
        DeadlineExceeded: The session's process does not respond.
        BridgeError: What the command raised there, with its code and exit code.
    """
    files = files_of(name)
    timer = _Timer(math.inf if timeout_s is None else timeout_s + _GRACE_S, f"webview-bridge {command}")
    request = {
        "version": bridge.__version__,
        "command": command,
        "params": dict(params),
        "timeout_s": timeout_s,
        "start": dict(start),
    }
    for is_last in (False, True):
        connection = _connected(files)
        if connection is None:
            if not may_start:
                raise UsageError(
                    f"no session {name!r} is open.", hint="'webview-bridge open URL' opens one; --url needs none."
                )
            connection = _started(files)
        try:
            return _exchanged(connection, request, timer, on_notice)
        except _NotAccepted:
            if is_last:
                raise TransportError(f"session {name} ended before it accepted the command.") from None
            end(name)
        except _OtherVersion as other:
            if is_last:
                raise TransportError(f"session {name} runs version {other.version}.") from None
            on_notice(f"session {name} ran version {other.version} and was restarted; its tabs are gone")
            end(name)
            if not may_start:
                raise UsageError(
                    f"session {name!r} ended with its old version.", hint="'webview-bridge open URL' opens a new one."
                ) from None
    raise AssertionError("unreachable")


def end(name: str, *, timeout_s: float = END_S) -> bool:
    """End the session `name` and wait until its process has exited; False if it was not running.

    The process is asked first. If it does not exit soon it gets SIGTERM, then SIGKILL (it may be stopped); its virtual
    device and the host app then end by themselves.

    Raises:
        DeadlineExceeded: The process is still running.
    """
    import signal

    files = files_of(name)
    timer = _Timer(timeout_s, f"the end of session {name}")
    record = read_record(files.record)
    connection = _connected(files)
    if connection is None and not _is_running(files):
        return False
    if connection is not None:
        request = {"version": bridge.__version__, "command": "close", "params": {}}
        with contextlib.suppress(BridgeError, OSError, _NotAccepted, _OtherVersion):
            _exchanged(connection, request, _Timer(min(_ACCEPT_S, timer.remaining_s), "close"), lambda _: None)
    signals = [(2 / 3, signal.SIGTERM), (1 / 3, signal.SIGKILL)]
    while _is_running(files):
        if signals and record is not None and timer.remaining_s < signals[0][0] * timeout_s:
            with contextlib.suppress(ProcessLookupError):
                os.kill(record.pid, signals.pop(0)[1])
        if timer.remaining_s <= 0:
            raise timer.exceeded(f"process {record and record.pid}")
        time.sleep(_POLL_S)
    return True


class _NotAccepted(Exception):
    """The process was exiting and has not looked at the command."""


class _OtherVersion(Exception):
    def __init__(self, version: str) -> None:
        self.version = version


class _Timer:
    """The time left for a blocking exchange. `bridge.deadline` is built on asyncio, which a warm command cannot pay."""

    def __init__(self, timeout_s: float, awaited: str) -> None:
        self.timeout_s = timeout_s
        self._awaited = awaited
        self._at = time.monotonic() + timeout_s

    @property
    def remaining_s(self) -> float:
        return self._at - time.monotonic()

    def exceeded(self, last_seen: str = "") -> DeadlineExceeded:
        return DeadlineExceeded(self._awaited, self.timeout_s, last_seen)


def _connected(files: SessionFiles) -> socket.socket | None:
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.connect(str(files.socket))
    except (FileNotFoundError, ConnectionRefusedError):
        connection.close()
        return None
    except BaseException:
        connection.close()
        raise
    return connection


def _exchanged(
    connection: socket.socket, request: Mapping[str, Any], timer: _Timer, on_notice: Callable[[str], None]
) -> CommandResult:
    accepting = _Timer(_ACCEPT_S, "the session's process accepting the command")
    patience = accepting if accepting.remaining_s < timer.remaining_s else timer
    with connection:
        frames = FrameReader(LIMITS)
        try:
            _limit(connection, patience)
            connection.sendall(message(request))
            while True:
                while (frame := frames.next_frame()) is None:
                    _limit(connection, patience)
                    piece = connection.recv(_PIECE_BYTES)
                    if not piece:
                        raise ConnectionResetError
                    frames.feed(piece)
                if "accepted" in frame.header:
                    patience = timer
                elif "notice" in frame.header:
                    on_notice(str(frame.header["notice"]))
                elif isinstance(error := frame.header.get("error"), Mapping):
                    if error.get("code") == "version_mismatch":
                        raise _OtherVersion(str(error.get("message")))
                    raise RemoteError(error)
                else:
                    result = frame.header.get("result")
                    return CommandResult(result if isinstance(result, Mapping) else {}, frame.body)
        except TimeoutError:
            raise patience.exceeded() from None
        except ConnectionError:
            if patience is accepting:
                raise _NotAccepted from None
            raise TransportError("the session's process closed the connection before it responded.") from None


def _limit(connection: socket.socket, timer: _Timer) -> None:
    """Bound the next socket call. TimeoutError at once when no time is left: 0 would make the socket non-blocking."""
    if timer.remaining_s <= 0:
        raise TimeoutError
    connection.settimeout(None if math.isinf(timer.timeout_s) else timer.remaining_s)


def _started(files: SessionFiles) -> socket.socket:
    """A connection to a new process. Waits for one that is exiting, or that another command is starting."""
    timer = _Timer(_START_S, "the start of the session's process")
    while timer.remaining_s > 0:
        _spawn(files, timer)
        connection = _connected(files)
        if connection is not None:
            return connection
        time.sleep(_POLL_S)
    raise TransportError("the session's process does not respond.", hint=f"See {files.log}.")


def _spawn(files: SessionFiles, timer: _Timer) -> None:
    """Start the session's process and wait for its first line; several commands may do so at once."""
    import select

    process = _process(files)
    assert process.stdout is not None
    with process.stdout as pipe:
        try:
            readable, _, _ = select.select([pipe], [], [], max(timer.remaining_s, 0))
            if not readable:
                raise timer.exceeded()
            line = pipe.readline().decode(errors="replace").strip()  # written in one piece
        except BaseException:
            process.kill()
            process.wait()
            raise
    if line != "ready":
        process.wait()
    if line not in ("ready", "taken"):
        raise TransportError(
            f"the session's process did not start: {line or 'it printed nothing'}.", hint=f"See {files.log}."
        )


def _process(files: SessionFiles) -> subprocess.Popen[bytes]:
    import subprocess
    import sys

    # Not truncated here: a running process may be writing to it. The process that gets the lock truncates it.
    descriptor = os.open(files.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0), 0o600)
    with os.fdopen(descriptor, "wb") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "bridge.surfaces.daemon", files.name],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            start_new_session=True,
        )


def _is_running(files: SessionFiles) -> bool:
    """True if the session's process runs: it holds its lock until it exits."""
    with files.lock.open("a") as lock:
        if not try_lock(lock):
            return True
        unlock(lock)
        return False
