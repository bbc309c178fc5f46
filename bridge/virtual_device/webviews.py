"""Puts WebViews on a virtual device: the engine, the fake host app and installed apps (an `EngineFactory`)."""

from __future__ import annotations

import asyncio
import itertools
import logging
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import bridge
from bridge.errors import ChromiumMissing
from bridge.virtual_device.android import HOST_PACKAGE, HOST_SERVICE, AbstractSockets
from bridge.virtual_device.apps import Apps
from bridge.virtual_device.device import VirtualDevice
from bridge.virtual_device.engine import LOST_RUNTIME_ENABLES, Engine, EngineOptions, require_engine, start_engine
from bridge.virtual_device.host_app import HostApp

FIRST_PID = 4242

_log = logging.getLogger(__name__)


@asynccontextmanager
async def run_webviews(device: VirtualDevice) -> AsyncIterator[HostApp]:
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
    async with start_engine(options, device.dial_loopback) as engine:
        device.provide_webview(engine.identity.chromium_version)
        if device.reaper is not None:
            device.reaper.update(process_group=engine.process_group)
        app = HostApp(
            engine,
            _AppDevice(device),
            idle_timeout_s=device.options.idle_timeout_s,
            linger_s=float(settings.get("linger_s", 30.0)),
        )
        device.register_service(HOST_SERVICE, app.start, app.stop)
        apps = Apps(device, options)
        device.system.start_activity, device.system.stop_app = apps.start, apps.stop
        watching = asyncio.create_task(_end_with_chromium(engine, device), name="watch for the end of Chromium")
        try:
            yield app
        finally:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)
            await apps.aclose()
            await app.aclose()
    if device.reaper is not None:
        device.reaper.forget("process_group")


async def _end_with_chromium(engine: Engine, device: VirtualDevice) -> None:
    cdp = engine.browser.cdp
    await cdp.closed.wait()
    _log.error("Chromium ended, so the device ends: %s", cdp.close_reason)
    device.on_engine_end()


def _named_program(name: str) -> Path:
    if name.isdecimal():
        return require_engine(int(name))
    found = shutil.which(name)
    if found is None:
        raise ChromiumMissing(f"{name!r} is not a program: the device cannot use it as Chromium.")
    return Path(found)


class _AppDevice:
    """The part of the device that the host app uses."""

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
