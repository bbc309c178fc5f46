"""The report of the doctor: checks with a deadline each, whose results are rows. A failing check never raises."""

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
    """The result of a check.

    Attributes:
        finding: What was seen; for a skipped check, why.
        fix: How to fix it, if known.
        exit_code: The exit code of the command if this is the first failure.
    """

    status: Status
    finding: str
    fix: str = ""
    exit_code: int = 1


def passed(finding: str) -> CheckResult:
    return CheckResult("pass", finding)


def warned(finding: str, fix: str = "") -> CheckResult:
    return CheckResult("warn", finding, fix)


def failed(finding: str, fix: str = "", *, exit_code: int = 1) -> CheckResult:
    return CheckResult("fail", finding, fix, exit_code)


def skipped(why: str) -> CheckResult:
    return CheckResult("skipped", why)


@dataclass(frozen=True, slots=True)
class Stakes:
    """The consequences of a check that does not pass.

    Attributes:
        feature: The feature that may not work.
        meaning: The consequence for users.
    """

    feature: str
    meaning: str


@dataclass(frozen=True, slots=True)
class ReportRow:
    """One row of the report; `ms` is how long the check took."""

    name: str
    verdict: CheckResult
    ms: float
    stakes: Stakes | None = None

    @property
    def endangered(self) -> str:
        """The feature that this row endangers, and what that means; "" if none."""
        if self.stakes is None or self.verdict.status in ("pass", "skipped"):
            return ""
        return f"endangers {self.stakes.feature}: {self.stakes.meaning}"

    def to_json(self) -> dict[str, Any]:
        facts: dict[str, Any] = {"name": self.name, "status": self.verdict.status, "finding": self.verdict.finding}
        if self.stakes is not None:
            facts["feature"] = self.stakes.feature
            if self.endangered:
                facts["meaning"] = self.stakes.meaning
        if self.verdict.fix:
            facts["fix"] = self.verdict.fix
        return {**facts, "ms": round(self.ms, 1)}


@dataclass
class Report:
    """Rows in order. `on_row` is called with each row; `deadline` covers all checks."""

    on_row: OnRow
    deadline: Deadline
    rows: list[ReportRow] = field(default_factory=list)

    @property
    def exit_code(self) -> int:
        """The exit code of the first failure, else 0."""
        return next((row.verdict.exit_code for row in self.rows if row.verdict.status == "fail"), 0)

    def count(self, status: Status) -> int:
        return sum(row.verdict.status == status for row in self.rows)

    async def ask(
        self,
        name: str,
        check: Callable[[], Awaitable[CheckResult]],
        *,
        timeout_s: float,
        stakes: Stakes | None = None,
    ) -> CheckResult:
        """Run a check and add its row. Any exception, and a timeout, becomes a failure."""
        if self.deadline.passed:
            late = failed(f"not checked: {self.deadline.timeout_s:g} s have passed", exit_code=5)
            return self.add(name, late, stakes=stakes)
        began = time.monotonic()
        try:
            async with Deadline.after(min(timeout_s, self.deadline.remaining_s)).bound(name):
                verdict = await check()
        except BridgeError as error:
            verdict = failed(error.message, error.hint, exit_code=error.exit_code)
        except Exception as error:  # one failing check must not end the report
            verdict = failed(f"unexpected {type(error).__name__}: {error}")
        return self.add(name, verdict, (time.monotonic() - began) * 1000, stakes)

    def add(self, name: str, verdict: CheckResult, ms: float = 0.0, stakes: Stakes | None = None) -> CheckResult:
        row = ReportRow(name, verdict, ms, stakes)
        self.rows.append(row)
        self.on_row(row)
        return verdict

    def skip(self, names: Sequence[str], why: str) -> None:
        for name in names:
            self.add(name, skipped(why))
