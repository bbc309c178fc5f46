"""Made by tools/sync_stubs.py out of the asynchronous classes: do not edit."""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from typing import Any, Literal

from bridge.adb import AdbDevice
from bridge.errors import BridgeError, NavigationFailed
from bridge.host.client import HostClient, HostHello
from bridge.page.attachment import Attachment
from bridge.page.console import ConsoleLog
from bridge.page.dialogs import DialogAnswer
from bridge.page.downloads import DownloadResult
from bridge.page.emulation import PermissionSetting
from bridge.page.full_page import Progress, Strategy
from bridge.page.gestures import Direction
from bridge.page.journal import Journal
from bridge.page.locators import Locator, Text
from bridge.page.navigation import WaitUntil
from bridge.page.network import NetworkLog
from bridge.page.picture import ImageFormat
from bridge.page.popups import ExpectedPopup, OpenedPages
from bridge.page.queries import QueryKind, QueryResult
from bridge.page.reading import ReadResult
from bridge.page.record import Recorder, Recording, RecordingFormat
from bridge.page.results import ActionResult, NavigationResult, PageState, Screenshot, WaitResult
from bridge.page.routes import RouteHandler
from bridge.policy.grant import Grant, TestServerGrant
from bridge.policy.pinning import Ask, PinnedEgress
from bridge.policy.rules import BrowserPolicy
from bridge.reading.extract import Mode
from bridge.reading.markdown import LinkStyle
from bridge.session.attached import App
from bridge.session.capabilities import Capabilities
from bridge.session.devices import Notice
from bridge.session.state import StateSummary
from bridge.session.tab import SessionTab, View
from bridge.snapshot import SnapshotResult

class Session:
    @classmethod
    def attach(
        cls,
        package: str,
        *,
        activity: str | None = ...,
        data: str | None = ...,
        url: str | None = ...,
        title: str | None = ...,
        device: str = ...,
        adb_server: str | None = ...,
        policy: BrowserPolicy | None = ...,
        grants: Sequence[Grant] = ...,
        dialogs: DialogAnswer = ...,
        on_notice: Notice | None = ...,
        timeout_s: float = ...,
    ) -> AbstractContextManager[AttachedSession]: ...
    @property
    def capabilities(self) -> Capabilities | None: ...
    def check_url(self, url: str) -> str: ...
    def close_tab(self, page: Page) -> None: ...
    @property
    def device(self) -> AdbDevice: ...
    def drop_tab(self, tab_id: str) -> None: ...
    @property
    def egress(self) -> PinnedEgress: ...
    def explain(self, error: NavigationFailed) -> BridgeError: ...
    def forward(self, *, timeout_s: float = ...) -> AbstractAsyncContextManager[int]: ...
    @property
    def host(self) -> HostHello: ...
    @property
    def host_client(self) -> HostClient: ...
    def host_tab_of(self, page: Page) -> str | None: ...
    def isolated(self, *, timeout_s: float = ...) -> AbstractAsyncContextManager[Page]: ...
    def make_tab(self, *, profile: str | None) -> tuple[SessionTab, Page]: ...
    def new_tab(self, url: str | None = ..., *, profile: str | None = ...) -> Page: ...
    @classmethod
    def open(
        cls,
        device: str = ...,
        *,
        adb_server: str | None = ...,
        policy: BrowserPolicy | None = ...,
        grants: Sequence[TestServerGrant] = ...,
        ask: Ask | None = ...,
        egress: PinnedEgress | None = ...,
        width_px: int = ...,
        height_px: int = ...,
        density_dpi: int = ...,
        reconnect: bool = ...,
        dialogs: DialogAnswer = ...,
        uploads_root: str | os.PathLike[str] | None = ...,
        downloads_root: str | os.PathLike[str] | None = ...,
        on_notice: Notice | None = ...,
        timeout_s: float = ...,
    ) -> AbstractContextManager[Session]: ...
    def open_tabs(self) -> tuple[SessionTab, ...]: ...
    @property
    def pages(self) -> tuple[Page, ...]: ...
    def popups_of(self, tab_id: str) -> AbstractContextManager[OpenedPages]: ...
    def profile_of(self, page: Page) -> str | None: ...
    def reconnect(self, *, timeout_s: float = ...) -> tuple[str, ...]: ...
    def state_load(
        self, path: str | os.PathLike[str], *, page: Page | None = ..., timeout_s: float = ...
    ) -> StateSummary: ...
    def state_save(self, path: str | os.PathLike[str], *, timeout_s: float = ...) -> StateSummary: ...
    @property
    def tabs(self) -> Mapping[str, Page]: ...
    is_virtual: bool
    journal: Journal
    notice: Notice
    restores_tabs: bool
    serial: str
    view: View

class Page:
    def accept_certificate(self, host: str, *, timeout_s: float = ...) -> None: ...
    def add_init_script(self, source: str, *, timeout_s: float = ...) -> int: ...
    def attached(self) -> Attachment: ...
    def back(self, *, wait_until: WaitUntil = ..., timeout_s: float = ...) -> NavigationResult: ...
    def check(self, ref: str, *, timeout_s: float = ..., settle_s: float = ...) -> ActionResult: ...
    def clear(self, ref: str, *, timeout_s: float = ..., settle_s: float = ...) -> ActionResult: ...
    def click(
        self, ref: str, *, timeout_s: float = ..., settle_s: float = ..., input: Literal["touch", "script"] = ...
    ) -> ActionResult: ...
    def console(
        self, *, level: str | None = ..., text: str | None = ..., after: int = ..., limit: int = ...
    ) -> ConsoleLog: ...
    def double_click(self, ref: str, *, timeout_s: float = ..., settle_s: float = ...) -> ActionResult: ...
    def download(
        self,
        dest_path: str | os.PathLike[str],
        *,
        url: str | None = ...,
        ref: str | None = ...,
        overwrite: bool = ...,
        max_bytes: int = ...,
        timeout_s: float = ...,
    ) -> DownloadResult: ...
    def drag(
        self,
        ref: str,
        to: str | None = ...,
        *,
        by: tuple[float, float] | None = ...,
        hold_s: float = ...,
        timeout_s: float = ...,
        settle_s: float = ...,
    ) -> ActionResult: ...
    def expect_popup(self, *, timeout_s: float = ...) -> AbstractAsyncContextManager[ExpectedPopup]: ...
    def fill(self, ref: str, value: str, *, timeout_s: float = ..., settle_s: float = ...) -> ActionResult: ...
    def focus(self, ref: str, *, timeout_s: float = ..., settle_s: float = ...) -> ActionResult: ...
    def forward(self, *, wait_until: WaitUntil = ..., timeout_s: float = ...) -> NavigationResult: ...
    def get_by_label(self, text: Text, *, exact: bool = ...) -> Locator: ...
    def get_by_placeholder(self, text: Text, *, exact: bool = ...) -> Locator: ...
    def get_by_role(self, role: str, *, name: Text | None = ..., exact: bool = ...) -> Locator: ...
    def get_by_test_id(self, test_id: str) -> Locator: ...
    def get_by_text(self, text: Text, *, exact: bool = ...) -> Locator: ...
    def get_state(self, *, timeout_s: float = ...) -> PageState: ...
    def goto(self, url: str, *, wait_until: WaitUntil = ..., timeout_s: float = ...) -> NavigationResult: ...
    def har(self, *, redact: bool = ...) -> dict[str, Any]: ...
    def hover(self, ref: str, *, timeout_s: float = ..., settle_s: float = ...) -> ActionResult: ...
    @property
    def last_snapshot(self) -> SnapshotResult | None: ...
    def locator(self, css: str) -> Locator: ...
    def long_press(self, ref: str, *, timeout_s: float = ..., settle_s: float = ...) -> ActionResult: ...
    def network(
        self,
        *,
        url: str | None = ...,
        method: str | None = ...,
        status: int | str | None = ...,
        resource_type: str | None = ...,
        failed: bool | None = ...,
        after: int = ...,
        limit: int = ...,
    ) -> NetworkLog: ...
    def on_dialog(self, answer: DialogAnswer) -> None: ...
    def pinch(
        self, scale: float, *, ref: str | None = ..., timeout_s: float = ..., settle_s: float = ...
    ) -> ActionResult: ...
    def press(
        self, key: str, *, ref: str | None = ..., timeout_s: float = ..., settle_s: float = ...
    ) -> ActionResult: ...
    def query(self, ref: str, kind: QueryKind, limit: int = ..., *, timeout_s: float = ...) -> QueryResult: ...
    def read(
        self,
        *,
        mode: Mode = ...,
        max_length: int = ...,
        selector: str | None = ...,
        outline: bool = ...,
        section: str | None = ...,
        links: LinkStyle = ...,
        comments: bool = ...,
        timeout_s: float = ...,
    ) -> ReadResult: ...
    def record(
        self,
        duration_s: float = ...,
        *,
        format: RecordingFormat = ...,
        max_frames: int = ...,
        max_bytes: int = ...,
        max_width_px: int = ...,
        max_fps: float = ...,
        timeout_s: float = ...,
        on_frame: Callable[[int, int], None] | None = ...,
    ) -> Recording: ...
    def recording(
        self, *, timeout_s: float = ..., on_frame: Callable[[int, int], None] | None = ..., **bounds: Any
    ) -> AbstractContextManager[Recorder]: ...
    def reload(
        self, *, ignore_cache: bool = ..., wait_until: WaitUntil = ..., timeout_s: float = ...
    ) -> NavigationResult: ...
    def remove_init_script(self, number: int, *, timeout_s: float = ...) -> None: ...
    def route(self, pattern: str | re.Pattern[str], handler: RouteHandler, *, timeout_s: float = ...) -> None: ...
    def screenshot(
        self,
        *,
        full_page: bool = ...,
        ref: str | None = ...,
        format: ImageFormat = ...,
        quality: int | None = ...,
        scale: Literal["css", "device"] = ...,
        annotate: bool = ...,
        max_height_px: int = ...,
        strategy: Strategy | Literal["auto"] = ...,
        timeout_s: float = ...,
        on_progress: Progress | None = ...,
    ) -> Screenshot: ...
    def scroll(
        self,
        direction: Direction,
        amount: float = ...,
        *,
        ref: str | None = ...,
        timeout_s: float = ...,
        settle_s: float = ...,
    ) -> ActionResult: ...
    def scroll_into_view(self, ref: str, *, timeout_s: float = ..., settle_s: float = ...) -> ActionResult: ...
    def select(
        self, ref: str, *values: str | Sequence[str], timeout_s: float = ..., settle_s: float = ...
    ) -> ActionResult: ...
    def set_extra_headers(self, headers: Mapping[str, str], *, timeout_s: float = ...) -> None: ...
    def set_geolocation(
        self,
        latitude: float | None = ...,
        longitude: float | None = ...,
        *,
        accuracy_m: float = ...,
        timeout_s: float = ...,
    ) -> None: ...
    def set_http_credentials(
        self, origin: str, username: str | None, password: str = ..., *, timeout_s: float = ...
    ) -> None: ...
    def set_locale(self, tag: str | None, *, timeout_s: float = ...) -> None: ...
    def set_media(
        self,
        *,
        color_scheme: Literal["light", "dark"] | None = ...,
        reduced_motion: bool | None = ...,
        timeout_s: float = ...,
    ) -> None: ...
    def set_offline(self, offline: bool = ..., *, timeout_s: float = ...) -> None: ...
    def set_permissions(
        self, wanted: Mapping[str, PermissionSetting], *, origin: str, timeout_s: float = ...
    ) -> None: ...
    def set_time_zone(self, name: str | None, *, timeout_s: float = ...) -> None: ...
    def snapshot(
        self,
        *,
        interactive_only: bool = ...,
        cursor_interactive: bool = ...,
        max_chars: int = ...,
        max_nodes: int = ...,
        max_depth: int = ...,
        scope: str | None = ...,
        more: str | None = ...,
        find: str | None = ...,
        boxes: bool = ...,
        delta: bool = ...,
        renumber: bool = ...,
        timeout_s: float = ...,
    ) -> SnapshotResult: ...
    def stop(self, *, timeout_s: float = ...) -> None: ...
    def swipe(
        self,
        direction: Direction,
        *,
        ref: str | None = ...,
        distance_px: float = ...,
        timeout_s: float = ...,
        settle_s: float = ...,
    ) -> ActionResult: ...
    @property
    def tab_id(self) -> str: ...
    @property
    def title(self) -> str: ...
    def type(
        self, text: str, *, ref: str | None = ..., timeout_s: float = ..., settle_s: float = ...
    ) -> ActionResult: ...
    def uncheck(self, ref: str, *, timeout_s: float = ..., settle_s: float = ...) -> ActionResult: ...
    def unroute(self, pattern: str | re.Pattern[str] | None = ...) -> int: ...
    def upload(
        self,
        ref: str,
        paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
        *,
        timeout_s: float = ...,
        settle_s: float = ...,
    ) -> ActionResult: ...
    @property
    def url(self) -> str: ...
    def wait_for(
        self,
        *,
        selector: str | None = ...,
        role: str | None = ...,
        name: str | None = ...,
        text: str | None = ...,
        url: str | None = ...,
        gone: str | None = ...,
        function: str | None = ...,
        timeout_s: float = ...,
    ) -> WaitResult: ...

class AttachedSession:
    def close(self) -> None: ...
    def detach(self, page: Page) -> None: ...
    def new_tab(self, url: str | None = ...) -> Page: ...
    def page(self, *, url: str | None = ..., title: str | None = ..., timeout_s: float = ...) -> Page: ...
    @property
    def pages(self) -> tuple[Page, ...]: ...
    app: App
    device: AdbDevice
    egress: PinnedEgress
    journal: Journal
    notice: Callable[[str], None]
    serial: str
