"""Who gets to see a secret: the origin that it is for, and no model, whichever length of text it asks for."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from temp_clients import temp_client

from bridge import TestServerGrant
from bridge.model_tools import ClientContext, NoElicitation, Toolbox, tool_set
from bridge.ops import Secret, Secrets
from bridge.surfaces.local_server import LocalServer, QuietHandler, listening

pytestmark = [pytest.mark.browser, pytest.mark.timeout(180)]

VALUE = "hunter2secretvalue"
ECHO = """<title>Echo</title><main><p>Fill this in, if you please.</p><label>Field <input id=i></label>
<div id=out tabindex=0 role=textbox aria-label=Echo></div><p id=said></p></main>
<script>i.oninput = () => { out.textContent = said.textContent = 'x' + i.value; }</script>"""


class _Shop(QuietHandler):
    def do_GET(self) -> None:
        port = self.server.server_address[1]
        frame = f'<title>Shop</title><h1>Shop</h1><iframe src="http://localhost:{port}/advertisement"></iframe>'
        page = {"/": frame, "/advertisement": "<label>Password <input></label>", "/echo": ECHO}.get(self.path, "")
        self.respond(page.encode())


@pytest.fixture(scope="module")
def shop() -> Iterator[LocalServer]:
    with listening(_Shop) as server:
        yield server


@pytest.fixture
async def client(webview_device: str, shop: LocalServer, tmp_path: Path) -> AsyncIterator[ClientContext]:
    grants = [shop.grant, TestServerGrant("localhost", shop.port)]
    secrets = Secrets({"PW": Secret(VALUE, (shop.origin,))})
    async with temp_client(webview_device, grants, tmp_path, secrets=secrets) as client:
        yield client


async def said(client: ClientContext, tools: str, tool: str, **given: Any) -> str:
    shown = await Toolbox(tool_set(tools)).call(tool, given, client, NoElicitation())
    return shown.text


def ref_of(text: str, what: str) -> str:
    found = re.search(rf"{what}.*?\[ref=(e\d+)\]", text)
    assert found, text
    return found[1]


async def test_a_secret_for_the_page_is_not_filled_into_a_foreign_frame_of_it(
    client: ClientContext, shop: LocalServer
) -> None:
    opened = await said(client, "web", "web_open", url=shop.url())
    by_tool = await said(client, "web", "web_fill", ref=ref_of(opened, "textbox"), value="secret:PW")
    await said(client, "ops", "browser_op", kind="navigate", url=shop.url())
    shot = await said(client, "ops", "browser_op", kind="snapshot")
    by_operation = await said(client, "ops", "browser_op", kind="fill", ref=ref_of(shot, "textbox"), value="secret:PW")
    for answer in (by_tool, by_operation):
        assert "policy_refused" in answer
        assert "the secret PW may not be filled in on http://localhost" in answer


async def test_no_length_of_a_text_shows_a_part_of_a_secret(client: ClientContext, shop: LocalServer) -> None:
    opened = await said(client, "web", "web_open", url=shop.url("echo"))
    await said(client, "web", "web_fill", ref=ref_of(opened, 'textbox "Field"'), value="secret:PW")
    shot = await said(client, "web", "web_snapshot", interactive_only=False)
    echo = ref_of(shot, 'textbox "Echo"')
    for length in (2, 4, 12, len(VALUE), 60):
        shown = await said(client, "web", "web_get_text", ref=echo, max_length=length)
        assert "hu" not in shown, shown
    for length in (38, 42, 50, 200):
        shown = await said(client, "web", "web_read", mode="raw", max_length=length)
        assert "hunt" not in shown, shown
    assert "x[secret:PW]" in shown.replace("\\", "")
