"""PROTOCOL.md's owners, events and end, asked of an implementation."""

from __future__ import annotations

import asyncio
import socket
import struct
from typing import Any

import pytest
from conformance import PNG, SIZE, TIMEOUT_S, connected, hello
from control_wire import Host, Wire

from bridge.errors import BridgeError, DeviceBusy, HostLost, TabLost
from bridge.host import HostClient
from bridge.host.protocol import FrameReader, encode_frame


class TestOwnership:
    async def test_another_owner_gets_the_name_of_the_current_one(self, host: Host, client: HostClient) -> None:
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

    async def test_a_download_is_reported_and_not_started(self, host: Host, client: HostClient) -> None:
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

    async def test_a_popup_beyond_the_limit_is_refused_and_reported(self, host: Host, client: HostClient) -> None:
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

    async def test_idle_tabs_are_destroyed(self, host_maker: Any) -> None:
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

    async def test_a_client_that_does_not_read_blocks_no_other_and_gets_everything_later(
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
