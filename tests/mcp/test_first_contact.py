"""A model's first minutes at a server: a site that nobody has allowed, a dialog, a tall page, a login by a person."""

from __future__ import annotations

import asyncio
import base64
import io
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from typing import Any

import pytest
from mcp import Client
from mcp_types import ElicitRequestParams, ElicitResult, ImageContent
from PIL import Image
from websockets.asyncio.client import connect

from tests.mcp.conftest import LIMIT_S, Serving, text_of

pytestmark = [pytest.mark.browser, pytest.mark.timeout(180)]

MODES = ("legacy", "auto")
STRANGE = {"url": "http://nowhere.example/"}


async def called(client: Client, tool: str, **arguments: Any) -> str:
    return text_of(await client.call_tool(tool, arguments))


def ref_of(text: str, role: str, name: str) -> str:
    found = re.search(rf'{role} "{name}"[^\n]*\[ref=(e\d+)\]', text)
    assert found, text
    return found.group(1)


@pytest.mark.parametrize("mode", MODES)
async def test_a_site_that_nothing_allows_is_opened_once_the_person_agrees(serving: Serving, mode: str) -> None:
    asked: list[str] = []

    async def agree(context: Any, params: ElicitRequestParams) -> ElicitResult:
        asked.append(params.message)
        return ElicitResult(action="accept", content={})

    async with serving.client("stdio", mode=mode, elicitation_callback=agree) as client:
        opened = await called(client, "web_open", **STRANGE)
        assert "policy_refused" not in opened  # the name has no address
        await called(client, "web_open", url="http://nowhere.example/again")
    assert len(asked) == 1, "one question per origin"
    assert "nowhere.example" in asked[0]


async def test_a_refusal_says_how_to_allow_and_the_configuration_is_read_again(serving: Serving) -> None:
    async with serving.client("stdio") as client:
        refused = await called(client, "web_open", **STRANGE)
        for words in ("policy_refused", "config.toml", "BRIDGE_POLICY_ALLOWED_ORIGINS=", "--allow nowhere.example"):
            assert words in refused, refused
        serving.configure('[browser.policy]\nallowed_origins = ["nowhere.example"]\n')
        assert "policy_refused" not in await called(client, "web_open", **STRANGE)
        serving.configure('[browser.policy]\nallowed_orgins = ["nowhere.example"]\n')
        kept = await called(client, "web_open", **STRANGE)
        assert "allowed_orgins" in kept
        assert "policy_refused" not in kept
        serving.configure('[browser.policy]\ndefault_action = "deny"\n')
        assert "policy_refused" in await called(client, "web_open", **STRANGE)


async def test_the_flag_allows_a_pattern(serving: Serving) -> None:
    async with serving.client("stdio", "--allow", "*.nowhere.example", "--tools", "webfetch") as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["webfetch"]
        assert "policy_refused" not in await called(client, "webfetch", url="http://a.nowhere.example/")
        assert "policy_refused" in await called(client, "webfetch", url="http://other.example/")


async def test_a_purchase_behind_a_confirm_dialog(serving: Serving) -> None:
    async with serving.client("stdio") as client:
        shop = await called(client, "web_open", url=serving.local.url("shop.html"))
        button = ref_of(shop, "button", "Ask me")
        dismissed = await called(client, "web_click", ref=button)
        assert 'confirm "Sure?" (dismissed)' in dismissed
        assert 'web_dialog(action="accept")' in dismissed
        assert "accepted" in await called(client, "web_dialog", action="accept")
        accepted = await called(client, "web_click", text="Ask me")
        assert 'confirm "Sure?" (accepted)' in accepted
        assert "answer: true" in accepted
        again = await called(client, "web_click", text="Ask me")
        assert "(dismissed)" in again, "an answer is for one dialog"


async def test_words_that_several_elements_have_are_refused_with_their_refs(serving: Serving) -> None:
    async with serving.client("stdio") as client:
        await called(client, "web_open", url=serving.local.url("shop.html"))
        several = await called(client, "web_click", text="Add to cart")
        assert "3 elements have this text" in several
        assert len(set(re.findall(r"\be\d+: button", several))) == 3
        assert "no element has this text" in await called(client, "web_click", text="Nowhere to be found")
        assert "takes one target" in await called(client, "web_click")


async def test_a_page_too_tall_for_a_model_is_cut_with_a_note(serving: Serving) -> None:
    async with serving.client("http") as client:
        await called(client, "web_open", url=serving.local.url("tall.html"))
        result = await client.call_tool("web_screenshot", {"full_page": True})
        picture = next(part for part in result.content if isinstance(part, ImageContent))
        assert len(picture.data) <= 1_000_000
        image = Image.open(io.BytesIO(base64.b64decode(picture.data)))
        assert max(image.size) <= 8_000
        assert f"{image.width}×{image.height} px" in text_of(result)
        assert "cut from 412×10000 px" in text_of(result)
        assert not (await client.call_tool("web_tabs", {})).is_error


@pytest.mark.parametrize("mode", MODES)
async def test_a_person_takes_over_for_a_login_and_hands_back(serving: Serving, mode: str) -> None:
    asked: list[str] = []

    async def log_in(context: Any, params: ElicitRequestParams) -> ElicitResult:
        asked.append(params.message)
        found = re.search(r"(http://127\.0\.0\.1:\d+)/#([\w-]+)", params.message)
        assert found
        async with connect(found[1].replace("http", "ws") + "/live", origin=found[1]) as viewer:  # type: ignore[arg-type]
            await viewer.send(json.dumps({"kind": "hello", "key": found[2]}))
            await viewer.send(json.dumps({"kind": "control", "take": True}))
            async with asyncio.timeout(LIMIT_S):
                while '"control"' not in str(await viewer.recv()):
                    pass
            await viewer.send(json.dumps({"kind": "control", "take": False}))
            async with asyncio.timeout(LIMIT_S):
                while '"in_control": false' not in str(await viewer.recv()):
                    pass
        return ElicitResult(action="accept", content={})

    async with serving.client("stdio", mode=mode, elicitation_callback=log_in) as client:
        await called(client, "web_open", url=serving.local.url("shop.html"))
        done = await called(client, "web_ask_person", message="Log in, please.")
        assert "the person has finished" in done, done
        assert 'button "Go"' in done
    assert len(asked) == 1
    assert "Log in, please." in asked[0]


@pytest.fixture
def short_folder() -> Iterator[str]:
    """The path of a Unix socket has at most 107 bytes, and pytest's folders can be longer."""
    with tempfile.TemporaryDirectory(prefix="wvb-", ignore_cleanup_errors=True) as folder:
        yield folder


async def test_the_view_command_shows_the_tabs_of_a_running_server(serving: Serving, short_folder: str) -> None:
    def run(*words: str) -> subprocess.Popen[str]:
        program = [sys.executable, "-c", "from bridge.surfaces.cli import main; main()", *words]
        return subprocess.Popen(
            program, env=serving.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    serving.environment["XDG_RUNTIME_DIR"] = short_folder
    async with serving.client("stdio") as client:
        early = await asyncio.to_thread(run("view").communicate, timeout=LIMIT_S)
        assert "no tab is open yet" in early[1]
        await called(client, "web_open", url=serving.local.url("shop.html"))
        viewing = run("view")
        assert viewing.stderr is not None
        line = await asyncio.to_thread(viewing.stderr.readline)
        found = re.search(r"(http://127\.0\.0\.1:\d+)/#([\w-]+)", line)
        assert found, line
        async with connect(found[1].replace("http", "ws") + "/live", origin=found[1]) as viewer:  # type: ignore[arg-type]
            await viewer.send(json.dumps({"kind": "hello", "key": found[2]}))
            await asyncio.wait_for(viewer.recv(), LIMIT_S)
        out, _ = await asyncio.to_thread(viewing.communicate, timeout=LIMIT_S)
        assert "was not taken over" in out
        for words in (("close", "--session", "mcp"), ("open", serving.local.url("second.html"), "--session", "mcp")):
            refused = await asyncio.to_thread(run(*words).communicate, timeout=LIMIT_S)
            assert "is a running MCP server" in refused[1]
        assert "1 open" in await called(client, "web_tabs")
