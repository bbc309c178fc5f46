"""Selects the lines that stay when not all of them fit.

Lines are selected by priority: elements that can be acted on, near the top, first of their kind; text and the end of
repetitions last. A line brings its ancestors. Omissions below a line are counted there in a line of their own, whose
length is reserved before anything is selected.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bridge.snapshot.lines.layout import Entry
from bridge.snapshot.model import RenderOptions
from bridge.snapshot.roles import INTERACTIVE_ROLES

#: Siblings of one role from which on the next ones count as repetition.
_REPETITION = 10
_LIVE_ROLES = frozenset(("alert", "status", "log"))


@dataclass(frozen=True)
class Selection:
    """The lines that are shown; `chosen` is None if all are."""

    chosen: bytearray | None
    reasons: tuple[str, ...] = ()
    cut_lines: bool = True


def select(
    entries: list[Entry],
    options: RenderOptions,
    *,
    room_whole: int,
    room_cut: int,
    costs: list[int],
    cut_cost: Callable[[int], int],
) -> Selection:
    """The lines that fit.

    Args:
        entries: All lines of the page.
        room_whole: Characters available with the header of an uncut page.
        room_cut: The same with the header of a cut page.
        costs: The most that each line takes.
        cut_cost: The most that a cut line takes, by its depth.
    """
    reasons = [
        reason
        for reason, hit in (
            ("maxNodes", sum([1 for entry in entries if entry.ref]) > options.max_nodes),
            ("maxDepth", any(entry.depth >= options.max_depth for entry in entries)),
        )
        if hit
    ]
    if not reasons and sum(costs) <= room_whole:
        return Selection(None)
    greedy = _Greedy(entries, options, room_cut, costs, cut_cost)
    if greedy.room < 0:
        return Selection(bytearray(len(entries)), (*reasons, "maxCharsTotal"), cut_lines=False)
    for index in sorted(greedy.candidates(), key=greedy.worth):
        greedy.take(index)
        if greedy.refused > 200:
            break
    # Structure that is not a candidate itself is left out too if nothing inside it was taken.
    if greedy.refused or not (reasons or all(greedy.chosen)):
        reasons.append("maxCharsTotal")
    return Selection(greedy.chosen, tuple(reasons))


class _Greedy:
    def __init__(
        self,
        entries: list[Entry],
        options: RenderOptions,
        room: int,
        costs: list[int],
        cut_cost: Callable[[int], int],
    ) -> None:
        count = len(entries)
        self.entries = entries
        self.chosen = bytearray(count)
        self.refused = 0
        self._costs = costs
        self._cut_cost = cut_cost
        self._max_depth = options.max_depth
        self._refs_left = options.max_nodes
        self._last_ref = -1
        # For every line, the number of children that are not selected and must be counted; [-1] is the top.
        self._unsaid = [0] * (count + 1)
        self._matters = bytearray(count)
        for index in range(count - 1, -1, -1):
            entry = entries[index]
            if entry.ref or entry.kind == "cut" or self._unsaid[index]:
                self._matters[index] = 1
                self._unsaid[entry.parent] += 1
        self.room = room - (cut_cost(0) if self._unsaid[-1] else 0)
        self._weights = self._weigh()

    def candidates(self) -> list[int]:
        """The lines with a priority of their own; structure is selected with its content."""
        return [
            index
            for index, entry in enumerate(self.entries)
            if entry.depth < self._max_depth and (entry.ref or entry.name or entry.kind == "cut")
        ]

    def worth(self, index: int) -> tuple[float, int]:
        return (self._weights[index] + index / len(self.entries), index)

    def take(self, index: int) -> None:
        entries, chosen, unsaid = self.entries, self.chosen, self._unsaid
        if chosen[index]:
            return
        if not self._refs_left and index > self._last_ref:
            return
        chain = []
        above = index
        refs = chars = taken_below = 0
        while above >= 0 and not chosen[above]:
            entry = entries[above]
            chain.append(above)
            chars += self._costs[above]
            if entry.ref:
                refs += 1
            if unsaid[above] > taken_below:
                chars += self._cut_cost(entry.depth + 1)
            taken_below = self._matters[above]
            above = entry.parent
        if refs > self._refs_left:
            return
        if self._matters[chain[-1]] and unsaid[above] == 1:
            chars -= self._cut_cost(entries[chain[-1]].depth)
        if chars > self.room:
            self.refused += 1
            return
        self.room -= chars
        self._refs_left -= refs
        for i in chain:
            chosen[i] = 1
            if self._matters[i]:
                unsaid[entries[i].parent] -= 1
            if entries[i].ref and i > self._last_ref:
                self._last_ref = i

    def _weigh(self) -> list[float]:
        entries = self.entries
        weights: list[float] = []
        repeated: list[float] = []
        seen: dict[tuple[int, str], int] = {}
        for entry in entries:
            role = entry.node.role
            parent = entry.parent
            rank = seen.get((parent, role), 0)
            seen[parent, role] = rank + 1
            far = repeated[parent] if parent >= 0 else 0.0
            if rank > _REPETITION and entry.kind == "node":
                far += min(0.5, 0.01 * (rank - _REPETITION))
            repeated.append(far)
            if entry.kind == "cut":
                weight = 0.2
            elif entry.kind == "text":
                live = parent >= 0 and entries[parent].node.role in _LIVE_ROLES
                weight = 0.1 if live else 1.0
            elif role in INTERACTIVE_ROLES or entry.node.cursor or role in _LIVE_ROLES:
                weight = 0.0
            elif role == "heading":
                weight = 0.1
            else:
                weight = 0.6
            weights.append(weight + far)
        return weights
