"""The set `simple`: look at one address and forget it; `webfetch` for pages that need no browser."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from bridge.deadline import Deadline
from bridge.errors import BridgeError, CaptureFailed, DeadlineExceeded, DeviceError, HostError, NavigationFailed
from bridge.model_tools.client_context import ClientContext
from bridge.model_tools.declaration import ToolSet
from bridge.model_tools.tool_result import ToolResult
from bridge.policy.address import parse_address
from bridge.snapshot.escape import clean, cut

if TYPE_CHECKING:
    from bridge.page.page import Page

SIMPLE = ToolSet("simple")

LIMIT_S = 60.0
_MODES = ("screenshot", "extract")
# What is around the text: outcome, fence, notes.
_ROUND_TEXT_CHARS = 2_000
_RESULT_CHARS = 5_000
_BELOW = "what was seen is below, perhaps in the page's words."

OptionalUrl = Annotated[
    str | None, Field(max_length=8_192, description="An absolute http or https URL.", json_schema_extra={})
]
MaxLength = Annotated[int, Field(ge=1, le=1_000_000, description="Characters of Markdown at most.")]


class _Failed(Exception):
    """The tool answers with these words, which clients know, and with what a page may have said."""

    def __init__(self, words: str, page_words: str = "") -> None:
        super().__init__(f"{words}: {_BELOW}" if page_words else words)
        self.page_words = page_words


@SIMPLE.tool(title="Look at a page in a browser", effect="navigate", required=("url", "mode"))
async def browser(
    desk: ClientContext,
    url: OptionalUrl = None,
    mode: Annotated[
        str | None,
        Field(
            description="screenshot: a PNG file, its path is the answer. extract: the page's text as Markdown.",
            json_schema_extra={"enum": list(_MODES)},
        ),
    ] = None,
    width: Annotated[int, Field(ge=100, le=4_096, description="Width of the screen in CSS pixels.")] = 412,
    height: Annotated[int, Field(ge=100, le=4_096, description="Height of the screen in CSS pixels.")] = 915,
    wait_seconds: Annotated[float, Field(ge=0, le=50, description="How long to wait after loading.")] = 2,
    full_page: Annotated[bool, Field(description="Picture the whole page and not only the screen.")] = False,
    max_length: MaxLength = 50_000,
    javascript: Annotated[
        str | None, Field(max_length=100_000, description="JavaScript to run in the page before it is captured.")
    ] = None,
) -> ToolResult:
    """Open one page in a real mobile browser, with JavaScript, and take a picture of it or read its text. Nothing is
    kept between calls: no cookies, no log-in. For static pages prefer webfetch, which is much quicker."""
    try:
        address = _checked(url)
        if mode is None:
            raise _Failed("Parameter 'mode' is required")
        if mode not in _MODES:
            raise _Failed(f"Invalid mode '{cut(clean(mode), 60)}'. Use 'screenshot' or 'extract'")
        address = await desk.house.egress.check_url(address)
        deadline = Deadline.after(LIMIT_S)
        async with deadline.bound("browser"), _one_shot(desk, width, height) as page:
            desk.say(f"opening {address[:200]}")
            await _load(page, address, deadline)
            await asyncio.sleep(min(wait_seconds, deadline.remaining_s))
            result = await _run(page, javascript, deadline) if javascript is not None else ""
            await desk.house.egress.check_url(page.url)
            if mode == "screenshot":
                shown = await _pictured(desk, page, full_page)
            else:
                shown = await _extracted(page, max_length, desk)
            return replace(
                shown,
                page_text=result + shown.page_text,
                page_url=page.url,
                max_chars=shown.max_chars + len(result),
            )
    except _Failed as error:
        return ToolResult(str(error), error.page_words, url or "", is_error=True)
    except DeadlineExceeded as error:
        return ToolResult(f"Page load error: {_BELOW}", error.message, url or "", is_error=True)


@SIMPLE.tool(title="Fetch a page", effect="navigate", required=("url",))
async def webfetch(desk: ClientContext, url: OptionalUrl = None, max_length: MaxLength = 50_000) -> ToolResult:
    """Fetch a page of the web and read it as Markdown, without a browser: quick, no JavaScript, no cookies."""
    from bridge.reading.fetch import webfetch as fetch

    try:
        address = _checked(url)
    except _Failed as error:
        return ToolResult(str(error), is_error=True)
    desk.say(f"fetching {address[:200]}")
    desk.last_url = address
    page = await fetch(address, egress=desk.house.egress, max_length=max_length)
    notes = "".join(f"note: {note}\n" for note in page.notes)
    said = f"fetched, HTTP {page.status}{'; truncated' if page.truncated else ''}"
    return ToolResult(said, notes + page.markdown, page.url, max_chars=max_length + _ROUND_TEXT_CHARS)


def _checked(url: str | None) -> str:
    if url is None or not url.strip():
        raise _Failed("Parameter 'url' is required")
    address = parse_address(url)
    shown = cut(clean(url), 200)
    if not address.scheme:
        raise _Failed(f"Invalid URL: {shown}")
    if address.scheme not in ("http", "https"):
        raise _Failed("Only HTTP and HTTPS URLs are supported")
    if address.host is None:
        raise _Failed(f"Invalid URL: {shown}")
    return url


@asynccontextmanager
async def _one_shot(desk: ClientContext, width: int, height: int) -> AsyncIterator[Page]:
    """A tab of that size which leaves nothing behind; one at a time, since the size is the session's."""
    from bridge.session.tab_host import View

    async with desk.house.one_shot:
        try:
            session = await desk.session()
        except (DeviceError, HostError) as error:
            raise _Failed(f"WebView not available: {error}") from error
        usual, session.view = session.view, View(width, height, session.view.density_dpi)
        try:
            async with session.isolated() as page:
                yield page
        except (DeviceError, HostError) as error:
            raise _Failed(f"WebView not available: {error}") from error
        finally:
            session.view = usual


async def _load(page: Page, address: str, deadline: Deadline) -> None:
    try:
        await page.goto(address, timeout_s=deadline.remaining_s)
    except (NavigationFailed, DeadlineExceeded) as error:
        raise _Failed("Page load error", clean(error.message)) from error


async def _run(page: Page, javascript: str, deadline: Deadline) -> str:
    """In the page's own world, as its own scripts run; a promise is waited for. A string as it is, else JSON."""
    attachment = await page.attached()
    params = {"expression": javascript, "awaitPromise": True, "returnByValue": True, "userGesture": True}
    try:
        found = await attachment.evaluate_raw(params, timeout_s=deadline.remaining_s)
    except BridgeError as error:
        raise _Failed("JavaScript error", clean(error.message)) from error
    if details := found.get("exceptionDetails"):
        thrown: dict[str, Any] = details.get("exception") or {}
        words = str(thrown.get("description") or thrown.get("value") or details.get("text") or "unknown")
        raise _Failed("JavaScript error", cut(clean(words), 500))
    value = (found.get("result") or {}).get("value")
    words = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f"the script's result: {cut(words, _RESULT_CHARS)}\n" if value is not None else ""


async def _pictured(desk: ClientContext, page: Page, full_page: bool) -> ToolResult:
    desk.say("taking the picture")
    try:
        redact = desk.house.secrets.redactor
        picture = await page.screenshot(full_page=full_page, redact=redact, on_progress=desk.count_up)
        path = await asyncio.to_thread(_kept, desk.house.cache_folder, picture.image_bytes)
    except (CaptureFailed, DeadlineExceeded, OSError) as error:
        raise _Failed("Screenshot failed", clean(str(error))) from error
    desk.told += picture.notices
    return ToolResult(json.dumps({"image_path": str(path)}))


async def _extracted(page: Page, max_length: int, desk: ClientContext) -> ToolResult:
    try:
        found = await page.read(max_length=max_length, redact=desk.house.secrets.redact)
    except BridgeError as error:
        raise _Failed("Extraction failed", clean(error.message)) from error
    said = "" if found.markdown.strip() else "The page shows no text to extract."
    return ToolResult(said, found.markdown, found.url, max_chars=max_length + _ROUND_TEXT_CHARS)


def _kept(folder: Path, image_bytes: bytes) -> Path:
    """Where the picture is now; only its owner can read it."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    taken_ms = time.time_ns() // 1_000_000
    while True:
        path = folder / f"browser_screenshot_{taken_ms}.png"
        try:
            with path.open("xb") as file:
                path.chmod(0o600)
                file.write(image_bytes)
        except FileExistsError:
            taken_ms += 1
        else:
            return path
