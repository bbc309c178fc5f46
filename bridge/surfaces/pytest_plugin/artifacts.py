"""The artifacts of a failed test: one folder that shows the state of the page and the device."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from bridge.deadline import Deadline
from bridge.session import AttachedSession

if TYPE_CHECKING:
    from bridge.page.page import Page
    from bridge.session import Session

logger = logging.getLogger(__name__)

_COLLECT_S = 30.0
_SCREENSHOT_S = 10.0
_TEXT_S = 5.0
_LOGCAT_LINES = 3_000
_LOG_ENTRIES = 5_000
_NAME_CHARS = 100
# Says which run made a folder, so that a later run replaces it and no folder of another origin.
_RUN_FILE = ".webview-run"


class Artifacts:
    """The folder of one test, created on first use and always new.

    Attributes:
        has_failed: Set by the report of the test.
        has_session: Set once a session is open.
    """

    def __init__(
        self,
        root: Path,
        below: str,
        test: str,
        when: Literal["on-failure", "always", "never"],
        properties: list[tuple[str, object]],
        run_id: str,
    ) -> None:
        self.has_failed = False
        self.has_session = False
        self._root = root
        self._parent = root / below
        self._test = test
        self._when = when
        self._properties = properties
        self._run_id = run_id
        self._only_if_failed: list[Path] = []
        self._folder: Path | None = None
        self._is_collected = False

    @property
    def are_wanted(self) -> bool:
        return self._when == "always" or (self._when == "on-failure" and self.has_failed)

    @property
    def folder(self) -> Path:
        """The folder, created on first use and linked from the test's JUnit properties."""
        if self._folder is None:
            self._folder = _fresh_folder(self._parent, _readable(self._test), self._run_id)
            self._properties.append(("webview_artifacts", self.display_path))
        return self._folder

    def trace_path(self, *, is_kept_always: bool) -> Path:
        """The file of the trace; `drop_unwanted` deletes it again after a test that passed, unless always kept."""
        return self._kept_file("trace.html", is_kept_always)

    def video_path(self, *, is_kept_always: bool) -> Path:
        """The same for the recording of the page."""
        return self._kept_file("video.webp", is_kept_always)

    def _kept_file(self, name: str, is_kept_always: bool) -> Path:
        path = self.folder / name
        if not is_kept_always:
            self._only_if_failed.append(path)
        return path

    def drop_unwanted(self) -> None:
        """Delete what only a failed test keeps, and the folder if nothing else is in it."""
        if self.has_failed or not self._only_if_failed:
            return
        for path in self._only_if_failed:
            path.unlink(missing_ok=True)
        if [entry.name for entry in self.folder.iterdir()] == [_RUN_FILE]:
            shutil.rmtree(self.folder)

    @property
    def display_path(self) -> str:
        """The folder for reports, relative to the root if it is inside."""
        folder = self.folder
        return str(folder.relative_to(self._root)) if folder.is_relative_to(self._root) else str(folder)

    async def collect(self, session: Session | AttachedSession) -> None:
        """Write all artifacts, once. `missing.txt` lists those that failed; nothing is raised."""
        if self._is_collected or not self.are_wanted:
            return
        self._is_collected = True
        missing: list[str] = []
        deadline = Deadline.after(_COLLECT_S)

        async def keep(name: str, made: Callable[[float], Awaitable[bytes | str]], at_most_s: float) -> None:
            try:
                content = await made(min(at_most_s, deadline.remaining_s))
                as_bytes = content if isinstance(content, bytes) else content.encode("utf-8", "replace")
                (self.folder / name).write_bytes(as_bytes)
            except Exception as error:  # must not hide the test's own failure
                missing.append(f"{name}: {error}\n")

        for number, page in enumerate(session.pages):
            page.observer = None  # the trace shows what the test did, not the collection
            prefix = "" if number == 0 else f"{page.tab_id}-"
            await keep(f"{prefix}screenshot.png", lambda left, page=page: _screenshot(page, left), _SCREENSHOT_S)  # type: ignore[misc]
            await keep(f"{prefix}snapshot.txt", lambda left, page=page: _snapshot(page, left), _TEXT_S)  # type: ignore[misc]
            await keep(f"{prefix}page.md", lambda left, page=page: _markdown(page, left), _TEXT_S)  # type: ignore[misc]
        await keep("console.txt", lambda _: _console(session), _TEXT_S)
        await keep("network.har", lambda _: _har(session), _TEXT_S)
        await keep("logcat.txt", lambda left: _logcat(session, None, left), _TEXT_S)
        if not isinstance(session, AttachedSession):
            pid = session.host.pid
            await keep("host.log", lambda left: _logcat(session, pid, left), _TEXT_S)
        if missing:
            try:
                (self.folder / "missing.txt").write_text("".join(missing), encoding="utf-8")
            except OSError as error:  # such as a full disk
                logger.warning("could not write the artifacts of a failed test: %s", error)


async def _screenshot(page: Page, timeout_s: float) -> bytes:
    return (await page.screenshot(annotate=True, timeout_s=timeout_s)).image_bytes


async def _snapshot(page: Page, timeout_s: float) -> str:
    return (await page.snapshot(interactive_only=False, timeout_s=timeout_s)).text + "\n"


async def _markdown(page: Page, timeout_s: float) -> str:
    return (await page.read(mode="raw", timeout_s=timeout_s)).markdown + "\n"


async def _console(session: Session | AttachedSession) -> str:
    lines = []
    for entry in session.logs.console(limit=_LOG_ENTRIES):
        lines += [f"{entry.tab_id} {entry}", *(f"    at {frame}" for frame in entry.stack)]
    return "\n".join(lines) + "\n"


async def _har(session: Session | AttachedSession) -> str:
    return json.dumps(session.logs.har(), ensure_ascii=False, indent=1)


async def _logcat(session: Session | AttachedSession, pid: int | None, timeout_s: float) -> str:
    only = [] if pid is None else [f"--pid={pid}"]
    command = ["logcat", "-d", "-v", "threadtime", *only, "-t", str(_LOGCAT_LINES)]
    return (await session.device.shell(command, timeout_s=timeout_s, check=True)).stdout


def _readable(test: str) -> str:
    """The test's id as a folder name; a digest distinguishes names that are cut or changed."""
    name = re.sub(r"[^A-Za-z0-9_.-]+", "-", test.replace("::", "-").replace("/", "-")).strip("-.")
    if name == test and len(name) <= _NAME_CHARS:
        return name
    return f"{name[-_NAME_CHARS:].strip('-.')}-{hashlib.sha256(test.encode()).hexdigest()[:6]}"


def _fresh_folder(parent: Path, name: str, run_id: str) -> Path:
    """Create `name` in place of an earlier run's; `name-2`, … if this run has made one, or something else is there."""
    parent.mkdir(parents=True, exist_ok=True)
    number = 1
    while True:
        folder = parent / (name if number == 1 else f"{name}-{number}")
        run_file = folder / _RUN_FILE
        try:
            os.mkdir(folder)  # noqa: PTH102 - fails where it exists, also against another process
        except FileExistsError:
            if run_file.is_file() and run_file.read_text() not in ("", run_id):
                shutil.rmtree(folder, ignore_errors=True)
            else:
                number += 1
            continue
        run_file.write_text(run_id)
        return folder
