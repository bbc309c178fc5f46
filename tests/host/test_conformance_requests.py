"""PROTOCOL.md's requests, asked of an implementation: a host that passes these tests can be driven by the bridge."""

from __future__ import annotations

import asyncio
import struct
from typing import Any

import pytest
from conformance import PNG, SIZE, TIMEOUT_S, refused

from bridge.errors import HostFailed, TabLost
from bridge.host import HostClient


class TestRequests:
    async def test_invalid_fields_are_named_and_the_connection_stays_open(self, client: HostClient) -> None:
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
