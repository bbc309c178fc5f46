"""The set `simple`: one page per call in a fresh browser, or without a browser (`webfetch`)."""

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
# Room for outcome, markers and notes around the text.
_OVERHEAD_CHARS = 2_000
_RESULT_CHARS = 5_000
_BELOW = "details below; they may quote the page."

OptionalUrl = Annotated[
    str | None, Field(max_length=8_192, description="An absolute http or https URL.", json_schema_extra={})
]
MaxLength = Annotated[int, Field(ge=1, le=1_000_000, description="Maximum number of characters of Markdown.")]


class _Failed(Exception):
    """A failure whose first words clients rely on; `page_text` may quote the page."""

    def __init__(self, message: str, page_text: str = "") -> None:
        super().__init__(f"{message}: {_BELOW}" if page_text else message)
        self.page_text = page_text


@SIMPLE.tool(title="Open a page in a browser", effect="navigate", required=("url", "mode"))
async def browser(
    client: ClientContext,
    url: OptionalUrl = None,
    mode: Annotated[
        str | None,
        Field(
            description="screenshot: save a PNG file and return its path. extract: return the page's text as Markdown.",
            json_schema_extra={"enum": list(_MODES)},
        ),
    ] = None,
    width: Annotated[int, Field(ge=100, le=4_096, description="Width of the screen in CSS pixels.")] = 412,
    height: Annotated[int, Field(ge=100, le=4_096, description="Height of the screen in CSS pixels.")] = 915,
    wait_seconds: Annotated[float, Field(ge=0, le=50, description="Time to wait after the page has loaded.")] = 2,
    full_page: Annotated[bool, Field(description="With screenshot: the whole page instead of the screen.")] = False,
    max_length: MaxLength = 50_000,
    javascript: Annotated[
        str | None,
        Field(max_length=100_000, description="JavaScript to run in the page first."),
    ] = None,
) -> ToolResult:
    """Open one page in a real mobile browser that runs JavaScript; take a screenshot or extract its text. Calls share
    no state: no cookies, no logins. For static pages prefer webfetch, which is much faster."""
    try:
        address = _checked(url)
        if mode is None:
            raise _Failed("Parameter 'mode' is required")
        if mode not in _MODES:
            raise _Failed(f"Invalid mode '{cut(clean(mode), 60)}'. Use 'screenshot' or 'extract'")
        address = await client.server.egress.check_url(address)
        deadline = Deadline.after(LIMIT_S)
        async with deadline.bound("browser"), _one_shot(client, width, height) as page:
            client.report_progress(f"opening {address[:200]}")
            await _load(page, address, deadline)
            await asyncio.sleep(min(wait_seconds, deadline.remaining_s))
            result = await _run(page, javascript, deadline) if javascript is not None else ""
            await client.server.egress.check_url(page.url)
            if mode == "screenshot":
                shown = await _screenshot(client, page, full_page)
            else:
                shown = await _extracted(page, max_length, client)
            return replace(
                shown,
                page_text=result + shown.page_text,
                page_url=page.url,
                max_chars=shown.max_chars + len(result),
            )
    except _Failed as error:
        return ToolResult(str(error), error.page_text, url or "", is_error=True)
    except DeadlineExceeded as error:
        return ToolResult(f"Page load error: {_BELOW}", error.message, url or "", is_error=True)


@SIMPLE.tool(title="Fetch a page", effect="navigate", required=("url",))
async def webfetch(client: ClientContext, url: OptionalUrl = None, max_length: MaxLength = 50_000) -> ToolResult:
    """Fetch a web page without a browser and return it as Markdown: fast, no JavaScript, no cookies."""
    from bridge.reading.fetch import webfetch as fetch

    try:
        address = _checked(url)
    except _Failed as error:
        return ToolResult(str(error), is_error=True)
    client.report_progress(f"fetching {address[:200]}")
    client.last_url = address
    page = await fetch(address, egress=client.server.egress, max_length=max_length)
    notes = "".join(f"note: {note}\n" for note in page.notes)
    outcome = f"fetched, HTTP {page.status}{'; truncated' if page.truncated else ''}"
    return ToolResult(outcome, notes + page.markdown, page.url, max_chars=max_length + _OVERHEAD_CHARS)


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
async def _one_shot(client: ClientContext, width: int, height: int) -> AsyncIterator[Page]:
    """A tab of that size with no state of its own; one at a time, because the size belongs to the session."""
    from bridge.session.tab_host import View

    async with client.server.one_shot:
        try:
            session = await client.session()
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
    """The result of a script in the page's main world, promises awaited: a string unchanged, anything else as JSON."""
    attachment = await page.attached()
    params = {"expression": javascript, "awaitPromise": True, "returnByValue": True, "userGesture": True}
    try:
        found = await attachment.evaluate_raw(params, timeout_s=deadline.remaining_s)
    except BridgeError as error:
        raise _Failed("JavaScript error", clean(error.message)) from error
    if details := found.get("exceptionDetails"):
        thrown: dict[str, Any] = details.get("exception") or {}
        message = str(thrown.get("description") or thrown.get("value") or details.get("text") or "unknown")
        raise _Failed("JavaScript error", cut(clean(message), 500))
    value = (found.get("result") or {}).get("value")
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f"the script's result: {cut(text, _RESULT_CHARS)}\n" if value is not None else ""


async def _screenshot(client: ClientContext, page: Page, full_page: bool) -> ToolResult:
    client.report_progress("taking the screenshot")
    try:
        redact = client.server.secrets.redactor
        screenshot = await page.screenshot(full_page=full_page, redact=redact, on_progress=client.report_count)
        path = await asyncio.to_thread(_saved, client.server.cache_folder, screenshot.image_bytes)
    except (CaptureFailed, DeadlineExceeded, OSError) as error:
        raise _Failed("Screenshot failed", clean(str(error))) from error
    client.page_notes += screenshot.notices
    return ToolResult(json.dumps({"image_path": str(path)}))


async def _extracted(page: Page, max_length: int, client: ClientContext) -> ToolResult:
    try:
        found = await page.read(max_length=max_length, redact=client.server.secrets.redact)
    except BridgeError as error:
        raise _Failed("Extraction failed", clean(error.message)) from error
    note = "" if found.markdown.strip() else "The page has no text to extract."
    return ToolResult(note, found.markdown, found.url, max_chars=max_length + _OVERHEAD_CHARS)


def _saved(folder: Path, image_bytes: bytes) -> Path:
    """The path of the saved picture, readable only by its owner."""
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
