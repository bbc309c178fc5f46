"""An answer that says nothing is no answer; and a window is told of once."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from temp_clients import temp_client

from bridge.model_tools import ClientContext, NoElicitation, Toolbox, tool_set
from bridge.surfaces.local_server import LocalServer, QuietHandler, listening

pytestmark = pytest.mark.browser


class _Site(QuietHandler):
    def do_GET(self) -> None:
        self.respond(b"<title>Page</title><a href='/x' target=_blank>Open</a>" if self.path == "/link" else b"")


@pytest.fixture
def site() -> Iterator[LocalServer]:
    with listening(_Site) as server:
        yield server


@pytest.fixture
async def client(webview_device: str, site: LocalServer, tmp_path: Path) -> AsyncIterator[ClientContext]:
    async with temp_client(webview_device, [site.grant], tmp_path) as client:
        yield client


async def test_an_empty_page_is_reported_as_empty(client: ClientContext, site: LocalServer) -> None:
    web, simple = Toolbox(tool_set("web")), Toolbox(tool_set("simple"))
    await web.call("web_open", {"url": site.url("")}, client, NoElicitation())
    assert "the page has no readable text" in (await web.call("web_read", {}, client, NoElicitation())).text
    given = {"url": site.url(""), "mode": "extract", "wait_seconds": 0}
    assert "The page has no text to extract." in (await simple.call("browser", given, client, NoElicitation())).text


async def test_a_new_window_is_reported_once(client: ClientContext, site: LocalServer) -> None:
    web = Toolbox(tool_set("web"))
    await web.call("web_open", {"url": site.url("link")}, client, NoElicitation())
    page = await client.page()
    ref = (await page.snapshot()).find(name="Open").ref
    shown = (await web.call("web_click", {"ref": ref}, client, NoElicitation())).text
    assert shown.count("opened another tab") == 1
    assert "opened a window" not in shown
