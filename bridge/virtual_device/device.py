"""Composes a virtual device: adbd, the Android system behind its shell, an engine for WebViews, and faults."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bridge
from bridge.adb import AdbServer
from bridge.deadline import Deadline
from bridge.errors import BridgeError, DeadlineExceeded, DeviceUnauthorized, UsageError
from bridge.virtual_device.adb import FEATURES, Adbd, Handler, LinkShape, ReverseTable, Transport, auth, find_service
from bridge.virtual_device.adb.server_process import server_environment
from bridge.virtual_device.android import (
    DEVICE,
    HOST_PACKAGE,
    HOST_SERVICE,
    MODEL,
    PRODUCT,
    WEBVIEW_PACKAGE,
    AbstractSockets,
    AndroidSystem,
    Component,
    PackageTable,
    Process,
    StartService,
    StopService,
    StreamPair,
    stub_facts,
    webview_version_code,
)
from bridge.virtual_device.device_options import DeviceOptions

if TYPE_CHECKING:
    from bridge.virtual_device.process.reaper import Reaper
    from bridge.virtual_device.webviews import WebViews

logger = logging.getLogger(__name__)

_JOIN_STEP_S = 3.0
_JOIN_TIMEOUT_S = 10.0
_FAULTS_HERE = ("drop_cable", "connect", "reboot", "unauthorize", "authorize", "slow_link", "straight_link")


#: Runs the WebViews of a device inside the block, with the host app.
EngineFactory = Callable[["VirtualDevice"], AbstractAsyncContextManager["WebViews"]]


class VirtualDevice:
    """A running device. Make one with `running_device`.

    Attributes:
        on_engine_end: Called when engines end as soon as they are started; the device is useless without one.
    """

    def __init__(self, options: DeviceOptions, folder: Path, reaper: Reaper | None) -> None:
        self.options = options
        self.folder = folder
        self.reaper = reaper
        self.adbd = Adbd(self, authorize="user" if options.authorize == "user" else "never")
        self.reverse = ReverseTable()
        self.system = AndroidSystem(options.api_level, f"VIRTUAL{options.name.upper()}", folder)
        self.system.reboot = self._reboot_soon
        self.system.sockets.on_blocked = self.adbd.block
        self.system.display.width_px = options.width_px
        self.system.display.height_px = options.height_px
        self.system.display.density_dpi = options.density_dpi
        self.on_engine_end: Callable[[], None] = lambda: None
        self._webviews: WebViews | None = None
        self._background: set[asyncio.Task[None]] = set()
        self._server = AdbServer(options.adb_host, options.adb_port)
        if options.has_host_app:
            self._preinstall_host_app()

    @property
    def serial(self) -> str:
        """The serial under which the adb server lists it."""
        return f"127.0.0.1:{self.adbd.port}"

    @property
    def sockets(self) -> AbstractSockets:
        return self.system.sockets

    @property
    def packages(self) -> PackageTable:
        return self.system.packages

    def log(self, tag: str, text: str, *, priority: str = "I", pid: int = 612) -> None:
        """Writes a line to the log that `logcat` shows."""
        self.system.log(tag, text, priority=priority, pid=pid)

    def register_service(self, component: str, start: StartService, stop: StopService) -> None:
        """`am start-foreground-service -n COMPONENT --es k v` awaits `start({k: v})`, `am force-stop` `stop()`."""
        self.system.register_service(component, start, stop)

    def provide_webview(self, version_name: str) -> None:
        """Sets the installed WebView, at the start or after an update; its version code is derived from the name."""
        facts = stub_facts(WEBVIEW_PACKAGE, version_name, webview_version_code(version_name))
        if self.packages.get(WEBVIEW_PACKAGE) is None:
            self.packages.preinstall(facts, "/product/app/WebViewGoogle/WebViewGoogle.apk")
        else:
            self.packages.update_facts(facts)

    def process_started(self, pid: int, name: str) -> None:
        """Adds an app's process to `ps` and `pidof`; `am force-stop` of its package removes it."""
        package = self.packages.get(name.split(":")[0])
        user = f"u0_a{package.uid - 10_000}" if package and package.uid >= 10_000 else "system"
        self.system.add_process(Process(pid, name, user, 321, package.uid if package else 1000))

    def process_ended(self, pid: int) -> None:
        self.system.remove_process(pid)

    async def dial_loopback(self, port: int) -> StreamPair:
        """A connection to 127.0.0.1:port of the device, where only `adb reverse` can listen.

        Raises:
            ConnectionRefusedError: Nothing listens there, or the other machine refused.
        """
        return await self.reverse.dial(f"tcp:{port}")

    def adb_banner(self) -> str:
        facts = f"ro.product.name={PRODUCT};ro.product.model={MODEL};ro.product.device={DEVICE}"
        return f"device::{facts};features={','.join(FEATURES)}"

    def adb_keys(self) -> Iterable[auth.PublicKey]:
        """The keys of this user's environment, then those of its adb server, which may have another HOME."""
        yield from auth.authorized_keys()
        if self._server.is_local:
            yield from auth.authorized_keys(server_environment(self._server.port))

    async def open_service(self, name: str, transport: Transport) -> Handler:
        return await find_service(name, self.system, self.reverse, transport)

    def on_transport_closed(self, transport: Transport) -> None:
        self.reverse.drop(transport)

    async def join(self, *, timeout_s: float = _JOIN_TIMEOUT_S) -> None:
        """Makes the adb server connect and waits until it lists the device as `device`.

        Raises:
            DeviceUnauthorized: The adb server's key is not one of this user's.
            AdbUnavailable, DeviceNotFound, DeadlineExceeded: The server is not running or did not connect.
        """
        deadline = Deadline.after(timeout_s)
        while True:
            try:
                await self._server.connect(self.serial, timeout_s=deadline.remaining_s)
                step_s = min(_JOIN_STEP_S, deadline.remaining_s)
                await self._server.device(self.serial).wait_for_state("device", timeout_s=step_s)
            except DeviceUnauthorized as error:
                raise DeviceUnauthorized(
                    f"the adb server at {self._server.address} was started by another user or has keys of its own, so "
                    f"the virtual device {self.serial} does not accept it.",
                    hint="Use a private adb server: set ANDROID_ADB_SERVER_PORT to a free port.",
                ) from error
            except DeadlineExceeded as error:
                # The server forgets a connection that was dropped before it was authenticated.
                if deadline.passed:
                    raise deadline.exceeded(f"{self.serial} joining the adb server", error.last_seen) from error
                continue
            return

    async def leave(self) -> None:
        """Makes the adb server forget the device. Does nothing if it already has."""
        with contextlib.suppress(BridgeError):
            await self._server.disconnect(self.serial, timeout_s=_JOIN_TIMEOUT_S)
            await self._server.device(self.serial).wait_for_state("absent", timeout_s=_JOIN_STEP_S)

    async def fault(self, name: str, arguments: Mapping[str, Any]) -> None:
        """Injects a fault: `drop_cable`, `connect`, `reboot {boot_s?}`, `unauthorize`, `authorize`,
        `slow_link {latency_ms?, bytes_per_s?}`, `straight_link`, or one of the engine's.

        Raises:
            UsageError: There is no such fault.
        """
        match name:
            case "drop_cable":
                await self._unplug()
            case "connect":
                await self._plug_in()
            case "reboot":
                await self._reboot(_number(arguments, "boot_s", self.options.boot_s))
            case "unauthorize" | "authorize":
                await self._unplug()
                self.adbd.authorize = "user" if name == "authorize" else "never"
                await self._plug_in()
            case "slow_link":
                shape = LinkShape(_number(arguments, "latency_ms", 0.0), _number(arguments, "bytes_per_s", 0.0))
                self.adbd.shape_link(shape)
            case "straight_link":
                self.adbd.shape_link(LinkShape())
            case _ if self._webviews is not None:
                await self._webviews.fault(name, arguments)
            case _:
                raise UsageError(f"unknown fault {name!r}; a device without an engine has {', '.join(_FAULTS_HERE)}.")

    def _preinstall_host_app(self) -> None:
        service = Component(HOST_SERVICE.partition("/")[2], is_exported=True, permission="android.permission.DUMP")
        facts = stub_facts(
            HOST_PACKAGE,
            bridge.__version__,
            1,
            services=(service,),
            instrumentations=(f"{HOST_PACKAGE}.HostInstrumentation",),
        )
        self.packages.preinstall(facts, f"/data/app/{HOST_PACKAGE}/base.apk", is_system=False)

    async def _unplug(self) -> None:
        self.adbd.is_plugged_in = False
        await self.adbd.drop_transports()
        await self.leave()

    async def _plug_in(self) -> None:
        self.adbd.is_plugged_in = True
        if self.adbd.authorize == "user":
            await self.join()
        else:
            with contextlib.suppress(BridgeError):
                await self._server.connect(self.serial, timeout_s=_JOIN_TIMEOUT_S)
                await self._server.device(self.serial).wait_for_state("unauthorized", timeout_s=_JOIN_STEP_S)

    def _reboot_soon(self) -> None:
        """Reboots in the background: the command runs inside the connection that the reboot drops."""
        task = asyncio.get_running_loop().create_task(self._reboot(self.options.boot_s))
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    async def _reboot(self, boot_s: float) -> None:
        self.system.properties.put("sys.boot_completed", "")
        self.adbd.is_plugged_in = False
        await self.adbd.drop_transports()
        for package in self.packages.all():
            await self.system.stop_package(package.name)
        self.reverse.clear()
        self.system.logcat.clear()
        await self.leave()
        await asyncio.sleep(boot_s)
        self.system.restart_clock()
        self.system.properties.put("sys.boot_completed", "1")
        try:
            await self._plug_in()
        except BridgeError as error:
            logger.warning("the device did not rejoin the adb server after its reboot: %s", error)

    async def _stop_services(self) -> None:
        for task in self._background:
            task.cancel()
        await asyncio.gather(*self._background, return_exceptions=True)
        for component in tuple(self.system.running_services):
            with contextlib.suppress(Exception):
                await self.system.services[component].stop()


@asynccontextmanager
async def running_device(
    options: DeviceOptions,
    folder: Path,
    *,
    engine_factory: EngineFactory | None = None,
    reaper: Reaper | None = None,
) -> AsyncIterator[VirtualDevice]:
    """A device that listens but has not joined an adb server yet. It writes into `folder`, which it does not share."""
    device = VirtualDevice(options, folder, reaper)
    await device.adbd.start()
    async with contextlib.AsyncExitStack() as stack:
        stack.push_async_callback(device.adbd.stop)
        if engine_factory is not None and options.has_engine:
            device._webviews = await stack.enter_async_context(engine_factory(device))
        stack.push_async_callback(device._stop_services)
        yield device


def _number(arguments: Mapping[str, Any], name: str, default: float) -> float:
    value = arguments.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e12:
        raise UsageError(f"{name} is {value!r}, not a non-negative number.")
    return float(value)
