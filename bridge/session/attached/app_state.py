"""The reason why another app cannot be attached to, read without connecting to it.

A frozen process keeps its devtools socket and accepts nothing. Each connect takes a place in the socket's backlog as
long as the process lives. When the backlog is full, adbd's next connect blocks all ADB traffic of the device.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from socket import socket

from bridge.adb import AdbDevice
from bridge.deadline import Deadline
from bridge.errors import AppUnavailable, DeadlineExceeded

# ProcessList.CACHED_APP_MIN_ADJ: from here on Android may freeze the process.
_CACHED_ADJ = 900
# A WebView's backlog has 10 places before Chromium 144.
_MAX_UNANSWERED = 3

_TO_FRONT = "Bring the app to the front: tap it on the device, or pass `activity` so that the session starts it."
_DEBUGGABLE = (
    "In the app, before the WebView loads a page (or install a debuggable build): "
    "Java `WebView.setWebContentsDebuggingEnabled(true);`, "
    "Kotlin `WebView.setWebContentsDebuggingEnabled(true)`. Both import android.webkit.WebView."
)


@dataclass(frozen=True, slots=True)
class ProcessState:
    """A process as /proc and its cgroup describe it.

    Attributes:
        started: Clock ticks since boot; with the pid it identifies the process.
        is_stopped: By a signal.
        is_frozen: None if the shell may not read it.
        oom_score_adj: None if the shell may not read it.
    """

    pid: int
    started: int
    is_stopped: bool
    is_frozen: bool | None
    oom_score_adj: int | None

    @property
    def obstacle(self) -> str:
        """Why it would not accept a connection, or ""."""
        if self.is_frozen:
            return f"Android has frozen its process {self.pid} in the background"
        if self.is_stopped:
            return f"its process {self.pid} is stopped"
        if self.is_frozen is None and self.oom_score_adj is not None and self.oom_score_adj >= _CACHED_ADJ:
            return f"its process {self.pid} is cached in the background, where Android freezes apps"
        return ""


async def read_process_state(device: AdbDevice, pid: int, *, timeout_s: float) -> ProcessState:
    """
    Raises:
        DeviceError, DeadlineExceeded: See AdbDevice.shell.
    """
    deadline = Deadline.after(timeout_s)
    files = await device.shell(
        f"cat /proc/{pid}/stat /proc/{pid}/oom_score_adj /proc/{pid}/cgroup", timeout_s=deadline.remaining_s
    )
    # proc(5): "pid (comm) state ppid …", the start time is field 22; comm may contain anything.
    fields = files.stdout.partition("\n")[0].rpartition(")")[2].split()
    score = re.search(r"^(-?\d{1,4})$", files.stdout, re.MULTILINE)
    group = re.search(r"^0::(/[\w./-]+)$", files.stdout, re.MULTILINE)
    return ProcessState(
        pid=pid,
        started=int(fields[19]) if len(fields) > 19 and fields[19].isdecimal() else 0,
        is_stopped=fields[:1] in (["T"], ["t"]),
        is_frozen=await _is_frozen(device, group[1], deadline) if group else False,
        oom_score_adj=int(score[1]) if score else None,
    )


async def _is_frozen(device: AdbDevice, group: str, deadline: Deadline) -> bool | None:
    read = await device.shell(["cat", f"/sys/fs/cgroup{group}/cgroup.freeze"], timeout_s=deadline.remaining_s)
    if read.stdout.strip() in ("0", "1"):
        return read.stdout.strip() == "1"
    # Without the file there is no freezer (before Android 11); any other failure leaves it open.
    return False if "No such file" in read.stdout + read.stderr else None


# By device, socket and start of the process: adb serves all sessions of this process.
_unanswered: Counter[tuple[str, str, int]] = Counter()


@asynccontextmanager
async def opening(device: AdbDevice, name: str, pid: int | None, *, timeout_s: float) -> AsyncIterator[socket]:
    """A connection to a devtools socket, made only if its process can accept it; the block is its first exchange.

    Raises:
        AppUnavailable: The process cannot accept, or has left three connections unanswered.
        DeviceError, DeadlineExceeded: See AdbDevice.open_stream.
    """
    deadline = Deadline.after(timeout_s)
    started = 0
    if pid is not None:
        state = await read_process_state(device, pid, timeout_s=deadline.remaining_s)
        if state.obstacle:
            raise frozen(f"@{name}", state.obstacle)
        started = state.started
    key = (device.serial, name, started)
    if _unanswered[key] >= _MAX_UNANSWERED:
        raise AppUnavailable(
            f"@{name} left {_MAX_UNANSWERED} connections unanswered; more could block adb on this device",
            cause="not_accepting",
            hint="Stop and start the app: its process does not accept connections.",
        )
    try:
        yield await device.open_stream(f"localabstract:{name}", timeout_s=deadline.remaining_s)
    except DeadlineExceeded:
        _unanswered[key] += 1
        raise
    del _unanswered[key]


async def explain_missing_socket(
    device: AdbDevice, package: str, pids: tuple[int, ...], *, timeout_s: float
) -> AppUnavailable:
    """Why the app has no devtools socket; `pids` are its processes.

    Raises:
        DeviceError, DeadlineExceeded: See AdbDevice.shell.
    """
    deadline = Deadline.after(timeout_s)
    if not pids:
        listed = await device.shell(["pm", "path", package], timeout_s=deadline.remaining_s)
        if not listed.stdout.startswith("package:"):
            return AppUnavailable(
                f"{package} is not installed on {device.serial}",
                cause="not_installed",
                hint=f"Install it with `adb -s {device.serial} install APK`, or correct the package name.",
            )
        return AppUnavailable(
            f"{package} is not running",
            cause="not_running",
            hint="Start it on the device, or pass `activity` so that the session starts it.",
        )
    for pid in pids:
        state = await read_process_state(device, pid, timeout_s=deadline.remaining_s)
        if state.obstacle:
            return frozen(package, state.obstacle)
    dump = await device.shell(["dumpsys", "package", package], timeout_s=deadline.remaining_s)
    if re.search(r"^\s*(?:pkgF|f)lags=\[[^\]]*\bDEBUGGABLE\b", dump.stdout, re.MULTILINE):
        return AppUnavailable(
            f"{package} runs, but has no devtools socket: it has not created a WebView yet",
            cause="no_webview",
            hint="Go to a screen of the app that shows a WebView.",
        )
    return AppUnavailable(
        f"{package} runs, but has no devtools socket: its build is not debuggable, and it has not enabled "
        "debugging of its WebViews",
        cause="not_debuggable",
        hint=_DEBUGGABLE,
    )


def frozen(what: str, obstacle: str) -> AppUnavailable:
    return AppUnavailable(f"{what} cannot be connected to: {obstacle}", cause="frozen", hint=_TO_FRONT)
