"""Composes an engine: Chromium, its network, the private CDP connection and the relay."""

from __future__ import annotations

import itertools
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bridge.virtual_device.engine.browser import Browser
from bridge.virtual_device.engine.chromium import (
    RunningChromium,
    command_line,
    find_chromium,
    program_version,
    run_chromium,
)
from bridge.virtual_device.engine.devtools_server.relay import Relay
from bridge.virtual_device.engine.emulation import Identity, ViewSize
from bridge.virtual_device.engine.network import Dial, StreamPair, loopback_proxy, refusing_proxy, way_into_device
from bridge.virtual_device.engine.pipe import DevtoolsPipe, open_pipe
from bridge.virtual_device.engine.tabs import EngineTab, Listener

# How many times in a row the n-th session loses the contexts of its Runtime.enable, cyclically.
LOST_RUNTIME_ENABLES = (1, 0, 2, 0, 0, 1, 0)


@dataclass(frozen=True)
class EngineOptions:
    """Options of an engine.

    Attributes:
        folder: The device's private folder, where the profile is created.
        isolates_sites: Gives frames of other sites their own renderer, as Chrome does and WebView does not.
    """

    folder: Path
    quirks: bool = True
    isolates_sites: bool = False
    package: str = "dev.webviewbridge.host"
    android_release: str = "14"
    chromium: Path | None = None
    lost_runtime_enables: tuple[int, ...] = LOST_RUNTIME_ENABLES
    start_timeout_s: float = 30.0


@asynccontextmanager
async def start_engine(options: EngineOptions, dial_loopback: Dial) -> AsyncIterator[Engine]:
    """Runs an engine until the block ends. `dial_loopback(port)` connects to the device's loopback."""
    program = options.chromium or find_chromium(os.environ)
    profile = options.folder / "chromium"
    async with AsyncExitStack() as stack:
        socks_port = await stack.enter_async_context(loopback_proxy(dial_loopback))
        # Applies to workers, whose user agent cannot be emulated.
        user_agent = Identity(await program_version(program), options.android_release).user_agent
        extra = ("--site-per-process",) if options.isolates_sites else ()
        command = command_line(program, profile, socks_port=socks_port, user_agent=user_agent, extra=extra)
        running = await stack.enter_async_context(run_chromium(command, profile, timeout_s=options.start_timeout_s))
        pipe = await stack.enter_async_context(open_pipe(running.sock))
        identity = Identity(running.product.partition("/")[2], options.android_release)
        browser = Browser(pipe, identity, quirks=options.quirks)
        await browser.start()
        engine = Engine(options, running, pipe, browser, identity, dial_loopback, socks_port, stack)
        try:
            yield engine
        finally:
            engine.relay.cut()


class Engine:
    """The WebViews of one app process.

    Attributes:
        browser: Tabs and their events (`browser.listener`).
        relay: The devtools server.
        identity: Version and user agent.
        cleartext_permitted: Whether the app's manifest allows plain http; read for each new tab.
        on_host_death: Called with a reason for anything that kills an app's process on Android.
    """

    def __init__(
        self,
        options: EngineOptions,
        running: RunningChromium,
        pipe: DevtoolsPipe,
        browser: Browser,
        identity: Identity,
        dial_loopback: Dial,
        socks_port: int,
        stack: AsyncExitStack,
    ) -> None:
        self.options = options
        self.browser = browser
        self.identity = identity
        self.cleartext_permitted = True
        self.on_host_death: Callable[[str], None] = lambda _reason: None
        self.relay = Relay(self, pipe, package=options.package, has_quirks=options.quirks)
        self._running = running
        self._dial = dial_loopback
        self._socks_port = socks_port
        self._stack = stack
        self._proxy: int | None = None
        self._way_in: int | None = None
        self._refusing_port: int | None = None
        self._contexts: dict[tuple[str | None, bool, bool], str] = {}
        self._losses = itertools.cycle(options.lost_runtime_enables or (0,))
        self._attached: dict[str, int] = {}

    @property
    def process_group(self) -> int:
        """Chromium's process group."""
        return self._running.pid

    @property
    def last_words(self) -> str:
        """The end of Chromium's stderr, or its fatal line."""
        return self._running.last_words()

    @property
    def defects(self) -> set[str]:
        """Names of `defects.DEFECTS` that the device has; change the set to add or remove one."""
        return self.browser.defects

    @property
    def secret(self) -> str:
        return self.browser.secret

    def listen(self, listener: Listener) -> None:
        self.browser.listener = listener

    async def devtools(self) -> StreamPair:
        """Connects to the devtools socket."""
        return await self.relay.open()

    async def open_tab(self, url: str, view: ViewSize, *, profile: str | None, timeout_s: float) -> EngineTab:
        return await self.browser.open(url, view, await self._context(profile), timeout_s=timeout_s)

    async def set_proxy(self, device_port: int | None) -> None:
        """Routes all traffic through an HTTP proxy on the device's loopback. None applies to tabs opened later.

        A profile keeps its storage when the proxy changes, as on a phone.
        """
        self._proxy = device_port

    async def forget_contexts(self) -> None:
        """Deletes the storage of all contexts and the cookies of the default one; no tab may be open."""
        await self.browser.close_all()
        self._contexts.clear()
        await self.browser.clear_storage()

    async def kill_tabs(self) -> None:
        """Ends all tabs and connections at once, as the death of the app's process does."""
        self.relay.cut()
        await self.browser.close_all()
        self._contexts.clear()
        self._proxy = None

    def tab(self, target_id: str) -> EngineTab | None:
        return self.browser.tabs.get(target_id)

    def tabs(self) -> Mapping[str, EngineTab]:
        return self.browser.tabs

    def is_foreign(self, target: Mapping[str, Any]) -> bool:
        return self.browser.is_foreign(target)

    def show(self, tab: EngineTab) -> None:
        self.browser.show(tab)

    def restore(self, tab: EngineTab) -> None:
        if tab.target_id in self.browser.tabs:
            self.browser.reapply(tab)

    def lost_runtime_enables(self) -> int:
        return next(self._losses)

    def host_dies(self, reason: str) -> None:
        self.on_host_death(reason)

    def attached(self, target_id: str, change: int) -> None:
        count = self._attached.get(target_id, 0) + change
        if count:
            self._attached[target_id] = count
        else:
            self._attached.pop(target_id, None)

    def is_attached(self, target_id: str) -> bool:
        return target_id in self._attached

    async def _context(self, profile: str | None) -> str | None:
        """The browser context for a profile under the current network rules; None is the default context."""
        if "shared_profiles" in self.defects:
            profile = None
        key = (profile, self._proxy is not None, self.cleartext_permitted)
        if key == (None, False, True):
            return None
        if key not in self._contexts:
            self._contexts[key] = await self.browser.new_context(proxy_server=await self._proxy_server())
        return self._contexts[key]

    async def _proxy_server(self) -> str | None:
        rules = []
        if not self.cleartext_permitted:
            if self._refusing_port is None:
                self._refusing_port = await self._stack.enter_async_context(refusing_proxy())
            rules.append(f"http=socks5://127.0.0.1:{self._refusing_port}")
            if self._proxy is None:
                rules.append(f"https=socks5://127.0.0.1:{self._socks_port}")
        if self._proxy is not None:
            if self._way_in is None:
                way_in = way_into_device(self._dial, lambda: self._proxy)
                self._way_in = await self._stack.enter_async_context(way_in)
            gate = f"http://127.0.0.1:{self._way_in}"
            rules.append(f"https={gate}" if rules else gate)
        return ";".join(rules) or None
