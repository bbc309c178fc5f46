"""The law of test_ref_fuzz for everything that is done by ref: the page changes, and nothing but what was shown is met.

The page itself notes every event with its element's number and its words at that moment; what an action may reach is
what the ref stood for when the snapshot was taken.
"""

from __future__ import annotations

import collections
import json
import os
import random
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from bridge.errors import ActionFailed, DeadlineExceeded
from bridge.page.page import Page
from tests.conftest import LocalServer

pytestmark = pytest.mark.browser

CHANGES = (
    "recycle rotate removeRow addRow shuffle rename replace replaceFocused rerender stealFocus aside blur hide disable "
    "cover"
).split()
CHANGELESS_EVERY = 8
# In the form that races, a change comes so much later at most: before, between and after check and input.
LATEST_MS = 60
LATEST_WHEN_HELD_MS = 900

# What the action does, and what it is done to.
KINDS: dict[str, tuple[Callable[[Page, str, dict[str, float]], Awaitable[Any]], str]] = {
    "long_press": (lambda page, ref, times: page.long_press(ref, **(times | {"timeout_s": 2.0})), "button"),
    "drag": (lambda page, ref, times: page.drag(ref, by=(0, 30), **(times | {"timeout_s": 2.0})), "button"),
    "press a field": (lambda page, ref, times: page.press("x", ref=ref, **times), "textbox"),
    "press a button": (lambda page, ref, times: page.press("Enter", ref=ref, **times), "button"),
    "type": (lambda page, ref, times: page.type("xyz", ref=ref, **times), "textbox"),
    "paste": (lambda page, ref, times: page.type("\N{GRINNING FACE}", ref=ref, **times), "textbox"),
    "fill": (lambda page, ref, times: page.fill(ref, "x", **times), "textbox"),
    "check": (lambda page, ref, times: page.check(ref, **times), "checkbox"),
    "select": (lambda page, ref, times: page.select(ref, "b", **times), "combobox"),
    "double_click": (lambda page, ref, times: page.double_click(ref, **times), "button"),
}
# A finger that is carried on belongs to where it came down, whatever becomes of that.
OF_A_DRAG = {"pointerdown", "click", "contextmenu"}


async def in_page(page: Page, expression: str) -> Any:
    """The JSON value of an expression in the page's own world."""
    attachment = await page.attached()
    wanted = {
        "expression": f"(async()=>JSON.stringify(await({expression})))()",
        "returnByValue": True,
        "awaitPromise": True,
    }
    value = (await attachment.call("Runtime.evaluate", wanted, timeout_s=30))["result"].get("value")
    return json.loads(value) if isinstance(value, str) else None


async def fuzz(page: Page, url: str, rounds: int, seed: int, race: bool) -> collections.Counter[str]:
    """Counts of what became of the rounds; raises on the first wrong action."""
    choose = random.Random(seed)  # noqa: S311 - a repeatable page, not a secret
    told: collections.Counter[str] = collections.Counter()
    await page.goto(f"{url}?seed={seed}")
    for number in range(rounds):
        await in_page(page, "(anew(),0)")
        kind = list(KINDS)[number % len(KINDS)]
        act, role = KINDS[kind]
        shot = await page.snapshot()
        ref = choose.choice([ref for ref, node in shot.refs.items() if node.role == role and node.name != "Aside"])
        node = shot.refs[ref]
        uid = (await page.query(ref, "attrs")).value["data-uid"]
        was = await in_page(page, f"(hits.length=0,truthOf({json.dumps(uid)}))")
        changes = [] if number % CHANGELESS_EVERY == 0 else choose.choices(CHANGES, k=choose.randint(1, 2))
        latest_ms = LATEST_WHEN_HELD_MS if kind == "long_press" else LATEST_MS
        over: list[str] = []
        for change in changes:
            done = f"mutate({json.dumps(change)})"
            if race:
                over.append(f"window.late{len(over)}")
                wait_ms = choose.randint(0, latest_ms)
                done = f"({over[-1]}=new Promise(f=>setTimeout(()=>{{{done};f()}},{wait_ms})),0)"
            await in_page(page, done)
        story = f"round {number}, seed {seed}: {kind} {ref}, {node.role} {node.name!r} {was}, then {changes}"
        refusal: ActionFailed | DeadlineExceeded | None = None
        try:
            await act(page, ref, {"timeout_s": 0.4 if changes else 10.0, "settle_s": 0.1})
        except (ActionFailed, DeadlineExceeded) as error:
            refusal = error
        said = refusal.code if refusal else "done"
        assert refusal is None or changes, f"{story}: a living ref was refused: {refusal}"
        hits = await in_page(page, "hits.splice(0)")
        for hit in hits:
            happened = hit.pop("type")
            if kind == "drag" and happened not in OF_A_DRAG:
                continue
            # A key of which the page's own focus is the target reaches nothing.
            assert hit == was, f"{story}: {happened} met {hit} ({said})"
        assert hits or refusal or kind == "long_press" or changes, f"{story}: done, and nothing came of it"
        if isinstance(refusal, ActionFailed) and kind in ("fill", "select"):
            assert not hits, f"{story}: refused ({said}) and done all the same: {hits}"
        told[said] += 1
        told[f"{kind} {said}"] += 1
        # What this round has set going is over before the next.
        await in_page(page, f"Promise.all([{','.join(over)}]).then(()=>0)")
    return told


async def test_nothing_done_by_ref_reaches_another_element(page: Page, local_server: LocalServer) -> None:
    told = await fuzz(page, local_server.url("fuzz_controls.html"), 40, seed=20261121, race=False)
    assert told["done"] > 8
    assert told["stale_ref"] + told["ref_not_found"] > 3


async def test_nothing_done_by_ref_reaches_another_element_while_the_page_changes(
    page: Page, local_server: LocalServer
) -> None:
    told = await fuzz(page, local_server.url("fuzz_controls.html"), 60, seed=5, race=True)
    assert told["done"] > 10


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("race", [False, True], ids=["before", "during"])
async def test_nothing_done_by_ref_reaches_another_element_in_2000_rounds(
    page: Page, local_server: LocalServer, race: bool
) -> None:
    rounds = int(os.environ.get("WEBVIEW_BRIDGE_CONTROL_FUZZ_ROUNDS", "2000"))
    seed = int(os.environ.get("WEBVIEW_BRIDGE_FUZZ_SEED", "1"))
    told = await fuzz(page, local_server.url("fuzz_controls.html"), rounds, seed=seed, race=race)
    print(f"\n{rounds} rounds, 0 wrong: {dict(told)}")
