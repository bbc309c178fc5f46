"""`python -m bridge.surfaces.cli.zygote SOCKET`: the process whose forks become commands; see `hand_over.py`.

It has one thread, no event loop and nothing open but its socket, so that a fork of it begins clean. One fork is always
ready and waits for a command. It is started by the session's process and ends when that closes its stdin.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import io
import logging
import os
import select
import signal
import socket
import struct
import sys
import threading
import traceback
from contextlib import redirect_stderr, redirect_stdout
from importlib import import_module
from pathlib import Path

from bridge.host.protocol import FrameReader
from bridge.surfaces.cli.app import run, webview_bridge
from bridge.surfaces.cli.hand_over import LENGTH_BYTES, LONGEST_REQUEST_BYTES, STREAMS, TAKEN, facts, request_of
from bridge.surfaces.daemon.wire import LIMITS, message, read_message

# What commands of a kept session import when they are run.
_WANTED = (
    "bridge.page.snapshots.refs",
    "bridge.page.navigation.navigate",
    "bridge.surfaces.cli.runner",
    "bridge.surfaces.cli.tables",
    "bridge.surfaces.daemon.client",
    "bridge.surfaces.kept_session",
    "rich.console",
    "rich.table",
    "rich.text",
)
# Where it is found that no session can have this name, a command has done all but ask.
_NO_NAME = "-"
_REQUEST_S = 1.0
_PAUSE_S = 0.05
_DESCRIPTORS = len(STREAMS) + 1
_PIECE_BYTES = 256 * 1024
_PASSED_ON = (signal.SIGINT, signal.SIGTERM)


def main() -> None:
    """Serve until stdin ends."""
    listener = socket.socket(fileno=int(sys.argv[1]))
    for module in _WANTED:
        import_module(module)
    greeting = f"{facts()}\n{' '.join(_commands())}\n".encode()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel buries the forks
    _rehearse()
    gc.collect()
    gc.freeze()  # what the collector never looks at is never copied for a fork
    listener.listen()  # a command that comes before this is refused at once, and does without
    while True:
        spare, taken = os.pipe()
        if os.fork() == 0:
            os.close(spare)
            os._exit(_wait_for_command(listener, taken, greeting))
        os.close(taken)
        readable, _, _ = select.select([spare, sys.stdin], [], [])
        if sys.stdin in readable:
            return
        # The command is at work and wants the processor; the next spare is made after it, or for who comes meanwhile.
        ended = [spare] if os.read(spare, 1) else []
        select.select([*ended, listener, sys.stdin], [], [], _PAUSE_S)
        os.close(spare)


def _wait_for_command(listener: socket.socket, taken: int, greeting: bytes) -> int:
    """A fork's life: rehearse, which copies the memory that will be written to, wait, become one command.

    A byte on `taken` tells that a command was taken, the end of it that the command has ended.
    """
    if not select.select([listener], [], [], 0)[0]:  # whoever waits already is served sooner without
        _rehearse()
    while True:
        readable, _, _ = select.select([listener, sys.stdin], [], [])
        if sys.stdin in readable:
            return 0
        with listener.accept()[0] as connection:
            request = _request(connection, greeting)
            if request is not None:
                os.write(taken, b"t")
                listener.close()
                return _carry_out(connection, *request)


def _rehearse() -> None:
    """What a command does: take over (from itself), parse, run a loop, start a thread, pass a message, print."""
    folder = os.open(".", os.O_PATH | os.O_DIRECTORY)
    _take_over(request_of([])[LENGTH_BYTES:].split(b"\0"), [*map(os.dup, range(len(STREAMS))), folder])
    with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
        run(["snapshot", "--json", "--session", _NO_NAME])
    logging.getLogger().handlers.clear()  # the command itself decides whether it logs, and to its own stderr
    asyncio.run(_rehearse_asking())


async def _rehearse_asking() -> None:
    near, far = socket.socketpair()
    with near, far:
        threading.Thread(target=far.sendall, args=(message({"answer": {}}),)).start()
        reader, writer = await asyncio.open_unix_connection(sock=near)
        await read_message(reader, FrameReader(LIMITS))
        writer.close()
        await writer.wait_closed()


def _commands() -> list[str]:
    """Those that run in a session which may be kept: the declarations know which."""
    return [
        name
        for name, command in webview_bridge.commands.items()
        if any(option.name == "session_name" for option in command.params)
    ]


def _request(connection: socket.socket, greeting: bytes) -> tuple[list[bytes], list[int]] | None:
    """What the command on the other end wants, None where it went on without us, or is none."""
    try:
        if not _is_same_user(connection):
            return None
        connection.settimeout(_REQUEST_S)
        connection.sendall(greeting)
        request = _received(connection)
        connection.sendall(TAKEN)
        connection.settimeout(None)
    except (OSError, ValueError, EOFError):
        return None
    return request


def _carry_out(connection: socket.socket, fields: list[bytes], descriptors: list[int]) -> int:
    """Run the command line of the process on the other end; its exit code, which that was told."""
    threading.Thread(target=_obey, args=(connection,), daemon=True).start()
    try:
        code = run(_take_over(fields, descriptors))
    except BaseException:  # --verbose lets the unexpected through
        traceback.print_exc()
        code = 1
    with contextlib.suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    with contextlib.suppress(OSError):
        connection.sendall(bytes((code & 0xFF,)))
    return code


def _is_same_user(connection: socket.socket) -> bool:
    """The same group too: what the command writes would belong to it."""
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    _, uid, gid = struct.unpack("3i", credentials)
    return (uid, gid) == (os.geteuid(), os.getegid())


def _received(connection: socket.socket) -> tuple[list[bytes], list[int]]:
    """The fields of the request and the descriptors that came with its first byte.

    Raises:
        EOFError: The command went on without us.
        ValueError: No request.
    """
    held, descriptors, _, _ = socket.recv_fds(connection, _PIECE_BYTES, _DESCRIPTORS)
    length = LENGTH_BYTES
    while len(held) < length:
        piece = connection.recv(_PIECE_BYTES)
        if not piece:
            break
        held += piece
        length = LENGTH_BYTES + int.from_bytes(held[:LENGTH_BYTES], "big")
        if length > LONGEST_REQUEST_BYTES:
            raise ValueError("the request is too long")
    if not held:
        raise EOFError
    if len(descriptors) != _DESCRIPTORS or len(held) != LENGTH_BYTES + int.from_bytes(held[:LENGTH_BYTES], "big"):
        raise ValueError("no request")
    return held[LENGTH_BYTES:].split(b"\0"), descriptors


def _take_over(fields: list[bytes], descriptors: list[int]) -> list[str]:
    """Become the process that asked: its folder, umask, environment, signals and streams; gives its arguments."""
    words = iter(map(os.fsdecode, fields))
    umask = int(next(words))
    encodings = {name: (next(words), next(words)) for name in STREAMS}
    arguments = [next(words) for _ in range(int(next(words)))]
    for number, descriptor in enumerate(descriptors[: len(STREAMS)]):
        os.dup2(descriptor, number)
    os.fchdir(descriptors[-1])
    for descriptor in descriptors:
        os.close(descriptor)
    os.umask(umask)
    os.environ.clear()
    for name, _, value in (word.partition("=") for word in words):
        os.environ[name] = value
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, name in enumerate(STREAMS):
        encoding, errors = encodings[name]
        stream = io.TextIOWrapper(
            open(number, "rb" if name == "stdin" else "wb", closefd=False),  # noqa: SIM115
            encoding,
            errors,
            line_buffering=name == "stderr" or (name == "stdout" and os.isatty(number)),
        )
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    return arguments


def _obey(connection: socket.socket) -> None:
    """Pass on the signals of the process that was started; its end ends us too."""
    while True:
        try:
            told = connection.recv(1)
        except OSError:
            told = b""
        number = told[0] if told else signal.SIGTERM
        if number in _PASSED_ON:
            os.kill(os.getpid(), number)
        if not told:
            return


if __name__ == "__main__":
    main()
