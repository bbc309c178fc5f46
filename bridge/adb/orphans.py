"""A process that removes a reversed port if the process that made it is killed.

A mapping outlives its maker: apps on the device could go on connecting to a port of this machine, which by then may be
another program's. The guard starts before the mapping is requested, so that no moment is left in which a killed process
leaves one. This file is run as a script with `python -I -S`, which starts in a few milliseconds; it imports nothing of
the package.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager

_TIMEOUT_S = 3.0
_LOOK_S = 1.0
# A request that was on its way when its sender was killed has been carried out after this time.
_ON_ITS_WAY_S = 1.0
_PAUSE_S = 0.1
_REMOVED = b"removed\n"


@contextmanager
def guarded_mapping(
    host: str, port: int, serial: str, remote: str, local: str, before: Collection[str]
) -> Iterator[Callable[[str], None]]:
    """Guards the mapping of `remote` to `local` that is made in the block, which removes it again or has made none.

    Yields a function that takes the device's end of the mapping once it is made: `remote` may be `tcp:0`. Until then,
    one whose device's end is in `before` is not taken for it.
    """
    try:
        process = subprocess.Popen(
            [
                sys.executable,
                *("-I", "-S", __file__),
                json.dumps([os.getpid(), host, port, serial, remote, local, list(before)]),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:  # no processes or file descriptors are left; the mapping is usable all the same
        yield lambda _made: None
        return
    assert process.stdin is not None
    pipe = process.stdin

    def send(line: bytes) -> None:
        with contextlib.suppress(OSError):
            pipe.write(line)
            pipe.flush()

    try:
        yield lambda made: send(made.encode() + b"\n")
    finally:
        send(_REMOVED)
        with contextlib.suppress(OSError):
            pipe.close()
        try:
            process.wait(timeout=_LOOK_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def main() -> None:
    parent, host, port, serial, remote, local, before = json.loads(sys.argv[1])
    received = _received_from(parent)
    if received.endswith(_REMOVED):
        return
    made = received.partition(b"\n")[0].decode()
    end = time.monotonic() + _ON_ITS_WAY_S
    while True:
        for found in _mapped_to(host, port, serial, local):
            if found == made or (not made and found not in before and remote in (found, "tcp:0")):
                _remove(host, port, serial, found)
                return
        if made or time.monotonic() > end:
            return
        time.sleep(_PAUSE_S)


def _received_from(parent: int) -> bytes:
    """Everything that the parent wrote until its block or the parent itself ended. Its other children may keep the pipe
    open."""
    received, pipe = b"", sys.stdin.fileno()
    while not received.endswith(_REMOVED):
        if sys.platform == "win32" or select.select([pipe], [], [], _LOOK_S)[0]:
            piece = os.read(pipe, 4096)
            if not piece:
                break
            received += piece
        elif os.getppid() != parent:
            break
    return received


def _mapped_to(host: str, port: int, serial: str, local: str) -> list[str]:
    """The device's ends of the mappings to `local` (AOSP packages/modules/adb SERVICES.TXT, reverse:…)."""
    with contextlib.suppress(OSError, ValueError), _service(host, port, serial, "reverse:list-forward") as server:
        lines = [line.split() for line in _block(server).decode("utf-8", "replace").splitlines()]
        return [line[1] for line in lines if len(line) == 3 and line[2] == local]
    return []


def _remove(host: str, port: int, serial: str, remote: str) -> None:
    service = f"reverse:killforward:{remote}"
    with contextlib.suppress(OSError, ValueError), _service(host, port, serial, service) as server:
        server.recv(4)


@contextmanager
def _service(host: str, port: int, serial: str, service: str) -> Iterator[socket.socket]:
    with socket.create_connection((host, port), timeout=_TIMEOUT_S) as server:
        for request in (f"host:transport:{serial}", service):
            server.sendall(f"{len(request.encode()):04x}{request}".encode())
            if _exactly(server, 4) != b"OKAY":
                raise ValueError(request)
        yield server


def _block(server: socket.socket) -> bytes:
    return _exactly(server, int(_exactly(server, 4), 16))


def _exactly(server: socket.socket, size: int) -> bytes:
    read = b""
    while len(read) < size:
        piece = server.recv(size - len(read))
        if not piece:
            raise ValueError("the adb server closed the connection")
        read += piece
    return read


if __name__ == "__main__":
    main()
