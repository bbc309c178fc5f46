"""Every tool, called by the SDK's own client, over both transports and in both eras of the protocol."""

from __future__ import annotations

import base64
import io
import json
import re
import socket
from collections.abc import Iterator
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp_types import ImageContent
from PIL import Image

from bridge.model_tools import tool_set
from bridge.ops import OPERATION_KINDS
from tests.mcp.conftest import Serving, text_of

pytestmark = [pytest.mark.browser, pytest.mark.timeout(180)]

WAYS = [(transport, mode) for transport in ("stdio", "http") for mode in ("legacy", "auto")]


class Caller:
    """Calls tools and notes which."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.called: set[str] = set()

    async def __call__(self, tool: str, *, fails: bool = False, **arguments: Any) -> str:
        self.called.add(tool)
        result = await self.client.call_tool(tool, arguments)
        assert result.is_error is fails, text_of(result)
        return text_of(result)


def ref_of(answer: str, role: str, name: str) -> str:
    found = re.search(rf'{role} "{name}[^\n]*\[ref=(e\d+)\]', answer)
    assert found, answer
    return found.group(1)


@pytest.mark.parametrize(("transport", "mode"), WAYS)
async def test_every_web_tool_works_over_both_transports_and_in_both_eras(
    serving: Serving, transport: str, mode: str
) -> None:
    uploads, downloads = serving.folder / "up", serving.folder / "down"
    uploads.mkdir()
    downloads.mkdir()
    (uploads / "note.txt").write_text("hello", encoding="utf-8")
    folders = ("--uploads-root", str(uploads), "--downloads-root", str(downloads))
    page = serving.local.url
    async with serving.client(transport, *folders, mode=mode) as client:
        listed = await client.list_tools()
        call = Caller(client)
        opened = await call("web_open", url=page("controls.html"))
        assert "HTTP 200" in opened
        whole = await call("web_snapshot", interactive_only=False)
        box = re.search(r'checkbox "[^\n]*\[ref=(e\d+)\]', whole)
        field = re.search(r'textbox "[^\n]*\[ref=(e\d+)\]', whole)
        assert box
        assert field
        assert "checked=true" in await call("web_check", ref=box[1])
        assert "checked=false" in await call("web_uncheck", ref=box[1])
        assert field[1] in await call("web_fill", ref=field[1], value="some words")
        assert "some words" in await call("web_get_value", ref=f"@{field[1]}")
        await call("web_press_key", key="Tab")
        await call("web_scroll", direction="down", amount=200)
        shop = await call("web_open", url=page("tasks/choose-option.html"), new_tab=True)
        option = re.search(r'option "(\w+)"', shop)
        assert option
        chosen = await call("web_select", ref=ref_of(shop, "combobox", "List"), values=[option[1]])
        assert option[1] in chosen
        assert "2 open" in await call("web_tabs")
        await call("web_tabs", action="close")
        assert "1 open" in await call("web_tabs")
        reading = await call("web_open", url=page("reading.html"))
        heading = re.search(
            r"heading [^\n]*\[ref=(e\d+)\]", reading + await call("web_snapshot", interactive_only=False)
        )
        assert heading
        assert "text of" in await call("web_get_text", ref=heading[1])
        assert "#" in await call("web_read")
        assert "matches=" in await call("web_find", text="the")
        assert "met after" in await call("web_wait", role="heading")
        assert "controls.html" in await call("web_back")
        await call("web_click", ref=ref_of(await call("web_snapshot"), "checkbox", ""))
        saved = await call("web_download", dest_path="page.html", url=page("second.html"))
        assert (downloads / "page.html").stat().st_size == int(re.findall(r"(\d+) bytes", saved)[0])
        assert "policy_refused" in await call("web_upload", ref="e1", paths=["../../etc/passwd"], fails=True)
        filled = await call("web_fill_form", fields=[await a_field(call, page("controls.html"))])
        assert "filled by form" in filled
        typed = (await a_field(call, page("controls.html"))).split("=")[0]
        assert "more" in await call("web_type", ref=typed, text=" more")
        assert "web_dialog" not in await call("web_dialog", action="dismiss")
        assert "view --session" in await call("web_ask_person", message="Log in, please.", fails=True)
        picture = await client.call_tool("web_screenshot", {})
        image = next(part for part in picture.content if isinstance(part, ImageContent))
        assert Image.open(io.BytesIO(base64.b64decode(image.data))).size == (412, 915)
        assert {tool.name for tool in listed.tools} == call.called | {"web_screenshot"}


async def a_field(call: Caller, url: str) -> str:
    """A text field of the page with the value that it shall get."""
    field = re.search(r'textbox "[^\n]*\[ref=(e\d+)\]', await call("web_open", url=url))
    assert field
    return f"{field[1]}=filled by form"


@pytest.fixture
def nobody() -> Iterator[int]:
    """A port where nobody listens, nor will: it is taken."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]


@pytest.mark.parametrize("transport", ["stdio", "http"])
async def test_the_simple_set_answers_in_its_known_words(serving: Serving, nobody: int, transport: str) -> None:
    url = serving.local.url("reading.html")
    async with serving.client(transport, "--set", "simple", "--local", str(nobody)) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["browser", "webfetch"]
        call = Caller(client)
        assert await call("browser", fails=True) == "Parameter 'url' is required"
        assert await call("browser", url=url, fails=True) == "Parameter 'mode' is required"
        assert (
            await call("browser", url=url, mode="dump", fails=True)
            == "Invalid mode 'dump'. Use 'screenshot' or 'extract'"
        )
        for tool in ("browser", "webfetch"):
            more = {"mode": "extract"} if tool == "browser" else {}
            assert await call(tool, url="file:///etc/passwd", fails=True, **more) == (
                "Only HTTP and HTTPS URLs are supported"
            )
            assert (await call(tool, url="http://", fails=True, **more)).startswith("Invalid URL: ")
            assert "policy_refused" in await call(tool, url="http://169.254.169.254/", fails=True, **more)
        assert "unknown argument" in await call("browser", url=url, mode="extract", javascript="1", fails=True)
        shot = json.loads(await call("browser", url=url, mode="screenshot", width=300, height=400, wait_seconds=0))
        with Image.open(shot["image_path"]) as image:
            assert image.size == (300, 400)
            assert re.fullmatch(r"browser_screenshot_\d+\.png", shot["image_path"].rpartition("/")[2])
        extracted = await call("browser", url=url, mode="extract", wait_seconds=0)
        fetched = await call("webfetch", url=url)
        assert "<page-content" in extracted
        assert "<page-content" in fetched
        missing = await call("browser", url=f"http://127.0.0.1:{nobody}/", mode="extract", fails=True)
        assert missing.startswith("Page load error: ")


async def test_javascript_needs_the_operators_permission_and_its_errors_are_reported(serving: Serving) -> None:
    page = {"url": serving.local.url("second.html"), "mode": "extract", "wait_seconds": 0}
    async with serving.client("stdio", "--set", "simple", "--allow-javascript") as client:
        call = Caller(client)
        changed = await call("browser", **page, javascript="document.body.innerHTML = '<p>written by a script</p>'")
        assert "written by a script" in changed
        assert (await call("browser", **page, javascript="nope()", fails=True)).startswith("JavaScript error: ")


async def test_nothing_is_left_between_two_calls_of_browser(serving: Serving) -> None:
    page = {"url": serving.local.url("second.html"), "mode": "extract", "wait_seconds": 0}
    async with serving.client("stdio", "--set", "simple", "--allow-javascript") as client:
        call = Caller(client)
        seen = "document.body.textContent = 'cookies:' + document.cookie + localStorage.length"
        await call("browser", **page, javascript="document.cookie = 'a=1'; localStorage.b = 2")
        assert "cookies:0" in await call("browser", **page, javascript=seen)


@pytest.mark.parametrize("transport", ["stdio", "http"])
async def test_the_eighteen_operations_are_behind_one_tool(serving: Serving, transport: str) -> None:
    async with serving.client(transport, "--set", "ops") as client:
        (tool,) = (await client.list_tools()).tools
        assert tool.input_schema["properties"]["kind"]["enum"] == list(OPERATION_KINDS)
        call = Caller(client)
        await call("browser_op", kind="navigate", url=serving.local.url("controls.html"))
        shown = await call("browser_op", kind="snapshot")
        box = re.search(r'checkbox "[^\n]*\[ref=(e\d+)\]', shown)
        assert box
        assert '"ok":true' in await call("browser_op", kind="click", ref=box[1])
        assert "snapshot" in await call("browser_op", kind="click", ref="e999", fails=True)
        assert "invalid_operation" in await call("browser_op", kind="click", fails=True)
        assert "policy_refused" in await call("browser_op", kind="navigate", url="http://10.0.0.1/", fails=True)
        result = await client.call_tool("browser_op", {"kind": "screenshot"})
        assert any(isinstance(part, ImageContent) for part in result.content)
        for kind in ("get_state", "console", "network_log", "new_tab", "close_tab", "read"):
            assert '"ok":true' in await call("browser_op", kind=kind)


async def test_annotations_come_from_effects(serving: Serving) -> None:
    async with serving.client("stdio") as client:
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
    for tool in tool_set("web"):
        hints = listed[tool.name].annotations
        # Of what is left out, the defaults of the protocol apply: not read-only, destructive.
        assert bool(hints and hints.read_only_hint) is (tool.effect == "observe")
        assert (hints is None or hints.destructive_hint is not False) is (tool.effect != "navigate")


async def test_an_unknown_tool_is_an_error_of_the_protocol(serving: Serving) -> None:
    async with serving.client("stdio") as client:
        with pytest.raises(MCPError, match="unknown tool 'evaluate'"):
            await client.call_tool("evaluate", {"expression": "1"})


async def test_console_and_network_of_the_current_page_are_resources(serving: Serving) -> None:
    async with serving.client("stdio") as client:
        uris = [resource.uri for resource in (await client.list_resources()).resources]
        assert uris == ["webview://console", "webview://network", "webview://trace"]
        before = (await client.read_resource("webview://network")).contents[0]
        assert before.text == "no tab is open"  # type: ignore[union-attr]
        await client.call_tool("web_open", {"url": serving.local.url("second.html")})
        after = (await client.read_resource("webview://network")).contents[0]
        assert "200 GET" in after.text  # type: ignore[union-attr]
        with pytest.raises(MCPError, match="unknown resource"):
            await client.read_resource("webview://../../etc/passwd")
