"""What PROTOCOL.md says, asked of an implementation: a host that passes this can be driven by the bridge."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest
from control_wire import Host, Wire, fresh_nonce

from bridge.errors import BridgeError, DeviceBusy, HostFailed, HostLost, HostUnproven, TabLost
from bridge.host import HostClient, connect_host
from bridge.host.protocol import FrameReader, client_proof, encode_frame, host_proof

TIMEOUT_S = 20.0
SIZE: dict[str, Any] = {"width_px": 320, "height_px": 480, "density_dpi": 160}
PNG = b"\x89PNG\r\n\x1a\n"


def connected(host: Host, sock: Any, **changes: Any) -> AbstractAsyncContextManager[HostClient]:
    facts: dict[str, Any] = {
        "token": host.token,
        "socket_name": host.socket_name,
        "owner": "conformance",
        "policy_digest": "",
        "timeout_s": TIMEOUT_S,
    }
    return connect_host(sock, **(facts | changes))


@pytest.fixture
async def client(host: Host) -> AsyncIterator[HostClient]:
    async with connected(host, await host.connect(host.socket_name)) as opened:
        yield opened


def hello(host: Host, **changes: Any) -> dict[str, Any]:
    nonce = fresh_nonce()
    fields = {
        "id": 1,
        "type": "hello",
        "protocol": 1,
        "client": "webview-bridge/0",
        "owner": "conformance",
        "policy": "",
        "nonce": nonce,
        "proof": client_proof(host.token, nonce, host.socket_name),
    }
    return fields | changes


def framed(header: bytes) -> bytes:
    return struct.pack(">II", len(header), 0) + header


async def refused(client: HostClient, type: str, **fields: Any) -> HostFailed:
    with pytest.raises(HostFailed) as caught:
        await client.request(type, timeout_s=TIMEOUT_S, **fields)
    return caught.value


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
        await wire.send_bytes(2 * encode_frame(opening))
        assert await wire.error_code() == "bad_frame"

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


class TestRequests:
    async def test_bad_fields_are_named_and_the_connection_goes_on(self, client: HostClient) -> None:
        for field, value in (("width_px", 0), ("height_px", "480"), ("density_dpi", True), ("width_px", 1.5)):
            error = await refused(client, "tab.open", **(SIZE | {field: value}))
            assert error.host_code == "bad_request"
            assert field in error.message
        huge = await refused(client, "tab.open", width_px=10_000, height_px=10_000, density_dpi=160)
        assert huge.host_code == "bad_request"
        assert (await refused(client, "tab.open", profile="../x", **SIZE)).host_code == "bad_request"
        assert (await refused(client, "make.coffee")).host_code == "unknown_request"
        assert (await refused(client, "stats", body=b"x")).host_code == "bad_request"
        assert (await client.stats(timeout_s=TIMEOUT_S))["tabs"] == 0

    async def test_a_tab_is_opened_listed_resized_reset_and_closed(self, client: HostClient) -> None:
        tab = await client.open_tab(**SIZE, timeout_s=TIMEOUT_S)
        assert tab.url == f"about:blank#{tab.nonce}"
        (listed,) = await client.list_tabs(timeout_s=TIMEOUT_S)
        assert listed.keys() >= {"tab", "nonce", "url", "title", "profile", "opener", "idle_s"}
        assert {name: listed[name] for name in SIZE} == SIZE
        assert listed["url"] == tab.url
        await client.resize_tab(tab.tab, width_px=400, height_px=300, density_dpi=320, timeout_s=TIMEOUT_S)
        fresh = await client.reset_tab(tab.tab, timeout_s=TIMEOUT_S)
        assert fresh.nonce != tab.nonce
        (listed,) = await client.list_tabs(timeout_s=TIMEOUT_S)
        assert (listed["width_px"], listed["height_px"], listed["density_dpi"]) == (400, 300, 320)
        assert listed["nonce"] == fresh.nonce
        await client.close_tab(tab.tab, timeout_s=TIMEOUT_S)
        assert await client.list_tabs(timeout_s=TIMEOUT_S) == ()
        with pytest.raises(TabLost):
            await client.close_tab(tab.tab, timeout_s=TIMEOUT_S)

    async def test_a_tab_can_be_reset_again_and_again(self, client: HostClient) -> None:
        tab = await client.open_tab(**SIZE, timeout_s=TIMEOUT_S)
        urls = [(await client.reset_tab(tab.tab, timeout_s=TIMEOUT_S)).url for _ in range(3)]
        assert len({tab.url, *urls}) == 4
        (listed,) = await client.list_tabs(timeout_s=TIMEOUT_S)
        assert listed["url"] == urls[-1]

    async def test_fields_that_a_request_does_not_have_are_ignored(self, client: HostClient) -> None:
        reply = await client.request("stats", tab=5, flavour=[], timeout_s=TIMEOUT_S)
        assert reply.fields["tabs"] == 0

    async def test_tab_names_are_not_used_again(self, client: HostClient) -> None:
        names = []
        for _ in range(2):
            tab = await client.open_tab(**SIZE, timeout_s=TIMEOUT_S)
            names.append(tab.tab)
            await client.close_tab(tab.tab, timeout_s=TIMEOUT_S)
        assert names[0] != names[1]

    async def test_there_is_a_limit_to_tabs(self, client: HostClient) -> None:
        limit = client.hello.max_tabs
        opening = [client.open_tab(**SIZE, timeout_s=TIMEOUT_S) for _ in range(limit + 1)]
        outcomes = await asyncio.gather(*opening, return_exceptions=True)
        (failure,) = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
        assert isinstance(failure, HostFailed)
        assert failure.host_code == "too_many_tabs"
        assert len(await client.list_tabs(timeout_s=TIMEOUT_S)) == limit

    async def test_the_host_captures_what_is_visible_as_png(self, client: HostClient) -> None:
        tab = await client.open_tab(**SIZE, timeout_s=TIMEOUT_S)
        for options in ({}, {"full_page": True}, {"source": "surface"}):
            reply = await client.capture(tab.tab, timeout_s=TIMEOUT_S, **options)
            assert reply.body.startswith(PNG)
            width, height = struct.unpack(">II", reply.body[16:24])
            assert (width, height) == (reply.fields["width_px"], reply.fields["height_px"]) == (320, 480)
            assert reply.fields["truncated"] is False
        small = await client.capture(tab.tab, timeout_s=TIMEOUT_S, full_page=True, max_height_px=100)
        assert (small.fields["height_px"], small.fields["truncated"]) == (100, True)
        both = await refused(client, "capture", tab=tab.tab, full_page=True, source="surface")
        assert both.host_code == "bad_request"

    async def test_files_are_stored_under_their_name_and_deleted_once(self, client: HostClient) -> None:
        content = bytes(range(256)) * 5000
        path = await client.put_file("räport.pdf", content, timeout_s=TIMEOUT_S)
        assert path.endswith("/räport.pdf")
        stats = await client.stats(timeout_s=TIMEOUT_S)
        assert (stats["files"], stats["file_bytes"]) == (1, len(content))
        await client.delete_file(path, timeout_s=TIMEOUT_S)
        for gone in (path, "/etc/passwd"):
            assert (await refused(client, "file.delete", path=gone)).host_code == "no_such_file"

    @pytest.mark.parametrize("name", ["", ".", "..", "a/b", "a\\b", "a\0b", "x" * 121, "日" * 100])
    async def test_a_file_cannot_be_put_elsewhere(self, client: HostClient, name: str) -> None:
        assert (await refused(client, "file.put", name=name, body=b"x")).host_code == "bad_request"

    async def test_a_tabs_files_go_with_it(self, client: HostClient) -> None:
        tab = await client.open_tab(**SIZE, timeout_s=TIMEOUT_S)
        await client.put_file("a.txt", b"a", tab=tab.tab, timeout_s=TIMEOUT_S)
        await client.close_tab(tab.tab, timeout_s=TIMEOUT_S)
        assert (await client.stats(timeout_s=TIMEOUT_S))["files"] == 0

    async def test_the_proxy_cannot_be_changed_under_a_tab(self, client: HostClient) -> None:
        reply = await client.set_proxy("127.0.0.1", 9, timeout_s=TIMEOUT_S)
        assert reply.fields["mechanism"] in ("controller", "properties")
        tab = await client.open_tab(**SIZE, timeout_s=TIMEOUT_S)
        assert (await refused(client, "proxy.set", host=None)).host_code == "tabs_open"
        await client.close_tab(tab.tab, timeout_s=TIMEOUT_S)
        assert (await client.set_proxy(None, timeout_s=TIMEOUT_S)).fields["mechanism"] == "none"
        assert (await refused(client, "proxy.set", host="127.0.0.1", port=0)).host_code == "bad_request"

    async def test_requests_of_one_tab_keep_their_order(self, client: HostClient) -> None:
        tab = await client.open_tab(**SIZE, timeout_s=TIMEOUT_S)
        done: list[str] = []

        async def note(name: str, work: Any) -> None:
            await work
            done.append(name)

        capturing = note("capture", client.capture(tab.tab, full_page=True, timeout_s=TIMEOUT_S))
        closing = note("close", client.close_tab(tab.tab, timeout_s=TIMEOUT_S))
        async with asyncio.TaskGroup() as group:
            group.create_task(capturing)
            group.create_task(closing)
        assert done == ["capture", "close"]


class TestOwnership:
    async def test_another_owner_is_told_who_is_there(self, host: Host, client: HostClient) -> None:
        for changes in ({"owner": "somebody else"}, {"policy_digest": "abc"}):
            with pytest.raises(DeviceBusy, match="conformance"):
                async with connected(host, await host.connect(host.socket_name), **changes):
                    pass
        assert (await client.stats(timeout_s=TIMEOUT_S))["owner"] == "conformance"

    async def test_the_same_owner_may_come_twice_and_finds_its_tabs(self, host: Host, client: HostClient) -> None:
        tab = await client.open_tab(**SIZE, timeout_s=TIMEOUT_S)
        async with connected(host, await host.connect(host.socket_name)) as second:
            (listed,) = await second.list_tabs(timeout_s=TIMEOUT_S)
            assert listed["tab"] == tab.tab

    async def test_the_same_owner_finds_its_tabs_after_its_connection_broke(self, host: Host) -> None:
        async with connected(host, await host.connect(host.socket_name)) as first:
            tab = await first.open_tab(**SIZE, timeout_s=TIMEOUT_S)
        async with connected(host, await host.connect(host.socket_name)) as second:
            (listed,) = await second.list_tabs(timeout_s=TIMEOUT_S)
            assert listed["tab"] == tab.tab

    async def test_a_new_owner_finds_nothing_of_the_last_one(self, host: Host) -> None:
        async with connected(host, await host.connect(host.socket_name)) as first:
            await first.open_tab(**SIZE, timeout_s=TIMEOUT_S)
            await first.put_file("a.txt", b"a", timeout_s=TIMEOUT_S)
        second = await self.connected_when_free(host, owner="somebody else")
        try:
            stats = await second.stats(timeout_s=TIMEOUT_S)
            assert (stats["tabs"], stats["files"], stats["owner"]) == (0, 0, "somebody else")
        finally:
            await self.leave()

    async def connected_when_free(self, host: Host, **changes: Any) -> HostClient:
        # The host learns that the first client has gone when its socket says so.
        async with asyncio.timeout(TIMEOUT_S):
            while True:
                self.opened = connected(host, await host.connect(host.socket_name), **changes)
                try:
                    return await self.opened.__aenter__()
                except DeviceBusy:
                    await asyncio.sleep(0)

    async def leave(self) -> None:
        await self.opened.__aexit__(None, None, None)


class TestEvents:
    async def event(self, client: HostClient, host: Host, what: str, name: str) -> tuple[str, Any]:
        tab = await client.open_tab(**SIZE, timeout_s=TIMEOUT_S)
        if what == "choose":
            await client.put_file("a.txt", b"a", tab=tab.tab, chooser=True, timeout_s=TIMEOUT_S)
        with client.events(name) as events:
            await host.happen(tab.url, what)
            async with asyncio.timeout(TIMEOUT_S):
                return tab.tab, (await anext(aiter(events))).fields

    async def test_a_download_is_told_and_not_made(self, host: Host, client: HostClient) -> None:
        tab, fields = await self.event(client, host, "download", "download")
        assert fields["tab"] == tab
        assert fields.keys() >= {"url", "mime", "length_bytes", "disposition", "user_agent"}

    async def test_a_popup_is_a_tab_of_its_openers_size(self, host: Host, client: HostClient) -> None:
        opener, fields = await self.event(client, host, "popup", "popup")
        assert (fields["opener"], {name: fields[name] for name in SIZE}) == (opener, SIZE)
        (_, listed) = await client.list_tabs(timeout_s=TIMEOUT_S)
        assert (listed["tab"], listed["opener"], listed["nonce"]) == (fields["tab"], opener, None)

    async def test_a_file_chooser_gets_what_was_staged(self, host: Host, client: HostClient) -> None:
        tab, fields = await self.event(client, host, "choose", "file_chooser")
        assert fields == {"tab": tab, "multiple": True, "accept": ["text/plain"], "answered": ["a.txt"]}

    async def test_a_dead_renderer_takes_all_its_tabs(self, host: Host, client: HostClient) -> None:
        tabs = [await client.open_tab(**SIZE, timeout_s=TIMEOUT_S) for _ in range(2)]
        with client.events("tab.lost") as events:
            await host.happen(tabs[0].url, "crash")
            async with asyncio.timeout(TIMEOUT_S):
                lost = [(await anext(aiter(events))).fields for _ in tabs]
        assert {fields["tab"] for fields in lost} == {tab.tab for tab in tabs}
        assert {fields["reason"] for fields in lost} == {"renderer_crashed"}
        assert await client.list_tabs(timeout_s=TIMEOUT_S) == ()

    async def test_a_page_that_closes_itself_is_a_lost_tab(self, host: Host, client: HostClient) -> None:
        tab, fields = await self.event(client, host, "close", "tab.lost")
        assert (fields["tab"], fields["reason"]) == (tab, "closed_by_page")
        assert await client.list_tabs(timeout_s=TIMEOUT_S) == ()

    async def test_a_popup_beyond_the_limit_is_refused_and_told(self, host: Host, client: HostClient) -> None:
        limit = client.hello.max_tabs
        tabs = [await client.open_tab(**SIZE, timeout_s=TIMEOUT_S) for _ in range(limit)]
        with client.events("popup") as events:
            await host.happen(tabs[0].url, "popup")
            async with asyncio.timeout(TIMEOUT_S):
                fields = (await anext(aiter(events))).fields
        assert (fields["tab"], fields["opener"], fields["refused"]) == (None, tabs[0].tab, True)
        assert len(await client.list_tabs(timeout_s=TIMEOUT_S)) == limit


class TestEnd:
    async def test_the_idle_time_of_the_first_start_counts(self, host: Host) -> None:
        await host.start(idle_timeout_s="1")
        async with connected(host, await host.connect(host.socket_name)) as client:
            assert client.hello.idle_timeout_s == 300

    async def test_idle_destroys_what_nobody_touches(self, host_maker: Any) -> None:
        async with (
            host_maker(idle_timeout_s=1.0) as brief,
            connected(brief, await brief.connect(brief.socket_name)) as client,
        ):
            assert client.hello.idle_timeout_s == 1
            with client.events("idle_destroyed") as events:
                tab = await client.open_tab(**SIZE, timeout_s=TIMEOUT_S)
                async with asyncio.timeout(TIMEOUT_S):
                    event = await anext(aiter(events))
            assert event.fields["tab"] == tab.tab
            assert event.fields["idle_s"] >= 1
            with pytest.raises(TabLost):
                await client.touch(tab.tab, timeout_s=TIMEOUT_S)

    async def test_shutdown_is_answered_and_then_everything_ends(self, host: Host, client: HostClient) -> None:
        await client.open_tab(**SIZE, timeout_s=TIMEOUT_S)
        await client.shutdown(timeout_s=TIMEOUT_S)
        async with asyncio.timeout(TIMEOUT_S):
            await client.closed.wait()
        assert isinstance(client.closed_reason, HostLost)
        with pytest.raises((OSError, BridgeError)):
            async with connected(host, await host.connect(host.socket_name)):
                pass

    async def test_a_client_may_leave_in_the_middle_of_a_frame(self, host: Host) -> None:
        broken = Wire(await host.connect(host.socket_name), FrameReader())
        await broken.send_bytes(struct.pack(">II", 100, 0) + b'{"id"')
        broken.close()
        async with connected(host, await host.connect(host.socket_name)) as client:
            assert (await client.stats(timeout_s=TIMEOUT_S))["clients"] == 1

    async def test_a_client_that_closes_its_sending_side_has_left(self, host: Host) -> None:
        leaving = Wire(await host.connect(host.socket_name), FrameReader())
        await leaving.send(hello(host))
        assert (await leaving.receive()) is not None
        leaving.sock.shutdown(socket.SHUT_WR)
        assert await leaving.receive() is None
        leaving.close()
        async with connected(host, await host.connect(host.socket_name)) as client:
            assert (await client.stats(timeout_s=TIMEOUT_S))["clients"] == 1

    async def test_a_client_that_does_not_read_holds_up_nobody_and_gets_all_of_it_later(
        self, host: Host, wire: Wire, client: HostClient
    ) -> None:
        tab = await client.open_tab(width_px=2000, height_px=2000, density_dpi=160, timeout_s=TIMEOUT_S)
        await wire.send(hello(host))
        assert (await wire.receive()) is not None
        asked = range(2, 42)
        frames = (encode_frame({"id": number, "type": "capture", "tab": tab.tab}) for number in asked)
        await wire.send_bytes(b"".join(frames))
        other = await client.open_tab(**SIZE, timeout_s=TIMEOUT_S)
        await client.close_tab(other.tab, timeout_s=TIMEOUT_S)
        replies = [await wire.receive() for _ in asked]
        assert [reply.header["id"] for reply in replies if reply is not None] == list(asked)
        assert all(reply is not None and reply.body.startswith(PNG) for reply in replies)
