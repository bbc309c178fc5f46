"""Taps on buttons of a page that changes; see `ref_fuzzing`."""

from __future__ import annotations

import random
from typing import Any

import pytest

from bridge.errors import ActionFailed
from bridge.page.page import Page
from bridge.snapshot import NodeRef
from tests.conftest import LocalServer
from tests.page.snapshots.ref_fuzzing import Fuzzer, Round, long_run

pytestmark = pytest.mark.browser


class Taps(Fuzzer):
    changes = (
        "removeRow removeButton addRow shuffle recycle swapWords rename swapDeeds rerole replace rerender moveButton "
        "count hide cover frameSwap frameWords frameRemove navigate"
    ).split()
    most_changes = 3
    changeless_every = 10
    # What the round before put in the way would be a right refusal in a round without changes.
    before_round = "document.querySelectorAll('#veil').forEach((veil) => veil.remove())"

    def may_be_met(self, number: int, node: NodeRef) -> bool:
        return node.tag == "button"

    def thinned(self, choose: random.Random, changes: list[str]) -> list[str]:
        if "navigate" in changes and choose.random() < 0.8:
            changes.remove("navigate")
        return changes

    async def act(self, page: Page, it: Round) -> None:
        # A living ref works, given the time; what a change has put in the way stays there.
        await page.click(it.ref, timeout_s=0.3 if it.changes else 5.0, settle_s=0.1)

    def judge(self, it: Round, hits: list[Any]) -> None:
        refusal = it.refusal
        assert refusal is None or it.ref in refusal.message, f"{it.story}: a refusal without its ref: {refusal}"
        for hit in hits:
            assert hit == it.was, f"{it.story}: it hit {hit} ({it.said})"
        assert len(hits) <= 1, it.story
        if isinstance(refusal, ActionFailed):
            assert not hits, f"{it.story}: refused ({it.said}) and done all the same: {hits}"

    def counted(self, it: Round, hits: list[Any]) -> dict[str, int]:
        return {it.said: 1, "hit": len(hits)}


async def test_no_action_reaches_another_element_than_was_shown(page: Page, local_server: LocalServer) -> None:
    told = await Taps().run(page, local_server.url("fuzz.html"), 80, seed=20260221, race=False)
    assert told["done"] > 20
    assert told["stale_ref"] + told["ref_not_found"] > 5


async def test_no_action_reaches_another_element_while_the_page_changes(page: Page, local_server: LocalServer) -> None:
    told = await Taps().run(page, local_server.url("fuzz.html"), 60, seed=7, race=True)
    assert told["done"] > 15


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("race", [False, True], ids=["before", "during"])
async def test_no_action_reaches_another_element_in_10000_rounds(
    page: Page, local_server: LocalServer, race: bool
) -> None:
    url, variable = local_server.url("fuzz.html"), "WEBVIEW_BRIDGE_FUZZ_ROUNDS"
    await long_run(Taps(), page, url, race, rounds_variable=variable, rounds=10_000)
