"""The set `simple`: one page per call in a fresh browser, or without a browser (`webfetch`)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from bridge.deadline import Deadline
from bridge.errors import (
    BridgeError,
    CaptureFailed,
    DeadlineExceeded,
    DeviceError,
    HostError,
    NavigationFailed,
    PageError,
)
from bridge.model_tools.client_context import ClientContext
from bridge.model_tools.declaration import ToolSet
from bridge.model_tools.failure_texts import error_status, fetch_failure, page_load_failure, script_failure
from bridge.model_tools.pictures import picture_for_model
from bridge.model_tools.tool_result import NO_LIMIT, ToolResult
from bridge.ops.secrets import LONGEST
from bridge.policy.address import parse_address
from bridge.reading.markdown.document import truncation_notice
from bridge.snapshot.escape import clean, cut

if TYPE_CHECKING:
    from bridge.page.page import Page

SIMPLE = ToolSet("simple")

LIMIT_S = 60.0
_WIDTH, _HEIGHT = 412, 915
_MODES = ("screenshot", "extract")
# Room for outcome, markers and notes around the text.
_OVERHEAD_CHARS = 2_000
# Pictures in the cache folder.
_KEEP_S = 24 * 60 * 60
_KEEP_BYTES = 200_000_000
_PICTURES = "browser_screenshot_*.png"
# A function body, or an expression; its value is the answer as a string.
_AS_BODY = "async()=>{{\n{}\n}}"
_AS_EXPRESSION = "async()=>(\n{}\n)"
_TO_TEXT = "({})().then(v=>(typeof v=='string'?v:v==null?'':JSON.stringify(v)||'').slice(0,{}))"

OptionalUrl = Annotated[
    str | None, Field(max_length=8_192, description="An absolute http or https URL.", json_schema_extra={})
]
Short = Annotated[str, Field(min_length=1, max_length=500)]
MaxLength = Annotated[
    int, Field(ge=0, le=1_000_000, description="Maximum number of characters of the text; 0 for no limit.")
]


class _Failed(Exception):
    """A failure whose first words clients rely on."""

    def __init__(self, result: ToolResult | str, page_text: str = "") -> None:
        if isinstance(result, str):
            result = ToolResult(result, page_text, is_error=True)
        super().__init__(result.text)
        self.result = result


@SIMPLE.tool(title="Open a page in a browser", effect="navigate", required=("url", "mode"))
async def browser(
    client: ClientContext,
    url: OptionalUrl = None,
    mode: Annotated[
        str | None,
        Field(
            description="screenshot: return a picture, saved as a PNG file too. extract: return the text as Markdown.",
            json_schema_extra={"enum": list(_MODES)},
        ),
    ] = None,
    width: Annotated[int, Field(ge=100, le=4_096, description="Width of the screen in CSS pixels.")] = _WIDTH,
    height: Annotated[int, Field(ge=100, le=4_096, description="Height of the screen in CSS pixels.")] = _HEIGHT,
    wait_seconds: Annotated[
        float,
        Field(
            ge=0,
            le=50,
            description="Time to wait after the page has loaded. extract waits up to 3 s more for a page that is "
            "almost empty.",
        ),
    ] = 2,
    full_page: Annotated[bool, Field(description="With screenshot: the whole page instead of the screen.")] = False,
    max_length: MaxLength = 50_000,
    javascript: Annotated[
        str | None,
        Field(
            max_length=100_000,
            description="With extract: a function body or an expression to run in the page. Its value is the result, "
            "instead of the text.",
        ),
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
        if javascript is not None and mode != "extract":
            raise _Failed("Parameter 'javascript' requires mode 'extract'")
        client.last_url = address
        address = await client.server.egress.check_url(address)
        deadline = Deadline.after(LIMIT_S)
        async with deadline.bound("browser"), _one_shot(client, width, height) as page:
            client.report_progress(f"opening {address[:200]}")
            status = await _load(page, address, deadline)
            await asyncio.sleep(min(wait_seconds, deadline.remaining_s))
            value = await _run(page, javascript, max_length, client, deadline) if javascript is not None else None
            await client.server.egress.check_url(page.url)
            if mode == "screenshot":
                return await _screenshot(client, page, full_page, status)
            if value is not None:
                return ToolResult("", value, page.url, max_chars=_max_chars(max_length))
            return await _extracted(page, max_length, client, status)
    except _Failed as error:
        return replace(error.result, page_url=error.result.page_url or url or "")
    except DeadlineExceeded as error:
        return page_load_failure(error, url or "")


@SIMPLE.tool(title="Fetch a page", effect="navigate", required=("url",))
async def webfetch(
    client: ClientContext,
    url: OptionalUrl = None,
    max_length: MaxLength = 50_000,
    selector: Annotated[Short | None, Field(description="Only the first match of this CSS selector.")] = None,
    section: Annotated[Short | None, Field(description="Only the section whose heading contains this text.")] = None,
    outline: Annotated[bool, Field(description="Only the headings, with their anchors.")] = False,
    metadata: Annotated[bool, Field(description="Begin with title, author, dates and language.")] = False,
) -> ToolResult:
    """Fetch a web page without a browser and return it as Markdown: fast, no JavaScript, no cookies. A page that has no
    text without JavaScript is opened in the browser."""
    from bridge.reading.fetch import webfetch as fetch

    try:
        address = _checked(url)
    except _Failed as error:
        return error.result

    async def rendered(shell_url: str, timeout_s: float) -> str:
        client.report_progress(f"opening {shell_url[:200]}: it has no text without JavaScript")
        try:
            async with _one_shot(client, _WIDTH, _HEIGHT) as page:
                await page.goto(shell_url, timeout_s=timeout_s)
                await client.server.egress.check_url(page.url)
                found = await page.read(
                    max_length=max_length,
                    selector=client.server.secrets.checked_selector(selector),
                    section=section,
                    outline=outline,
                    redact=client.server.secrets.redact,
                )
                return found.markdown
        except _Failed as error:
            raise PageError(error.result.text) from error

    client.report_progress(f"fetching {address[:200]}")
    client.last_url = address
    try:
        page = await fetch(
            address,
            egress=client.server.egress,
            max_length=max_length,
            timeout_s=LIMIT_S,
            selector=client.server.secrets.checked_selector(selector),
            section=section,
            outline=outline,
            metadata=metadata,
            redact=client.server.secrets.redactor,
            render=rendered,
            user_agent=client.server.shared.user_agent,
        )
    except BridgeError as error:
        if (failed := fetch_failure(error, address)) is None:
            raise
        return failed
    notes = "".join(f"note: {note}\n" for note in page.notes)
    if page.metadata is not None:
        notes += "".join(f"{name}: {clean(value)}\n" for name, value in page.metadata.to_json().items())
    how = "rendered" if page.rendered else f"fetched, HTTP {page.status}"
    outcome = f"{how}{'; truncated' if page.truncated else ''}"
    return ToolResult(
        outcome, f"{notes}\n{page.markdown}" if notes else page.markdown, page.url, max_chars=_max_chars(max_length)
    )


def _max_chars(max_length: int) -> int:
    return max_length + _OVERHEAD_CHARS if max_length else NO_LIMIT


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
    from bridge.session import View

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


async def _load(page: Page, address: str, deadline: Deadline) -> str:
    """Opens the page; its error status in our words, "" if it has none."""
    try:
        opened = await page.goto(address, timeout_s=deadline.remaining_s)
    except (NavigationFailed, DeadlineExceeded) as error:
        raise _Failed(page_load_failure(error, address)) from error
    return error_status(opened.status) if opened.status is not None and opened.status >= 400 else ""


async def _run(page: Page, javascript: str, max_length: int, client: ClientContext, deadline: Deadline) -> str:
    """The value of a script in the page's main world, promises awaited: a string unchanged, anything else as JSON."""
    attachment = await page.attached()
    expression = _AS_EXPRESSION.format(javascript.strip().rstrip(";"))
    limit = max_length + LONGEST + 1 if max_length else NO_LIMIT
    try:
        compiled = await attachment.call(
            "Runtime.compileScript",
            {"expression": expression, "sourceURL": "", "persistScript": False},
            timeout_s=deadline.remaining_s,
        )
        function = _AS_BODY.format(javascript) if "exceptionDetails" in compiled else expression
        params = {
            "expression": _TO_TEXT.format(function, limit),
            "awaitPromise": True,
            "returnByValue": True,
            "userGesture": True,
        }
        found = await attachment.evaluate_raw(params, timeout_s=deadline.remaining_s)
    except BridgeError as error:
        raise _Failed("JavaScript error: the script did not end", clean(error.message)) from error
    if details := found.get("exceptionDetails"):
        thrown: dict[str, Any] = details.get("exception") or {}
        message = str(thrown.get("description") or thrown.get("value") or details.get("text") or "unknown")
        raise _Failed(script_failure(message, javascript, page.url))
    value = str((found.get("result") or {}).get("value") or "")
    redacted, is_cut = client.server.secrets.redact_cut(value, max_length or len(value), has_more=len(value) >= limit)
    return f"{redacted}\n\n{truncation_notice(max_length)}" if is_cut else redacted


async def _screenshot(client: ClientContext, page: Page, full_page: bool, status: str) -> ToolResult:
    client.report_progress("taking the screenshot")
    try:
        redact = client.server.secrets.redactor
        screenshot = await page.screenshot(full_page=full_page, redact=redact, on_progress=client.report_count)
        path = await asyncio.to_thread(_saved, client.server.cache_folder, screenshot.image_bytes)
        picture = await asyncio.to_thread(picture_for_model, screenshot.image_bytes, screenshot.format)
    except OSError as error:
        raise _Failed(f"Screenshot failed: the picture was not saved: {error.strerror}") from error
    except (CaptureFailed, DeadlineExceeded) as error:
        raise _Failed(f"Screenshot failed: {error.code}", clean(error.message)) from error
    client.page_notes += screenshot.notices
    if status:
        client.notes.append(status)
    if picture.notes:
        client.notes.append(f"the image beside this text is smaller than the file: {', '.join(picture.notes)}")
    return ToolResult("", page_url=page.url, image=picture.image, fields={"image_path": str(path)})


async def _extracted(page: Page, max_length: int, client: ClientContext, status: str) -> ToolResult:
    try:
        found = await page.read(max_length=max_length, redact=client.server.secrets.redact)
    except BridgeError as error:
        raise _Failed(f"Extraction failed: {error.code}", clean(error.message)) from error
    note = "" if found.markdown.strip() else "The page has no text to extract."
    return ToolResult(
        "\n".join(filter(None, [status, note])), found.markdown, found.url, max_chars=_max_chars(max_length)
    )


def _saved(folder: Path, image_bytes: bytes) -> Path:
    """The path of the saved screenshot, readable only by its owner."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    _delete_old(folder, _KEEP_BYTES - len(image_bytes))
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


def _delete_old(folder: Path, room_bytes: int) -> None:
    """Deletes pictures of more than a day ago, and the oldest ones beyond `room_bytes`."""
    found = [(path, path.stat()) for path in folder.glob(_PICTURES) if path.is_file() and not path.is_symlink()]
    found.sort(key=lambda item: item[1].st_mtime, reverse=True)
    oldest_s = time.time() - _KEEP_S
    for path, stat in found:
        room_bytes -= stat.st_size
        if room_bytes < 0 or stat.st_mtime < oldest_s:
            path.unlink(missing_ok=True)
