"""Run in network and mount namespaces of its own: a name server on port 53 that answers by a script, the system's own
resolver asking it, and what the egress makes of the answers, as JSON."""

from __future__ import annotations

import asyncio
import fcntl
import json
import socket
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

from bridge.errors import BridgeError
from bridge.policy import BrowserPolicy
from bridge.policy.dialling import StreamPair
from bridge.policy.pinning import PinnedEgress

A, CNAME, AAAA = 1, 5, 28
PUBLIC, PRIVATE, V6 = "93.184.216.34", "10.0.0.7", "2606:4700:4700::1111"
# Of each name the answers one after the other, the last one for ever: (type, value). All have a TTL of 0.
SCRIPT: dict[str, list[list[tuple[int, str]]]] = {
    "rebinds.example": [[(A, PUBLIC)], [(A, PRIVATE)]],
    "alias.example": [[(CNAME, "inner.example"), (A, PRIVATE)]],
    "mixed.example": [[(A, PUBLIC), (A, PRIVATE)]],
    "six.example": [[(AAAA, V6)]],
    "inside6.example": [[(AAAA, "fd00::7")]],
}


class NameServer(asyncio.DatagramProtocol):
    def __init__(self) -> None:
        self.asked: dict[str, int] = {}

    def connection_made(self, transport: Any) -> None:
        self.transport = transport

    def datagram_received(self, data: bytes, addr: Any) -> None:
        labels, at = [], 12
        while data[at]:
            labels.append(data[at + 1 : at + 1 + data[at]].decode())
            at += 1 + data[at]
        name, kind = ".".join(labels), struct.unpack("!H", data[at + 1 : at + 3])[0]
        answers = SCRIPT.get(name, [[]])
        # The A and the AAAA question of one look-up count as one.
        if kind == A:
            self.asked[name] = self.asked.get(name, 0) + 1
        step = answers[min(max(self.asked.get(name, 1), 1), len(answers)) - 1]
        records = [self._record(each, value) for each, value in step if each in (kind, CNAME)]
        question = data[12 : at + 5]
        head = data[:2] + struct.pack("!HHHHH", 0x8180, 1, len(records), 0, 0)
        self.transport.sendto(head + question + b"".join(records), addr)

    def _record(self, kind: int, value: str) -> bytes:
        if kind == CNAME:
            self._alias = _name(value)
            return b"\xc0\x0c" + struct.pack("!HHIH", CNAME, 1, 0, len(self._alias)) + self._alias
        packed = socket.inet_pton(socket.AF_INET if kind == A else socket.AF_INET6, value)
        owner, self._alias = getattr(self, "_alias", b"") or b"\xc0\x0c", b""
        return owner + struct.pack("!HHIH", kind, 1, 0, len(packed)) + packed


def _name(text: str) -> bytes:
    return b"".join(bytes([len(label)]) + label.encode() for label in text.split(".")) + b"\0"


async def main() -> dict[str, Any]:
    server = NameServer()
    await asyncio.get_running_loop().create_datagram_endpoint(lambda: server, local_addr=("127.0.0.1", 53))
    dialled: list[str] = []

    async def connect(address: str, _port: int) -> StreamPair:
        dialled.append(address)
        raise ConnectionRefusedError(f"{address} is down")

    egress = PinnedEgress(BrowserPolicy(default_action="allow"), connect=connect)
    found: dict[str, Any] = {}
    for name in SCRIPT:
        try:
            found[name] = await egress.addresses(name, 443, timeout_s=20)
        except BridgeError as error:
            found[name] = error.message
    found["again"] = await egress.addresses("rebinds.example", 443, timeout_s=20)
    found["asked"] = server.asked["rebinds.example"]
    try:
        await egress.open("rebinds.example", 443, timeout_s=20)
    except BridgeError as error:
        found["when it died"] = error.message
    found["dialled"] = dialled
    return found


def _prepare(resolv_conf: Path) -> None:
    """Loopback up, and this name server as the system's."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        up = struct.pack("16sh14x", b"lo", 0x41)  # IFF_UP | IFF_RUNNING
        fcntl.ioctl(sock, 0x8914, up)  # SIOCSIFFLAGS
    resolv_conf.write_text("nameserver 127.0.0.1\noptions timeout:2 attempts:2\n")
    subprocess.run(["mount", "--bind", str(resolv_conf), "/etc/resolv.conf"], check=True)


if __name__ == "__main__":
    _prepare(Path(sys.argv[1]))
    print(json.dumps(asyncio.run(main())))
