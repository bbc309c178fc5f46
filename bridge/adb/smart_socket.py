"""The language between a client and the adb server, without the socket.

AOSP packages/modules/adb/OVERVIEW.TXT and SERVICES.TXT. A request is four hex digits of length and the service name;
the answer is OKAY or FAIL, and a block (four hex digits of length, then text) where the service says so. FAIL always
has a block, the reason.

A *parser* here is a generator: it yields how many bytes it needs next, is sent exactly these, and returns its value. So
nothing is read past the end of an answer, which matters: after the OKAY of a device service the connection belongs to
the service.
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
    """The server answered FAIL; `reason` is its own text."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class NotAdb(Exception):
    """The peer does not speak this protocol; `seen` is what it said instead."""

    def __init__(self, seen: bytes) -> None:
        super().__init__(repr(seen))
        self.seen = seen


def encode_request(service: str) -> bytes:
    """The bytes that ask for `service`; UsageError when its name does not fit into the length field."""
    name = encode_text(service, MAX_SERVICE_BYTES, "a command or service of adb")
    return b"%04x" % len(name) + name


def encode_text(text: str, max_bytes: int, what: str) -> bytes:
    """UTF-8 of at most so many bytes; UsageError for what has none, or more."""
    try:
        encoded = text.encode()
    except UnicodeEncodeError as error:
        raise UsageError(f"{what} is text, and {text[:80]!r} holds half a character") from error
    if len(encoded) > max_bytes:
        raise UsageError(f"{what} has at most {max_bytes} bytes, this one has {len(encoded)}")
    return encoded


def status() -> Parser[None]:
    """Read OKAY; raise Refused with the reason for FAIL, NotAdb for anything else."""
    word = yield 4
    if word == b"OKAY":
        return
    if word == b"FAIL":
        raise Refused((yield from block()).decode("utf-8", "replace"))
    raise NotAdb(word)


def block() -> Parser[bytes]:
    """Read a block that its length precedes."""
    digits = yield 4
    if not re.fullmatch(rb"[0-9a-fA-F]{4}", digits):
        raise NotAdb(digits)
    size = int(digits, 16)
    return (yield size) if size else b""


def answer() -> Parser[bytes]:
    """Read OKAY and the block that follows it."""
    yield from status()
    return (yield from block())


class Cutter(Generic[T]):
    """Runs one parser over bytes that arrive in any pieces.

    Attributes:
        missing_bytes: How many bytes may be read without reading too many; 0 when the parser has its value.
        value: What the parser returned; AttributeError before that.
    """

    value: T

    def __init__(self, parser: Parser[T]) -> None:
        self._parser = parser
        self._held = bytearray()
        self.missing_bytes = next(parser)

    def feed(self, piece: bytes) -> None:
        """Take at most `missing_bytes` more bytes; raises what the parser raises."""
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
        serial: What `adb -s` takes.
        state: `device`, `offline`, `unauthorized`, `authorizing`, `connecting`, `recovery`, `no permissions`, or a
            word of a newer server.
        model: As the device names it (`Pixel_8`), "" where the server does not know it yet.
        transport_id: Unique for this connection of this device, 0 from servers older than 1.0.40.
    """

    serial: str
    state: str
    product: str = ""
    model: str = ""
    transport_id: int = 0


# AOSP adb/transport.cpp to_string(ConnectionState) and append_transport(). A serial may contain blanks: mDNS appends
# " (2)" to a name that is taken, and a device without one is shown as "(no serial number)".
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
