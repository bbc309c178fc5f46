"""The protocol between a client and the adb server, without I/O.

AOSP packages/modules/adb/OVERVIEW.TXT and SERVICES.TXT. A request is four hex digits of length and the service name.
The reply is OKAY or FAIL, followed by a block (four hex digits of length, then text) for some services. The block of
FAIL is the reason.

A *parser* is a generator: it yields the number of bytes that it needs next, is sent exactly these, and returns its
value. So nothing is read past the end of a reply: after the OKAY of a device service the connection belongs to it.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

from bridge.errors import UsageError

T = TypeVar("T")
Parser: TypeAlias = Generator[int, bytes, T]

MAX_SERVICE_BYTES = 0xFFFF


class Refused(Exception):
    """The server replied FAIL with `reason`."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class NotAdb(Exception):
    """The peer does not speak this protocol; `seen` is its reply."""

    def __init__(self, seen: bytes) -> None:
        super().__init__(repr(seen))
        self.seen = seen


def encode_request(service: str) -> bytes:
    """Encodes a request; UsageError if the name of the service is too long for the length field."""
    name = encode_text(service, MAX_SERVICE_BYTES, "a command or service of adb")
    return b"%04x" % len(name) + name


def encode_text(text: str, max_bytes: int, what: str) -> bytes:
    """UTF-8 of at most that many bytes; UsageError if it is longer or cannot be encoded."""
    try:
        encoded = text.encode()
    except UnicodeEncodeError as error:
        raise UsageError(f"{what} must be valid Unicode: {text[:80]!r} has a lone surrogate") from error
    if len(encoded) > max_bytes:
        raise UsageError(f"{what} has at most {max_bytes} bytes; this one has {len(encoded)}")
    return encoded


def status() -> Parser[None]:
    """Reads OKAY; raises Refused with the reason for FAIL, NotAdb for anything else."""
    word = yield 4
    if word == b"OKAY":
        return
    if word == b"FAIL":
        raise Refused((yield from block()).decode("utf-8", "replace"))
    raise NotAdb(word)


def block() -> Parser[bytes]:
    """Reads a length-prefixed block."""
    digits = yield 4
    if not re.fullmatch(rb"[0-9a-fA-F]{4}", digits):
        raise NotAdb(digits)
    size = int(digits, 16)
    return (yield size) if size else b""


def answer() -> Parser[bytes]:
    """Reads OKAY and the block that follows it."""
    yield from status()
    return (yield from block())


class Cutter(Generic[T]):
    """Runs one parser over bytes in pieces of any size.

    Attributes:
        missing_bytes: The number of bytes to read next at most; 0 when the parser has finished.
        value: The parser's result; AttributeError before.
    """

    value: T

    def __init__(self, parser: Parser[T]) -> None:
        self._parser = parser
        self._held = bytearray()
        self.missing_bytes = next(parser)

    def feed(self, piece: bytes) -> None:
        """Feeds at most `missing_bytes` bytes; raises the parser's exceptions."""
        self._held += piece
        self.missing_bytes -= len(piece)
        if self.missing_bytes:
            return
        taken = bytes(self._held)
        self._held.clear()
        try:
            self.missing_bytes = self._parser.send(taken)
        except StopIteration as end:
            self.value = end.value


@dataclass(frozen=True)
class DeviceEntry:
    """One line of the server's device list.

    Attributes:
        serial: The argument for `adb -s`.
        state: `device`, `offline`, `unauthorized`, `authorizing`, `connecting`, `recovery`, `no permissions`, or a
            state of a newer server.
        model: The device's model (`Pixel_8`), "" if the server does not know it yet.
        transport_id: Unique for this connection of this device, 0 from servers older than 1.0.40.
    """

    serial: str
    state: str
    product: str = ""
    model: str = ""
    transport_id: int = 0


# AOSP adb/transport.cpp to_string(ConnectionState) and append_transport(). A serial may contain blanks: mDNS appends
# " (2)" to a duplicate name, and a device without one is listed as "(no serial number)".
_STATES = (
    "device|offline|unauthorized|authorizing|connecting|bootloader|host|recovery|rescue|sideload|detached|unknown"
    "|no permissions"
)
_LINE = re.compile(rf"(?P<serial>\S.*?)\s+(?P<state>{_STATES})(?P<facts>(?:\s+\S+)*)\s*")
_UNKNOWN_STATE_LINE = re.compile(r"(?P<serial>\S+)\s+(?P<state>\S+)(?P<facts>(?:\s+\S+)*)\s*")


def parse_devices(text: str) -> tuple[DeviceEntry, ...]:
    """The entries of `host:devices`, `host:devices-l` or one block of their tracking forms."""
    entries = []
    for line in text.splitlines():
        match = _LINE.fullmatch(line) or _UNKNOWN_STATE_LINE.fullmatch(line)
        if match is None:
            continue
        facts = dict(word.split(":", 1) for word in match["facts"].split() if ":" in word)
        transport_id = facts.get("transport_id", "")
        entries.append(
            DeviceEntry(
                serial=match["serial"],
                state=match["state"],
                product=facts.get("product", ""),
                model=facts.get("model", ""),
                transport_id=int(transport_id) if re.fullmatch("[0-9]{1,18}", transport_id) else 0,
            )
        )
    return tuple(entries)


def parse_pairs(text: str) -> tuple[tuple[str, str, str], ...]:
    """The lines `SERIAL FROM TO` of `list-forward`, of a forward or a reverse list."""
    lines = (line.split() for line in text.splitlines())
    return tuple((words[0], words[1], words[2]) for words in lines if len(words) == 3)
