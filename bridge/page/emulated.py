"""The methods of a page that pretend: requests stubbed, the network cut, another place, language, hour or taste."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Literal

from bridge.page import emulation
from bridge.page.emulation import Commands, PageSetup, PermissionSetting
from bridge.page.interception.fetch_messages import Credentials
from bridge.page.interception.routes import RouteHandler
from bridge.page.target.attachment import Attachment
from bridge.page.turn import Turn

SETUP_TIMEOUT_S = 5.0


class EmulatedPage(ABC):
    """What is set here holds for the page's life, also after its tab was opened again or the device reconnected."""

    _setup: PageSetup
    _turn: Turn

    @abstractmethod
    async def _here(self) -> Attachment: ...

    async def route(
        self, pattern: str | re.Pattern[str], handler: RouteHandler, *, timeout_s: float = SETUP_TIMEOUT_S
    ) -> None:
        """Decide every request whose URL matches `pattern`, before it is sent.

        Args:
            pattern: A glob over the whole URL (`**/api/*.json`) or a regular expression searched in it.
            handler: `Abort()`, `Fulfil(…)` or `Proceed(…)`, or a function of the PausedRequest that gives one of them,
                or None for the next route; it may be a coroutine function. The newest route is asked first. It runs
                while the page works: it must not call the page.

        The URL policy is asked before any route, and again about another URL that a route proceeds to.

        Raises:
            Unsupported: The WebView cannot intercept requests.
        """
        async with self._turn.within(timeout_s) as timeout_s:
            attachment = await self._here()
            timeout_s = self._turn.left(timeout_s)
            await self._setup.routes.add(attachment, pattern, handler, timeout_s=timeout_s)

    async def unroute(self, pattern: str | re.Pattern[str] | None = None, *, timeout_s: float = SETUP_TIMEOUT_S) -> int:
        """Take the routes of that pattern away, or all of them; how many there were."""
        async with self._turn.within(timeout_s):
            return await self._setup.routes.remove(pattern)

    async def set_offline(self, offline: bool = True, *, timeout_s: float = SETUP_TIMEOUT_S) -> None:
        """Cut this tab off from the network, or let it back on."""
        await self._pretend("offline", emulation.offline(offline), timeout_s)

    async def set_geolocation(
        self,
        latitude: float | None = None,
        longitude: float | None = None,
        *,
        accuracy_m: float = 10.0,
        timeout_s: float = SETUP_TIMEOUT_S,
    ) -> None:
        """Where the device says it is; without arguments, where it really is. That a page may ask is a permission."""
        await self._pretend("geolocation", emulation.geolocation(latitude, longitude, accuracy_m), timeout_s)

    async def set_permissions(
        self, wanted: Mapping[str, PermissionSetting], *, origin: str, timeout_s: float = SETUP_TIMEOUT_S
    ) -> None:
        """What `origin` may do: `{"geolocation": "granted", "camera": "denied"}`.

        Raises:
            Unsupported: In a WebView: it keeps no permissions, its app answers each request. Chrome has them.
        """
        await self._pretend("permissions", emulation.permissions(wanted, origin), timeout_s)

    async def set_locale(self, tag: str | None, *, timeout_s: float = SETUP_TIMEOUT_S) -> None:
        """The language of `Intl`, `navigator.language` and Accept-Language ("de-DE"); None gives the device's back.

        `Intl` belongs to the renderer process, which the tabs of a WebView share.
        """
        user_agent = await self._user_agent(timeout_s)
        await self._pretend("locale", emulation.locale(tag, user_agent), timeout_s)

    async def set_time_zone(self, name: str | None, *, timeout_s: float = SETUP_TIMEOUT_S) -> None:
        """The zone of `Date` and `Intl` ("Europe/Berlin"), for the whole renderer process; None gives the device's."""
        await self._pretend("time zone", emulation.time_zone(name), timeout_s)

    async def set_media(
        self,
        *,
        color_scheme: Literal["light", "dark"] | None = None,
        reduced_motion: bool | None = None,
        timeout_s: float = SETUP_TIMEOUT_S,
    ) -> None:
        """What `prefers-color-scheme` and `prefers-reduced-motion` answer; None leaves it to the device."""
        await self._pretend("media", emulation.media(color_scheme, reduced_motion), timeout_s)

    async def set_extra_headers(self, headers: Mapping[str, str], *, timeout_s: float = SETUP_TIMEOUT_S) -> None:
        """Headers for every request of this tab, to whomever it goes; {} for none."""
        await self._pretend("extra headers", emulation.extra_headers(headers), timeout_s)

    async def set_http_credentials(
        self, origin: str, username: str | None, password: str = "", *, timeout_s: float = SETUP_TIMEOUT_S
    ) -> None:
        """Answer that origin's HTTP authentication, and no other's; `username=None` forgets the answer.

        Wrong credentials are not tried twice: the page is then the server's 401.
        """
        known = None if username is None else Credentials(username, password)
        async with self._turn.within(timeout_s) as timeout_s:
            attachment = await self._here()
            timeout_s = self._turn.left(timeout_s)
            await self._setup.set_credentials(attachment, origin, known, timeout_s=timeout_s)

    async def accept_certificate(self, host: str, *, timeout_s: float = SETUP_TIMEOUT_S) -> None:
        """Pass over certificate errors (self-signed, expired) of one named host; those of all others stay errors."""
        async with self._turn.within(timeout_s) as timeout_s:
            attachment = await self._here()
            timeout_s = self._turn.left(timeout_s)
            await self._setup.certificates.accept(attachment, host, timeout_s=timeout_s)

    async def add_init_script(self, source: str, *, timeout_s: float = SETUP_TIMEOUT_S) -> int:
        """Run `source` in the page's own world at the start of every document from the next one on; its number."""
        async with self._turn.within(timeout_s) as timeout_s:
            attachment = await self._here()
            timeout_s = self._turn.left(timeout_s)
            return await self._setup.add_script(attachment, source, timeout_s=timeout_s)

    async def remove_init_script(self, number: int, *, timeout_s: float = SETUP_TIMEOUT_S) -> None:
        """Take an init script away again."""
        async with self._turn.within(timeout_s) as timeout_s:
            attachment = await self._here()
            timeout_s = self._turn.left(timeout_s)
            await self._setup.remove_script(attachment, number, timeout_s=timeout_s)

    async def _pretend(self, name: str, commands: Commands, timeout_s: float) -> None:
        async with self._turn.within(timeout_s) as timeout_s:
            attachment = await self._here()
            timeout_s = self._turn.left(timeout_s)
            await self._setup.tell(attachment, name, commands, timeout_s=timeout_s)

    async def _user_agent(self, timeout_s: float) -> str:
        async with self._turn.within(timeout_s) as timeout_s:
            attachment = await self._here()
            timeout_s = self._turn.left(timeout_s)
            main = attachment.state.main
            found = await attachment.evaluate(main.frame_id if main else "", "navigator.userAgent", timeout_s=timeout_s)
            return str(found)
