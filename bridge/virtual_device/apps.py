"""Installed apps: what `am start` of an activity puts on the screen.

The virtual device runs no application code. It shows the part of an app that a bridge attaches to: a process with the
app's name and a WebView at the address in the intent's data (`am start -n … -d URL`). If the manifest says debuggable,
and always for Chrome, the process also opens a devtools socket. Each app has a Chromium of its own, so its renderer and
storage are separate and it can crash alone.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bridge.deadline import finish
from bridge.errors import UsageError
from bridge.virtual_device.android import Component, stub_facts
from bridge.virtual_device.engine import Engine, EngineOptions, ViewSize, start_engine

if TYPE_CHECKING:
    from bridge.virtual_device.device import VirtualDevice

CHROME_PACKAGE = "com.android.chrome"
CHROME_ACTIVITY = "com.google.android.apps.chrome.Main"
FAULTS = ("start_process", "freeze_app", "thaw_app", "stop_accepting")
_FIRST_PID = 5301
_CACHED_ADJ, _FOREGROUND_ADJ = 900, 0
_OPEN_S = 20.0
_STOP_S = 15.0


@dataclass(slots=True)
class _RunningApp:
    pid: int
    engine: Engine
    socket_name: str | None
    stack: AsyncExitStack


class Apps:
    """The running apps, except for the host app.

    Attributes:
        has_devtools: Cleared to imitate a device whose debuggable apps open no devtools socket.
    """

    def __init__(self, device: VirtualDevice, options: EngineOptions) -> None:
        self._device = device
        self._options = options
        self.has_devtools = True
        self._running: dict[str, _RunningApp] = {}
        self._pids = itertools.count(_FIRST_PID)
        chrome = stub_facts(CHROME_PACKAGE, "1", 1, activities=(Component(CHROME_ACTIVITY, is_exported=True),))
        device.packages.preinstall(chrome, f"/data/app/{CHROME_PACKAGE}/base.apk", is_system=False)

    async def start(self, package: str, url: str) -> None:
        """Shows an activity of the package: starts its process, or loads `url` in a new view of a running one."""
        app = self._running.get(package) or await self._launch(package)
        self._thaw(app)
        display = self._device.system.display
        view = ViewSize(display.width_px, display.height_px, display.density_dpi)
        await app.engine.open_tab(url or "about:blank", view, profile=None, timeout_s=_OPEN_S)

    async def stop(self, package: str) -> None:
        """Ends the process: its socket disappears at once and connections break."""
        app = self._running.pop(package, None)
        if app is None:
            return
        self._thaw(app)
        if app.socket_name is not None:
            self._device.sockets.close(app.socket_name)
        self._device.process_ended(app.pid)
        await finish(app.stack.aclose(), at_most_s=_STOP_S, what=f"stopping {package}")
        self._update_reaper()

    def fault(self, name: str, arguments: Mapping[str, Any]) -> None:
        """Injects one of FAULTS into the app `package`.

        `start_process` starts it without an activity, as a broadcast does: it has no WebView yet.
        `freeze_app` does what Android does to a cached app: its process stands still and its cgroup says so.
        `stop_accepting` leaves connections in the backlog without any sign. `thaw_app` ends both.

        Raises:
            UsageError: The app is not running.
        """
        if name == "start_process":
            self._device.process_started(next(self._pids), str(arguments.get("package")))
            return
        app = self._running.get(str(arguments.get("package")))
        if app is None:
            raise UsageError(f"{arguments.get('package')!r} is not a running app.")
        if name == "thaw_app":
            self._thaw(app)
            return
        self._device.sockets.set_accepting(app.pid, False)
        if name == "freeze_app":
            process = self._device.system.processes[app.pid]
            process.is_frozen, process.oom_score_adj = True, _CACHED_ADJ
            _signal_group(app.engine.process_group, signal.SIGSTOP)

    def _thaw(self, app: _RunningApp) -> None:
        process = self._device.system.processes.get(app.pid)
        if process is not None:
            process.is_frozen, process.oom_score_adj = False, _FOREGROUND_ADJ
        _signal_group(app.engine.process_group, signal.SIGCONT)
        self._device.sockets.set_accepting(app.pid, True)

    async def aclose(self) -> None:
        for package in tuple(self._running):
            with contextlib.suppress(Exception):
                await self.stop(package)

    async def _launch(self, package: str) -> _RunningApp:
        bare = (pid for pid, process in self._device.system.processes.items() if process.name == package)
        pid = next(bare, None) or next(self._pids)
        is_chrome = package == CHROME_PACKAGE
        options = EngineOptions(
            folder=self._options.folder / "apps" / str(pid),
            quirks=self._options.quirks and not is_chrome,
            isolates_sites=is_chrome,
            package=package,
            android_release=self._options.android_release,
            chromium=self._options.chromium,
            lost_runtime_enables=self._options.lost_runtime_enables,
        )
        async with AsyncExitStack() as stack:
            engine = await stack.enter_async_context(start_engine(options, self._device.dial_loopback))
            app = _RunningApp(pid, engine, self._socket_name(package, pid), stack.pop_all())
        self._running[package] = app
        self._device.process_started(pid, package)
        if app.socket_name is not None:
            self._device.sockets.listen(app.socket_name, engine.devtools, pid=pid)
        self._update_reaper()
        return app

    def _socket_name(self, package: str, pid: int) -> str | None:
        if package == CHROME_PACKAGE:
            return "chrome_devtools_remote"
        installed = self._device.packages.get(package)
        is_debuggable = self.has_devtools and installed is not None and installed.facts.is_debuggable
        return f"webview_devtools_remote_{pid}" if is_debuggable else None

    def _update_reaper(self) -> None:
        if self._device.reaper is not None:
            self._device.reaper.update(app_groups=[app.engine.process_group for app in self._running.values()])


def _signal_group(group: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, number)
