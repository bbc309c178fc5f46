"""The sets `web` and `extra`: tools that open pages, read them and act on elements."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from bridge.errors import ActionFailed, BridgeError, UsageError
from bridge.model_tools.client_context import ClientContext
from bridge.model_tools.declaration import ToolSet
from bridge.model_tools.pictures import picture_for_model
from bridge.model_tools.tool_result import MAX_RESULT_CHARS, NO_LIMIT, ToolResult
from bridge.ops.loose_numbers import LooseNumber
from bridge.ops.secrets import LONGEST
from bridge.page.snapshots.refs import parse_ref
from bridge.page.target.dialogs import next_answer
from bridge.page.verbs import VERBS, Argument, Verb
from bridge.snapshot.escape import cut, quoted, url_token
from bridge.snapshot.roles import INTERACTIVE_ROLES

if TYPE_CHECKING:
    from bridge.page.logs.console import ConsoleLog
    from bridge.page.logs.request_log import RequestLog
    from bridge.page.page import Page

WEB = ToolSet("web")
#: What few tasks need.
EXTRA = ToolSet("extra")

Ref = Annotated[
    str,
    Field(
        pattern=r"^@?e[1-9][0-9]{0,8}$",
        description="Ref such as e5.",
    ),
]
Url = Annotated[str, Field(min_length=1, max_length=8_192, description="An absolute http or https URL.")]
Text = Annotated[str, Field(min_length=1, max_length=500)]
_SNAPSHOT_CHARS = 10_000
_READ_CHARS = 10_000
_MAX_WAIT_S = 60.0
_NAME_CHARS = 200
_LINE_CHARS = 500
_EVERYTHING = 1_000_000
_LOG_ENTRIES = 50
_EXTRA_VERBS = ("hover", "drag")
_PAST = {"accept": "accepted", "dismiss": "dismissed"}


@WEB.tool(title="Open a page", effect="navigate")
async def web_open(
    client: ClientContext,
    url: Url,
    new_tab: Annotated[bool, Field(description="In a new tab.")] = False,
) -> ToolResult:
    """Open a URL in the mobile browser. The result is a snapshot: the controls, each with a ref such as e5."""
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
        bool, Field(description="Controls, and the headings and landmarks around them; false adds the text.")
    ] = True,
    scope: Annotated[Text | None, Field(description="Only below this ref or CSS selector.")] = None,
    more: Annotated[Text | None, Field(description="Continue at a more= ref.")] = None,
) -> ToolResult:
    """The page as a short tree of roles, names and refs. Results of other tools show what changed."""
    page, scope = await client.page(), client.server.secrets.checked_selector(scope)
    shot = await page.snapshot(
        interactive_only=interactive_only,
        text=not interactive_only,
        scope=scope,
        more=more,
        max_chars=_SNAPSHOT_CHARS,
    )
    return ToolResult("", shot.text, shot.url)


@WEB.tool(title="Click", effect="act")
async def web_click(
    client: ClientContext,
    ref: Annotated[Ref | None, Field(description="Ref of the element.")] = None,
    text: Annotated[Text | None, Field(description="Instead: words that only one element has.")] = None,
    x: Annotated[float | None, Field(description="Instead: a point of the last web_screenshot, in its pixels.")] = None,
    y: Annotated[float | None, Field(description="With x.")] = None,
) -> ToolResult:
    """Tap an element. The result shows what changed, or the new page if the tap navigated."""
    if [ref is None, text is None, x is None and y is None].count(False) != 1 or (x is None) != (y is None):
        raise UsageError("web_click takes one target", hint="Give ref, or text, or x and y.")
    page = await client.page()
    if text is not None:
        ref = await _ref_with_text(client, page, text)
    if x is not None and y is not None:
        ref = client.ref_at(page, x, y)
    return await client.act("click", ref)


async def _ref_with_text(client: ClientContext, page: Page, text: str) -> str:
    """The only element with this text in its name; of several, the only control, then the only one with just it."""
    shot = await page.snapshot(interactive_only=False, find=text, redact=client.server.secrets.redactor)
    wanted = " ".join(text.split()).casefold()
    redact = client.server.secrets.redact
    found = [node for node in shot.refs.values() if wanted in redact(node.name).casefold()]
    for fits in (lambda node: node.role in INTERACTIVE_ROLES, lambda node: node.name.casefold() == wanted):
        if len(found) > 1:
            found = [node for node in found if fits(node)] or found
    if len(found) == 1:
        return found[0].ref
    several = "; ".join(f"{node.ref}: {node.role} {quoted(node.name, 80)}" for node in found[:8])
    raise ActionFailed(
        f"{len(found)} elements have this text: {several}" if found else "no element has this text.",
        hint="Give the ref of one of them."
        if found
        else "web_find searches all text; web_snapshot shows the controls.",
    )


def _declare_verb(verb: Verb) -> None:
    """Declare the tool of a verb, with the verb's arguments."""
    fields: dict[str, Any] = {}
    if verb.takes_element == "always":
        fields["ref"] = (Ref, ...)
    for argument in verb.arguments:
        info = Field(... if argument.default is None else argument.default, description=argument.description)
        fields[argument.name] = (_annotation(argument), info)
    if verb.takes_element == "optionally":
        fields["ref"] = (Ref | None, Field(None, description="Of this element."))

    async def run(client: ClientContext, **given: Any) -> ToolResult:
        return await client.act(verb.name, given.pop("ref", None), given)

    assert verb.tool
    run.__name__, title = verb.tool
    run.__doc__ = f"{verb.summary} {verb.more}".strip()
    (EXTRA if verb.name in _EXTRA_VERBS else WEB).declare(run, fields, title=title, effect=verb.effect)


def _annotation(argument: Argument) -> Any:
    """The type of an argument, with its limits."""
    item = Annotated[str, Field(max_length=argument.max_chars)]
    if argument.choices:
        return Literal[argument.choices]
    if argument.kind == "number":
        return Annotated[float, LooseNumber, Field(gt=0, le=100_000)]
    if argument.kind in ("texts", "files"):
        return Annotated[list[item], Field(min_length=1, max_length=200)]
    return Ref if argument.kind == "ref" else item


for _verb in VERBS.values():
    if _verb.tool and _verb.name != "click":
        _declare_verb(_verb)


@WEB.tool(title="Fill in a form", effect="act")
async def web_fill_form(
    client: ClientContext,
    fields: Annotated[
        list[Annotated[str, Field(max_length=100_100)]],
        Field(min_length=1, max_length=50, description="One e5=value per control; true or false for a checkbox."),
    ],
) -> ToolResult:
    """Fill in several controls of a form in order: text, choices, checkboxes."""
    page = await client.page()
    shown = page.last_snapshot
    done: list[ToolResult] = []
    for field in fields:
        given, _, value = field.partition("=")
        ref = parse_ref(given.strip())
        node = shown.refs.get(ref) if shown is not None else None
        verb, arguments = _form_verb(node.role if node is not None else "", node.tag if node is not None else "", value)
        try:
            done.append(await client.act(verb, ref, arguments))
        except BridgeError as error:
            if done:
                filled = ", ".join(field.split("=", 1)[0] for field in fields[: len(done)])
                error.hint = f"{error.hint} {filled} are filled in; the rest is not.".strip()
            raise
    changes = "\n".join(result.page_text for result in done if result.page_text != "no change")
    return ToolResult("\n".join(result.text for result in done), changes, done[-1].page_url)


def _form_verb(role: str, tag: str, value: str) -> tuple[str, dict[str, Any]]:
    """The verb that gives a control of that role this value, and its arguments."""
    if role in ("checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio"):
        if value.lower() not in ("true", "false"):
            raise UsageError(f"a {role} takes true or false, not {value[:40]!r}")
        return ("check" if value.lower() == "true" else "uncheck"), {}
    if tag == "select":
        return "select", {"values": [value]}
    return "fill", {"value": value}


@WEB.tool(title="Answer the next dialog", effect="act")
async def web_dialog(
    client: ClientContext,
    action: Annotated[Literal["accept", "dismiss"], Field(description="Answer.")],
    text: Annotated[str | None, Field(max_length=10_000, description="Text for a prompt.")] = None,
) -> ToolResult:
    """Answer the page's next confirm or prompt, which are dismissed otherwise: call this, then repeat the action that
    opened it. The action's result quotes the dialog."""
    page = await client.page()
    if text is not None:
        text = client.server.secrets.revealed(text, page.url)
    page.answer_dialogs(next_answer(page.answer_dialogs, accept=action == "accept", text=text))
    return ToolResult(f"the next confirm or prompt will be {_PAST[action]}; repeat the action that opens it")


@WEB.tool(title="Get text", effect="observe")
async def web_get_text(
    client: ClientContext,
    ref: Ref,
    max_length: Annotated[int, Field(ge=0, le=10_000, description="Most characters; 0: all.")] = 2_000,
) -> ToolResult:
    """All visible text of one element."""
    page = await client.page()
    found = await page.query(ref, "text", max_length + LONGEST if max_length else 0)
    text = str(found.value or "")
    text, is_cut = client.server.secrets.redact_cut(text, max_length or len(text), has_more=found.truncated)
    outcome = f"text of {found.ref}{' (truncated)' if is_cut else ''}"
    return ToolResult(outcome, text, page.url, max_chars=MAX_RESULT_CHARS if max_length else NO_LIMIT)


@WEB.tool(title="Get value", effect="observe")
async def web_get_value(client: ClientContext, ref: Ref) -> ToolResult:
    """The value of a form control other than a password field."""
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
    max_length: Annotated[int, Field(ge=0, le=_READ_CHARS, description="Most characters; 0: all.")] = 8_000,
    outline: Annotated[bool, Field(description="Only the headings, with their anchors.")] = False,
    section: Annotated[Text | None, Field(description="Only the section with this heading.")] = None,
) -> ToolResult:
    """The text of the page as Markdown, without menus and ads. Links have refs. For a long page get the outline first,
    then its sections."""
    page = await client.page()
    redact = client.server.secrets.redact
    found = await page.read(
        mode=mode, max_length=max_length, outline=outline, section=section, links="ref", redact=redact
    )
    cuts = "; truncated: use outline and section to read the rest" if found.truncated else ""
    hidden = f"; {found.hidden_text_removed} hidden texts removed" if found.hidden_text_removed else ""
    nothing = "" if found.markdown.strip() else "; the page has no readable text"
    outcome = f"read as {found.kind}{cuts}{hidden}{nothing}"
    return ToolResult(outcome, found.markdown, found.url, max_chars=MAX_RESULT_CHARS if max_length else NO_LIMIT)


@WEB.tool(title="Take a screenshot", effect="observe")
async def web_screenshot(
    client: ClientContext,
    full_page: Annotated[bool, Field(description="The whole page.")] = False,
    ref: Annotated[Ref | None, Field(description="Only this element.")] = None,
    annotate: Annotated[bool, Field(description="Draw boxes with refs.")] = False,
) -> ToolResult:
    """A picture of the page, for what a snapshot cannot show."""
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
    picture = await asyncio.to_thread(picture_for_model, screenshot.image_bytes, screenshot.format)
    client.show_picture(page, screenshot, picture)
    cuts = ("truncated: the page continues below",) if screenshot.truncated else ()
    size = "; ".join([f"{picture.width_px}×{picture.height_px} px", *picture.notes, *cuts])
    return ToolResult(size, legend, page.url, image=picture.image)


@WEB.tool(title="Wait", effect="observe")
async def web_wait(
    client: ClientContext,
    text: Annotated[Text | None, Field(description="The page shows this text.")] = None,
    role: Annotated[Text | None, Field(description="An element has this ARIA role.")] = None,
    name: Annotated[Text | None, Field(description="With role: its name.")] = None,
    gone: Annotated[Text | None, Field(description="No visible element matches this CSS selector.")] = None,
    url: Annotated[Text | None, Field(description="The URL matches this glob, such as **/checkout.")] = None,
    timeout_seconds: Annotated[float, Field(gt=0, le=_MAX_WAIT_S, description="Longest wait.")] = 10,
) -> ToolResult:
    """Wait for one of text, role, gone or url. Actions already wait until the page settles."""
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
    """Go back one step in the tab's history."""
    page = await client.page()
    client.report_progress("going back")
    return await client.navigation_result(page, await page.go_back())


@EXTRA.tool(title="Go forward", effect="navigate")
async def web_forward(client: ClientContext) -> ToolResult:
    """Go forward one step in the tab's history."""
    page = await client.page()
    client.report_progress("going forward")
    return await client.navigation_result(page, await page.go_forward())


@WEB.tool(title="Tabs", effect="navigate")
async def web_tabs(
    client: ClientContext,
    action: Annotated[Literal["list", "select", "close"], Field(description="Action.")] = "list",
    tab: Annotated[Text | None, Field(description="Tab id such as t2.")] = None,
) -> ToolResult:
    """List the open tabs, switch to one, or close one."""
    tabs = await client.tabs()
    if action == "select":
        if tab is None:
            raise UsageError("web_tabs: select requires a tab", hint='Such as tab="t2".')
        page = tabs.choose(tab)
        shot = await page.snapshot(text=False, max_chars=_SNAPSHOT_CHARS)
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
    return f"{page.tab_id}{mark} {url_token(page.url)[:300]} {quoted(page.known_title, 100)}"


@WEB.tool(title="Find on the page", effect="observe")
async def web_find(client: ClientContext, text: Annotated[Text, Field(description="Text, in any case.")]) -> ToolResult:
    """Find text on the page: the elements with it and what contains them, with refs."""
    page = await client.page()
    redact = client.server.secrets.redactor
    shot = await page.snapshot(interactive_only=False, find=text, redact=redact, max_chars=_SNAPSHOT_CHARS)
    return ToolResult("", shot.text, shot.url)


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


@EXTRA.tool(title="Downloaded files", effect="observe")
async def web_downloads(client: ClientContext) -> ToolResult:
    """The files in the operator's downloads folder, newest first."""
    rows = await asyncio.to_thread(client.server.downloads.listing, _LOG_ENTRIES)
    return ToolResult(f"{len(rows)} files", "\n".join(f"{quoted(name, 300)} {size} bytes" for name, size in rows))


@EXTRA.tool(title="Console", effect="observe")
async def web_console(
    client: ClientContext,
    level: Annotated[
        Literal["debug", "info", "warning", "error"], Field(description="The least severe level.")
    ] = "info",
) -> ToolResult:
    """The newest console messages and uncaught errors of the tab."""
    page = await client.page()
    return _log(client, page, page.console(level=level, limit=_LOG_ENTRIES))


@EXTRA.tool(title="Network", effect="observe")
async def web_network(
    client: ClientContext,
    url: Annotated[Text | None, Field(description="Only URLs with this text, or that match this glob.")] = None,
    failed: Annotated[bool, Field(description="Only requests that failed.")] = False,
) -> ToolResult:
    """The newest requests of the tab: status, method, URL."""
    page, secrets = await client.page(), client.server.secrets
    if secrets.names and url is not None:  # a URL may hold a secret: searched as it is shown
        entries = page.network(failed=failed or None, limit=_EVERYTHING).entries
        lines = [
            line for line in map(secrets.redact_line, map(str, entries)) if url.strip("*").casefold() in line.casefold()
        ]
        return ToolResult(f"{len(lines[-_LOG_ENTRIES:])} entries", "\n".join(lines[-_LOG_ENTRIES:]), page.url)
    return _log(client, page, page.network(url=url, failed=failed or None, limit=_LOG_ENTRIES))


def _log(client: ClientContext, page: Page, log: ConsoleLog | RequestLog) -> ToolResult:
    lines = [cut(client.server.secrets.redact_line(str(entry)), _LINE_CHARS) for entry in log.entries]
    return ToolResult(f"{len(lines)} entries", "\n".join(lines), page.url)


@WEB.tool(title="Ask the person", effect="observe")
async def web_ask_person(
    client: ClientContext,
    message: Annotated[Text, Field(description="What the person has to do, such as: log in.")],
) -> ToolResult:
    """Hand the tab over to the person, for a login, a second factor or a CAPTCHA, and go on when it is handed back."""
    page = await client.page()
    done = await client.hand_over(page, message)
    shot = await page.snapshot(text=False, max_chars=_SNAPSHOT_CHARS)
    return ToolResult(done, shot.text, shot.url)
