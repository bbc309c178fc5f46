"""Between a snapshot and an action the page does what pages do; no action may reach anything but what was shown.

What is right is not asked of the code under test: the page itself notes every click with the element's own number and
its words at that moment, and what a ref stood for is noted by the page when the snapshot was taken.
"""

from __future__ import annotations

import collections
import json
import os
import random
from contextlib import suppress
from typing import Any

import pytest

from bridge.errors import ActionFailed, DeadlineExceeded, ProtocolError
from bridge.page.attachment import WorldGone
from bridge.page.page import Page
from tests.conftest import LocalServer

pytestmark = pytest.mark.browser

CHANGES = (
    "removeRow removeButton addRow shuffle recycle swapWords rename swapDeeds rerole replace rerender moveButton count "
    "hide cover frameSwap frameWords frameRemove navigate"
).split()
# Rounds without a change hold the other half of the law: a living ref works.
CHANGELESS_EVERY = 10
# In the form that races, a change comes so much later at most: before, between and after check and tap.
LATEST_MS = 60


async def in_page(page: Page, expression: str) -> Any:
    """The JSON value of an expression in the page's own world."""
    attachment, _ = await page._ready()
    wanted = {
        "expression": f"(async()=>JSON.stringify(await({expression})))()",
        "returnByValue": True,
        "awaitPromise": True,
    }
    reply = await attachment.call("Runtime.evaluate", wanted, timeout_s=10)
    value = reply["result"].get("value")
    return json.loads(value) if isinstance(value, str) else None


async def fuzz(page: Page, url: str, rounds: int, seed: int, race: bool) -> collections.Counter[str]:
    """Counts of what became of the rounds; raises on the first wrong action."""
    choose = random.Random(seed)  # noqa: S311 - a repeatable page, not a secret
    told: collections.Counter[str] = collections.Counter()
    await page.goto(f"{url}?seed={seed}")
    for number in range(rounds):
        if race:  # what the round before has set going is over
            with suppress(ProtocolError):
                await in_page(page, f"new Promise((done) => setTimeout(done, {LATEST_MS + 20}))")
        # What the round before put in the way would be a right refusal in a round without changes.
        await in_page(page, "document.querySelectorAll('#veil').forEach((veil) => veil.remove())")
        shot = await page.snapshot()
        refs = [ref for ref, node in shot.refs.items() if node.tag == "button"]
        ref = choose.choice(refs)
        node = shot.refs[ref]
        uid = (await page.query(ref, "attrs")).value.get("data-uid")
        if uid is None:
            # A frame that is still being read: the page has not taken note of its buttons yet.
            told["too early"] += 1
            continue
        was = await in_page(page, f"(hits.length=0,truthOf({json.dumps(uid)}))")
        changes = [] if number % CHANGELESS_EVERY == 0 else choose.choices(CHANGES, k=choose.randint(1, 3))
        if "navigate" in changes and choose.random() < 0.8:
            changes.remove("navigate")
        for change in changes:
            late = f"setTimeout(()=>mutate({json.dumps(change)}),{choose.randint(0, LATEST_MS)})" if race else ""
            await in_page(page, late or f"mutate({json.dumps(change)})")
        story = f"round {number}, seed {seed}: {ref} was {node.role} {node.name!r} {was}, then {changes}"
        refusal: ActionFailed | DeadlineExceeded | None = None
        try:
            # A living ref works, given the time; what a change has put in the way stays there.
            await page.click(ref, timeout_s=0.3 if changes else 5.0, settle_s=0.1)
        except (ActionFailed, DeadlineExceeded) as error:
            refusal = error
        done = refusal.code if refusal else "done"
        assert refusal is None or ref in refusal.message, f"{story}: a refusal that does not name its ref: {refusal}"
        assert refusal is None or changes, f"{story}: a living ref was refused: {refusal}"
        try:
            hits = await in_page(page, "hits.splice(0)") or []
        except WorldGone:
            hits = []
        # A page that is left takes its notes along; what is there must be right.
        for hit in hits:
            assert hit == was, f"{story}: it hit {hit} ({done})"
        assert len(hits) <= 1, story
        if isinstance(refusal, ActionFailed):
            assert not hits, f"{story}: refused ({done}) and done all the same: {hits}"
        told[done] += 1
        told["hit"] += len(hits)
    return told


async def test_no_action_reaches_another_element_than_was_shown(page: Page, local_server: LocalServer) -> None:
    told = await fuzz(page, local_server.url("fuzz.html"), 80, seed=20260221, race=False)
    assert told["done"] > 20
    assert told["stale_ref"] + told["ref_not_found"] > 5


async def test_no_action_reaches_another_element_while_the_page_changes(page: Page, local_server: LocalServer) -> None:
    told = await fuzz(page, local_server.url("fuzz.html"), 60, seed=7, race=True)
    assert told["done"] > 15


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("race", [False, True], ids=["before", "during"])
async def test_no_action_reaches_another_element_in_10000_rounds(
    page: Page, local_server: LocalServer, race: bool
) -> None:
    rounds = int(os.environ.get("WEBVIEW_BRIDGE_FUZZ_ROUNDS", "10000"))
    seed = int(os.environ.get("WEBVIEW_BRIDGE_FUZZ_SEED", "1"))
    told = await fuzz(page, local_server.url("fuzz.html"), rounds, seed=seed, race=race)
    print(f"\n{rounds} rounds, 0 wrong: {dict(told)}")
