"""What a server has done for its clients, as a resource and as a file."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path

import pytest
from mcp import Client

from bridge.surfaces.trace.document import read_trace
from tests.mcp.conftest import Serving, text_of
from tests.mcp.test_server_life import virtual_devices_of

pytestmark = pytest.mark.browser


async def timeline(client: Client) -> str:
    (found,) = (await client.read_resource("webview://trace")).contents
    return str(found.text)  # type: ignore[union-attr]


async def test_each_client_reads_what_was_done_in_its_own_tabs_and_no_secret(serving: Serving, tmp_path: Path) -> None:
    serving.environment["SHOP_WORD"] = "open sesame 7"
    file = tmp_path / "trace.html"
    with serving.http("--trace", str(file), "--secrets-env", "SHOP_WORD") as address:
        async with address.client(mode="legacy") as one, address.client(mode="legacy") as two:
            assert await timeline(one) == "no tab is open"
            opened = text_of(await one.call_tool("web_open", {"url": serving.local.url("controls.html")}))
            await two.call_tool("web_open", {"url": serving.local.url("second.html")})
            field = re.search(r'textbox "[^\n]*\[ref=(e\d+)\]', opened)
            assert field, opened
            filled = await one.call_tool("web_fill", {"ref": field[1], "value": "secret:SHOP_WORD"})
            assert not filled.is_error, text_of(filled)
            await one.call_tool("web_click", {"ref": "e9999"})
            first, second = await timeline(one), await timeline(two)
    assert re.search(r"\d+ t\d+ page\.goto\('[^']*controls\.html'\) -> ok \(\d+ ms\)", first), first
    assert "[secret:SHOP_WORD]" in first
    assert "ref_not_found" in first
    assert "second.html" not in first
    assert "second.html" in second
    assert "controls.html" not in second
    assert first.startswith("<page-content ")
    assert "open sesame" not in first + file.read_text()
    assert {entry["name"] for entry in read_trace(file)["operations"]} >= {"goto", "fill", "click"}


async def test_a_server_without_a_trace_says_how_to_get_one(serving: Serving) -> None:
    async with serving.client("stdio") as client:
        await client.call_tool("web_open", {"url": serving.local.url("second.html")})
        assert "--trace FILE" in await timeline(client)


async def test_a_session_after_a_loss_has_a_trace_of_its_own(serving: Serving, tmp_path: Path) -> None:
    serving.options = ("--device", "virtual", "--local", str(serving.local.port))
    async with serving.client("stdio", "--trace", str(tmp_path / "trace.html")) as client:
        for _ in range(2):
            await client.call_tool("web_open", {"url": serving.local.url("second.html")})
            for pid in virtual_devices_of(os.getpid()):
                os.kill(pid, signal.SIGKILL)
            await client.call_tool("web_snapshot", {})
    for name in ("trace.html", "trace-2.html"):
        assert read_trace(tmp_path / name)["operations"]


def test_a_trace_that_cannot_be_written_stops_the_start(serving: Serving) -> None:
    process = serving.start("--trace", "/no/such/folder/trace.html")
    _, said = process.communicate(timeout=30)
    assert process.returncode == 2
    assert "a trace cannot be written" in said
