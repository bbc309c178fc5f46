"""Times taken in turns, and what may be said of them: medians, ratios, spreads, and whether a bar is met."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Contender = Callable[[], Awaitable[float | None]]
State = Literal["met", "missed", "not measured", "reported"]


class Aborted(Exception):
    """The work was not done, or not all of it, so its time says nothing."""


class NotMeasured(Exception):
    """A number that could not be measured, with the reason."""


@dataclass
class Samples:
    """One contender's values, a round each; NaN where a round was aborted, so that rounds stay side by side."""

    values: list[float] = field(default_factory=list)
    aborted: list[str] = field(default_factory=list)

    @property
    def median(self) -> float:
        """Raises NotMeasured when a round was aborted: what gave up early must not count as fast."""
        if self.aborted:
            raise NotMeasured(f"{len(self.aborted)} of {len(self.values)} runs were aborted: {self.aborted[0]}")
        if not self.values:
            raise NotMeasured("there were no runs")
        return statistics.median(self.values)

    @property
    def spread(self) -> float:
        return spread(self.values)


async def interleave(contenders: Mapping[str, Contender], *, rounds: int, warmups: int = 1) -> dict[str, Samples]:
    """Everybody in turns, so that what else the machine does falls on all alike; each round begins with another one.

    A contender that returns a number has measured itself, in milliseconds; else its time on the wall counts.
    """
    samples = {name: Samples() for name in contenders}
    names = list(contenders)
    for number in range(-warmups, rounds):
        first = number % len(names)
        for name in names[first:] + names[:first]:
            began = time.perf_counter()
            try:
                own = await contenders[name]()
            except Aborted as error:
                value = math.nan
                if number >= 0:
                    samples[name].aborted.append(str(error))
            else:
                value = (time.perf_counter() - began) * 1000 if own is None else own
            if number >= 0:
                samples[name].values.append(value)
    return samples


def spread(values: Iterable[float]) -> float:
    """Half the distance between the quartiles, as a part of the median: ±."""
    numbers = [value for value in values if not math.isnan(value)]
    middle = statistics.median(numbers) if numbers else 0.0
    if len(numbers) < 2 or not middle:
        return 0.0
    low, _, high = statistics.quantiles(numbers, n=4, method="inclusive")
    return (high - low) / 2 / middle


@dataclass(frozen=True)
class Ratio:
    """How many times as large `over` is as `under`: of the medians; the spread is that of the rounds' own ratios."""

    value: float
    spread: float

    @classmethod
    def of(cls, samples: Mapping[str, Samples], over: str, under: str) -> Ratio:
        """Raises NotMeasured when either was aborted in any round."""
        upper, lower = samples[over], samples[under]
        if not lower.median:
            raise NotMeasured(f"{under} took no time that could be compared with")
        rounds = [a / b for a, b in zip(upper.values, lower.values, strict=True) if b]
        return cls(upper.median / lower.median, spread(rounds))


def geometric_mean(ratios: Sequence[Ratio]) -> Ratio:
    """Of several pages; the spread is the median one, not that between pages, which differ by nature."""
    if not ratios:
        raise NotMeasured("there was nothing to compare")
    value = math.exp(statistics.fmean(math.log(ratio.value) for ratio in ratios))
    return Ratio(value, statistics.median(ratio.spread for ratio in ratios))


@dataclass(frozen=True)
class Bar:
    """What the number has to be."""

    sign: Literal["<", "≤", "≥", ">"]
    limit: float

    def holds(self, value: float) -> bool:
        match self.sign:
            case "<":
                return value < self.limit
            case "≤":
                return value <= self.limit
            case "≥":
                return value >= self.limit
            case ">":
                return value > self.limit


def at_most(limit: float) -> Bar:
    return Bar("≤", limit)


def at_least(limit: float) -> Bar:
    return Bar("≥", limit)


def below(limit: float) -> Bar:
    return Bar("<", limit)


@dataclass(frozen=True)
class Finding:
    """One line of the table.

    Attributes:
        what: What was measured, beside what.
        value: None where nothing was measured; then `note` says why.
        unit: "×", "ms", "bytes", …; of value and bar.
        spread: Half the distance between the quartiles as a part of the median.
        note: What the numbers behind the value were, or why it is missing.
        facts: More for the JSON, such as numbers per page; what plots are drawn from.
    """

    what: str
    value: float | None
    unit: str
    bar: Bar | None = None
    spread: float | None = None
    note: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def state(self) -> State:
        if self.value is None or math.isnan(self.value):
            return "not measured"
        if self.bar is None:
            return "reported"
        return "met" if self.bar.holds(self.value) else "missed"


def ratio_finding(
    what: str, samples: Mapping[str, Samples], over: str, under: str, *, bar: Bar | None = None
) -> Finding:
    """The line for one ratio; without a value, and so missed, where a run was aborted."""
    facts = {"samples_ms": {name: one.values for name, one in samples.items()}}
    try:
        ratio = Ratio.of(samples, over, under)
    except NotMeasured as error:
        return Finding(what, None, "×", bar, note=str(error), facts=facts)
    note = f"{over} {words_ms(samples[over].median)}, {under} {words_ms(samples[under].median)}"
    return Finding(what, ratio.value, "×", bar, ratio.spread, note, facts)


def median_finding(what: str, samples: Samples, unit: str, *, bar: Bar | None = None, note: str = "") -> Finding:
    """The line for one median."""
    try:
        return Finding(what, samples.median, unit, bar, samples.spread, note, {"samples": samples.values})
    except NotMeasured as error:
        return Finding(what, None, unit, bar, note=str(error))


def words_ms(ms: float) -> str:
    return f"{ms:.2f} ms" if ms < 10 else f"{ms:.0f} ms"
