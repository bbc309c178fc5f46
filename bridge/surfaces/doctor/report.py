"""Examinations: questions with a deadline each, whose answers are rows. Nothing in here raises what a check raises."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from bridge.deadline import Deadline
from bridge.errors import BridgeError

Status = Literal["pass", "warn", "fail", "skipped"]
OnRow = Callable[["ReportRow"], None]


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What a check found.

    Attributes:
        said: What was seen; of what was skipped, why.
        fix: What helps, where that is known.
        exit_code: What the command ends with when this is the first failure.
    """

    status: Status
    said: str
    fix: str = ""
    exit_code: int = 1


def passed(said: str) -> CheckResult:
    return CheckResult("pass", said)


def warned(said: str, fix: str = "") -> CheckResult:
    return CheckResult("warn", said, fix)


def failed(said: str, fix: str = "", *, exit_code: int = 1) -> CheckResult:
    return CheckResult("fail", said, fix, exit_code)


def skipped(why: str) -> CheckResult:
    return CheckResult("skipped", why)


@dataclass(frozen=True, slots=True)
class ReportRow:
    """One line of the report; `ms` is how long the question took."""

    name: str
    verdict: CheckResult
    ms: float

    def to_json(self) -> dict[str, Any]:
        facts: dict[str, Any] = {"name": self.name, "status": self.verdict.status, "said": self.verdict.said}
        if self.verdict.fix:
            facts["fix"] = self.verdict.fix
        return {**facts, "ms": round(self.ms, 1)}


@dataclass
class Report:
    """Rows in the order in which they were found; `on_row` is told of each. `deadline` is for all of them together."""

    on_row: OnRow
    deadline: Deadline
    rows: list[ReportRow] = field(default_factory=list)

    @property
    def exit_code(self) -> int:
        """That of the first failure, 0 without one."""
        return next((row.verdict.exit_code for row in self.rows if row.verdict.status == "fail"), 0)

    def count(self, status: Status) -> int:
        return sum(row.verdict.status == status for row in self.rows)

    async def ask(self, name: str, check: Callable[[], Awaitable[CheckResult]], *, timeout_s: float) -> CheckResult:
        """The row of one check, whatever happens in it: an error of ours is a failure with its hint, a foreign one a
        failure that names it, and time that runs out a failure that says so."""
        if self.deadline.passed:
            return self.add(name, failed(f"not asked: {self.deadline.timeout_s:g} s are over", exit_code=5))
        began = time.monotonic()
        try:
            async with Deadline.after(min(timeout_s, self.deadline.remaining_s)).bound(name):
                verdict = await check()
        except BridgeError as error:
            verdict = failed(error.message, error.hint, exit_code=error.exit_code)
        except Exception as error:  # a doctor that falls over helps nobody
            verdict = failed(f"unexpected {type(error).__name__}: {error}")
        return self.add(name, verdict, (time.monotonic() - began) * 1000)

    def add(self, name: str, verdict: CheckResult, ms: float = 0.0) -> CheckResult:
        row = ReportRow(name, verdict, ms)
        self.rows.append(row)
        self.on_row(row)
        return verdict

    def skip(self, names: Sequence[str], why: str) -> None:
        for name in names:
            self.add(name, skipped(why))
