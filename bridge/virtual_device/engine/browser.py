"""The engine's own CDP connection to Chromium: opens tabs, keeps their emulation, and reports their events."""

from __future__ import annotations

import asyncio
import base64
import logging
import secrets
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any

from bridge.cdp import CdpConnection
from bridge.deadline import Deadline
from bridge.errors import BridgeError, DeadlineExceeded, ProtocolError, TransportError
from bridge.virtual_device.engine.defects import defects_script
from bridge.virtual_device.engine.emulation import HOST_WORLD, Identity, ViewSize, host_script
from bridge.virtual_device.engine.pipe import DevtoolsPipe
from bridge.virtual_device.engine.tabs import (
    ChooserOpened,
    DialogPickerOpened,
    DownloadRequested,
    EngineTab,
    Listener,
    PopupOpened,
    TabGone,
)

_log = logging.getLogger(__name__)

_CALL_TIMEOUT_S = 10.0
_RETRY_S = 0.005
_READY_S = 1.0
# WebStorage.deleteAllData keeps service workers and their caches (Chromium, aw_quota_manager_bridge.cc).
_WEB_STORAGE = "file_systems,indexeddb,local_storage,websql"
_OWN_TYPES = frozenset({"page", "iframe", "worker", "shared_worker", "service_worker"})
_FOREIGN_URLS = ("chrome://", "chrome-untrusted://", "devtools://", "chrome-extension://")


# How long an app waits for a CDP client to answer a dialog of the tab before it answers itself; None: for ever.
DialogHold = Callable[[EngineTab], float | None]


class Browser:
    """The tabs of one Chromium, through its browser-level CDP connection.

    Attributes:
        listener: Receives the tabs' events.
        secret: The text that marks a dialog as the report of an opened picker.
        defects: Names of `defects.DEFECTS`; those of pages apply to tabs that are opened later.
        dialog_hold_s: Decides how long the app holds a dialog; its own answer dismisses all but beforeunload.
    """

    def __init__(self, pipe: DevtoolsPipe, identity: Identity, *, quirks: bool) -> None:
        self.tabs: dict[str, EngineTab] = {}
        self.listener: Listener = lambda _event: None
        self.secret = secrets.token_hex(16)
        self.defects: set[str] = set()
        self.dialog_hold_s: DialogHold = lambda tab: None if tab.page_clients else 0.0
        self._pipe = pipe
        self._cdp = pipe.cdp
        self._identity = identity
        self._quirks = quirks
        self._keepers: set[str] = set()
        self._expected: dict[str, tuple[ViewSize, str | None]] = {}
        self._by_session: dict[str, EngineTab] = {}
        self._shown: dict[str, str] = {}  # window -> the target id of the tab on top
        self._contexts: set[str] = set()
        self._cdp.on_event(self._take)

    @property
    def cdp(self) -> CdpConnection:
        return self._cdp

    async def start(self) -> None:
        """Records the targets that Chromium opened by itself, and attaches to every new page before it runs."""
        found = await self._cdp.call("Target.getTargets", timeout_s=_CALL_TIMEOUT_S)
        self._keepers = {target["targetId"] for target in found["targetInfos"]}
        await self._watch_downloads(None)
        await self._cdp.call("Target.setDiscoverTargets", {"discover": True}, timeout_s=_CALL_TIMEOUT_S)
        await self._cdp.call(
            "Target.setAutoAttach",
            {"autoAttach": True, "waitForDebuggerOnStart": True, "flatten": True, "filter": [{"type": "page"}]},
            timeout_s=_CALL_TIMEOUT_S,
        )

    def is_foreign(self, target: Mapping[str, Any]) -> bool:
        """True if a target (TargetInfo or an entry of /json/list) belongs to the desktop browser, not to a WebView."""
        identity = target.get("targetId") or target.get("id")
        return (
            identity in self._keepers
            or target.get("type") not in _OWN_TYPES
            or str(target.get("url", "")).startswith(_FOREIGN_URLS)
        )

    async def new_context(self, *, proxy_server: str | None = None, proxy_bypass: str = "<-loopback>") -> str:
        """Creates a browser context with its own storage and proxy."""
        params = {"proxyServer": proxy_server, "proxyBypassList": proxy_bypass} if proxy_server else {}
        made = await self._cdp.call("Target.createBrowserContext", params, timeout_s=_CALL_TIMEOUT_S)
        context_id = str(made["browserContextId"])
        self._contexts.add(context_id)
        await self._watch_downloads(context_id)
        return context_id

    async def open(self, url: str, view: ViewSize, context_id: str | None, *, timeout_s: float) -> EngineTab:
        """Opens a tab in its own window: in a shared one only the tab on top draws and takes input."""
        deadline = Deadline.after(timeout_s)
        params: dict[str, Any] = {"url": url, "newWindow": True}
        if context_id is not None:
            params["browserContextId"] = context_id
        self._expected[url] = (view, context_id)
        try:
            made = await self._cdp.call("Target.createTarget", params, timeout_s=deadline.remaining_s)
            tab = self.tabs.get(str(made["targetId"]))
            if tab is None:
                raise TransportError("Chromium opened a tab and closed it at once.")
            assert tab.ready is not None
            # A WebView is created even if the renderer that it shares hangs.
            with suppress(DeadlineExceeded):
                await tab.ready.result(timeout_s=min(_READY_S, deadline.remaining_s))
            return tab
        finally:
            self._expected.pop(url, None)

    async def close(self, tab: EngineTab, *, timeout_s: float = 2.0) -> None:
        """Destroys the tab. If the page hangs, its renderer is killed after the timeout."""
        if self._forget(tab) is None:
            return
        with self._cdp.events("Target.targetDestroyed") as destroyed:
            try:
                await self._cdp.call("Target.closeTarget", {"targetId": tab.target_id}, timeout_s=timeout_s)
                async with Deadline.after(timeout_s).bound("closing the tab"):
                    async for event in destroyed:
                        if event.params.get("targetId") == tab.target_id:
                            return
            except ProtocolError:
                return  # already gone
            except DeadlineExceeded:
                await self._crash(tab)

    async def resize(self, tab: EngineTab, view: ViewSize) -> None:
        tab.view = view
        await self.call(tab, "Emulation.setDeviceMetricsOverride", view.metrics())

    def reapply(self, tab: EngineTab) -> None:
        """Sets the emulation again: the end of a client's session also resets ours in Chromium."""
        for method, params in self._emulation(tab):
            self._send(tab, method, params)

    def cancel_picker(self, tab: EngineTab) -> None:
        """Ends the dialog that reports an opened picker; the page goes on as if nothing had been chosen."""
        self._send(tab, "Page.handleJavaScriptDialog", {"accept": False})

    async def capture(self, tab: EngineTab, *, full_page: bool, max_height_px: int) -> tuple[bytes, int, int, int]:
        """PNG, its width and height, and the page's height in physical pixels, as the host app draws the page."""
        self.show(tab)
        view = tab.view
        metrics = await self.call(tab, "Page.getLayoutMetrics")
        # A page without a viewport meta tag is laid out 980 px wide and scaled down (overview mode).
        # Before Chromium 93 there are only the members without `css`, in the same unit when nothing is emulated.
        layout = metrics.get("cssLayoutViewport", metrics["layoutViewport"])
        content = metrics.get("cssContentSize", metrics["contentSize"])
        layout_css = float(layout["clientWidth"]) or view.width_css
        fit = view.width_css / layout_css
        page_height_px = max(view.height_px, round(float(content["height"]) * fit * view.scale))
        height_px = min(page_height_px, max_height_px) if full_page else min(view.height_px, max_height_px)
        params: dict[str, Any] = {"format": "png"}
        if full_page:
            height_css = height_px / view.scale / fit
            clip = {"x": 0, "y": 0, "width": layout_css, "height": height_css, "scale": fit}
            params |= {"captureBeyondViewport": True, "clip": clip}
        shot = await self.call(tab, "Page.captureScreenshot", params)
        return base64.b64decode(shot["data"]), view.width_px, height_px, page_height_px

    async def reset(self, tab: EngineTab, url: str) -> None:
        """Navigates to `url` (about:blank#…) and clears history, cache, cookies and storage."""
        tab.is_resetting = True
        try:
            await self._reset(tab, url)
        finally:
            tab.is_resetting = False

    async def _reset(self, tab: EngineTab, url: str) -> None:
        self._send(tab, "Page.stopLoading", {})
        with (
            self._cdp.events("Page.frameNavigated", session_id=tab.session_id) as navigated,
            self._cdp.events("Target.targetInfoChanged") as changed,
        ):
            reply = await self.call(tab, "Page.navigate", {"url": url})
            if "loaderId" not in reply:  # a fragment navigation, which keeps the document
                while tab.url != url:
                    await changed.next(timeout_s=_CALL_TIMEOUT_S)
                await self.call(tab, "Page.reload")
            while "parentId" in (await navigated.next(timeout_s=_CALL_TIMEOUT_S)).params["frame"]:
                pass
        sent = [
            self._cdp.send(method, params, session_id=tab.session_id)
            for method, params in (
                ("Network.clearBrowserCache", {}),
                ("Network.clearBrowserCookies", {}),
                *(
                    ("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": _WEB_STORAGE})
                    for origin in sorted(self._origins(tab.context_id))
                ),
            )
        ]
        await self._forget_history(tab)
        for call in sent:
            await call.result(timeout_s=_CALL_TIMEOUT_S)
        for other in self.tabs.values():
            if other.context_id == tab.context_id:
                other.origins.clear()

    async def _forget_history(self, tab: EngineTab) -> None:
        deadline = Deadline.after(_CALL_TIMEOUT_S)
        while True:
            try:
                await self.call(tab, "Page.resetNavigationHistory")
            except ProtocolError as error:
                # The renderer reports a navigation before the browser process has committed the new document.
                if "active page" not in error.reason or deadline.passed:
                    raise
                await asyncio.sleep(_RETRY_S)
            else:
                return

    async def clear_storage(self) -> None:
        """Clears the cookies of the default context."""
        await self._cdp.call("Storage.clearCookies", timeout_s=_CALL_TIMEOUT_S)

    async def choose_files(self, tab: EngineTab, backend_node_id: int, paths: Iterable[str]) -> None:
        await self.call(tab, "DOM.setFileInputFiles", {"files": list(paths), "backendNodeId": backend_node_id})

    async def accepts(self, tab: EngineTab, backend_node_id: int) -> list[str]:
        """The types in the file input's `accept` attribute."""
        node = await self.call(tab, "DOM.describeNode", {"backendNodeId": backend_node_id})
        flat = node["node"].get("attributes", [])
        found = dict(zip(flat[::2], flat[1::2], strict=False)).get("accept", "")
        return [kind.strip() for kind in found.split(",") if kind.strip()]

    async def close_all(self) -> None:
        """Ends all tabs and contexts, as the death of the app's process does."""
        tabs = list(self.tabs.values())
        for tab in tabs:
            self._forget(tab)
        await asyncio.gather(
            *(self._quietly("Target.closeTarget", {"targetId": tab.target_id}) for tab in tabs),
        )
        contexts, self._contexts = self._contexts, set()
        await asyncio.gather(
            *(self._quietly("Target.disposeBrowserContext", {"browserContextId": context}) for context in contexts)
        )

    def kill_renderer(self, tab: EngineTab) -> None:
        """Crashes the renderer of the tab, which all tabs of its profile share."""
        self._send(tab, "Page.crash", {})

    def show(self, tab: EngineTab) -> None:
        """Brings a tab to the top of a shared desktop window: on a device each tab has its own display."""
        if self._shown.get(tab.window, tab.target_id) != tab.target_id:
            self._shown[tab.window] = tab.target_id
            self._cdp.send("Target.activateTarget", {"targetId": tab.target_id}).abandon()

    async def call(self, tab: EngineTab, method: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
        return await self._cdp.call(method, params, session_id=tab.session_id, timeout_s=_CALL_TIMEOUT_S)

    def _send(self, tab: EngineTab, method: str, params: Mapping[str, Any]) -> None:
        if not self._cdp.closed.is_set():
            self._cdp.send(method, params, session_id=tab.session_id).abandon()

    async def _quietly(self, method: str, params: Mapping[str, Any]) -> None:
        try:
            await self._cdp.call(method, params, timeout_s=2.0)
        except BridgeError as error:
            _log.debug("%s: %s", method, error)

    async def _crash(self, tab: EngineTab) -> None:
        if not self._pipe.has_dialog(tab.session_id):  # see DevtoolsPipe.detach
            await self._quietly("Target.detachFromTarget", {"sessionId": tab.session_id})
        attached = await self._cdp.call(
            "Target.attachToTarget", {"targetId": tab.target_id, "flatten": True}, timeout_s=_CALL_TIMEOUT_S
        )
        self._cdp.send("Page.crash", session_id=str(attached["sessionId"])).abandon()
        await self._quietly("Target.closeTarget", {"targetId": tab.target_id})

    async def _watch_downloads(self, context_id: str | None) -> None:
        params: dict[str, Any] = {"behavior": "deny", "eventsEnabled": True}
        if context_id is not None:
            params["browserContextId"] = context_id
        await self._cdp.call("Browser.setDownloadBehavior", params, timeout_s=_CALL_TIMEOUT_S)

    def _origins(self, context_id: str | None) -> set[str]:
        return {origin for tab in self.tabs.values() if tab.context_id == context_id for origin in tab.origins}

    def _emulation(self, tab: EngineTab) -> list[tuple[str, dict[str, Any]]]:
        return [
            ("Emulation.setDeviceMetricsOverride", tab.view.metrics()),
            ("Emulation.setTouchEmulationEnabled", {"enabled": True, "maxTouchPoints": 5}),
            ("Emulation.setUserAgentOverride", self._identity.user_agent_override()),
        ]

    def _take(self, method: str, params: dict[str, Any], session_id: str | None) -> None:
        if session_id is not None and (tab := self._by_session.get(session_id)) is not None:
            self._take_page(tab, method, params)
        elif session_id is not None:
            return  # of a client's session
        elif method == "Target.attachedToTarget":
            self._attached(params)
        elif method == "Target.targetInfoChanged":
            changed = params["targetInfo"]
            if (tab := self.tabs.get(changed["targetId"])) is not None:
                tab.url, tab.title = changed["url"], changed["title"]
        elif method == "Target.targetCrashed":
            self._gone(params["targetId"], "crashed" if params.get("status") == "crashed" else "killed")
        elif method == "Target.targetDestroyed":
            self._gone(params["targetId"], "closed")

    def _take_page(self, tab: EngineTab, method: str, params: dict[str, Any]) -> None:
        if method == "Page.frameNavigated":
            self._navigated(tab, params["frame"])
        elif method == "Page.javascriptDialogOpening" and self.secret in params["message"]:
            self.listener(DialogPickerOpened(tab, str(params["message"]).rpartition(" ")[2]))
        elif method == "Page.javascriptDialogOpening":
            self._dialog_opened(tab, is_beforeunload=params.get("type") == "beforeunload")
        elif method == "Page.javascriptDialogClosed":
            tab.dialogs_closed += 1
        elif method == "Page.downloadWillBegin":
            self.listener(DownloadRequested(tab, str(params["url"]), str(params.get("suggestedFilename", ""))))
        elif method == "Page.fileChooserOpened" and "backendNodeId" in params:
            multiple = params.get("mode") == "selectMultiple"
            self.listener(ChooserOpened(tab, int(params["backendNodeId"]), multiple))

    def _dialog_opened(self, tab: EngineTab, *, is_beforeunload: bool) -> None:
        """Answers as the app: Chromium shows a dialog to the app and to CDP clients, and the first answer wins."""
        closed_before = tab.dialogs_closed

        def answer() -> None:
            if tab.dialogs_closed == closed_before:
                self._send(tab, "Page.handleJavaScriptDialog", {"accept": is_beforeunload})

        hold_s = 0.0 if tab.is_resetting else self.dialog_hold_s(tab)
        if hold_s:
            asyncio.get_running_loop().call_later(hold_s, answer)
        elif hold_s is not None:
            answer()

    @staticmethod
    def _navigated(tab: EngineTab, frame: Mapping[str, Any]) -> None:
        origin = str(frame.get("securityOrigin", ""))
        if origin.startswith(("http://", "https://")):
            tab.origins.add(origin)
        if "parentId" not in frame:
            tab.url = str(frame.get("url", "")) + str(frame.get("urlFragment", ""))

    def _attached(self, params: Mapping[str, Any]) -> None:
        target, session_id = params["targetInfo"], str(params["sessionId"])
        target_id, url = str(target["targetId"]), str(target["url"])
        opener = self.tabs.get(str(target.get("openerId")))
        # A headless shell reports the URL later. Targets are created in the order of their commands.
        created_for = next(iter(self._expected), "") if not url and opener is None else url
        expected = self._expected.pop(created_for, None)
        if target["type"] == "browser":
            return
        if self.is_foreign(target) or target_id in self.tabs or (expected is None and opener is None):
            self._cdp.send("Runtime.runIfWaitingForDebugger", session_id=session_id).abandon()
            return
        if expected is not None:
            view, context_id = expected
            url = created_for
        else:
            assert opener is not None
            view, context_id = opener.view, opener.context_id
        tab = EngineTab(target_id, session_id, view, context_id, opener.target_id if opener else None, url=url)
        tab.window = target_id if opener is None else opener.window
        self.tabs[target_id] = self._by_session[session_id] = tab
        self._shown[tab.window] = target_id
        self._set_up(tab)
        if opener is not None and expected is None:
            self.listener(PopupOpened(tab, opener, url))

    def _set_up(self, tab: EngineTab) -> None:
        """Sends all commands at once; the last one lets the page run."""
        commands = [
            *self._emulation(tab),
            ("Page.enable", {}),
            ("Page.setInterceptFileChooserDialog", {"enabled": True}),
        ]
        if self._quirks:
            script = {"source": host_script(self.secret), "worldName": HOST_WORLD, "runImmediately": True}
            commands.append(("Page.addScriptToEvaluateOnNewDocument", script))
        if source := defects_script(self.defects, self.secret):
            commands.append(("Page.addScriptToEvaluateOnNewDocument", {"source": source, "runImmediately": True}))
        for method, params in commands:
            self._send(tab, method, params)
        tab.ready = self._cdp.send("Runtime.runIfWaitingForDebugger", session_id=tab.session_id)

    def _gone(self, target_id: str, how: str) -> None:
        tab = self.tabs.get(target_id)
        if tab is None:
            return
        self._forget(tab)
        if how != "closed":
            self._cdp.send("Target.closeTarget", {"targetId": target_id}).abandon()
        self.listener(TabGone(tab, how))

    def _forget(self, tab: EngineTab) -> EngineTab | None:
        self._by_session.pop(tab.session_id, None)
        if self._shown.get(tab.window) == tab.target_id:
            self._shown.pop(tab.window)
        return self.tabs.pop(tab.target_id, None)
