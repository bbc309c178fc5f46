"""Frames, messages and proofs of the control protocol, without I/O (android_host_app/PROTOCOL.md §2-§4)."""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from bridge.errors import HostProtocolError

PROTOCOL_VERSION = 1
MAX_HEADER_BYTES = 64 * 1024
MAX_BODY_BYTES = 128 * 1024 * 1024
MAX_DEPTH = 16
MAX_ID = 2**53 - 1
PREFIX_BYTES = 8

_PREFIX = struct.Struct(">II")
_SOCKET_NAME = re.compile(r"[A-Za-z0-9_.-]{1,100}")
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_HEX = re.compile(r"[0-9a-f]*")


class FrameError(HostProtocolError):
    """Invalid frame or message; the connection cannot be used any further."""


@dataclass(frozen=True)
class Limits:
    """The maximum sizes that a reader accepts, in bytes."""

    header_bytes: int = MAX_HEADER_BYTES
    body_bytes: int = MAX_BODY_BYTES


HELLO_LIMITS = Limits(header_bytes=4096, body_bytes=0)


@dataclass(frozen=True)
class WireFrame:
    header: dict[str, Any]
    body: bytes = b""


@dataclass(frozen=True)
class ControlRequest:
    id: int
    type: str
    fields: dict[str, Any]
    body: bytes = b""


@dataclass(frozen=True)
class ControlReply:
    id: int
    fields: dict[str, Any]
    body: bytes = b""


@dataclass(frozen=True)
class ControlError:
    """An error reply. `id` is None if the host could not identify the request; `facts` are its other fields."""

    id: int | None
    code: str
    message: str
    facts: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class HostEvent:
    name: str
    fields: dict[str, Any]
    body: bytes = b""


def encode_frame(
    header: Mapping[str, Any], body: bytes = b"", *, limits: Limits | None = None, errors: str = "strict"
) -> bytes:
    """Encodes a frame; FrameError if it exceeds the limits or is not JSON.

    `errors` applies to lone surrogates, as in `str.encode`.
    """
    limits = limits or Limits()
    try:
        text = json.dumps(header, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode("utf-8", errors)
    except (TypeError, ValueError) as error:  # UnicodeEncodeError (a lone surrogate) is a ValueError
        raise FrameError(f"the header cannot be encoded as JSON: {error}.") from error
    _check_sizes(len(text), len(body), limits)
    return _PREFIX.pack(len(text), len(body)) + text + body


class FrameReader:
    """Parses frames from a byte stream in pieces of any size; `limits` may be raised between two frames.

    A FrameError is final: the start of the next frame is unknown.
    """

    def __init__(self, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self._held = bytearray()

    @property
    def in_frame(self) -> bool:
        """True if the stream is inside a frame, where its end is an error."""
        return bool(self._held)

    def feed(self, piece: bytes) -> None:
        self._held += piece

    def next_frame(self) -> WireFrame | None:
        """The next complete frame, None if more bytes are needed. Lengths are checked before the rest has arrived."""
        held = self._held
        if len(held) < PREFIX_BYTES:
            return None
        header_bytes, body_bytes = _PREFIX.unpack_from(held)
        _check_sizes(header_bytes, body_bytes, self.limits)
        body_at = PREFIX_BYTES + header_bytes
        if len(held) < body_at + body_bytes:
            return None
        with memoryview(held) as view:
            header, body = bytes(view[PREFIX_BYTES:body_at]), bytes(view[body_at : body_at + body_bytes])
        del held[: body_at + body_bytes]
        return WireFrame(decode_header(header), body)


def _check_sizes(header_bytes: int, body_bytes: int, limits: Limits) -> None:
    if not 2 <= header_bytes <= limits.header_bytes:
        raise FrameError(f"a frame has a header of {header_bytes} bytes; 2 to {limits.header_bytes} are allowed.")
    if body_bytes > limits.body_bytes:
        raise FrameError(f"a frame has a body of {body_bytes} bytes; {limits.body_bytes} are allowed.")


def decode_header(text: bytes) -> dict[str, Any]:
    """The JSON object in a frame's header; FrameError for anything else, including repeated keys and NaN."""
    try:
        decoded = text.decode("utf-8")
        _check_depth(decoded)
        header = json.loads(decoded, object_pairs_hook=_unique_keys, parse_constant=_no_constant)
        if _SURROGATE.search(decoded):
            json.dumps(header, ensure_ascii=False).encode()  # a lone surrogate cannot be encoded: UnicodeError
    except (ValueError, RecursionError) as error:
        raise FrameError(f"a header is not the JSON that the protocol allows: {error}.") from error
    if not isinstance(header, dict):
        raise FrameError(f"a header is a JSON {type(header).__name__}, not an object.")
    return header


def _check_depth(text: str) -> None:
    # Checked before parsing: a deeply nested header would exhaust a recursive parser.
    depth = 0
    in_string = False
    for found in re.finditer(r'\\.|["\[\]{}]', text):
        mark = found.group()
        if mark == '"':
            in_string = not in_string
        elif in_string or len(mark) > 1:
            continue
        elif mark in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                raise ValueError(f"nested deeper than {MAX_DEPTH}")
        else:
            depth -= 1


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is repeated")
    return found


def _no_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not JSON")


def parse_request(frame: WireFrame) -> ControlRequest:
    """The request in a client's frame; FrameError without a valid id or type."""
    header = dict(frame.header)
    identity, kind = header.pop("id", None), header.pop("type", None)
    if not is_id(identity):
        raise FrameError(f"a request has the id {_shown(identity)}; 1 to 2^53-1 are allowed.")
    if not isinstance(kind, str) or not kind:
        raise FrameError(f"a request has the type {_shown(kind)}.")
    return ControlRequest(identity, kind, header, frame.body)


def parse_from_host(frame: WireFrame) -> ControlReply | ControlError | HostEvent:
    """The message in a host's frame; FrameError if it is neither reply, nor error, nor event."""
    header = dict(frame.header)
    if "event" in header:
        name = header.pop("event")
        if not isinstance(name, str):
            raise FrameError(f"an event has the name {_shown(name)}.")
        return HostEvent(name, header, frame.body)
    identity = header.pop("id", None)
    if "error" in header:
        return _error_reply(identity, header["error"])
    if header.pop("ok", None) is not True or not is_id(identity):
        raise FrameError(f"the host sent a frame that is not a reply, error or event: {_shown(frame.header)}.")
    return ControlReply(identity, header, frame.body)


def _error_reply(identity: Any, error: Any) -> ControlError:
    if not (identity is None or is_id(identity)) or not isinstance(error, dict):
        raise FrameError(f"the host sent an error reply with the id {_shown(identity)} and {_shown(error)}.")
    facts = dict(error)
    code, message = facts.pop("code", None), facts.pop("message", "")
    if not isinstance(code, str) or not isinstance(message, str):
        raise FrameError(f"the host sent an error without a code: {_shown(error)}.")
    return ControlError(identity, code, message, facts)


def is_id(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MAX_ID


def is_socket_name(name: str) -> bool:
    return bool(_SOCKET_NAME.fullmatch(name))


def is_hex(value: Any, digits: int) -> bool:
    """True if it is a string of that many lower-case hex digits."""
    return isinstance(value, str) and len(value) == digits and bool(_HEX.fullmatch(value))


def client_proof(token: bytes, nonce: str, socket_name: str) -> str:
    """The client's proof that it knows the 32 bytes of the token (§4)."""
    return _proof(token, f"client|{nonce}|{socket_name}")


def host_proof(token: bytes, client_nonce: str, host_nonce: str, socket_name: str) -> str:
    return _proof(token, f"host|{client_nonce}|{host_nonce}|{socket_name}")


def _proof(token: bytes, text: str) -> str:
    import hashlib
    import hmac

    return hmac.new(token, text.encode(), hashlib.sha256).hexdigest()


def proofs_equal(expected: str, shown: Any) -> bool:
    """Compares in constant time; anything but a string of 64 hex digits is unequal."""
    import hmac

    return is_hex(shown, 64) and hmac.compare_digest(expected, shown)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "…"
