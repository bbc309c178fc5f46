"""A process that removes a reversed port if the process that made it is killed.

A mapping outlives its maker: apps on the device could go on connecting to a port of this machine, which by then may be
another program's. This file is run as a script with `python -I -S`, which starts in a few milliseconds; it imports
nothing of the package.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_TIMEOUT_S = 3.0
_LOOK_S = 1.0
_KEPT = b"removed\n"


@contextmanager
def guarded_mapping(host: str, port: int, serial: str, remote: str, local: str) -> Iterator[None]:
    """Guards a mapping while the block runs. Its end means that the mapping has been removed."""
    try:
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", __file__, json.dumps([os.getpid(), host, port, serial, remote, local])],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:  # no processes or file descriptors are left; the mapping is usable all the same
        yield
        return
    assert process.stdin is not None
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            process.stdin.write(_KEPT)
            process.stdin.close()
        try:
            process.wait(timeout=_LOOK_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def main() -> None:
    parent, host, port, serial, remote, local = json.loads(sys.argv[1])
    if _is_killed(parent):
        remove(host, port, serial, remote, local)


def _is_killed(parent: int) -> bool:
    """Waits for the end of the block or of the parent, whose other children may hold the pipe open."""
    if sys.platform == "win32":
        return sys.stdin.buffer.readline() != _KEPT
    while True:
        if select.select([sys.stdin.buffer], [], [], _LOOK_S)[0]:
            return sys.stdin.buffer.readline() != _KEPT
        if os.getppid() != parent:
            return True


def remove(host: str, port: int, serial: str, remote: str, local: str) -> None:
    """Removes the mapping, unless it was replaced (AOSP packages/modules/adb SERVICES.TXT, reverse:…)."""
    with contextlib.suppress(OSError, ValueError):
        with _service(host, port, serial, "reverse:list-forward") as server:
            listed = _block(server).decode("utf-8", "replace")
        if [remote, local] in [line.split()[1:] for line in listed.splitlines()]:
            with _service(host, port, serial, f"reverse:killforward:{remote}") as server:
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
