"""No tool result contains text of a page or a server outside the content markers."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from temp_clients import temp_client

from bridge.model_tools import ClientContext, NoElicitation, Toolbox, tool_set
from bridge.surfaces.local_server import LocalServer
from tests.injection_site import FORGED, LOCATIONS, MARK, SAID, folders, talking

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]


# What they are asked for is the page's own text.
VERBATIM = ("web_get_text", "web_get_value", "web_read", "browser", "webfetch", "read")


@pytest.fixture
def talker() -> Iterator[LocalServer]:
    with talking() as server:
        yield server


@pytest.fixture
async def client(webview_device: str, talker: LocalServer, tmp_path: Path) -> AsyncIterator[ClientContext]:
    async with temp_client(webview_device, [talker.grant], tmp_path, **folders(tmp_path)) as client:
        yield client


async def said(client: ClientContext, tools: str, tool: str, **given: Any) -> str:
    """The answer, after looking at what stands outside of its markers."""
    shown = await Toolbox(tool_set(tools, allow_javascript=tools == "simple")).call(
        tool, given, client, NoElicitation()
    )
    nonce = client.markers.nonce
    fenced = rf"<page-content {nonce} origin=\S*>\n.*\n</page-content {nonce}>"
    outside = re.sub(fenced, "", shown.text, flags=re.DOTALL)
    assert MARK.lower() not in outside.lower(), (tool, given, outside)
    assert "unexpected" not in outside, (tool, given, outside)
    assert given.get("kind", tool) in VERBATIM or FORGED not in shown.text, (tool, given, shown.text)
    return shown.text


async def test_no_word_of_a_page_or_a_server_stands_outside_of_the_fence(
    client: ClientContext, talker: LocalServer
) -> None:
    addresses = ("/missing", "/broken", "/token", "/picture", "/garbled", "/lengthless", "/file", *LOCATIONS, "/")
    for path in addresses:
        await said(client, "simple", "webfetch", url=talker.url(path))
        await said(client, "web", "web_open", url=talker.url(path))
    for path in ("/script", "/other", "/file", "/"):
        await said(client, "simple", "browser", url=talker.url(path), mode="extract", wait_seconds=0)
    for script, result in (
        (f"'{SAID}'", SAID),
        ("({a: 1})", '{"a":1}'),
        ("throw document.title", "JavaScript error: the page threw it\n<page-content"),
        ("throw new TypeError(document.title)", "JavaScript error: the page threw it\n<page-content"),
    ):
        given = {"mode": "extract", "wait_seconds": 0, "javascript": script}
        assert result in await said(client, "simple", "browser", url=talker.url(), **given)

    opened = await said(client, "web", "web_open", url=talker.url())
    refs = list(dict.fromkeys(re.findall(r"\[ref=(e\d+)\]", opened)))
    assert len(refs) > 7
    for ref in refs:
        for tool, given in (
            ("web_check", {}),
            ("web_select", {"values": ["none of these"]}),
            ("web_get_value", {}),
            ("web_get_text", {}),
            ("web_fill", {"value": "x"}),
            ("web_upload", {"paths": ["a.txt"]}),
        ):
            await said(client, "web", tool, ref=ref, **given)
    await said(client, "web", "web_read", section="nowhere")
    await said(client, "web", "web_read", outline=True)
    await said(client, "web", "web_find", text=MARK)
    await said(client, "web", "web_wait", text="never there", timeout_seconds=0.2)
    await said(client, "web", "web_snapshot", scope="#nowhere")
    await said(client, "web", "web_screenshot", annotate=True)
    await said(client, "web", "web_tabs")
    for path in ("/token", "/file", "/missing", "/private", "/script", "/other"):
        await said(client, "web", "web_download", url=talker.url(path), dest_path=f"{path[1:]}.txt")
    for ref in refs:
        await said(client, "web", "web_click", ref=ref)


async def test_no_operation_lets_a_word_of_a_page_out_either(client: ClientContext, talker: LocalServer) -> None:
    for path in ("/missing", "/private", "/script", "/other", "/file", "/"):
        await said(client, "ops", "browser_op", kind="navigate", url=talker.url(path))
    shot = await said(client, "ops", "browser_op", kind="snapshot", interactive_only=False)
    for kind in ("read", "get_state", "console", "network_log", "screenshot"):
        await said(client, "ops", "browser_op", kind=kind)
    for path in ("/token", "/file", "/missing", "/private"):
        await said(client, "ops", "browser_op", kind="download", url=talker.url(path), dest_path=f"{path[1:]}.txt")
    for ref in re.findall(r"\[ref=(e\d+)\]", shot)[:8]:
        await said(client, "ops", "browser_op", kind="select", ref=ref, values=["none of these"])
        await said(client, "ops", "browser_op", kind="fill", ref=ref, value="x")
        await said(client, "ops", "browser_op", kind="click", ref=ref)
