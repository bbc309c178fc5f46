"""Waits for a page of another app, or finds out why there is none."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection

from bridge.adb import AdbDevice
from bridge.cdp.discovery import read_package
from bridge.deadline import Deadline
from bridge.errors import AppUnavailable, BridgeError, DeadlineExceeded, DeviceError
from bridge.session.attached.app import App, AppPage, PageSelector
from bridge.session.attached.app_state import explain_missing_socket, opening
from bridge.session.attached.devtools_sockets import CHROME_SOCKET, Endpoints, pages_of, read_endpoints

_POLL_S = 0.2
_PROBE_S = 2.0
_EXPLAIN_S = 1.4
# How long an app that already ran may take to open a devtools socket, and one that was started to reach the front.
_NO_SOCKET_S = 1.0
_TO_FRONT_S = 5.0
# What waiting does not change.
_LASTING = ("not_installed", "not_running", "frozen")


class PageSearch:
    """Polls the app's devtools sockets, and connects only to those whose process can accept.

    Args:
        attached: The ids of the targets that are attached already.
    """

    def __init__(
        self, device: AdbDevice, app: App, wanted: PageSelector, attached: Collection[str], deadline: Deadline
    ) -> None:
        self._device = device
        self._app = app
        self._wanted = wanted
        self._attached = attached
        self._deadline = deadline
        self._is_starting = app.activity is not None
        self._since = time.monotonic()
        self._seen = "no devtools socket of the app"

    async def run(self, *, relaunch: bool) -> AppPage:
        """The first page that matches; `relaunch` starts the app once if it has no socket.

        Raises:
            AppUnavailable: The app cannot be attached to as it is. An app that the session starts gets until the
                deadline to open a socket; another one a second.
            DeadlineExceeded: None of the app's pages matches.
        """
        while True:
            try:
                endpoints = await read_endpoints(self._device, timeout_s=self._deadline.remaining_s)
                sockets = await self._sockets(endpoints)
            except DeadlineExceeded as error:
                raise self._not_found() from error
            if not sockets and relaunch and self._app.activity is not None:
                await self._app.launch(self._device, timeout_s=self._deadline.remaining_s)
                relaunch, self._since = False, time.monotonic()
            elif not sockets:
                await self._explain(endpoints)
            elif (found := await self._probe(sockets)) is not None:
                return found
            if self._is_last:
                raise self._not_found()
            await asyncio.sleep(_POLL_S)

    async def _sockets(self, endpoints: Endpoints) -> list[tuple[str, int | None]]:
        """The app's devtools sockets, each with its process."""
        if not self._app.is_chrome:
            return [(found.name, found.pid) for found in endpoints.sockets if found.package == self._app.package]
        pids = endpoints.pids_of(self._app.package)
        if not pids or not any(found.name == CHROME_SOCKET for found in endpoints.sockets):
            return []
        timeout_s = self._probe_s
        async with opening(self._device, CHROME_SOCKET, pids[0], timeout_s=timeout_s) as sock:
            package = await read_package(sock, timeout_s=timeout_s)
        return [(CHROME_SOCKET, pids[0])] if package in ("", self._app.package) else []

    async def _probe(self, sockets: list[tuple[str, int | None]]) -> AppPage | None:
        """The first page that matches, or None; AppUnavailable if no process of the app accepts."""
        refusals: list[AppUnavailable] = []
        for name, pid in sockets:
            try:
                pages = await pages_of(self._device, name, pid, timeout_s=self._probe_s)
            except AppUnavailable as error:
                refusals.append(error)
                continue
            except DeviceError:
                continue
            except BridgeError as error:
                if not self._deadline.passed:  # else the probe was cut short, and the result before it says more
                    self._seen = f"@{name}: {error.message}"
                continue
            self._seen = ", ".join(f"{page.title[:40]!r} at {page.url[:100]}" for page in pages) or "no page"
            for page in pages:
                if page.target_id not in self._attached and self._wanted.matches(page):
                    return AppPage(name, pid, page)
        # An app that was just started is on its way to the front, where Android thaws it.
        patience_s = _TO_FRONT_S if self._is_starting else 0.0
        if len(refusals) == len(sockets) and (self._waited_s >= patience_s or self._is_last):
            raise refusals[0]
        return None

    async def _explain(self, endpoints: Endpoints) -> None:
        """Raise AppUnavailable once waiting for a socket is in vain."""
        if self._is_starting and not self._is_last:
            return
        pids = endpoints.pids_of(self._app.package)
        unavailable = await explain_missing_socket(self._device, self._app.package, pids, timeout_s=_EXPLAIN_S)
        if unavailable.cause in _LASTING or self._waited_s > _NO_SOCKET_S or self._is_last:
            raise unavailable

    @property
    def _waited_s(self) -> float:
        return time.monotonic() - self._since

    @property
    def _probe_s(self) -> float:
        return min(_PROBE_S, self._deadline.remaining_s)

    @property
    def _is_last(self) -> bool:
        return self._deadline.remaining_s <= _POLL_S

    def _not_found(self) -> DeadlineExceeded:
        return self._deadline.exceeded(f"a page of {self._app.package} with {self._wanted}", self._seen)
