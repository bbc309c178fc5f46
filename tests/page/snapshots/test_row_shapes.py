"""Refs of controls in rows: on pages of every shape, a tap never reaches a row other than the one that was shown."""

from __future__ import annotations

import itertools
import json
import os
import random

import pytest

from bridge.errors import ActionFailed
from bridge.page.page import Page
from tests.conftest import LocalServer
from tests.page.main_world import in_page
from tests.page.snapshots.row_shapes import KEPT, SCRIPT, STYLE, Shape, all_shapes, sampled

pytestmark = pytest.mark.browser

LEAST_ALIVE = 0.98


# Events of a tap, up to the last one before its click.
PHASES = (
    "pointerdown touchstart pointerup touchend mouseover mousemove mousedown focus focusin pointerout mouseup".split()
)


async def rounds(page: Page, number: int, seed: int, *, during: bool = False) -> tuple[int, int]:
    """Taps on rows of random shapes after random changes: how many rows were kept, and how many of them reached.

    Args:
        during: The page makes the change itself, in answer to an event of the tap or in a microtask of it.
    """
    choose = random.Random(seed)  # noqa: S311 - a repeatable page, not a secret
    kept = reached = 0
    await in_page(page, f"document.head.insertAdjacentHTML('beforeend',{json.dumps(f'<style>{STYLE}</style>')})")
    await in_page(page, f"{SCRIPT};0")
    for at, (shape, change) in enumerate(itertools.islice(sampled(seed), number)):
        story = f"round {at}, seed {seed}: {shape}, then {change}"
        await in_page(page, shape.script())
        shown = await page.snapshot()
        targets = []
        for ref in shown.refs:
            attrs = (await page.query(ref, "attributes")).value
            if "data-verb" in attrs:
                targets.append((ref, int(attrs["data-row"]), attrs["data-verb"]))
        assert targets, f"{story}: no control has a ref"
        ref, row, verb = choose.choice(targets)
        was = await in_page(page, f"thing[{row}]")
        changed_row = choose.choice([it for _, it, _ in targets])
        if during:
            # Mostly the row under the finger.
            changed_row = row if choose.random() < 0.7 else changed_row
            phase, is_late = choose.choice(PHASES), choose.random() < 0.3
            story = f"{story} of row {changed_row} at {phase}{' in a microtask' if is_late else ''}"
            await in_page(
                page, f"mutateAt({json.dumps(phase)},{json.dumps(is_late)},{json.dumps(change)},{changed_row})"
            )
        else:
            await in_page(page, f"mutate({json.dumps(change)},{changed_row})")
        is_kept = change in KEPT and (shape.ticks_do_not_matter or "ticked" not in change)
        is_there = row in await in_page(page, "rows()")
        is_kept = is_kept and is_there and await in_page(page, f"thing[{row}]") == was
        refusal = None
        try:
            await page.click(ref, timeout_s=5.0, settle_s=0.05)
        except ActionFailed as error:
            refusal = error
        clicks = await in_page(page, "clicks.splice(0)")
        assert clicks in ([], [[was, verb]]), f"{story}: {ref} was {verb} of {was}, and {clicks} came"
        assert refusal is None or not clicks, f"{story}: refused and done: {refusal}"
        if during:
            # What comes or goes above a finger moves what is under it.
            is_kept = is_kept and await in_page(page, f"thing[{row}]") == was and not change.startswith("row ")
        assert refusal is not None or clicks, f"{story}: a success without a click"
        if is_kept and refusal:
            print(f"{story}: {refusal}")
        kept += is_kept
        reached += bool(is_kept and clicks)
    return kept, reached


@pytest.fixture
async def row_page(page: Page, local_server: LocalServer) -> Page:
    await page.goto(local_server.url("second.html"))
    return page


def test_the_grammar_has_hundreds_of_shapes() -> None:
    shapes = all_shapes()
    assert len(set(shapes)) > 10_000
    assert len({Shape(it.markup, it.saying, "nothing", "a button", False) for it in shapes}) > 200


async def test_no_tap_reaches_another_row(row_page: Page) -> None:
    kept, reached = await rounds(row_page, 40, seed=3)
    assert reached >= LEAST_ALIVE * kept - 1


async def test_a_row_swapped_by_the_taps_own_handlers_gets_no_click(row_page: Page) -> None:
    kept, reached = await rounds(row_page, 40, seed=5, during=True)
    assert reached >= LEAST_ALIVE * kept - 1


@pytest.mark.slow
@pytest.mark.timeout(7200)
async def test_no_swap_during_a_tap_reaches_another_row_in_10000_rounds(row_page: Page) -> None:
    number = int(os.environ.get("WEBVIEW_BRIDGE_ROW_ROUNDS", "10000"))
    seed = int(os.environ.get("WEBVIEW_BRIDGE_FUZZ_SEED", "1"))
    kept, reached = await rounds(row_page, number, seed, during=True)
    print(f"\n{number} rounds during taps, seed {seed}: 0 wrong, {reached} of {kept} kept rows reached")
    assert reached >= LEAST_ALIVE * kept


@pytest.mark.slow
@pytest.mark.timeout(7200)
async def test_no_tap_reaches_another_row_in_10000_rounds(row_page: Page) -> None:
    number = int(os.environ.get("WEBVIEW_BRIDGE_ROW_ROUNDS", "10000"))
    seed = int(os.environ.get("WEBVIEW_BRIDGE_FUZZ_SEED", "1"))
    kept, reached = await rounds(row_page, number, seed)
    print(f"\n{number} rounds, seed {seed}: 0 wrong, {reached} of {kept} kept rows reached")
    assert reached >= LEAST_ALIVE * kept
