"""WebSocket bytes pass the relay unharmed, however TCP cuts them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.virtual_device.engine.devtools_server.capture import plan_capture
from bridge.virtual_device.engine.devtools_server.frames import PING, parse_head, unmask
from bridge.virtual_device.engine.devtools_server.pump import FromBrowser, FromClient
from bridge.virtual_device.engine.devtools_server.quirks import ConnectionQuirks
from bridge.virtual_device.engine.emulation import ViewSize


class Nowhere:
    """A world without tabs."""

    cleartext_permitted = True
    secret = "5ecret"
    defects: frozenset[str] = frozenset()

    def tab(self, target_id: str) -> None:
        return None

    def is_foreign(self, target: Mapping[str, Any]) -> bool:
        return target.get("targetId") == "foreign"

    def show(self, tab: object) -> None: ...
    def lost_runtime_enables(self) -> int:
        return 0

    def host_dies(self, reason: str) -> None: ...
    def attached(self, target_id: str, change: int) -> None: ...
    def is_attached(self, target_id: str) -> bool:
        return False


def masked_frame(payload: bytes, key: bytes, *, fin: bool = True, opcode: int = 1) -> bytes:
    size = len(payload)
    length = bytes([0x80 | size]) if size < 126 else bytes([0x80 | 126]) + size.to_bytes(2, "big")
    return bytes([(0x80 if fin else 0) | opcode]) + length + key + unmask(payload, key)


def cut(stream: bytes, sizes: list[int]) -> list[bytes]:
    pieces = []
    for size in sizes:
        pieces.append(stream[:size])
        stream = stream[size:]
    return [piece for piece in [*pieces, stream] if piece]


def messages_in(stream: bytes) -> list[bytes]:
    found, at = [], 0
    while (head := parse_head(stream, at)) is not None:
        found.append(bytes(stream[at + head.header_bytes : at + head.frame_bytes]))
        at += head.frame_bytes
    assert at == len(stream)
    return found


keys = st.binary(min_size=4, max_size=4)
sizes = st.lists(st.integers(1, 60), max_size=40)


@given(st.binary(max_size=400), keys)
def test_unmasking_is_its_own_inverse_and_byte_by_byte(payload: bytes, key: bytes) -> None:
    expected = bytes(byte ^ key[index % 4] for index, byte in enumerate(payload))
    assert unmask(payload, key) == expected
    assert unmask(expected, key) == payload


@given(st.integers(0, 70_000))
def test_messages_of_chromium_pass_byte_for_byte(length: int) -> None:
    message = b'{"id":1,"result":{"x":"' + b"y" * length + b'"}}'
    assert messages_in(FromBrowser(ConnectionQuirks(Nowhere(), None)).feed(message)) == [message]


@given(st.permutations(["own", "foreign", "plain", "failed", "picker"]))
def test_some_messages_of_chromium_are_changed_or_dropped(order: list[str]) -> None:
    def created(identity: str) -> dict[str, Any]:
        return {"method": "Target.targetCreated", "params": {"targetInfo": {"targetId": identity}}}

    failed = {"method": "Network.loadingFailed", "params": {"errorText": "net::ERR_SOCKS_CONNECTION_FAILED"}}
    sent = {
        "own": created("own"),
        "foreign": created("foreign"),
        "plain": {"method": "Page.loadEventFired", "params": {}},
        "failed": failed,
        "picker": {"method": "Page.javascriptDialogOpening", "params": {"message": "5ecret select"}},
    }
    refused = {**failed, "params": {"errorText": "net::ERR_CONNECTION_REFUSED"}}
    expected = [refused if name == "failed" else sent[name] for name in order if name not in ("foreign", "picker")]
    pump = FromBrowser(ConnectionQuirks(Nowhere(), None))
    out = b"".join(pump.feed(json.dumps(sent[name], separators=(",", ":")).encode()) for name in order)
    assert [json.loads(message) for message in messages_in(out)] == expected


@given(keys, sizes)
def test_a_refused_command_is_answered_and_the_others_pass(key: bytes, where: list[int]) -> None:
    command = b'{"id":1,"method":"Browser.getVersion"}'
    ping = masked_frame(b"hi", key, opcode=PING)
    refused = masked_frame(b'{"id":2,"method":"Target.createTarget","params":{"url":"x"}}', key)
    pump = FromClient(ConnectionQuirks(Nowhere(), None))
    onward, back = [], b""
    for piece in cut(masked_frame(command, key) + refused + ping, where):
        to_browser, to_client = pump.feed(piece)
        onward += to_browser
        back += b"".join(to_client)
    assert onward == [command]
    response, pong = messages_in(back)
    assert pong == b"hi"
    assert json.loads(response) == {"id": 2, "error": {"code": -32000, "message": "Not supported"}}


def test_a_command_in_fragments_is_judged_whole() -> None:
    key = b"\1\2\3\4"
    first = masked_frame(b'{"id":7,"method":"Target.cre', key, fin=False)
    second = masked_frame(b'ateTarget"}', key, opcode=0)
    onward, back = FromClient(ConnectionQuirks(Nowhere(), None)).feed(first + second)
    assert onward == []
    assert json.loads(messages_in(back[0])[0])["id"] == 7


@pytest.mark.parametrize(
    "payload",
    [
        b'{"method":"Target.createTarget","id":3}',
        b'{"params":{},"sessionId":null,"id":3,"method":"Target.createTarget"}',
        b' {"id" : 3 , "method" : "Target.createTarget"}',
    ],
)
def test_the_order_of_keys_does_not_matter(payload: bytes) -> None:
    verdict = ConnectionQuirks(Nowhere(), None).from_client(payload)
    assert verdict.response is not None
    assert b"Not supported" in verdict.response


@given(st.binary(max_size=100) | st.text(max_size=60).map(lambda text: json.dumps({"id": 1, "method": text}).encode()))
def test_nonsense_is_left_to_chromium(payload: bytes) -> None:
    verdict = ConnectionQuirks(Nowhere(), None).from_client(payload)
    assert verdict.replacement is None


@given(
    st.fixed_dictionaries(
        {
            name: st.floats(allow_nan=True) | st.integers() | st.none() | st.text(max_size=3)
            for name in ("x", "y", "width", "height", "scale")
        }
    )
)
def test_any_clip_gives_a_plan(clip: dict[str, Any]) -> None:
    plan = plan_capture({"clip": clip}, ViewSize(300, 400, 160), overridden=False)
    assert plan.size_px is None or all(1 <= side <= 16384 for side in plan.size_px)
