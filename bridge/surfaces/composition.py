"""Composition root: gives sessions and pages the virtual devices, traces and live view of higher layers.

`bridge.Session` is imported from here, so that every session can start a virtual device and write a trace.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

from bridge.adb import AdbServer
from bridge.errors import NoDevice
from bridge.page.instrumentation import Observer
from bridge.page.page import Page, ServedView
from bridge.session import Session, TracedSession
from bridge.virtual_device import list_virtual_devices, start_virtual_device

__all__ = ["RunningVirtualDevices", "Session"]


class RunningVirtualDevices:
    """Virtual devices that already run, for commands about a device; one that a command started would end with it."""

    def running(self) -> tuple[str, ...]:
        return tuple(handle.serial for handle in list_virtual_devices() if handle.is_detached)

    def owned(self) -> tuple[str, ...]:
        return tuple(handle.serial for handle in list_virtual_devices() if not handle.is_detached)

    def start(self, server: AdbServer, *, timeout_s: float) -> AbstractAsyncContextManager[str]:
        raise NoDevice(
            "no device is attached, and no virtual device is running",
            hint="Attach one, or start one: webview-bridge virtual start.",
        )


class _VirtualDevices(RunningVirtualDevices):
    @asynccontextmanager
    async def start(self, server: AdbServer, *, timeout_s: float) -> AsyncIterator[str]:
        async with start_virtual_device(server=server, timeout_s=timeout_s) as handle:
            yield handle.serial


def _trace(session: TracedSession, path: Path) -> AbstractAsyncContextManager[Observer]:
    from bridge.surfaces.trace.recorder import recording_to

    return recording_to(session, path)


def _view(page: Page) -> AbstractAsyncContextManager[ServedView]:
    from bridge.surfaces.live_view import live_view

    return live_view(page)


Page.live_viewer = staticmethod(_view)
Session.virtual_devices = _VirtualDevices()
Session.trace_writer = staticmethod(_trace)
