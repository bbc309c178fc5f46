"""Saves the cookies and storage of a session to a file, and restores them.

The file can contain logins, so only its owner can read it. It appears under its name once it is complete.
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from bridge.deadline import Deadline
from bridge.errors import ExecutionContextDestroyed, NavigationFailed, PolicyRefused, ScriptFailed, UsageError
from bridge.json_record import JsonRecord
from bridge.page.fetch_domain import Rank
from bridge.page.fetch_messages import Fulfil, PausedRequest, RouteAction
from bridge.page.page import Page
from bridge.page.target.attachment import Attachment
from bridge.session.tabs import Tabs
from bridge.snapshot.injected import script_call

STATE_TIMEOUT_S = 30.0
VERSION = 1
_MAX_BYTES = 64 * 1024 * 1024
_MAX_ORIGINS = 500
# The fields of Network.getAllCookies that Network.setCookies takes.
_COOKIE_FIELDS = ("name", "value", "domain", "path", "secure", "httpOnly", "sameSite", "expires")


@dataclass(frozen=True, slots=True)
class StateSummary(JsonRecord):
    """Counts of saved or restored items; `notices` name what was skipped, and why."""

    path: str
    cookies: int
    origins: int
    items: int
    notices: tuple[str, ...] = ()


async def save_state(pages: Sequence[Page], path: str | os.PathLike[str], *, timeout_s: float) -> StateSummary:
    """Save the cookies of the profile, and local and session storage of the documents that are open.

    Raises:
        UsageError: No tab is open, or the file cannot be written.
    """
    deadline = Deadline.after(timeout_s)
    if not pages:
        raise UsageError("no tab is open; open a page of the site whose storage you want to save")
    attachments = [await page.attached() for page in pages]
    reply = await attachments[0].call("Network.getAllCookies", timeout_s=deadline.remaining_s)
    cookies = [_cookie(cookie) for cookie in reply.get("cookies", ())]
    origins: dict[str, dict[str, Any]] = {}
    for attachment in attachments:
        for frame in attachment.state.ordered_frames():
            found = await _read_storage(attachment, frame.frame_id, deadline)
            if found is not None:
                kept = origins.setdefault(found["origin"], {"origin": found["origin"], "local": [], "session": []})
                kept["local"] = found["local"] or kept["local"]
                kept["session"] = kept["session"] or found["session"]
    listed = [origin for origin in origins.values() if origin["local"] or origin["session"]]
    content = json.dumps({"version": VERSION, "cookies": cookies, "origins": listed}, ensure_ascii=False, indent=1)
    await asyncio.to_thread(_write_private, Path(path), content.encode("utf-8", "surrogatepass"))
    return StateSummary(str(path), len(cookies), len(listed), _count(listed))


async def load_state(tabs: Tabs, path: str | os.PathLike[str], page: Page | None, *, timeout_s: float) -> StateSummary:
    """Restore cookies, and storage from an empty document of each origin, without a request to its server."""
    deadline = Deadline.after(timeout_s)
    saved = await asyncio.to_thread(_read_saved, Path(path))
    own = await tabs.new_page(None, profile=None) if page is None else page
    notices: list[str] = []
    restored = []
    try:
        attachment = await own.attached()
        if saved["cookies"]:
            await attachment.call("Network.setCookies", {"cookies": saved["cookies"]}, timeout_s=deadline.remaining_s)
        if saved["origins"]:
            # Not one of the page's routes: those stay, and apply again afterwards.
            remove_route = await attachment.fetching.add(_empty_page, rank=Rank.ROUTE, timeout_s=deadline.remaining_s)
            try:
                for origin in saved["origins"]:
                    session = origin["session"] if page is not None else []
                    if len(session) < len(origin["session"]):
                        notices.append(
                            f"session storage of {origin['origin']} was skipped: name the page to load it into"
                        )
                    try:
                        await _restore(own, origin["origin"], origin["local"], session, deadline)
                        restored.append({**origin, "session": session})
                    except (PolicyRefused, NavigationFailed) as error:
                        notices.append(f"storage of {origin['origin']} was skipped: {error.message}")
            finally:
                await remove_route()
    finally:
        if page is None:
            await tabs.close_by_id(own.tab_id)
    return StateSummary(str(path), len(saved["cookies"]), len(restored), _count(restored), tuple(notices))


async def _empty_page(_request: PausedRequest) -> RouteAction:
    return Fulfil(headers={"content-type": "text/html"}, body="<!doctype html>")


async def _restore(page: Page, origin: str, local: list[Any], session: list[Any], deadline: Deadline) -> None:
    await page.goto(f"{origin}/", timeout_s=deadline.remaining_s)
    attachment = await page.attached()
    main = attachment.state.main
    call = script_call("writeStorage", local, session)
    try:
        await attachment.evaluate(main.frame_id if main else "", call, timeout_s=deadline.remaining_s)
    except ScriptFailed as error:
        raise UsageError(f"the storage of {origin} rejects the saved items: {error.message}") from error


async def _read_storage(attachment: Attachment, frame_id: str, deadline: Deadline) -> dict[str, Any] | None:
    """None for a frame without an origin of its own, or one that navigates away."""
    try:
        found = await attachment.evaluate(frame_id, script_call("readStorage"), timeout_s=deadline.remaining_s)
    except (ExecutionContextDestroyed, ScriptFailed):
        return None
    if not isinstance(found, dict) or not str(found.get("origin", "")).startswith(("http://", "https://")):
        return None
    return found


def _cookie(cookie: Mapping[str, Any]) -> dict[str, Any]:
    """Without `expires` for a session cookie: only CDP writes that as -1."""
    kept = {name: cookie[name] for name in _COOKIE_FIELDS if cookie.get(name) is not None}
    if cookie.get("session") or (isinstance(kept.get("expires"), int | float) and kept["expires"] < 0):
        kept.pop("expires", None)
    return kept


def _count(origins: list[dict[str, Any]]) -> int:
    return sum(len(origin["local"]) + len(origin["session"]) for origin in origins)


def _write_private(path: Path, content: bytes) -> None:
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}.part")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        finally:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror or error}") from error


def _read_saved(path: Path) -> dict[str, Any]:
    """The content of a state file, validated: it may come from anywhere."""
    try:
        with path.open("rb") as file:
            content = file.read(_MAX_BYTES + 1)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}") from error
    if len(content) > _MAX_BYTES:
        raise UsageError(f"{path} is larger than {_MAX_BYTES} bytes")
    try:
        saved = json.loads(content.decode("utf-8", "surrogatepass"))
        if saved["version"] != VERSION:
            raise UsageError(f"{path} has version {saved['version']!r}; only version {VERSION} is supported")
        cookies = [_checked_cookie(cookie) for cookie in saved["cookies"]]
        origins = [_checked_origin(origin) for origin in saved["origins"][:_MAX_ORIGINS]]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UsageError(f"{path} is not a saved state: {error!r:.200}") from error
    return {"cookies": cookies, "origins": origins}


def _checked_cookie(cookie: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: cookie[name] for name in _COOKIE_FIELDS if name in cookie}
    for name, value in kept.items():
        kind: Any = bool if name in ("secure", "httpOnly") else (int, float) if name == "expires" else str
        if not isinstance(value, kind):
            raise ValueError(f"a cookie has {value!r:.60} as {name}")
    if not kept.get("name") and not kept.get("value"):
        raise ValueError("a cookie has no name")
    if not kept.get("domain"):
        raise ValueError("a cookie has no domain")
    return kept


def _checked_origin(origin: Mapping[str, Any]) -> dict[str, Any]:
    address = str(origin["origin"])
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.netloc or address != f"{parts.scheme}://{parts.netloc}":
        raise ValueError(f"{address!r:.100} is not an origin")
    out: dict[str, Any] = {"origin": address}
    for kind in ("local", "session"):
        pairs = [tuple(pair) for pair in origin[kind]]
        if not all(len(pair) == 2 and all(isinstance(part, str) for part in pair) for pair in pairs):
            raise ValueError(f"the {kind} storage of {address} is not a list of pairs")
        out[kind] = pairs
    return out
