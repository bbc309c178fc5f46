"""The shell v2 protocol, which separates stdout and stderr and carries the exit code.

AOSP packages/modules/adb/shell_protocol.h: one byte id, four bytes little-endian length, payload. It needs the feature
`shell_v2` (Android 7 and later).
"""

from __future__ import annotations

import re
import shlex
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum

_HEADER = struct.Struct("<BI")
_LAST_CHARS = 200
_LAST_BYTES = 4 * _LAST_CHARS


class ShellStream(IntEnum):
    STDIN = 0
    STDOUT = 1
    STDERR = 2
    EXIT = 3
    CLOSE_STDIN = 4


@dataclass(frozen=True)
class ShellResult:
    """The result of a device command.

    Attributes:
        exit_code: 0 to 255; -1 if the device is too old to report it.
        stdout: Without shell v2 it has both outputs, and `stderr` is empty.
    """

    exit_code: int
    stdout: str
    stderr: str


def encode_packet(stream: int, payload: bytes) -> bytes:
    return _HEADER.pack(stream, len(payload)) + payload


class ShellPacketDecoder:
    """Parses packets from bytes in pieces of any size."""

    def __init__(self) -> None:
        self._held = bytearray()

    def feed(self, piece: bytes) -> Iterator[tuple[int, bytes]]:
        """The complete packets, as (stream id, payload)."""
        self._held += piece
        while len(self._held) >= _HEADER.size:
            stream, size = _HEADER.unpack_from(self._held)
            end = _HEADER.size + size
            if len(self._held) < end:
                return
            payload = bytes(self._held[_HEADER.size : end])
            del self._held[:end]
            yield stream, payload


class ShellOutput:
    """Collects the output of a command until its exit code."""

    def __init__(self) -> None:
        self._decoder = ShellPacketDecoder()
        self._stdout: list[bytes] = []
        self._stderr: list[bytes] = []
        self._last = b""
        self._exit_code: int | None = None

    def feed(self, piece: bytes) -> None:
        for stream, payload in self._decoder.feed(piece):
            if stream == ShellStream.EXIT and payload:
                self._exit_code = payload[0]
            elif stream in (ShellStream.STDOUT, ShellStream.STDERR):
                (self._stdout if stream == ShellStream.STDOUT else self._stderr).append(payload)
                self._last = (self._last + payload[-_LAST_BYTES:])[-_LAST_BYTES:]

    @property
    def result(self) -> ShellResult | None:
        """None until the command has ended."""
        if self._exit_code is None:
            return None
        return ShellResult(self._exit_code, _text(b"".join(self._stdout)), _text(b"".join(self._stderr)))

    @property
    def last_words(self) -> str:
        """The tail of the output, for the error about a command that does not end."""
        return _text(self._last)[-_LAST_CHARS:].strip()


_EXIT_MARK = "wvb-exit:"


def command_line(command: str | Sequence[str]) -> str:
    """A line for the device's sh: a string unchanged, a sequence with each word quoted."""
    return command if isinstance(command, str) else shlex.join(command)


def with_exit_mark(line: str) -> str:
    """`line` for a shell that cannot send exit codes: it prints the code at the end."""
    return f"({line}\n); echo {_EXIT_MARK}$?"


def parse_exit_mark(output: bytes) -> ShellResult:
    """The result of a `with_exit_mark` command. Before Android 7 the pty turns line ends into CR LF."""
    text = _text(output).replace("\r\n", "\n")
    said, mark, code = text.rpartition(_EXIT_MARK)
    if not mark or not re.fullmatch(r"[0-9]{1,3}\s*", code):
        return ShellResult(-1, text, "")
    return ShellResult(int(code), said, "")


def _text(output: bytes) -> str:
    return output.decode("utf-8", "replace")
