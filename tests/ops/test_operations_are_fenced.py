"""The law of the markers for operations as a program gets them, and `wvb ops` prints them."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from bridge import Session
from bridge.ops import Executor
from bridge.ops.results import PAGE_FIELDS
from bridge.policy.browser_policy import policy_for
from bridge.policy.pinning import PinnedEgress
from bridge.snapshot.escape import plain
from bridge.surfaces.local_server import LocalServer
from tests.injection_site import FORGED, LOCATIONS, MARK, SAID, folders, talking

pytestmark = [pytest.mark.browser, pytest.mark.timeout(180)]


# What they are asked for is the page's own text, as the value of a control is.
VERBATIM = ("read",)


@pytest.fixture
def talker() -> Iterator[LocalServer]:
    with talking() as server:
        yield server


@pytest.fixture
async def executor(webview_device: str, talker: LocalServer, tmp_path: Path) -> AsyncIterator[Executor]:
    egress = PinnedEgress(policy_for("model"), [talker.grant])
    async with Session.open(webview_device, egress=egress, **folders(tmp_path)) as session:
        yield Executor(session)


def strings(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from strings(inner, f"{path}.{key}")
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner, f"{path}[]")


async def fenced(executor: Executor, kind: str, **fields: Any) -> dict[str, Any]:
    """The answer, after looking at each of its strings: what says the mark stands inside, once."""
    answer = (await executor.run_source({"kind": kind, **fields})).to_json()
    nonce = executor.markers.nonce
    for path, text in strings(answer):
        inside, origin = executor.markers.unwrap(text)
        assert FORGED not in text or kind in VERBATIM or ".result.value" in path, (kind, fields, path, text)
        assert MARK.lower() not in text.lower() or (origin and inside != text), (kind, fields, path, text)
        assert text.count(nonce) in (0, 2), (kind, path, text)
        assert nonce not in inside
        assert path.rpartition(".")[2].removesuffix("[]") in PAGE_FIELDS | {
            "notices",
            "message",
            "hint",
            "snapshot",
        } or (not origin), path
    assert "unexpected" not in json.dumps(answer.get("error", {}))
    return answer


async def test_no_field_of_an_answer_has_a_word_of_a_page_outside_of_the_fence(
    executor: Executor, talker: LocalServer
) -> None:
    for path in ("/missing", "/broken", "/file", *LOCATIONS, "/"):
        await fenced(executor, "navigate", url=talker.url(path))
    for kind in ("get_state", "read", "console", "network_log", "back", "forward"):
        await fenced(executor, kind)
    await fenced(executor, "navigate", url=talker.url())
    await fenced(executor, "screenshot", annotate=True)
    shot = await fenced(executor, "snapshot", interactive_only=False)
    assert executor.markers.unwrap(shot["result"]["title"]) == (plain(SAID), talker.origin)
    for path in ("/token", "/file", "/missing", "/private", "/other"):
        await fenced(executor, "download", url=talker.url(path), dest_path=f"{path[1:]}.txt")
    refs = re.findall(r"\[ref=(e\d+)\]", shot["result"]["text"])
    assert len(refs) > 7
    for ref in refs:
        await fenced(executor, "select", ref=ref, values=["none of these"])
        await fenced(executor, "select", ref=ref, values=[SAID])
        await fenced(executor, "fill", ref=ref, value="x")
        await fenced(executor, "upload", ref=ref, paths=["a.txt"])
        await fenced(executor, "click", ref=ref)
    await fenced(executor, "click", ref="e999")
    await fenced(executor, "new_tab", url=talker.url())
    await fenced(executor, "close_tab")


async def test_the_line_that_would_allow_an_address_is_ours_where_the_model_named_it_and_else_the_pages(
    executor: Executor, talker: LocalServer
) -> None:
    asked = await fenced(executor, "navigate", url="https://shop.example/x")
    assert 'allowed_origins = ["shop.example"]' in asked["error"]["hint"]
    assert "<page-content" not in asked["error"]["hint"]
    chosen = await fenced(executor, "navigate", url=talker.url("other"))
    inside, origin = executor.markers.unwrap(chosen["error"]["hint"])
    assert origin
    assert f'"http://{MARK.lower()}.example"' in inside or f'"{MARK.lower()}.example"' in inside
