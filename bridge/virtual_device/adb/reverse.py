"""`adb reverse`: ports of the device's loopback that lead to the adb server's machine.

Requests and replies are AOSP packages/modules/adb `adb.cpp` `handle_forward_request`: OKAY or FAIL, texts with a
four-digit hexadecimal length. An entry lives as long as the connection that made it.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from bridge.virtual_device.adb.splice import splice
from bridge.virtual_device.android import StreamPair, stream_pair

if TYPE_CHECKING:
    from bridge.virtual_device.adb.transport import Transport

MAX_ENTRIES = 1000


class ReverseTable:
    """Device ports and their destinations on the other machine."""

    def __init__(self) -> None:
        self._entries: dict[str, tuple[str, Transport]] = {}

    def request(self, text: str, transport: Transport) -> bytes:
        """The reply to `forward:…`, `killforward:…`, `killforward-all` or `list-forward`."""
        verb, _, rest = text.partition(":")
        match verb:
            case "forward":
                return self._forward(rest, transport)
            case "killforward":
                if self._entries.pop(_listening(rest), None) is None:
                    return _fail(f"listener '{rest}' not found")
                return b"OKAY"
            case "killforward-all":
                self._entries.clear()
                return b"OKAY"
            case "list-forward":
                rows = "".join(f"host-1 {local} {remote}\n" for local, (remote, _) in self._entries.items())
                return _counted(rows)
        return _fail(f"unknown reverse service: {verb}")

    def drop(self, transport: Transport) -> None:
        """Removes the entries of a closed connection."""
        self._entries = {local: entry for local, entry in self._entries.items() if entry[1] is not transport}

    def clear(self) -> None:
        self._entries.clear()

    def names(self) -> dict[str, str]:
        """All entries: `{"tcp:3000": "tcp:8000"}`."""
        return {local: remote for local, (remote, _) in self._entries.items()}

    async def dial(self, local: str) -> StreamPair:
        """A connection to the destination of a device port such as `tcp:3000`.

        Raises:
            ConnectionRefusedError: The port has no entry, or the other machine refused.
        """
        found = self._entries.get(local)
        if found is None:
            raise ConnectionRefusedError(f"nothing listens on {local}")
        remote, transport = found
        try:
            stream = await transport.open(remote)
        except ConnectionResetError as error:
            raise ConnectionRefusedError(f"{remote} cannot be reached: {error}") from error
        near, far = await stream_pair()
        transport.adopt(splice(stream, far))
        return near

    def _forward(self, rest: str, transport: Transport) -> bytes:
        norebind = rest.startswith("norebind:")
        local, semicolon, remote = rest.removeprefix("norebind:").partition(";")
        if not semicolon or not remote:
            return _fail("bad forward: " + rest[:80])
        allocated = ""
        if local == "tcp:0":
            allocated = str(self._free_port())
            local = f"tcp:{allocated}"
        kind, _, name = local.partition(":")
        if kind not in ("tcp", "localabstract") or not name or (kind == "tcp" and not _is_port(name)):
            return _fail(f"cannot bind listener: unknown socket specification: {local[:80]}")
        if norebind and local in self._entries:
            return _fail("cannot rebind existing socket")
        if len(self._entries) >= MAX_ENTRIES:
            return _fail("cannot bind listener: Too many open files")
        self._entries[local] = (remote, transport)
        return b"OKAY" + (_counted(allocated) if allocated else b"")

    def _free_port(self) -> int:
        while f"tcp:{(port := 32_768 + secrets.randbelow(28_232))}" in self._entries:
            pass
        return port


def _listening(name: str) -> str:
    return name.strip("\0")


def _is_port(text: str) -> bool:
    return text.isdecimal() and len(text) <= 5 and 0 < int(text) < 65_536


def _counted(text: str) -> bytes:
    raw = text.encode()
    return f"{len(raw):04x}".encode() + raw


def _fail(text: str) -> bytes:
    return b"FAIL" + _counted(text)
