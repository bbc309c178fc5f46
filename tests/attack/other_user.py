"""Another user of the machine: what it gets from the listening sockets of some processes."""

from __future__ import annotations

import json
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.attack.processes import family

NOBODY = 65534
# Everything that may make one of our listeners talk: HTTP, a proxy, a SOCKS proxy, a WebSocket, an adb transport.
_GREETINGS = (
    "GET /json/list HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "GET /devtools/browser HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n",
    "GET http://{target}/ HTTP/1.1\r\nHost: {target}\r\n\r\n",
    "CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n",
    "\x05\x01\x00\x05\x01\x00\x01\x7f\x00\x00\x01{port}",
    '{{"do": "status"}}\n',
    "000chost:version",
    # A_CNXN with the banner "host::" (AOSP packages/modules/adb/protocol.txt)
    struct.pack("<6I", 0x4E584E43, 0x01000000, 256 * 1024, 6, sum(b"host::"), 0x4E584E43 ^ 0xFFFFFFFF).decode("latin-1")
    + "host::",
)
_ATTACK = """
import json, os, socket, sys
from concurrent.futures import ThreadPoolExecutor
user, sockets, greetings = json.loads(sys.stdin.read())
if user is not None:
    os.setgroups([]); os.setgid(user); os.setuid(user)
def said(address, greeting):
    with socket.socket(socket.AF_INET if isinstance(address, list) else socket.AF_UNIX) as sock:
        sock.settimeout(2)
        try:
            sock.connect(tuple(address) if isinstance(address, list) else address.replace("@", chr(0), 1))
            sock.sendall(greeting.encode("latin-1"))
            return sock.recv(65536)
        except OSError:
            return b""
with ThreadPoolExecutor(len(greetings)) as pool:
    for address in sockets:
        heard = b"".join(pool.map(lambda greeting: said(address, greeting), greetings))
        print(json.dumps([address, heard.decode("latin-1")]), flush=True)
"""


@dataclass(frozen=True)
class Listener:
    """A listening socket: `address` is a host and a port, or the path of a Unix socket ("@" and an abstract name)."""

    address: tuple[str, int] | str
    pid: int


def listeners(roots: set[int]) -> list[Listener]:
    """What these processes and their descendants listen on."""
    inodes = {inode: process.pid for process in family(roots) for inode in _sockets(process.pid)}
    return [Listener(address, inodes[inode]) for inode, address in _listening() if inode in inodes]


def gets(found: list[Listener], target: str, *, user: int | None) -> dict[tuple[str, int] | str, bytes]:
    """The bytes that the user gets from each of them; None is this process's own user."""
    port = int(target.rpartition(":")[2]).to_bytes(2, "big").decode("latin-1")
    greetings = [greeting.format(target=target, port=port) for greeting in _GREETINGS]
    asked = json.dumps([user, [one.address for one in found], greetings])
    done = subprocess.run([sys.executable, "-c", _ATTACK], input=asked, capture_output=True, text=True, check=True)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    return {tuple(name) if isinstance(name, list) else name: said.encode("latin-1") for name, said in rows}


def _sockets(pid: int) -> Iterator[str]:
    try:
        names = list(Path(f"/proc/{pid}/fd").iterdir())
    except OSError:
        return
    for name in names:
        try:
            link = str(name.readlink())
        except OSError:
            continue
        if link.startswith("socket:["):
            yield link[8:-1]


def _listening() -> Iterator[tuple[str, tuple[str, int] | str]]:
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            address, _, port = fields[1].partition(":")
            if fields[3] == "0A":
                host = socket.inet_ntoa(int(address, 16).to_bytes(4, "little")) if table == "tcp" else "127.0.0.1"
                yield fields[9], (host, int(port, 16))
    for line in Path("/proc/net/unix").read_text().splitlines()[1:]:
        fields = line.split(maxsplit=7)
        if fields[3] == "00010000" and len(fields) == 8:  # SO_ACCEPTCON
            yield fields[6], fields[7]
