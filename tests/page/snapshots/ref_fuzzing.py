"""Between a snapshot and an action the page does what pages do; no action may reach anything but what was shown.

What is right is not asked of the code under test: the page itself notes every event with its element's own number and
its words at that moment, and what a ref stood for is noted by the page when the snapshot was taken.
"""

from __future__ import annotations

import asyncio
import collections
import json
import os
import random
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bridge.errors import ActionFailed, DeadlineExceeded, ExecutionContextDestroyed, ProtocolError
from bridge.page.page import Page
from bridge.snapshot import NodeRef, SnapshotResult
from tests.page.main_world import in_page

# In the form that races, a change comes so much later at most: before, between and after check and input.
LATEST_MS = 60
TOLD_EVERY = 500


@dataclass(frozen=True)
class Round:
    """One round as far as it has come: what was shown, what the page made of it, and what became of the action.

    Attributes:
        was: What the ref stood for when the snapshot was taken, in the page's own words.
        changes: What the page does between the snapshot and the action, or while it goes on.
    """

    number: int
    ref: str
    node: NodeRef
    was: Any
    changes: Sequence[str]
    story: str
    refusal: ActionFailed | DeadlineExceeded | None = None

    @property
    def said(self) -> str:
        return self.refusal.code if self.refusal else "done"


class Fuzzer(ABC):
    """One page that changes, and what is done on it.

    Attributes:
        before_round: JavaScript that makes the page fit for the next round.
        changeless_every: So often there is no change: the other half of the law is that a living ref works.
    """

    changes: Sequence[str]
    most_changes: int
    changeless_every: int
    before_round: str

    @abstractmethod
    def may_be_met(self, number: int, node: NodeRef) -> bool:
        """Whether this round may be about that element."""

    @abstractmethod
    async def act(self, page: Page, it: Round) -> None: ...

    @abstractmethod
    def judge(self, it: Round, hits: list[Any]) -> None:
        """Raise AssertionError where something was met that was not shown, or a living ref was refused."""

    def thinned(self, choose: random.Random, changes: list[str]) -> list[str]:
        return changes

    def latest_ms(self, number: int) -> int:
        return LATEST_MS

    def counted(self, it: Round, hits: list[Any]) -> dict[str, int]:
        return {it.said: 1}

    async def run(self, page: Page, url: str, rounds: int, seed: int, race: bool) -> collections.Counter[str]:
        """Counts of what became of the rounds; raises on the first wrong action."""
        choose = random.Random(seed)  # noqa: S311 - a repeatable page, not a secret
        told: collections.Counter[str] = collections.Counter()
        began = time.monotonic()
        await page.goto(f"{url}?seed={seed}")
        for number in range(rounds):
            if number and number % TOLD_EVERY == 0:
                spent_s = time.monotonic() - began
                print(f"\n{number} of {rounds} rounds, seed {seed}, {spent_s:.0f} s, 0 wrong: {dict(told)}", flush=True)
            told.update(await self._round(page, choose, number, seed, race))
        return told

    async def _round(self, page: Page, choose: random.Random, number: int, seed: int, race: bool) -> dict[str, int]:
        await in_page(page, self.before_round)
        begun = await self._begun(page, await page.snapshot(), choose, number, seed)
        if begun is None:
            # A frame that is still being read: the page has not taken note of its buttons yet.
            return {"too early": 1}
        await self._change(page, choose, begun, race)
        refusal: ActionFailed | DeadlineExceeded | None = None
        try:
            await self.act(page, begun)
        except (ActionFailed, DeadlineExceeded) as error:
            refusal = error
        it = Round(number, begun.ref, begun.node, begun.was, begun.changes, begun.story, refusal)
        assert refusal is None or it.changes, f"{it.story}: a living ref was refused: {refusal}"
        try:
            hits = await in_page(page, "hits.splice(0)") or []
        except ExecutionContextDestroyed:
            hits = []  # a page that is left takes its notes along
        self.judge(it, hits)
        while await self._is_changing(page):  # noqa: ASYNC110 - a document that is left tells nobody
            await asyncio.sleep(LATEST_MS / 4000)
        return self.counted(it, hits)

    async def _begun(
        self, page: Page, shot: SnapshotResult, choose: random.Random, number: int, seed: int
    ) -> Round | None:
        ref = choose.choice([ref for ref, node in shot.refs.items() if self.may_be_met(number, node)])
        node = shot.refs[ref]
        uid = (await page.query(ref, "attributes")).value.get("data-uid")
        if uid is None:
            return None
        was = await in_page(page, f"(hits.length=0,truthOf({json.dumps(uid)}))")
        changes: list[str] = []
        if number % self.changeless_every:
            changes = self.thinned(choose, choose.choices(self.changes, k=choose.randint(1, self.most_changes)))
        story = f"round {number}, seed {seed}: {ref}, {node.role} {node.name!r} {was}, then {changes}"
        return Round(number, ref, node, was, changes, story)

    async def _change(self, page: Page, choose: random.Random, it: Round, race: bool) -> None:
        """What the page's changes do is done; or, in a race, all of it is on its way."""
        done = [f"mutate({json.dumps(change)})" for change in it.changes]
        if race:
            timers = [
                f"setTimeout(()=>{{try{{{doing}}}finally{{late--}}}},{choose.randint(0, self.latest_ms(it.number))})"
                for doing in done
            ]
            done = [f"window.late=(window.late||0)+{len(timers)};{';'.join(timers)};0"]
        for doing in done:
            await in_page(page, doing)

    async def _is_changing(self, page: Page) -> bool:
        """Whether something that this round has set going is still to come; a document that was left takes it along,
        and would answer to nobody who waits for its promise."""
        try:
            return bool(await in_page(page, "window.late"))
        except (ProtocolError, ExecutionContextDestroyed):
            return True


async def long_run(fuzzer: Fuzzer, page: Page, url: str, race: bool, *, rounds_variable: str, rounds: int) -> None:
    """As many rounds as the environment says, of the seed that it says; with `-s` the counts are shown."""
    rounds = int(os.environ.get(rounds_variable, str(rounds)))
    seed = int(os.environ.get("WEBVIEW_BRIDGE_FUZZ_SEED", "1"))
    told = await fuzzer.run(page, url, rounds, seed, race)
    print(f"\n{rounds} rounds, seed {seed}, 0 wrong: {dict(told)}")
