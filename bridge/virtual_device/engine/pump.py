"""Transforms both directions of a devtools WebSocket piece by piece; frames that need no change are not copied."""

from __future__ import annotations

from collections.abc import Iterator

from bridge.virtual_device.engine.frames import CONTINUATION, TEXT, FrameHead, parse_head, text_frame, unmask
from bridge.virtual_device.engine.quirks import ConnectionQuirks

_PEEK_BYTES = 64


class FromBrowser:
    """Chromium to client.

    Buffers only messages that the quirks want, until they are complete; all others pass at once.
    """

    def __init__(self, quirks: ConnectionQuirks) -> None:
        self._quirks = quirks
        self._held = bytearray()
        self._passing_bytes = 0

    def feed(self, piece: bytes) -> list[bytes]:
        if self._passing_bytes >= len(piece) and not self._held:
            self._passing_bytes -= len(piece)
            return [piece]
        return list(self._cut(piece))

    def _cut(self, piece: bytes) -> Iterator[bytes]:
        if self._passing_bytes:
            yield piece[: self._passing_bytes]
            piece, self._passing_bytes = piece[self._passing_bytes :], 0
        if self._held:
            self._held += piece
            piece = bytes(self._held)
            self._held.clear()
        at = passed_from = 0
        while at < len(piece):
            head = parse_head(piece, at)
            peek_bytes = 0 if head is None else min(head.payload_bytes, _PEEK_BYTES)
            if head is None or len(piece) < at + head.header_bytes + peek_bytes:
                break
            start = at + head.header_bytes
            end = at + head.frame_bytes
            if not self._wanted(head, piece[start : start + peek_bytes]):
                at = end
                continue
            if end > len(piece):
                break
            if at > passed_from:
                yield piece[passed_from:at]
            rewritten = self._quirks.from_browser(piece[start:end])
            if rewritten is not None:
                yield text_frame(rewritten, masked=False)
            at = passed_from = end
        if at > len(piece):  # the rest of the last frame passes too
            self._passing_bytes = at - len(piece)
            at = len(piece)
        if at > passed_from:
            yield piece[passed_from:at]
        self._held += piece[at:]

    def _wanted(self, head: FrameHead, peek: bytes) -> bool:
        # Chromium's server sends each message as one frame (net/server/web_socket_encoder.cc).
        return head.opcode == TEXT and head.fin and self._quirks.wants(peek)


class FromClient:
    """Client to Chromium, with responses for the client that replace Chromium's."""

    def __init__(self, quirks: ConnectionQuirks) -> None:
        self._quirks = quirks
        self._held = bytearray()
        self._raw = bytearray()
        self._message = bytearray()

    def feed(self, piece: bytes) -> tuple[list[bytes], list[bytes]]:
        """(to Chromium, back to the client)"""
        self._held += piece
        onward: list[bytes] = []
        back: list[bytes] = []
        at = 0
        while (head := parse_head(self._held, at)) is not None and len(self._held) >= at + head.frame_bytes:
            frame = bytes(self._held[at : at + head.frame_bytes])
            at += head.frame_bytes
            if head.opcode not in (TEXT, CONTINUATION):
                onward.append(frame)  # control frames may come between the fragments of a message
                continue
            key = frame[head.header_bytes - 4 : head.header_bytes] if head.masked else b"\0\0\0\0"
            payload = unmask(frame[head.header_bytes :], key)
            if not head.fin or head.opcode == CONTINUATION:
                self._raw += frame
                self._message += payload
                if not head.fin:
                    continue
                frame, payload = bytes(self._raw), bytes(self._message)
                self._raw.clear()
                self._message.clear()
            verdict = self._quirks.from_client(payload)
            if verdict.before is not None:
                onward.append(text_frame(verdict.before, masked=True))
            if verdict.response is not None:
                back.append(text_frame(verdict.response, masked=False))
            elif verdict.replacement is not None:
                onward.append(text_frame(verdict.replacement, masked=True))
            else:
                onward.append(frame)
        del self._held[:at]
        return onward, back
