"""PROTOCOL.md's handshake and frames, asked of an implementation."""

from __future__ import annotations

import struct

import pytest
from conformance import SIZE, connected, framed, hello
from control_wire import Host, Wire

from bridge.errors import HostUnproven
from bridge.host.protocol import encode_frame, host_proof


class TestHandshake:
    async def test_the_host_proves_that_it_knows_the_token(self, host: Host, wire: Wire) -> None:
        greeting = hello(host)
        await wire.send(greeting)
        frame = await wire.receive()
        assert frame is not None
        reply = frame.header
        assert reply["ok"] is True
        assert reply["proof"] == host_proof(host.token, greeting["nonce"], reply["nonce"], host.socket_name)
        assert reply["devtools_socket"] == f"webview_devtools_remote_{reply['pid']}"
        assert reply["max_tabs"] == 8
        assert reply["max_capture_height_px"] == 10_000
        assert {"profiles", "proxy", "capture", "resize"} <= reply["features"].keys()

    async def test_a_client_with_another_token_is_refused_and_cut_off(self, host: Host, wire: Wire) -> None:
        await wire.send(hello(host, proof="0" * 64))
        assert await wire.error_code() == "unproven"
        assert await wire.receive() is None

    async def test_the_client_says_that_its_token_was_not_accepted(self, host: Host) -> None:
        with pytest.raises(HostUnproven):
            async with connected(host, await host.connect(host.socket_name), token=b"x" * 32):
                pass

    async def test_nothing_is_served_before_hello(self, wire: Wire) -> None:
        await wire.send({"id": 1, "type": "stats"})
        assert await wire.error_code() == "hello_required"
        assert await wire.receive() is None

    async def test_another_version_gets_the_number_and_nothing_else(self, host: Host, wire: Wire) -> None:
        await wire.send(hello(host, protocol=99))
        frame = await wire.receive()
        assert frame is not None
        assert frame.header["protocol"] == 1
        assert frame.header["app_version"]
        await wire.send({"id": 2, "type": "stats"})
        assert await wire.error_code() == "version_mismatch"
        assert await wire.receive() is None

    async def test_a_hello_that_is_wrong_in_itself_ends_the_connection(self, host: Host, wire: Wire) -> None:
        await wire.send(hello(host, owner=""))
        assert await wire.error_code() == "bad_request"
        assert await wire.receive() is None

    async def test_unknown_fields_are_ignored(self, host: Host, wire: Wire) -> None:
        await wire.send(hello(host, flavour="new"))
        frame = await wire.receive()
        assert frame is not None
        assert frame.header["ok"] is True


class TestFrames:
    @pytest.mark.parametrize(
        "piece",
        [
            struct.pack(">II", 5000, 0),
            struct.pack(">II", 2, 1),
            struct.pack(">II", 0, 0),
            struct.pack(">II", 2, 0) + b"[]",
            struct.pack(">II", 15, 0) + b'{"id":1,"id":1}',
            struct.pack(">II", 8, 0) + b'{"id":0}',
            framed(b'{"id":1,"type":"a","x":NaN}'),
            framed(b'{"id":1,"type":"a","x":"\\ud800"}'),
            framed(b'{"id":1,"type":"a","x":"\xff"}'),
            framed(b'\xef\xbb\xbf{"id":1,"type":"a"}'),
            framed(b'{"id":1,"type":"a","x":01}'),
            framed(b'{"id":1,"type":"a",}'),
            framed(b'{"id":1.0,"type":"a"}'),
            framed(b'{"id":9007199254740992,"type":"a"}'),
            framed(b'{"id":1,"type":"a","x":' + b"[" * 16 + b"]" * 16 + b"}"),
        ],
        ids=[
            *("long header", "body", "no header", "no object", "repeated key", "no usable id", "NaN", "lone surrogate"),
            *("no UTF-8", "BOM", "leading zero", "trailing comma", "fractional id", "id beyond 2^53-1", "17 levels"),
        ],
    )
    async def test_a_bad_frame_is_named_and_ends_the_connection(self, wire: Wire, piece: bytes) -> None:
        await wire.send_bytes(piece)
        assert await wire.error_code() == "bad_frame"
        assert await wire.receive() is None

    async def test_frames_may_arrive_byte_by_byte(self, host: Host, wire: Wire) -> None:
        for byte in encode_frame(hello(host)):
            await wire.send_bytes(bytes([byte]))
        frame = await wire.receive()
        assert frame is not None
        assert frame.header["ok"] is True

    async def test_an_id_that_is_in_flight_cannot_be_used_again(self, host: Host, wire: Wire) -> None:
        await wire.send(hello(host))
        await wire.receive()
        opening = {"id": 2, "type": "tab.open", **SIZE}
        await wire.send_bytes(20 * encode_frame(opening))  # a quick host has answered some before it reads the next
        while (frame := await wire.receive()) is not None and frame.header.get("ok"):
            pass
        assert frame is not None, "the connection ended without an error frame"
        assert frame.header["error"]["code"] == "bad_frame"

    async def test_requests_beyond_the_limit_in_flight_are_refused(self, host: Host, wire: Wire) -> None:
        await wire.send(hello(host))
        await wire.receive()
        await wire.send({"id": 2, "type": "tab.open", **SIZE})
        opened = await wire.receive()
        assert opened is not None
        tab = opened.header["tab"]
        many = (encode_frame({"id": 100 + n, "type": "capture", "tab": tab, "full_page": True}) for n in range(70))
        await wire.send_bytes(b"".join(many))
        codes = set()
        for _ in range(70):
            reply = await wire.receive()
            assert reply is not None
            codes.add(reply.header.get("error", {}).get("code"))
        assert codes == {None, "too_many_requests"}
