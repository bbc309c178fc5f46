"""The device's log: a bounded ring of lines that commands can follow."""

from __future__ import annotations

import asyncio
import datetime
import re
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass

MAX_LINES = 5_000
MAX_TEXT_CHARS = 4_000  # LOGGER_ENTRY_MAX_PAYLOAD is 4068
PRIORITIES = "VDIWEF"


@dataclass(frozen=True, slots=True)
class LogLine:
    number: int
    when: datetime.datetime
    priority: str
    tag: str
    pid: int
    text: str

    def render(self, style: str = "threadtime") -> str:
        """The line as `logcat -v STYLE` prints it."""
        stamp = self.when.strftime("%m-%d %H:%M:%S.%f")[:-3]
        match style:
            case "brief":
                return f"{self.priority}/{self.tag:<8}({self.pid:5}): {self.text}"
            case "raw":
                return self.text
            case "tag":
                return f"{self.priority}/{self.tag:<8}: {self.text}"
            case "process":
                return f"{self.priority}({self.pid:5}) {self.text}  ({self.tag})"
            case "time":
                return f"{stamp} {self.priority}/{self.tag:<8}({self.pid:5}): {self.text}"
            case "long":
                return f"[ {stamp} {self.pid:5}:{self.pid:5} {self.priority}/{self.tag:<8} ]\n{self.text}\n"
            case "epoch":
                return (
                    f"{self.when.timestamp():.3f} {self.pid:5} {self.pid:5} {self.priority} {self.tag:<8}: {self.text}"
                )
            case _:
                return f"{stamp} {self.pid:5} {self.pid:5} {self.priority} {self.tag:<8}: {self.text}"


class LogFilter:
    """`TAG:PRIORITY` rules, such as `ActivityManager:I *:S`."""

    def __init__(self, specs: list[str]) -> None:
        self._default = "S" if "-s" in specs else "V"
        self._rules: dict[str, str] = {}
        for spec in specs:
            if spec == "-s":
                continue
            tag, _, priority = spec.partition(":")
            priority = (priority or "V").upper()[:1].replace("*", "V")
            if tag == "*":
                self._default = priority
            else:
                self._rules[tag] = priority

    def lets_through(self, line: LogLine) -> bool:
        wanted = self._rules.get(line.tag, self._default)
        return wanted in PRIORITIES and PRIORITIES.index(line.priority) >= PRIORITIES.index(wanted)


class LogBuffer:
    """The lines in order; when full, it drops the oldest."""

    def __init__(self) -> None:
        self._lines: deque[LogLine] = deque(maxlen=MAX_LINES)
        self._count = 0
        self._grown = asyncio.Event()

    def write(self, tag: str, text: str, *, priority: str = "I", pid: int = 1000) -> None:
        """Appends one entry per line of the text."""
        now = datetime.datetime.now(datetime.UTC)
        for part in text[:MAX_TEXT_CHARS].splitlines() or [""]:
            self._count += 1
            self._lines.append(LogLine(self._count, now, priority, re.sub(r"\s", "_", tag)[:128], pid, part))
        self._grown.set()

    def lines(self) -> list[LogLine]:
        return list(self._lines)

    def clear(self) -> None:
        self._lines.clear()

    async def follow(self, after: int = 0) -> AsyncIterator[LogLine]:
        """Lines with a number above `after`: the existing ones, then each new one, endlessly."""
        while True:
            self._grown.clear()
            for line in [line for line in self._lines if line.number > after]:
                after = line.number
                yield line
            if not self._lines or self._lines[-1].number <= after:
                await self._grown.wait()
