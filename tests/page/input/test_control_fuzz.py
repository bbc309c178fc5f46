"""The law of test_ref_fuzz for everything that is done by ref; see `ref_fuzzing`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from bridge.errors import ActionFailed
from bridge.page.page import Page
from bridge.snapshot import NodeRef
from tests.conftest import LocalServer
from tests.page.snapshots.ref_fuzzing import LATEST_MS, Fuzzer, Round, long_run

pytestmark = pytest.mark.browser

LATEST_WHEN_HELD_MS = 900

# What the action does, and what it is done to.
KINDS: dict[str, tuple[Callable[[Page, str, dict[str, float]], Awaitable[Any]], str]] = {
    "long_press": (lambda page, ref, times: page.long_press(ref, **(times | {"timeout_s": 2.0})), "button"),
    "drag": (lambda page, ref, times: page.drag_and_drop(ref, by=(0, 30), **(times | {"timeout_s": 2.0})), "button"),
    "press a field": (lambda page, ref, times: page.press(ref, "x", **times), "textbox"),
    "press a button": (lambda page, ref, times: page.press(ref, "Enter", **times), "button"),
    "type": (lambda page, ref, times: page.type(ref, "xyz", **times), "textbox"),
    "paste": (lambda page, ref, times: page.type(ref, "\N{GRINNING FACE}", **times), "textbox"),
    "fill": (lambda page, ref, times: page.fill(ref, "x", **times), "textbox"),
    "check": (lambda page, ref, times: page.check(ref, **times), "checkbox"),
    "select": (lambda page, ref, times: page.select_option(ref, "b", **times), "combobox"),
    "double_click": (lambda page, ref, times: page.dblclick(ref, **times), "button"),
}
# A finger that is carried on belongs to where it came down, whatever becomes of that.
OF_A_DRAG = {"pointerdown", "click", "contextmenu"}
TYPED = {"press a field", "type", "paste"}


def kind_of(number: int) -> str:
    return list(KINDS)[number % len(KINDS)]


class Controls(Fuzzer):
    changes = (
        "recycle rotate removeRow addRow shuffle rename replace replaceFocused rerender stealFocus aside blur hide "
        "disable cover"
    ).split()
    most_changes = 2
    changeless_every = 8
    before_round = "(anew(),0)"

    def may_be_met(self, number: int, node: NodeRef) -> bool:
        return node.role == KINDS[kind_of(number)][1] and node.name != "Aside"

    def latest_ms(self, number: int) -> int:
        return LATEST_WHEN_HELD_MS if kind_of(number) == "long_press" else LATEST_MS

    async def act(self, page: Page, it: Round) -> None:
        do, _ = KINDS[kind_of(it.number)]
        await do(page, it.ref, {"timeout_s": 0.4 if it.changes else 10.0, "settle_s": 0.1})

    def judge(self, it: Round, hits: list[Any]) -> None:
        kind = kind_of(it.number)
        story = f"{it.story} ({kind}, {it.said})"
        for hit in hits:
            happened = hit.pop("type")
            if kind == "drag" and happened not in OF_A_DRAG:
                continue
            # What was typed is told when the field is left, as when the page takes it away: whosever it is by then.
            if kind in TYPED and happened == "change":
                continue
            # A key of which the page's own focus is the target reaches nothing.
            assert hit == it.was, f"{story}: {happened} met {hit}"
        assert hits or it.refusal or kind == "long_press" or it.changes, f"{story}: done, and nothing came of it"
        if isinstance(it.refusal, ActionFailed) and kind in ("fill", "select"):
            assert not hits, f"{story}: refused and done all the same: {hits}"

    def counted(self, it: Round, hits: list[Any]) -> dict[str, int]:
        return {it.said: 1, f"{kind_of(it.number)} {it.said}": 1}


async def test_nothing_done_by_ref_reaches_another_element(page: Page, local_server: LocalServer) -> None:
    told = await Controls().run(page, local_server.url("fuzz_controls.html"), 40, seed=20261121, race=False)
    assert told["done"] > 8
    assert told["stale_ref"] + told["ref_not_found"] > 3


async def test_nothing_done_by_ref_reaches_another_element_while_the_page_changes(
    page: Page, local_server: LocalServer
) -> None:
    told = await Controls().run(page, local_server.url("fuzz_controls.html"), 60, seed=5, race=True)
    assert told["done"] > 10


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("race", [False, True], ids=["before", "during"])
async def test_nothing_done_by_ref_reaches_another_element_in_2000_rounds(
    page: Page, local_server: LocalServer, race: bool
) -> None:
    url, variable = local_server.url("fuzz_controls.html"), "WEBVIEW_BRIDGE_CONTROL_FUZZ_ROUNDS"
    await long_run(Controls(), page, url, race, rounds_variable=variable, rounds=2_000)
