"""The fake host app: the service that `am start-foreground-service` starts on a virtual device.

It serves the control protocol (android_host_app/PROTOCOL.md) on Chromium. Whatever kills the app's process on Android
(a picker without an Activity, /json/protocol, an update of WebView, force-stop) ends a `HostProcess` here: control and
devtools connections break at once, tabs are lost, cookies stay, and the next start gets a new pid.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from bridge.errors import UsageError
from bridge.host.protocol import PROTOCOL_VERSION, is_hex, is_socket_name
from bridge.virtual_device.android import AddressInUse, StreamPair, stream_pair, webview_version_code
from bridge.virtual_device.engine import DEFECTS, Engine
from bridge.virtual_device.host_app.connection import ControlConnection
from bridge.virtual_device.host_app.process import HostProcess
from bridge.virtual_device.host_app.requests import MAX_CAPTURE_HEIGHT_PX, MAX_TABS

if TYPE_CHECKING:
    from bridge.virtual_device.webviews import AppDevice

_log = logging.getLogger(__name__)

TAG = "WebViewBridgeHost"
WEBVIEW_PACKAGE = "com.google.android.webview"
DEVTOOLS_SOCKET = "webview_devtools_remote_{pid}"
FAULTS = (
    "kill_renderer",
    "freeze_host",
    "thaw_host",
    "kill_host",
    "update_webview",
    "take_proxy_away",
    "answer_dialogs_at_once",
    "defect",
)
LINGER_S = 30.0
DIALOG_HOLD_S = 5.0
_MAX_ENDPOINTS = 8


@dataclass(eq=False)
class Endpoint:
    """A control socket name and its token."""

    name: str
    token: bytes
    connections: set[ControlConnection] = field(default_factory=set)


class HostApp:
    """The app as the system starts, stops and kills it; `process` is None while it does not run.

    Attributes:
        serving: Cleared while the process is frozen.
        protocol: The protocol number in its replies; tests change it to imitate an APK of another version.
        takes_proxy: Cleared to imitate a WebView without proxy override.
        dialog_hold_s: How long a dialog waits for a CDP client while a control client is connected.
    """

    def __init__(
        self,
        engine: Engine,
        device: AppDevice,
        *,
        clock: Callable[[], float] = time.monotonic,
        idle_timeout_s: float = 300.0,
        linger_s: float = LINGER_S,
    ) -> None:
        self.engine = engine
        self.device = device
        self.clock = clock
        self.process: HostProcess | None = None
        self.protocol = PROTOCOL_VERSION
        self.takes_proxy = True
        self.dialog_hold_s = DIALOG_HOLD_S
        self.serving = asyncio.Event()
        self.serving.set()
        self.hello_lock = asyncio.Lock()
        self._idle_timeout_s = idle_timeout_s
        self._linger_s = linger_s
        self._endpoints: dict[str, Endpoint] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._start_turn = asyncio.Lock()
        engine.on_host_death = self.die
        engine.browser.dialog_hold_s = lambda _tab: self.dialog_hold_s if self.process and self.process.clients else 0.0

    async def start(self, extras: Mapping[str, str]) -> None:
        """`am start-foreground-service … --es socket NAME --es token HEX`: adds an endpoint."""
        async with self._start_turn:
            await self._settle()
            name, token = extras.get("socket", ""), extras.get("token", "")
            if not is_socket_name(name) or not is_hex(token, 64):
                self.device.log(TAG, "started without a valid socket name and token", priority="E")
                return
            if self.process is None:
                self._start_process(extras.get("idle_timeout_s"))
            assert self.process is not None
            endpoint = Endpoint(name, bytes.fromhex(token))
            self._make_room()
            try:
                self.device.sockets.listen(name, lambda: self._accept(endpoint), pid=self.process.pid)
            except AddressInUse as error:
                self.device.log(TAG, str(error), priority="E", pid=self.process.pid)
                return
            self._endpoints[name] = endpoint
            self.device.log(TAG, f"listening on @{name}", pid=self.process.pid)

    async def stop(self) -> None:
        """`am force-stop`."""
        self.die("force-stop", is_crash=False)
        await self._settle()

    def die(self, reason: str, *, is_crash: bool = True) -> None:
        """Ends the process: connections break at once; the rest is cleaned up in the background."""
        process, self.process = self.process, None
        if process is None:
            return
        if is_crash:
            self.device.log("AndroidRuntime", f"FATAL EXCEPTION: main, pid {process.pid}: {reason}", priority="E")
        self.device.log("ActivityManager", f"Process {process.pid} has died: {reason}")
        connections = [item for endpoint in self._endpoints.values() for item in endpoint.connections]
        for name in (*self._endpoints, DEVTOOLS_SOCKET.format(pid=process.pid)):
            self.device.sockets.close(name)
        self._endpoints.clear()
        for connection in connections:
            connection.abort()
        self.engine.relay.cut()
        self.thaw()
        process.tabs.clear()
        self.engine.listen(lambda _event: None)
        self.device.process_ended(process.pid)
        self._spawn(self._clean_up_after(process), "cleaning up after the host app")

    def end_soon(self, process: HostProcess) -> None:
        """Ends the service after the reply to a shutdown request."""

        def end() -> None:
            if self.process is process:
                self.die("shutdown", is_crash=False)

        asyncio.get_running_loop().call_soon(end)

    async def check_deadlines(self) -> None:
        """Destroys idle tabs and stops an unused service."""
        process = self.process
        if process is None or not self.serving.is_set():
            return
        await process.destroy_idle()
        if process is self.process and process.is_unused(self._linger_s):
            self.die("the service stopped itself: it had no tabs and no clients", is_crash=False)

    def describe(self) -> dict[str, Any]:
        """The fields of the hello reply that do not depend on the client."""
        assert self.process is not None
        version = self.engine.identity.chromium_version
        return {
            "webview": {
                "package": WEBVIEW_PACKAGE,
                "version_name": version,
                "version_code": webview_version_code(version),
            },
            "api_level": self.device.api_level,
            "pid": self.process.pid,
            "devtools_socket": DEVTOOLS_SOCKET.format(pid=self.process.pid),
            "max_tabs": MAX_TABS,
            "max_capture_height_px": MAX_CAPTURE_HEIGHT_PX,
            "idle_timeout_s": max(1, round(self.process.idle_timeout_s)),
            "features": {
                "profiles": True,
                "proxy": "controller" if self.takes_proxy else "none",
                "capture": ["canvas", "surface"],
                "resize": True,
            },
        }

    async def fault(self, name: str, arguments: Mapping[str, Any]) -> None:
        """Injects one of FAULTS; UsageError for an unknown one."""
        match name:
            case "kill_renderer":
                self.kill_renderer(arguments.get("tab"))
            case "freeze_host":
                self.freeze()
            case "thaw_host":
                self.thaw()
            case "kill_host":
                self.die("killed")
                await self._settle()
            case "update_webview":
                version = arguments.get("version")
                await self.update_webview(version if isinstance(version, str) else None)
            case "take_proxy_away":
                self.takes_proxy = False
                if self.process is not None:
                    self.process.has_proxy = False
            case "answer_dialogs_at_once":
                self.dialog_hold_s = 0.0
            case "defect":
                self._add_defect(str(arguments.get("what")))
            case _:
                raise UsageError(f"unknown fault {name!r}; the host app has {', '.join(FAULTS)}.")

    def power_changed(self, *, is_awake: bool, is_idle_forced: bool) -> None:
        """Does to the process what some vendors do while the screen is off or the device dozes."""
        defects = self.engine.defects
        sleeps = (not is_awake and "sleeps_in_the_dark" in defects) or (is_idle_forced and "sleeps_in_doze" in defects)
        if sleeps:
            self.freeze()
        elif defects:
            self.thaw()

    def _add_defect(self, name: str) -> None:
        if name not in DEFECTS:
            raise UsageError(f"unknown defect {name!r}; there are {', '.join(sorted(DEFECTS))}.")
        self.engine.defects.add(name)

    def kill_renderer(self, tab: str | None = None) -> None:
        """Crashes the renderer of that tab (or the first one), which all tabs of its profile share."""
        tabs = self.process.tabs if self.process is not None else {}
        found = tabs.get(tab) if tab is not None else next(iter(tabs.values()), None)
        if found is None:
            raise UsageError("no tab is open, so no renderer can be killed")
        self.engine.browser.kill_renderer(found.page)

    def freeze(self) -> None:
        """Accepts connections without reading or replying, as the frozen process of a cached app does."""
        self.serving.clear()
        self.engine.relay.freeze()

    def thaw(self) -> None:
        self.serving.set()
        self.engine.relay.thaw()

    async def update_webview(self, version: str | None = None) -> None:
        """Replaces WebView by `version` (default: the next patch), which kills every process that has loaded it."""
        identity = self.engine.identity
        first, _, patch = identity.chromium_version.rpartition(".")
        self.engine.identity = replace(identity, chromium_version=version or f"{first}.{int(patch) + 1}")
        self.device.provide_webview(self.engine.identity.chromium_version)
        self.die(f"stop {WEBVIEW_PACKAGE} due to installPackageLI", is_crash=False)
        await self._settle()

    async def aclose(self) -> None:
        """Ends the app with the device."""
        await self.stop()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _start_process(self, idle_timeout_s: str | None) -> None:
        pid = self.device.process_started()
        timeout_s = self._idle_timeout_s
        if idle_timeout_s is not None and idle_timeout_s.isdecimal() and 1 <= int(idle_timeout_s) <= 3600:
            timeout_s = float(idle_timeout_s)
        folder = self.device.folder / "host_files" / str(pid)
        process = HostProcess(pid, self.engine, folder, clock=self.clock, idle_timeout_s=timeout_s)
        process.has_proxy = self.takes_proxy
        process.on_picker = lambda element: self.die(
            f"android.view.WindowManager$BadTokenException: Unable to add window -- token null is not valid ({element})"
        )
        self.engine.cleartext_permitted = self.device.cleartext_permitted
        self.engine.listen(process.take)
        self.device.sockets.listen(DEVTOOLS_SOCKET.format(pid=pid), self.engine.devtools, pid=pid)
        self.process = process
        self._spawn(self._watch(process), "host app deadlines")

    def _make_room(self) -> None:
        if len(self._endpoints) >= _MAX_ENDPOINTS:
            unused = [endpoint for endpoint in self._endpoints.values() if not endpoint.connections]
            for endpoint in unused[:1]:
                self.device.sockets.close(endpoint.name)
                del self._endpoints[endpoint.name]

    async def _accept(self, endpoint: Endpoint) -> StreamPair:
        process = self.process
        if process is None:
            raise ConnectionRefusedError(f"nothing listens on @{endpoint.name}")
        near, far = await stream_pair()
        connection = ControlConnection(self, process, endpoint, far)
        endpoint.connections.add(connection)
        self._spawn(self._serve(endpoint, connection), f"control connection on {endpoint.name}")
        return near

    @staticmethod
    async def _serve(endpoint: Endpoint, connection: ControlConnection) -> None:
        try:
            await connection.run()
        finally:
            endpoint.connections.discard(connection)

    async def _watch(self, process: HostProcess) -> None:
        while self.process is process:
            process.changed.clear()
            due = process.next_deadline(self._linger_s)
            wait_s = None if due is None else max(0.01, due - self.clock())
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(wait_s):
                    await process.changed.wait()
            await self.serving.wait()
            await self.check_deadlines()

    async def _clean_up_after(self, process: HostProcess) -> None:
        await process.end()
        await self.engine.kill_tabs()
        process.files.clear()

    async def _settle(self) -> None:
        """Waits until the last process has been cleaned up."""
        while burials := [task for task in self._tasks if task.get_name() == "cleaning up after the host app"]:
            await asyncio.gather(*burials, return_exceptions=True)
            for task in burials:
                self._tasks.discard(task)

    def _spawn(self, work: Any, name: str) -> asyncio.Task[None]:
        task: asyncio.Task[None] = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("%s failed", task.get_name(), exc_info=error)
