"""The set `web`: nineteen tools that open pages, look at them and act on them by ref."""

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
    str, Field(pattern=r"^@?e[1-9][0-9]{0,8}$", description="The ref of an element as the last answers showed it: e5.")
]
Url = Annotated[str, Field(min_length=1, max_length=8_192, description="An absolute http or https URL.")]
Words = Annotated[str, Field(min_length=1, max_length=500)]
_SNAPSHOT_CHARS = 10_000
_READ_CHARS = 10_000
_MAX_WAIT_S = 60.0
_NAME_CHARS = 200


@WEB.tool(title="Open a page", effect="navigate")
async def web_open(
    desk: ClientContext,
    url: Url,
    new_tab: Annotated[bool, Field(description="Open it in another tab; otherwise in the current one.")] = False,
) -> ToolResult:
    """Open a URL in the mobile browser and wait until it has loaded. The answer shows the page as a snapshot: its
    interactive elements, each with a ref such as e5 that the other tools take."""
    address = await desk.house.egress.check_url(url)
    await desk.session()
    is_new = new_tab or desk.current_tab is None
    page = await desk.new_page() if is_new else await desk.page()
    desk.say(f"opening {address[:200]}")
    try:
        return await desk.arrived(page, await page.goto(address))
    except BridgeError:
        if is_new:  # a call that failed leaves no tab: it may be sent again
            await desk.close(page)
        raise


@WEB.tool(title="Look at the page", effect="observe")
async def web_snapshot(
    desk: ClientContext,
    interactive_only: Annotated[
        bool, Field(description="Only what can be acted on and where it stands; false also shows all text.")
    ] = True,
    scope: Annotated[Words | None, Field(description="Only what is below this ref or CSS selector.")] = None,
    more: Annotated[Words | None, Field(description="A ref that a truncated snapshot named after more=.")] = None,
) -> ToolResult:
    """The current page as a short tree of roles, names and refs. Answers of other tools already show what changed;
    take one when you have lost sight of the page."""
    page, scope = await desk.page(), desk.house.secrets.checked_selector(scope)
    shot = await page.snapshot(interactive_only=interactive_only, scope=scope, more=more, max_chars=_SNAPSHOT_CHARS)
    return ToolResult("", shot.text, shot.url)


@WEB.tool(title="Click", effect="act")
async def web_click(desk: ClientContext, ref: Ref) -> ToolResult:
    """Tap an element. The answer tells what changed, or shows the new page when it navigated."""
    return await desk.act(lambda page: page.click(ref))


@WEB.tool(title="Fill in", effect="act")
async def web_fill(
    desk: ClientContext,
    ref: Ref,
    value: Annotated[
        str,
        Field(max_length=100_000, description="The new value; secret:NAME fills in one that the operator gave."),
    ],
) -> ToolResult:
    """Replace what a text field, text area, date, slider or editable element holds."""
    return await desk.act(lambda page: page.fill(ref, desk.house.secrets.revealed_at(value, page, ref)))


@WEB.tool(title="Choose options", effect="act")
async def web_select(
    desk: ClientContext,
    ref: Ref,
    values: Annotated[
        list[Annotated[str, Field(max_length=1_000)]],
        Field(min_length=1, max_length=200, description="The options' visible texts or values."),
    ],
) -> ToolResult:
    """Choose one or several options of a list or combobox."""
    return await desk.act(lambda page: page.select(ref, values))


@WEB.tool(title="Check", effect="act")
async def web_check(desk: ClientContext, ref: Ref) -> ToolResult:
    """Turn a checkbox, radio button or switch on; one that is on stays on."""
    return await desk.act(lambda page: page.check(ref))


@WEB.tool(title="Uncheck", effect="act")
async def web_uncheck(desk: ClientContext, ref: Ref) -> ToolResult:
    """Turn a checkbox or switch off; one that is off stays off."""
    return await desk.act(lambda page: page.uncheck(ref))


@WEB.tool(title="Scroll", effect="act")
async def web_scroll(
    desk: ClientContext,
    direction: Annotated[Literal["up", "down", "left", "right"], Field(description="Where to.")],
    amount: Annotated[float, Field(gt=0, le=100_000, description="CSS pixels.")] = 300,
    ref: Annotated[Ref | None, Field(description="Scroll what this element is in; otherwise the page.")] = None,
) -> ToolResult:
    """Scroll by a finger's drag. Refs outside of the view need no scrolling: actions bring them into view."""
    return await desk.act(lambda page: page.scroll(direction, amount, ref=ref))


@WEB.tool(title="Press a key", effect="act")
async def web_press_key(
    desk: ClientContext,
    key: Annotated[str, Field(min_length=1, max_length=60, description="Enter, Escape, ArrowDown, a, Control+A …")],
    ref: Annotated[Ref | None, Field(description="Focus this element first; otherwise what has the focus.")] = None,
) -> ToolResult:
    """Press one key or a chord."""
    return await desk.act(lambda page: page.press(key, ref=ref))


@WEB.tool(title="Text of an element", effect="observe")
async def web_get_text(
    desk: ClientContext,
    ref: Ref,
    max_length: Annotated[int, Field(ge=1, le=10_000, description="Characters at most.")] = 2_000,
) -> ToolResult:
    """All visible text of one element."""
    page = await desk.page()
    found = await page.query(ref, "text", max_length + LONGEST)
    text, is_cut = desk.house.secrets.redact_cut(str(found.value or ""), max_length, has_more=found.truncated)
    return ToolResult(f"text of {found.ref}{' (truncated)' if is_cut else ''}", text, page.url)


@WEB.tool(title="Value of a control", effect="observe")
async def web_get_value(desk: ClientContext, ref: Ref) -> ToolResult:
    """What a form control holds now. A password is not told."""
    page = await desk.page()
    found = await page.query(ref, "value", _READ_CHARS + LONGEST)
    if found.value is None:
        return ToolResult(f"{found.ref} has no value that is told: it is no control, or a password")
    value, is_cut = desk.house.secrets.redact_cut(str(found.value), _READ_CHARS, has_more=found.truncated)
    return ToolResult(f"value of {found.ref}{' (truncated)' if is_cut else ''}", value, page.url)


@WEB.tool(title="Read the page", effect="observe")
async def web_read(
    desk: ClientContext,
    mode: Annotated[
        Literal["main_content", "article", "raw"], Field(description="raw includes navigation and footers.")
    ] = "main_content",
    max_length: Annotated[int, Field(ge=1, le=_READ_CHARS, description="Characters at most.")] = 8_000,
    outline: Annotated[bool, Field(description="Only the headings, with their anchors.")] = False,
    section: Annotated[Words | None, Field(description="Only what is below the heading with these words.")] = None,
) -> ToolResult:
    """The current page's text as Markdown, without menus and ads; links carry refs that can be clicked. For a long
    page take the outline first and then its sections."""
    page = await desk.page()
    redact = desk.house.secrets.redact
    found = await page.read(
        mode=mode, max_length=max_length, outline=outline, section=section, links="ref", redact=redact
    )
    cuts = "; truncated, so read it by section" if found.truncated else ""
    hidden = f"; {found.hidden_text_removed} hidden texts left out" if found.hidden_text_removed else ""
    nothing = "" if found.markdown.strip() else "; there is no text to read here"
    return ToolResult(f"read as {found.kind}{cuts}{hidden}{nothing}", found.markdown, found.url)


@WEB.tool(title="Take a screenshot", effect="observe")
async def web_screenshot(
    desk: ClientContext,
    full_page: Annotated[bool, Field(description="The whole page and not only what is in view.")] = False,
    ref: Annotated[Ref | None, Field(description="Only this element.")] = None,
    annotate: Annotated[bool, Field(description="Draw a box with its ref around each interactive element.")] = False,
) -> ToolResult:
    """A picture of the page. A snapshot is shorter and has refs: take a picture for what text does not tell."""
    page = await desk.page()
    desk.say("taking the picture")
    picture = await page.screenshot(
        full_page=full_page,
        ref=ref,
        annotate=annotate,
        redact=desk.house.secrets.redactor,
        on_progress=desk.count_up,
    )
    legend = "\n".join(f"{box.ref}: {box.role} {quoted(box.name, _NAME_CHARS)}" for box in picture.legend)
    cuts = "; the page goes on below" if picture.truncated else ""
    said = f"{picture.width_px}×{picture.height_px} px{cuts}"
    return ToolResult(said, legend, page.url, image=Image(picture.image_bytes, f"image/{picture.format}"))


@WEB.tool(title="Wait", effect="observe")
async def web_wait(
    desk: ClientContext,
    text: Annotated[Words | None, Field(description="Until this text is on the page.")] = None,
    role: Annotated[Words | None, Field(description="Until an element of this ARIA role is there.")] = None,
    name: Annotated[Words | None, Field(description="With role: its accessible name.")] = None,
    gone: Annotated[Words | None, Field(description="Until nothing visible matches this CSS selector.")] = None,
    url: Annotated[Words | None, Field(description="Until the address matches this glob: **/checkout.")] = None,
    timeout_seconds: Annotated[float, Field(gt=0, le=_MAX_WAIT_S, description="How long at most.")] = 10,
) -> ToolResult:
    """Wait for one thing: give text, role, gone or url. Actions already wait until the page is quiet; this is for what
    takes longer."""
    if sum(given is not None for given in (text, role, gone, url)) != 1:
        raise UsageError("web_wait waits for one thing", hint="Give one of text, role, gone and url.")
    page, secrets = await desk.page(), desk.house.secrets
    desk.say("waiting")
    before, gone = page.last_snapshot, secrets.checked_selector(gone)
    met = await page.wait_for(
        text=text, role=role, name=name, gone=gone, url=url, redact=secrets.redactor, timeout_s=timeout_seconds
    )
    shot = await page.snapshot(delta=before is not None, max_chars=_SNAPSHOT_CHARS)
    return ToolResult(f"met after {met.waited_ms / 1000:.1f} s", shot.text, shot.url)


@WEB.tool(title="Go back", effect="navigate")
async def web_back(desk: ClientContext) -> ToolResult:
    """One step back in the tab's history. The answer shows the page there."""
    page = await desk.page()
    desk.say("going back")
    return await desk.arrived(page, await page.back())


@WEB.tool(title="Tabs", effect="navigate")
async def web_tabs(
    desk: ClientContext,
    action: Annotated[Literal["list", "select", "close"], Field(description="What to do.")] = "list",
    tab: Annotated[
        Words | None, Field(description="Which tab, such as t2: needed to select; otherwise the current one.")
    ] = None,
) -> ToolResult:
    """List the open tabs, go to one of them, or close one. web_open with new_tab opens one."""
    if action == "select":
        if tab is None:
            raise UsageError("web_tabs: select needs the tab", hint='Name it: tab="t2".')
        page = await desk.choose(tab)
        shot = await page.snapshot(max_chars=_SNAPSHOT_CHARS)
        return ToolResult(f"{tab} is the current tab", shot.text, shot.url)
    said = ""
    if action == "close":
        page = await desk.page() if tab is None else await desk.choose(tab)
        await desk.close(page)
        said = f"closed {page.tab_id}; "
    pages = await desk.pages()
    current = desk.current_tab
    rows = [_row(page, current) for page in pages]
    return ToolResult(f"{said}{len(rows)} open", "\n".join(rows))


def _row(page: Page, current: str | None) -> str:
    mark = " (current)" if page.tab_id == current else ""
    return f"{page.tab_id}{mark} {url_token(page.url)[:300]} {quoted(page.title, 100)}"


@WEB.tool(title="Find on the page", effect="observe")
async def web_find(
    desk: ClientContext, text: Annotated[Words, Field(description="Words to look for, in any case.")]
) -> ToolResult:
    """The parts of the current page with these words, with refs and with what they stand in; web_snapshot with scope
    shows the rest of that."""
    page = await desk.page()
    redact = desk.house.secrets.redactor
    shot = await page.snapshot(interactive_only=False, find=text, redact=redact, max_chars=_SNAPSHOT_CHARS)
    return ToolResult("", shot.text, shot.url)


@WEB.tool(title="Upload files", effect="file")
async def web_upload(
    desk: ClientContext,
    ref: Ref,
    paths: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=4_096)]],
        Field(min_length=1, max_length=20, description="Paths below the operator's uploads folder."),
    ],
) -> ToolResult:
    """Give files to a file input, or drop them on an element."""
    return await desk.act(lambda page: page.upload(ref, paths))


@WEB.tool(title="Download a file", effect="file")
async def web_download(
    desk: ClientContext,
    dest_path: Annotated[
        str, Field(min_length=1, max_length=4_096, description="A new path below the operator's downloads folder.")
    ],
    url: Annotated[Url | None, Field(description="What to fetch, with the page's cookies.")] = None,
    ref: Annotated[Ref | None, Field(description="The element whose tap starts the download.")] = None,
) -> ToolResult:
    """Save a file, by its URL or by tapping what downloads it: give one of url and ref."""
    if url is not None:
        # A page may make its own data: and blob: addresses; a model's are judged like any other.
        url = await desk.house.egress.check_url(url)
    page = await desk.page()
    desk.say("downloading")
    saved = await page.download(dest_path, url=url, ref=ref)
    kind = f"its type: {saved.mime}" if saved.mime else ""
    return ToolResult(f"saved {dest_path}: {saved.size_bytes} bytes", kind, saved.url)
