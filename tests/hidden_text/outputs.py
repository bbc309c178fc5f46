"""The ways in which text of a page reaches a model."""

from __future__ import annotations

from typing import Any

from bridge.model_tools import ClientContext, NoElicitation, Toolbox, tool_set

NAMES = ("snapshot", "full", "find", "controls", "text", "read", "extract", "fetch")
_ROOM = {"max_chars": 400_000, "max_nodes": 10_000}


async def _call(client: ClientContext, tools: str, tool: str, **given: Any) -> str:
    shown = await Toolbox(tool_set(tools)).call(tool, given, client, NoElicitation())
    assert not shown.is_error, shown.text
    return shown.text


async def outputs(client: ClientContext, url: str, word: str) -> dict[str, str]:
    """What each output says about the page; `find` looks for `word`."""
    await _call(client, "web", "web_open", url=url)
    page = await client.page()
    full = await page.snapshot(interactive_only=False, **_ROOM)
    article = full.find(role="article", nth=0)
    return {
        "snapshot": (await page.snapshot(**_ROOM)).text,
        "full": full.text,
        "find": (await page.snapshot(interactive_only=False, find=word, **_ROOM)).text,
        "controls": (await page.snapshot(controls_only=True, **_ROOM)).text,
        "text": await _call(client, "web", "web_get_text", ref=article.ref, max_length=0),
        "read": await _call(client, "web", "web_read", max_length=0),
        "extract": await _call(client, "simple", "browser", url=url, mode="extract", wait_seconds=0, max_length=0),
        "fetch": await _call(client, "simple", "webfetch", url=url, max_length=0),
    }
