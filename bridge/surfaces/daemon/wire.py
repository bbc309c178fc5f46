"""Messages between a command and its session's process: the control protocol's frames on a Unix socket.

    command → process   {"version", "command", "params", "timeout_s", "start"}       one per connection
    process → command   {"accepted": true}, {"notice": "…"} any number, then {"result": {…}} + body, or
                        {"error": {"code", "message", …}}

A command that disconnects is cancelled. A connection that ends before `accepted` has changed nothing: the process was
exiting, and the command may start another.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bridge.errors import BridgeError, TransportError
from bridge.host.protocol import FrameError, Limits, encode_frame

LIMITS = Limits(header_bytes=32 * 1024 * 1024, body_bytes=128 * 1024 * 1024)


class RemoteError(BridgeError):
    """An error that the session's process raised, with its code and exit code."""

    def __init__(self, facts: Mapping[str, Any]) -> None:
        details = facts.get("details")
        super().__init__(str(facts.get("message", "")), hint=str(facts.get("hint", "")))
        self.details.update(details if isinstance(details, Mapping) else {})
        exit_code = facts.get("exit_code")
        # Class attributes elsewhere; here they belong to whatever class the error had in the other process.
        self.code = str(facts.get("code", "error"))  # type: ignore[misc]
        self.exit_code = exit_code if isinstance(exit_code, int) else 1  # type: ignore[misc]


def error_facts(error: BridgeError) -> dict[str, Any]:
    return {**error.to_json(), "exit_code": error.exit_code}


def message(header: Mapping[str, Any], body: bytes = b"") -> bytes:
    """A command's message, unchanged, or a FrameError."""
    return encode_frame(header, body, limits=LIMITS)


def reply_message(header: Mapping[str, Any], body: bytes = b"") -> bytes:
    """The process's message, which may quote pages: a lone surrogate becomes "?", too large a frame an error."""
    try:
        return encode_frame(header, body, limits=LIMITS, errors="replace")
    except FrameError as error:
        too_large = TransportError(f"the command ran, but its result cannot be sent: {error.message}")
        return message({"error": error_facts(too_large)})
