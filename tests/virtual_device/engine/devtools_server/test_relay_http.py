"""The devtools socket's HTTP side answers as WebView's does."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from bridge.cdp import open_cdp
from bridge.errors import HostLost, TransportError
from tests.virtual_device.engine_rig import TIMEOUT_S, Rig, running_rig

pytestmark = pytest.mark.browser

SIZE: dict[str, Any] = {"width_px": 320, "height_px": 480, "density_dpi": 160, "timeout_s": TIMEOUT_S}


@pytest.fixture
async def rig() -> AsyncIterator[Rig]:
    async with running_rig() as started:
        await started.start()
        yield started


async def test_a_host_that_is_a_name_gets_500(rig: Rig) -> None:
    for host, status in {"example.com": 500, "localhost:9": 200, "127.0.0.1": 200, "[::1]:9222": 200}.items():
        assert (await rig.http("/json/version", Host=host))[0] == status, host


async def test_an_origin_gets_403(rig: Rig) -> None:
    handshake = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA=="}
    status, _ = await rig.http("/devtools/browser", Origin="http://localhost", **handshake)
    assert status == 403


async def test_no_tab_comes_from_json_new(rig: Rig) -> None:
    assert (await rig.http("/json/new?about:blank"))[0] == 500
    assert await rig.json("/json/list") == []


async def test_only_own_tabs_are_listed_with_a_description_that_shows_health(rig: Rig) -> None:
    async with rig.client() as host:
        tab = await host.open_tab(**SIZE)
        (entry,) = await rig.json("/json")
        assert (entry["type"], entry["url"]) == ("page", tab.url)
        assert entry["webSocketDebuggerUrl"] == f"ws://localhost/devtools/page/{entry['id']}"
        described = json.loads(entry["description"])
        assert (described["attached"], described["visible"], described["empty"]) == (True, True, False)
        assert (described["width"], described["height"]) == (320, 480)


async def test_the_version_names_the_app_and_the_fixed_browser_path(rig: Rig) -> None:
    version = await rig.json("/json/version")
    assert version["Android-Package"] == "dev.webviewbridge.host"
    assert version["webSocketDebuggerUrl"] == "ws://localhost/devtools/browser"
    assert "Headless" not in json.dumps(version)


async def test_other_paths_of_chromium_are_not_there(rig: Rig) -> None:
    async with rig.client() as host:
        await host.open_tab(**SIZE)
        foreign = await rig.foreign_target()
        for path in (f"/devtools/page/{foreign}", "/devtools/browser/0a1b"):
            with pytest.raises(TransportError, match="404"):
                async with rig.cdp(path):
                    pass
        assert (await rig.http("/json/close/" + foreign))[0] == 404
        assert (await rig.http("/nothing"))[0] == 404


async def test_asking_for_the_protocol_kills_the_process(rig: Rig) -> None:
    async with rig.client() as host:
        await host.open_tab(**SIZE)
        assert rig.app.process is not None
        reader, writer = await rig.device.sockets.connect(f"webview_devtools_remote_{rig.app.process.pid}")
        writer.write(b"GET /json/protocol HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert await reader.read() == b""
        writer.close()
        await host.closed.wait()
        assert isinstance(host.closed_reason, HostLost)
    assert rig.device.sockets.names() == {}
    await rig.start()
    async with rig.client() as again:
        assert again.hello.pid == host.hello.pid + 1
        assert await again.list_tabs(timeout_s=TIMEOUT_S) == ()
        assert await rig.json("/json/list") == []


async def test_a_closed_page_takes_its_tab_along(rig: Rig) -> None:
    async with rig.client() as host:
        tab = await host.open_tab(**SIZE)
        with host.events("tab.lost") as lost:
            target_id = await rig.target_id(tab.url)
            assert (await rig.http(f"/json/close/{target_id}"))[0] == 200
            event = await anext(aiter(lost))
        assert event.fields["tab"] == tab.tab
        assert event.fields["reason"] == "closed_by_page"


async def test_without_quirks_a_client_may_open_tabs() -> None:
    async with running_rig(quirks=False) as rig:
        await rig.start()
        version = await rig.json("/json/version")
        path = version["webSocketDebuggerUrl"].partition("localhost")[2]
        sock = await rig.connect(f"webview_devtools_remote_{rig.app.process.pid}")  # type: ignore[union-attr]
        async with open_cdp(sock, path, timeout_s=TIMEOUT_S) as cdp:
            made = await cdp.call("Target.createTarget", {"url": "about:blank"}, timeout_s=TIMEOUT_S)
            assert made["targetId"]
