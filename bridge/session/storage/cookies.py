"""Cookies of the session's default profile, under Playwright's names."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Literal, NotRequired, TypedDict

from bridge.deadline import Deadline
from bridge.errors import ProtocolError, UsageError
from bridge.page.target.attachment import Attachment
from bridge.session.tabs import Tabs

COOKIES_TIMEOUT_S = 10.0
_FIELDS = ("name", "value", "url", "domain", "path", "expires", "httpOnly", "secure", "sameSite")


class Cookie(TypedDict):
    """One cookie. `add_cookies` needs `url`, or `domain` and `path`; `expires` is in seconds of the Unix epoch, -1 for
    the session's end."""

    name: str
    value: str
    url: NotRequired[str]
    domain: NotRequired[str]
    path: NotRequired[str]
    expires: NotRequired[float]
    httpOnly: NotRequired[bool]
    secure: NotRequired[bool]
    sameSite: NotRequired[Literal["Strict", "Lax", "None"]]


async def get_cookies(tabs: Tabs, urls: str | Sequence[str] | None, *, timeout_s: float) -> list[Cookie]:
    """All cookies, or those that requests to these addresses would carry."""
    deadline = Deadline.after(timeout_s)
    async with _attachment(tabs) as attachment:
        if urls is None:
            reply = await attachment.call("Network.getAllCookies", timeout_s=deadline.remaining_s)
        else:
            wanted = [urls] if isinstance(urls, str) else list(urls)
            reply = await attachment.call("Network.getCookies", {"urls": wanted}, timeout_s=deadline.remaining_s)
    return [_shown(cookie) for cookie in reply.get("cookies", ())]


async def add_cookies(tabs: Tabs, cookies: Sequence[Cookie], *, timeout_s: float) -> None:
    """
    Raises:
        UsageError: A cookie that the browser does not take.
    """
    deadline = Deadline.after(timeout_s)
    given = [_given(cookie) for cookie in cookies]
    async with _attachment(tabs) as attachment:
        try:
            await attachment.call("Network.setCookies", {"cookies": given}, timeout_s=deadline.remaining_s)
        except ProtocolError as error:
            raise UsageError(f"the browser rejected these cookies: {error.reason}") from error


async def clear_cookies(
    tabs: Tabs,
    name: str | re.Pattern[str] | None,
    domain: str | re.Pattern[str] | None,
    path: str | re.Pattern[str] | None,
    *,
    timeout_s: float,
) -> None:
    """Delete all cookies, or those that fit all that is given."""
    deadline = Deadline.after(timeout_s)
    wanted = {key: value for key, value in (("name", name), ("domain", domain), ("path", path)) if value is not None}
    async with _attachment(tabs) as attachment:
        if not wanted:
            await attachment.call("Network.clearBrowserCookies", timeout_s=deadline.remaining_s)
            return
        reply = await attachment.call("Network.getAllCookies", timeout_s=deadline.remaining_s)
        for cookie in reply.get("cookies", ()):
            if all(_fits(str(cookie.get(key, "")), pattern) for key, pattern in wanted.items()):
                which = {key: cookie[key] for key in ("name", "domain", "path")}
                await attachment.call("Network.deleteCookies", which, timeout_s=deadline.remaining_s)


@asynccontextmanager
async def _attachment(tabs: Tabs) -> AsyncIterator[Attachment]:
    """Of an open tab with the default profile, or of one for this block."""
    open_page = next((page for page in tabs.pages if tabs.profiles.get(page.tab_id) is None), None)
    page = open_page or await tabs.new_page(None, profile=None)
    try:
        yield await page.attached()
    finally:
        if open_page is None:
            await tabs.close_by_id(page.tab_id)


def _given(cookie: Cookie) -> dict[str, Any]:
    unknown = [key for key in cookie if key not in _FIELDS]
    if unknown or not cookie.get("name"):
        raise UsageError(f"a cookie has {', '.join(unknown) or 'no name'}", hint=f"Fields are {', '.join(_FIELDS)}.")
    if not cookie.get("url") and not (cookie.get("domain") and cookie.get("path")):
        raise UsageError(f"the cookie {cookie['name']!r} needs url, or domain and path")
    kept: dict[str, Any] = dict(cookie)
    if kept.get("expires", 0) < 0:
        del kept["expires"]
    return kept


def _shown(cookie: Mapping[str, Any]) -> Cookie:
    return {
        "name": str(cookie["name"]),
        "value": str(cookie["value"]),
        "domain": str(cookie["domain"]),
        "path": str(cookie["path"]),
        "expires": -1.0 if cookie.get("session") else float(cookie.get("expires", -1)),
        "httpOnly": bool(cookie.get("httpOnly")),
        "secure": bool(cookie.get("secure")),
        "sameSite": cookie.get("sameSite") or "Lax",
    }


def _fits(value: str, wanted: str | re.Pattern[str]) -> bool:
    return value == wanted if isinstance(wanted, str) else wanted.search(value) is not None
