"""The control protocol's codec."""

from __future__ import annotations

import json
import struct
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.host.protocol import (
    HELLO_LIMITS,
    MAX_BODY_BYTES,
    MAX_HEADER_BYTES,
    ControlError,
    ControlReply,
    FrameError,
    FrameReader,
    HostEvent,
    Limits,
    WireFrame,
    client_proof,
    decode_header,
    encode_frame,
    host_proof,
    parse_from_host,
    parse_request,
    proofs_equal,
)

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
headers = st.dictionaries(st.text(), json_values, max_size=5)


def frames_of(reader: FrameReader) -> list[WireFrame]:
    found = []
    while (frame := reader.next_frame()) is not None:
        found.append(frame)
    return found


@given(st.lists(st.tuples(headers, st.binary(max_size=300)), max_size=5), st.lists(st.integers(1, 40), max_size=60))
def test_framing_does_not_depend_on_how_the_stream_is_cut(
    messages: list[tuple[dict[str, Any], bytes]], cuts: list[int]
) -> None:
    stream = b"".join(encode_frame(header, body) for header, body in messages)
    reader, found = FrameReader(), []
    for size in [*cuts, len(stream)]:
        reader.feed(stream[:size])
        stream = stream[size:]
        found += frames_of(reader)
    assert [(frame.header, frame.body) for frame in found] == messages
    assert not reader.in_frame


@given(st.binary(max_size=200))
def test_arbitrary_bytes_end_in_frames_or_a_frame_error(stream: bytes) -> None:
    reader = FrameReader()
    reader.feed(stream)
    try:
        frames = frames_of(reader)
    except FrameError:
        return
    assert all(isinstance(frame.header, dict) for frame in frames)


@given(headers, st.sampled_from(["request", "host"]))
def test_any_json_object_is_a_message_or_a_frame_error(header: dict[str, Any], side: str) -> None:
    parse = parse_request if side == "request" else parse_from_host
    with suppress(FrameError):
        parse(WireFrame(header))


@pytest.mark.parametrize(
    ("header_bytes", "body_bytes", "limits"),
    [
        (0, 0, Limits()),
        (1, 0, Limits()),
        (MAX_HEADER_BYTES + 1, 0, Limits()),
        (0xFFFFFFFF, 0, Limits()),
        (2, MAX_BODY_BYTES + 1, Limits()),
        (4097, 0, HELLO_LIMITS),
        (40, 1, HELLO_LIMITS),
    ],
)
def test_lengths_beyond_the_limits_are_refused_before_anything_else_arrives(
    header_bytes: int, body_bytes: int, limits: Limits
) -> None:
    reader = FrameReader(limits)
    reader.feed(struct.pack(">II", header_bytes, body_bytes))
    with pytest.raises(FrameError, match="bytes"):
        reader.next_frame()


@pytest.mark.parametrize(
    "text",
    [
        b"[]",
        b"null",
        b'"hello"',
        b"{",
        b'{"id":1}x',
        b'{"id":1,"id":2}',
        b'{"a":{"b":1,"b":1}}',
        b'{"id":NaN}',
        b'{"id":-Infinity}',
        b'{"id":"\xff"}',
        b'\xef\xbb\xbf{"id":1}',
        b'{"a":' + b"[" * 16 + b"]" * 16 + b"}",
        b"[" * 30_000,
        b'{"id":' + b"9" * 5000 + b"}",
    ],
    ids=lambda text: repr(text[:20]),
)
def test_a_header_that_is_not_plain_json_is_refused(text: bytes) -> None:
    with pytest.raises(FrameError):
        decode_header(text)


def test_brackets_in_strings_do_not_count_as_nesting() -> None:
    assert decode_header(json.dumps({"text": '\\"[[[[' + "{" * 40}).encode()) == {"text": '\\"[[[[' + "{" * 40}


@pytest.mark.parametrize("identity", [0, -1, True, 1.0, "1", None, 2**53])
def test_a_request_without_a_usable_id_is_refused(identity: object) -> None:
    with pytest.raises(FrameError, match="id"):
        parse_request(WireFrame({"id": identity, "type": "stats"}))


def test_a_header_without_a_json_form_is_a_frame_error() -> None:
    for header in ({"a": object()}, {"a": float("nan")}, {"a": "\ud800"}, {"a": "x" * MAX_HEADER_BYTES}):
        with pytest.raises(FrameError):
            encode_frame(header)


def test_messages_of_the_host_are_distinguished() -> None:
    assert parse_from_host(WireFrame({"id": 3, "ok": True, "tab": "1"}, b"x")) == ControlReply(3, {"tab": "1"}, b"x")
    assert parse_from_host(WireFrame({"event": "popup", "tab": "2"})) == HostEvent("popup", {"tab": "2"})
    assert parse_from_host(
        WireFrame({"id": None, "error": {"code": "bad_frame", "message": "no", "field": "x"}})
    ) == ControlError(None, "bad_frame", "no", {"field": "x"})


def test_the_proofs_are_those_of_the_document() -> None:
    token, client_nonce, host_nonce, name = bytes(32), "11" * 16, "22" * 16, "webview_bridge_test"
    assert client_proof(token, client_nonce, name) == "de4e34794a5370a2f498b5c6915e3b2f7d0acc05f1ad0b74832979086a36d6a5"
    assert (
        host_proof(token, client_nonce, host_nonce, name)
        == "f673756c76861524a97a701cbdf825a3123d37c9ab877eb547ad4553bfbb84d8"
    )


@given(st.text() | st.none() | st.integers())
def test_nothing_but_the_right_proof_is_accepted(shown: object) -> None:
    expected = client_proof(bytes(32), "11" * 16, "name")
    assert proofs_equal(expected, shown) == (shown == expected)
    assert proofs_equal(expected, expected)
