"""A page that does not load is an answer, and the server goes on."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from temp_clients import temp_client

from bridge.errors import NavigationFailed
from bridge.model_tools import ClientContext, NoElicitation, Toolbox, tool_set
from bridge.surfaces.local_server import LocalServer, QuietHandler, listening

pytestmark = [pytest.mark.browser, pytest.mark.timeout(180)]


class _Unloadable(QuietHandler):
    def do_GET(self) -> None:
        if self.path == "/silent":
            self.close_connection = True
            return
        self.send_response(204 if self.path == "/empty" else 200)
        if self.path == "/attachment":
            self.send_header("Content-Disposition", "attachment")
        self.send_header("Content-Type", "text/html")
        if self.path != "/empty":
            self.send_header("Content-Length", "12")
        self.end_headers()
        if self.path != "/empty":
            self.wfile.write(b"<title>Fine<")


@pytest.fixture
def unloadable() -> Iterator[LocalServer]:
    with listening(_Unloadable) as server:
        yield server


@pytest.fixture
async def client(webview_device: str, unloadable: LocalServer, tmp_path: Path) -> AsyncIterator[ClientContext]:
    async with temp_client(webview_device, [unloadable.grant], tmp_path) as client:
        yield client


async def test_a_response_without_a_page_is_reported_and_the_next_page_opens(
    client: ClientContext, unloadable: LocalServer
) -> None:
    web = Toolbox(tool_set("web"))
    for path in ("/empty", "/attachment", "/silent"):
        shown = await web.call("web_open", {"url": unloadable.url(path)}, client, NoElicitation())
        assert shown.is_error
        assert shown.text.startswith("web_open failed: navigation_failed"), shown.text
    shown = await web.call("web_open", {"url": unloadable.url("page")}, client, NoElicitation())
    assert not shown.is_error, shown.text


async def test_an_unexplained_error_is_not_its_own_cause(client: ClientContext, unloadable: LocalServer) -> None:
    page = await client.new_page()
    with pytest.raises(NavigationFailed) as failed:
        await page.goto(unloadable.url("empty"))
    assert failed.value.__cause__ is not failed.value
