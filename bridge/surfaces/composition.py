"""Where the layers meet: a session that knows how to start a virtual device."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

from bridge.adb import AdbServer
from bridge.errors import NoDevice
from bridge.page.instrumentation import Observer
from bridge.session import session as session_layer
from bridge.session.tracing import TracedSession
from bridge.virtual_device import list_virtual_devices, start_virtual_device


class RunningVirtualDevices:
    """For commands about a device that was there before them: one of their own would end with them."""

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


class _Traces:
    def start(self, session: TracedSession, path: Path) -> AbstractAsyncContextManager[Observer]:
        from bridge.surfaces.trace.recorder import recording_to

        return recording_to(session, path)


class Session(session_layer.Session):
    __doc__ = session_layer.Session.__doc__

    virtual_devices = _VirtualDevices()
    tracing = _Traces()
