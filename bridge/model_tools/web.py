"""The set `web`: nineteen tools that open pages, read them and act on elements by ref."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from bridge.errors import BridgeError, UsageError
from bridge.model_tools.client_context import ClientContext
from bridge.model_tools.declaration import ToolSet
from bridge.model_tools.tool_result import Image, ToolResult
from bridge.ops.secrets import LONGEST
from bridge.snapshot.escape import quoted, url_token

if TYPE_CHECKING:
    from bridge.page.page import Page

WEB = ToolSet("web")

Ref = Annotated[
    str,
    Field(
        pattern=r"^@?e[1-9][0-9]{0,8}$",
        description="Ref of an element in the latest results, such as e5.",
    ),
]
Url = Annotated[str, Field(min_length=1, max_length=8_192, description="An absolute http or https URL.")]
Text = Annotated[str, Field(min_length=1, max_length=500)]
_SNAPSHOT_CHARS = 10_000
_READ_CHARS = 10_000
_MAX_WAIT_S = 60.0
_NAME_CHARS = 200


@WEB.tool(title="Open a page", effect="navigate")
async def web_open(
    client: ClientContext,
    url: Url,
    new_tab: Annotated[bool, Field(description="Open it in a new tab instead of the current one.")] = False,
) -> ToolResult:
    """Open a URL in the mobile browser and wait until it has loaded. The result is a snapshot of the page: its
    interactive elements, each with a ref such as e5 that the other tools take."""
    address = await client.server.egress.check_url(url)
    is_new = new_tab or (await client.tabs()).current is None
    page = await client.new_page() if is_new else await client.page()
    client.report_progress(f"opening {address[:200]}")
    try:
        return await client.navigation_result(page, await page.goto(address))
    except BridgeError:
        if is_new:  # a failed call leaves no tab: it may be repeated
            await (await client.tabs()).close(page)
        raise


@WEB.tool(title="Snapshot of the page", effect="observe")
async def web_snapshot(
    client: ClientContext,
    interactive_only: Annotated[
        bool, Field(description="Only interactive elements and what contains them; false also shows all text.")
    ] = True,
    scope: Annotated[Text | None, Field(description="Only the subtree of this ref or CSS selector.")] = None,
    more: Annotated[Text | None, Field(description="Continue a truncated snapshot at its more= ref.")] = None,
) -> ToolResult:
    """The current page as a short tree of roles, names and refs. Results of other tools already show what changed;
    take a snapshot when you need the whole page again."""
    page, scope = await client.page(), client.server.secrets.checked_selector(scope)
    shot = await page.snapshot(interactive_only=interactive_only, scope=scope, more=more, max_chars=_SNAPSHOT_CHARS)
    return ToolResult("", shot.text, shot.url)


@WEB.tool(title="Click", effect="act")
async def web_click(client: ClientContext, ref: Ref) -> ToolResult:
    """Tap an element. The result shows what changed, or the new page if the tap navigated."""
    return await client.act(lambda page: page.click(ref))


@WEB.tool(title="Fill", effect="act")
async def web_fill(
    client: ClientContext,
    ref: Ref,
    value: Annotated[
        str,
        Field(max_length=100_000, description="The new value, or secret:NAME for a secret of the operator."),
    ],
) -> ToolResult:
    """Replace the value of a text field, text area, date input, slider or editable element."""
    return await client.act(lambda page: page.fill(ref, client.server.secrets.revealed_at(value, page, ref)))


@WEB.tool(title="Choose options", effect="act")
async def web_select(
    client: ClientContext,
    ref: Ref,
    values: Annotated[
        list[Annotated[str, Field(max_length=1_000)]],
        Field(min_length=1, max_length=200, description="Visible texts or values of the options."),
    ],
) -> ToolResult:
    """Choose one or more options of a list or combobox."""
    return await client.act(lambda page: page.select(ref, values))


@WEB.tool(title="Check", effect="act")
async def web_check(client: ClientContext, ref: Ref) -> ToolResult:
    """Turn on a checkbox, radio button or switch. Does nothing if it is on."""
    return await client.act(lambda page: page.check(ref))


@WEB.tool(title="Uncheck", effect="act")
async def web_uncheck(client: ClientContext, ref: Ref) -> ToolResult:
    """Turn off a checkbox or switch. Does nothing if it is off."""
    return await client.act(lambda page: page.uncheck(ref))


@WEB.tool(title="Scroll", effect="act")
async def web_scroll(
    client: ClientContext,
    direction: Annotated[Literal["up", "down", "left", "right"], Field(description="Direction to scroll in.")],
    amount: Annotated[float, Field(gt=0, le=100_000, description="CSS pixels.")] = 300,
    ref: Annotated[Ref | None, Field(description="Scroll the area that contains this element.")] = None,
) -> ToolResult:
    """Scroll the page, or the area around an element, by CSS pixels; no touch events are sent. Not needed before an
    action: actions scroll their element into view."""
    return await client.act(lambda page: page.scroll(direction, amount, ref=ref))


@WEB.tool(title="Press a key", effect="act")
async def web_press_key(
    client: ClientContext,
    key: Annotated[str, Field(min_length=1, max_length=60, description="Enter, Escape, ArrowDown, a, Control+A, …")],
    ref: Annotated[Ref | None, Field(description="Focus this element first.")] = None,
) -> ToolResult:
    """Press a key or a key combination."""
    return await client.act(lambda page: page.press(key, ref=ref))


@WEB.tool(title="Get text", effect="observe")
async def web_get_text(
    client: ClientContext,
    ref: Ref,
    max_length: Annotated[int, Field(ge=1, le=10_000, description="Maximum number of characters.")] = 2_000,
) -> ToolResult:
    """All visible text of one element."""
    page = await client.page()
    found = await page.query(ref, "text", max_length + LONGEST)
    text, is_cut = client.server.secrets.redact_cut(str(found.value or ""), max_length, has_more=found.truncated)
    return ToolResult(f"text of {found.ref}{' (truncated)' if is_cut else ''}", text, page.url)


@WEB.tool(title="Get value", effect="observe")
async def web_get_value(client: ClientContext, ref: Ref) -> ToolResult:
    """The current value of a form control. The value of a password field is not shown."""
    page = await client.page()
    found = await page.query(ref, "value", _READ_CHARS + LONGEST)
    if found.value is None:
        return ToolResult(f"{found.ref} has no value to show: it is not a form control, or it is a password field")
    value, is_cut = client.server.secrets.redact_cut(str(found.value), _READ_CHARS, has_more=found.truncated)
    return ToolResult(f"value of {found.ref}{' (truncated)' if is_cut else ''}", value, page.url)


@WEB.tool(title="Read the page", effect="observe")
async def web_read(
    client: ClientContext,
    mode: Annotated[
        Literal["main_content", "article", "raw"], Field(description="raw also includes navigation and footers.")
    ] = "main_content",
    max_length: Annotated[int, Field(ge=1, le=_READ_CHARS, description="Maximum number of characters.")] = 8_000,
    outline: Annotated[bool, Field(description="Only the headings, with their anchors.")] = False,
    section: Annotated[Text | None, Field(description="Only the section whose heading contains this text.")] = None,
) -> ToolResult:
    """The text of the current page as Markdown, without menus and ads. Links have refs that web_click takes. For a long
    page get the outline first, then its sections."""
    page = await client.page()
    redact = client.server.secrets.redact
    found = await page.read(
        mode=mode, max_length=max_length, outline=outline, section=section, links="ref", redact=redact
    )
    cuts = "; truncated: use outline and section to read the rest" if found.truncated else ""
    hidden = f"; {found.hidden_text_removed} hidden texts removed" if found.hidden_text_removed else ""
    nothing = "" if found.markdown.strip() else "; the page has no readable text"
    return ToolResult(f"read as {found.kind}{cuts}{hidden}{nothing}", found.markdown, found.url)


@WEB.tool(title="Take a screenshot", effect="observe")
async def web_screenshot(
    client: ClientContext,
    full_page: Annotated[bool, Field(description="The whole page instead of the visible part.")] = False,
    ref: Annotated[Ref | None, Field(description="Only this element.")] = None,
    annotate: Annotated[bool, Field(description="Draw a box with its ref around each interactive element.")] = False,
) -> ToolResult:
    """A screenshot of the page. A snapshot is shorter and has refs; take a screenshot for what text cannot show."""
    page = await client.page()
    client.report_progress("taking the screenshot")
    screenshot = await page.screenshot(
        full_page=full_page,
        ref=ref,
        annotate=annotate,
        redact=client.server.secrets.redactor,
        on_progress=client.report_count,
    )
    legend = "\n".join(f"{box.ref}: {box.role} {quoted(box.name, _NAME_CHARS)}" for box in screenshot.legend)
    cuts = "; truncated: the page continues below" if screenshot.truncated else ""
    size = f"{screenshot.width_px}×{screenshot.height_px} px{cuts}"
    return ToolResult(size, legend, page.url, image=Image(screenshot.image_bytes, f"image/{screenshot.format}"))


@WEB.tool(title="Wait", effect="observe")
async def web_wait(
    client: ClientContext,
    text: Annotated[Text | None, Field(description="Until the page shows this text.")] = None,
    role: Annotated[Text | None, Field(description="Until the page has an element with this ARIA role.")] = None,
    name: Annotated[Text | None, Field(description="With role: the accessible name of that element.")] = None,
    gone: Annotated[Text | None, Field(description="Until no visible element matches this CSS selector.")] = None,
    url: Annotated[Text | None, Field(description="Until the URL matches this glob, such as **/checkout.")] = None,
    timeout_seconds: Annotated[float, Field(gt=0, le=_MAX_WAIT_S, description="Maximum time to wait.")] = 10,
) -> ToolResult:
    """Wait for one condition: give text, role, gone or url. Actions already wait until the page settles; use this for
    changes that take longer."""
    if sum(given is not None for given in (text, role, gone, url)) != 1:
        raise UsageError("web_wait takes one condition", hint="Give one of text, role, gone and url.")
    page, secrets = await client.page(), client.server.secrets
    client.report_progress("waiting")
    before, gone = page.last_snapshot, secrets.checked_selector(gone)
    met = await page.wait_for(
        text=text, role=role, name=name, gone=gone, url=url, redact=secrets.redactor, timeout_s=timeout_seconds
    )
    shot = await page.snapshot(delta=before is not None, max_chars=_SNAPSHOT_CHARS)
    return ToolResult(f"met after {met.waited_ms / 1000:.1f} s", shot.text, shot.url)


@WEB.tool(title="Go back", effect="navigate")
async def web_back(client: ClientContext) -> ToolResult:
    """Go back one step in the tab's history. The result is a snapshot of that page."""
    page = await client.page()
    client.report_progress("going back")
    return await client.navigation_result(page, await page.back())


@WEB.tool(title="Tabs", effect="navigate")
async def web_tabs(
    client: ClientContext,
    action: Annotated[Literal["list", "select", "close"], Field(description="Action.")] = "list",
    tab: Annotated[
        Text | None, Field(description="Tab id such as t2. Required to select; close defaults to the current tab.")
    ] = None,
) -> ToolResult:
    """List the open tabs, switch to one, or close one. web_open with new_tab opens a tab."""
    tabs = await client.tabs()
    if action == "select":
        if tab is None:
            raise UsageError("web_tabs: select requires a tab", hint='Such as tab="t2".')
        page = tabs.choose(tab)
        shot = await page.snapshot(max_chars=_SNAPSHOT_CHARS)
        return ToolResult(f"{tab} is the current tab", shot.text, shot.url)
    closed = ""
    if action == "close":
        page = await client.page() if tab is None else tabs.find(tab)
        await tabs.close(page)
        closed = f"closed {page.tab_id}; "
    rows = [_row(page, is_current=page is tabs.current) for page in tabs.pages]
    return ToolResult(f"{closed}{len(rows)} open", "\n".join(rows))


def _row(page: Page, *, is_current: bool) -> str:
    mark = " (current)" if is_current else ""
    return f"{page.tab_id}{mark} {url_token(page.url)[:300]} {quoted(page.title, 100)}"


@WEB.tool(title="Find on the page", effect="observe")
async def web_find(
    client: ClientContext, text: Annotated[Text, Field(description="Text to look for; case does not matter.")]
) -> ToolResult:
    """Find text on the current page: the matching elements with refs and what contains them. web_snapshot with scope
    shows more of their surroundings."""
    page = await client.page()
    redact = client.server.secrets.redactor
    shot = await page.snapshot(interactive_only=False, find=text, redact=redact, max_chars=_SNAPSHOT_CHARS)
    return ToolResult("", shot.text, shot.url)


@WEB.tool(title="Upload files", effect="file")
async def web_upload(
    client: ClientContext,
    ref: Ref,
    paths: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=4_096)]],
        Field(min_length=1, max_length=20, description="Paths inside the operator's uploads folder."),
    ],
) -> ToolResult:
    """Set the files of a file input, or drop files on an element."""
    return await client.act(lambda page: page.upload(ref, paths))


@WEB.tool(title="Download a file", effect="file")
async def web_download(
    client: ClientContext,
    dest_path: Annotated[
        str, Field(min_length=1, max_length=4_096, description="New path inside the operator's downloads folder.")
    ],
    url: Annotated[Url | None, Field(description="URL to fetch with the page's cookies.")] = None,
    ref: Annotated[Ref | None, Field(description="Element that starts the download when tapped.")] = None,
) -> ToolResult:
    """Download a file by its URL or by tapping an element: give url or ref."""
    if url is not None:
        # A page may create data: and blob: addresses; an address from a model is subject to the policy.
        url = await client.server.egress.check_url(url)
    page = await client.page()
    client.report_progress("downloading")
    saved = await page.download(dest_path, url=url, ref=ref)
    kind = f"type: {saved.mime}" if saved.mime else ""
    return ToolResult(f"saved {dest_path}: {saved.size_bytes} bytes", kind, saved.url)
