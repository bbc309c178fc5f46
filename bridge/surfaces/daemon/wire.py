"""Messages between a command and its session's process: the control protocol's frames on a Unix socket.

    command → process   {"version", "command", "params", "timeout_s", "start"}       one per connection
    process → command   {"accepted": true}, {"notice": "…"} any number, then {"answer": {…}} + body, or
                        {"error": {"code", "message", …}}

A command that goes away cancels what it asked for. A connection that ends before `accepted` has changed nothing: the
process was on its way out, and the command may start another.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from bridge.errors import BridgeError, TransportError
from bridge.host.protocol import FrameError, FrameReader, Limits, WireFrame, encode_frame

LIMITS = Limits(header_bytes=32 * 1024 * 1024, body_bytes=128 * 1024 * 1024)
_PIECE_BYTES = 256 * 1024


class RemoteError(BridgeError):
    """An error of the session's process, as it was there."""

    def __init__(self, facts: Mapping[str, Any]) -> None:
        details = facts.get("details")
        super().__init__(str(facts.get("message", "")), hint=str(facts.get("hint", "")))
        self.details.update(details if isinstance(details, Mapping) else {})
        exit_code = facts.get("exit_code")
        # Both are class attributes elsewhere; here they are whatever class the error had over there.
        self.code = str(facts.get("code", "error"))  # type: ignore[misc]
        self.exit_code = exit_code if isinstance(exit_code, int) else 1  # type: ignore[misc]


def error_facts(error: BridgeError) -> dict[str, Any]:
    return {**error.to_json(), "exit_code": error.exit_code}


def message(header: Mapping[str, Any], body: bytes = b"") -> bytes:
    """What a command sends: as it is, or a FrameError."""
    return encode_frame(header, body, limits=LIMITS)


def answer_message(header: Mapping[str, Any], body: bytes = b"") -> bytes:
    """What the process sends, which quotes pages: half a surrogate pair becomes "?", and what is too large an error."""
    try:
        return encode_frame(header, body, limits=LIMITS, errors="replace")
    except FrameError as error:
        too_much = TransportError(f"the command was carried out, but what it found cannot be sent: {error.message}")
        return message({"error": error_facts(too_much)})


async def read_message(reader: asyncio.StreamReader, frames: FrameReader) -> WireFrame:
    """The next message.

    Raises:
        TransportError: The other end closed the connection first.
        HostProtocolError: What came is no message.
    """
    while True:
        frame = frames.next_frame()
        if frame is not None:
            return frame
        try:
            piece = await reader.read(_PIECE_BYTES)
        except OSError:
            piece = b""
        if not piece:
            raise TransportError("the session's process closed the connection before it had answered.")
        frames.feed(piece)
