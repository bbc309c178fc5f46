"""Puts WebViews on a virtual device: the engine, the fake host app and installed apps (an `EngineFactory`)."""

from __future__ import annotations

import asyncio
import itertools
import logging
import shutil
import time
from collections import deque
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import bridge
from bridge.deadline import Deadline
from bridge.errors import BridgeError, ChromiumMissing
from bridge.virtual_device.android import HOST_PACKAGE, HOST_SERVICE, AbstractSockets
from bridge.virtual_device.apps import FAULTS as APP_FAULTS
from bridge.virtual_device.apps import Apps
from bridge.virtual_device.device import VirtualDevice
from bridge.virtual_device.engine import LOST_RUNTIME_ENABLES, EngineOptions, require_engine, start_engine
from bridge.virtual_device.host_app import HostApp

FIRST_PID = 4242
_MAX_ENDS, _MAX_ENDS_WITHIN_S = 3, 120.0

_log = logging.getLogger(__name__)


@asynccontextmanager
async def run_webviews(device: VirtualDevice) -> AsyncIterator[WebViews]:
    """Runs Chromium and lets the host app be started, until the block ends.

    `device.options.engine` may have `chromium` (a program, or the major version of an engine of `tools/engines`),
    `lost_runtime_enables` (a list of counts) and `linger_s`.
    """
    settings = device.options.engine
    options = EngineOptions(
        folder=device.folder,
        quirks=device.options.quirks,
        package=HOST_PACKAGE,
        android_release=device.system.properties.get("ro.build.version.release"),
        chromium=_named_program(settings["chromium"]) if "chromium" in settings else None,
        lost_runtime_enables=tuple(settings.get("lost_runtime_enables", LOST_RUNTIME_ENABLES)),
    )
    apps = Apps(device, options)
    webviews = WebViews(device, options, apps, linger_s=float(settings.get("linger_s", 30.0)))
    running = asyncio.create_task(webviews.run(), name="engine of the device")
    try:
        await asyncio.wait({running, webviews.started}, return_when=asyncio.FIRST_COMPLETED)
        if running.done():
            await running
        device.register_service(HOST_SERVICE, webviews.start_app, webviews.stop_app)
        device.system.start_activity, device.system.stop_app = apps.start, apps.stop
        try:
            yield webviews
        finally:
            await apps.aclose()
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


class WebViews:
    """The WebViews of the host app and of other apps, on an engine, which is replaced when its Chromium ends by itself.

    To a client that is the death of the app's process: the device stays, and the tabs can be opened again.

    Attributes:
        started: Done when the first engine runs.
    """

    def __init__(self, device: VirtualDevice, options: EngineOptions, apps: Apps, *, linger_s: float) -> None:
        self.started: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._device = device
        self._options = options
        self._apps = apps
        self._linger_s = linger_s
        self._app_device = AppDevice(device)
        self._app: HostApp | None = None
        self._is_ready = asyncio.Event()

    async def run(self) -> None:
        """Keeps an engine running. Ends the device when engines end as fast as they are started."""
        ends: deque[float] = deque(maxlen=_MAX_ENDS)
        while True:
            try:
                reason = await self._run_engine()
            except BridgeError as error:
                if not self.started.done():
                    raise
                reason = str(error)
            ends.append(time.monotonic())
            if len(ends) == _MAX_ENDS and ends[-1] - ends[0] < _MAX_ENDS_WITHIN_S:
                _log.error("Chromium ended %d times, so the device ends: %s", _MAX_ENDS, reason)
                self._device.on_engine_end()
                return
            _log.error("Chromium ended and is started again: %s", reason)

    async def fault(self, name: str, arguments: Mapping[str, Any]) -> None:
        """Injects a fault of the host app or of an app; UsageError for an unknown one."""
        if name in APP_FAULTS:
            self._apps.fault(name, arguments)
        elif name == "defect" and arguments.get("what") == "no_devtools_in_apps":
            self._apps.has_devtools = False
        else:
            await (await self._ready_app()).fault(name, arguments)

    async def start_app(self, extras: Mapping[str, str]) -> None:
        """See HostApp.start."""
        await (await self._ready_app()).start(extras)

    async def stop_app(self) -> None:
        """See HostApp.stop."""
        if self._app is not None:
            await self._app.stop()

    async def _ready_app(self) -> HostApp:
        async with Deadline.after(self._options.start_timeout_s).bound("the start of Chromium"):
            await self._is_ready.wait()
        assert self._app is not None
        return self._app

    async def _run_engine(self) -> str:
        """Runs one engine until its Chromium ends; the reason."""
        device = self._device
        async with start_engine(self._options, device.dial_loopback) as engine:
            if not self.started.done():
                device.provide_webview(engine.identity.chromium_version)
            if device.reaper is not None:
                device.reaper.update(process_group=engine.process_group)
            app = HostApp(
                engine,
                self._app_device,
                idle_timeout_s=device.options.idle_timeout_s,
                linger_s=self._linger_s,
            )
            self._app = app
            power = device.system.power
            power.on_change = lambda: app.power_changed(is_awake=power.is_awake, is_idle_forced=power.is_idle_forced)
            self._is_ready.set()
            if not self.started.done():
                self.started.set_result(None)
            try:
                await engine.browser.cdp.closed.wait()
                reason = f"{engine.browser.cdp.close_reason}: {engine.last_words}"
                app.die(reason)
            finally:
                self._is_ready.clear()
                self._app = None
                await app.aclose()
        if device.reaper is not None:
            device.reaper.forget("process_group")
        return reason


def _named_program(name: str) -> Path:
    if name.isdecimal():
        return require_engine(int(name))
    found = shutil.which(name)
    if found is None:
        raise ChromiumMissing(f"{name!r} is not a program: the device cannot use it as Chromium.")
    return Path(found)


class AppDevice:
    """The device as the host app sees it."""

    def __init__(self, device: VirtualDevice) -> None:
        self._device = device
        self._pids = itertools.count(FIRST_PID)

    @property
    def sockets(self) -> AbstractSockets:
        return self._device.sockets

    @property
    def folder(self) -> Path:
        return self._device.folder

    @property
    def api_level(self) -> int:
        return self._device.options.api_level

    @property
    def app_version(self) -> str:
        package = self._device.packages.get(HOST_PACKAGE)
        return package.facts.version_name if package else bridge.__version__

    @property
    def cleartext_permitted(self) -> bool:
        package = self._device.packages.get(HOST_PACKAGE)
        return package is None or package.facts.uses_cleartext_traffic

    def process_started(self) -> int:
        pid = next(self._pids)
        self._device.process_started(pid, HOST_PACKAGE)
        return pid

    def process_ended(self, pid: int) -> None:
        self._device.process_ended(pid)
        self._device.system.running_services.discard(HOST_SERVICE)

    def provide_webview(self, version_name: str) -> None:
        self._device.provide_webview(version_name)

    def log(self, tag: str, text: str, *, priority: str = "I", pid: int = 612) -> None:
        self._device.log(tag, text, priority=priority, pid=pid)
