"""A devtools WebSocket from both ends: frames of a client become commands, messages of Chromium become frames."""

from __future__ import annotations

from bridge.virtual_device.engine.devtools_server.frames import (
    CLOSE,
    CONTINUATION,
    PING,
    TEXT,
    close_frame,
    parse_head,
    pong_frame,
    text_frame,
    unmask,
)
from bridge.virtual_device.engine.devtools_server.quirks import Quirks

_PEEK_BYTES = 64
# Chromium closes a connection over a message of more than 100 MiB (devtools_http_handler.cc).
MAX_MESSAGE_BYTES = 100 * 1024 * 1024


class MessageTooLong(ValueError):
    """A client sends more than a message may have."""


class FromBrowser:
    """Chromium to client. Only messages that the quirks want are parsed."""

    def __init__(self, quirks: Quirks) -> None:
        self._quirks = quirks

    def feed(self, message: bytes) -> bytes:
        """The frame for the client; b"" drops the message."""
        if not self._quirks.wants(message[:_PEEK_BYTES]):
            return text_frame(message, masked=False)
        rewritten = self._quirks.from_browser(message)
        return b"" if rewritten is None else text_frame(rewritten, masked=False)


class FromClient:
    """Client to Chromium, with responses for the client that replace Chromium's.

    Attributes:
        is_closed: The client sent a close frame, and nothing more is read.
    """

    def __init__(self, quirks: Quirks) -> None:
        self.is_closed = False
        self._quirks = quirks
        self._held = bytearray()
        self._message = bytearray()

    def feed(self, piece: bytes) -> tuple[list[bytes], list[bytes]]:
        """(messages to Chromium, frames back to the client).

        Raises:
            MessageTooLong: A frame or a message exceeds MAX_MESSAGE_BYTES.
        """
        self._held += piece
        onward: list[bytes] = []
        back: list[bytes] = []
        at = 0
        while (head := parse_head(self._held, at)) is not None and not self.is_closed:
            if head.payload_bytes + len(self._message) > MAX_MESSAGE_BYTES:
                raise MessageTooLong
            if len(self._held) < at + head.frame_bytes:
                break
            start, end = at + head.header_bytes, at + head.frame_bytes
            key = bytes(self._held[start - 4 : start]) if head.masked else b"\0\0\0\0"
            payload = unmask(self._held[start:end], key)
            at = end
            if head.opcode == PING:
                back.append(pong_frame(payload))
            elif head.opcode == CLOSE:
                back.append(close_frame(payload))
                self.is_closed = True
            elif head.opcode in (TEXT, CONTINUATION):  # control frames may come between the fragments of a message
                self._message += payload
                if head.fin:
                    message = bytes(self._message)
                    self._message.clear()
                    self._judge(message, onward, back)
        del self._held[:at]
        return onward, back

    def _judge(self, message: bytes, onward: list[bytes], back: list[bytes]) -> None:
        outcome = self._quirks.from_client(message)
        if outcome.before is not None:
            onward.append(outcome.before)
        if outcome.response is not None:
            back.append(text_frame(outcome.response, masked=False))
        else:
            onward.append(message if outcome.replacement is None else outcome.replacement)
