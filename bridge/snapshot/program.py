"""Snapshots and actions for programs that have nothing but `evaluateJavascript`.

Every function here makes a JavaScript expression or reads its result; how the expression gets into the page is the
program's business. The expression always yields a JSON string, and results are understood both as that string and
as the JSON of it, which is what Android's `WebView.evaluateJavascript` hands to its callback.

    evaluate(script())                                   # once per document
    result = render_snapshot(evaluate(snapshot_js()))
    print(result.text)                                   # - searchbox "Search the shop" [ref=e3]
    evaluate(action_js("e3", "fill", {"value": "gold"}))
    while (reply := parse_action_result(evaluate(action_result_js()))) is None:
        wait_a_moment()
    reply.raise_for_error()
    print(parse_query_result(evaluate(query_js("e3", "value"))))

The script runs in the page's own world here: a hostile page can answer what it likes. What is read is checked and
bounded, but it is the page's word.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bridge.errors import ActionFailed, ScriptFailed, UsageError
from bridge.snapshot.injected import source
from bridge.snapshot.json_text import js_literal
from bridge.snapshot.lines.render import render_snapshot
from bridge.snapshot.parse import parse_reply, reported_error

__all__ = [
    "ActionReply",
    "action_js",
    "action_result_js",
    "get_title_js",
    "get_url_js",
    "parse_action_result",
    "parse_query_result",
    "press_key_js",
    "query_js",
    "render_snapshot",
    "script",
    "scroll_js",
    "scroll_to_js",
    "snapshot_js",
]

#: More than any query gives; what a page answers beyond is cut.
MAX_QUERY_CHARS = 1_000_000
_API = "window.__agentBrowser"
_DIRECTIONS = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}
#: As they are called in a chord, and in KeyboardEventInit.
_HELD = {"Control": "ctrlKey", "Shift": "shiftKey", "Alt": "altKey", "Meta": "metaKey"}


@dataclass(frozen=True)
class ActionReply:
    """The outcome of an action; `error` is None if it succeeded.

    `value`, `values` and `checked` are what the control holds afterwards, where that is known.
    """

    action: str
    ref: str
    error: ActionFailed | ScriptFailed | None = None
    value: str | None = None
    values: tuple[str, ...] | None = None
    checked: bool | str | None = None

    @property
    def success(self) -> bool:
        return self.error is None

    def raise_for_error(self) -> None:
        """Raises the error, if there is one."""
        if self.error is not None:
            raise self.error


def script(*, replies: bool = True) -> str:
    """The script that installs `window.__agentBrowser`; a second evaluation in a document changes nothing.

    Args:
        replies: With the second part of the script, whose replies explain themselves: errors with messages, versions
            and times. Without it errors have only their `code`, and the script is at most 15,360 bytes long.
    """
    return source(replies=replies)


def snapshot_js(options: Mapping[str, Any] | None = None) -> str:
    """Takes a snapshot; for `render_snapshot`. `options` are the script's: `maxNodes`, `interactiveOnly`, `scope` …

    Raises:
        UsageError: The options have no JSON form.
    """
    return _expression(f"a.snapshot({_literal(options or {})})")


def action_js(ref: str, action: str, params: Mapping[str, Any] | None = None) -> str:
    """Starts an action: `action_js("e4", "fill", {"value": "gold"})`. Its outcome comes from `action_result_js`.

    Actions take time and `evaluateJavascript` does not wait for promises, so the outcome is kept in the document until
    it is asked for; an action that leaves the document takes it along.

    Raises:
        UsageError: An argument has no JSON form.
    """
    call = f"a.action({_literal(ref)},{_literal(action)},{_literal(params or {})})"
    keep = f"Promise.resolve({call}).then(function(v){{a.reply=v}},function(e){{a.reply={_failure('String(e)')}}})"
    return _expression(f"(a.reply=null,{keep},{{pending:true}})")


def action_result_js() -> str:
    """The outcome of the action started last, or that it is not there yet; for `parse_action_result`."""
    return _expression("(a.reply||{pending:true})")


def parse_action_result(raw: Mapping[str, Any] | str | bytes) -> ActionReply | None:
    """The outcome of the action, or None while it runs.

    Raises:
        ScriptFailed: The script is not there, or its answer is none.
    """
    value, _ = parse_reply(raw, "an action")
    if value.get("pending") is True:
        return None
    success = value.get("success")
    if not isinstance(success, bool):
        raise ScriptFailed("the page's reply to an action reports neither success nor failure.")
    action, ref = _text(value.get("action")) or "", _text(value.get("ref")) or ""
    if not success:
        reported = value.get("error")
        return ActionReply(action, ref, reported_error(reported if isinstance(reported, Mapping) else {}))
    values, checked = value.get("values"), value.get("checked")
    return ActionReply(
        action,
        ref,
        value=_text(value.get("value")),
        values=tuple(_text(item) or "" for item in values[:1000]) if isinstance(values, list) else None,
        checked=checked if isinstance(checked, bool) or checked == "mixed" else None,
    )


def query_js(ref: str, kind: str, limit: int = 2_000) -> str:
    """Reads `text`, `html`, `value`, `attrs`, `computed_styles` or `box` of one element; for `parse_query_result`.

    Raises:
        UsageError: An argument has no JSON form.
    """
    return _expression(f"a.query({_literal(ref)},{_literal(kind)},{_literal(limit)})")


def parse_query_result(raw: Mapping[str, Any] | str | bytes) -> Any:
    """The query's result: a string (ending in `…[truncated]` if cut), a mapping of strings, a box, or None.

    Raises:
        RefNotFound: Or another ActionFailed: the ref is gone or stale.
        ScriptFailed: The script is not there, or its answer is none.
    """
    reply, _ = parse_reply(raw, "a query")
    if "value" not in reply:
        raise ScriptFailed("the page's reply to a query has no value.")
    value = reply["value"]
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Mapping):
        items = list(value.items())[:1000]
        return {_text(key) or "": _text(item) or "" for key, item in items if isinstance(key, str)}
    if isinstance(value, list):
        numbers = [item for item in value[:4] if isinstance(item, (int, float)) and not isinstance(item, bool)]
        return numbers if len(numbers) == 4 else None
    return value if isinstance(value, bool) else None


def scroll_js(direction: str, amount: int = 300) -> str:
    """Scrolls the page by CSS pixels: `up`, `down`, `left` or `right`; yields `{"x", "y"}`, where it is then.

    Raises:
        UsageError: It is none of these.
    """
    if direction not in _DIRECTIONS:
        raise UsageError(f"direction is {direction!r}; it must be up, down, left or right.")
    left, top = _DIRECTIONS[direction]
    return _scrolled("By", left * amount, top * amount)


def scroll_to_js(x: float, y: float) -> str:
    """Scrolls the page to a place in CSS pixels."""
    return _scrolled("To", x, y)


def _scrolled(how: str, left: float, top: float) -> str:
    to = _literal({"left": left, "top": top, "behavior": "instant"})
    return _expression(f"(a.page.scroll{how}({to}),{{x:scrollX,y:scrollY}})")


def press_key_js(key: str) -> str:
    """Presses a key where the focus is: `press_key_js("Enter")`, `press_key_js("Control+A")`."""
    *held, last = re.split(r"\+(?=.)", key)
    init = {_HELD[name]: True for name in held if name in _HELD}
    return _expression(f"a.page.pressKey({_literal(' ' if last == 'Space' else last)},{_literal(init)})")


def get_url_js() -> str:
    """The document's URL; for `parse_query_result`."""
    return _expression("{value:a.page.getUrl()}")


def get_title_js() -> str:
    """The document's title; for `parse_query_result`."""
    return _expression("{value:a.page.getTitle()}")


def _expression(call: str) -> str:
    """One expression that yields JSON whatever happens; `a` is the script's API in it."""
    missing = _failure('"the script is not in this document; evaluate script() first"', "script_missing")
    safe = f"try{{return JSON.stringify(a?{call}:{missing})}}catch(e){{return JSON.stringify({_failure('String(e)')})}}"
    return f"(function(a){{{safe}}})({_API})"


def _failure(message_js: str, code: str = "script_failed") -> str:
    return f'{{error:{{code:"{code}",message:{message_js}}}}}'


def _literal(value: Any) -> str:
    if isinstance(value, Mapping):
        value = dict(value)
    try:
        return js_literal(value)
    except ValueError as error:
        raise UsageError(f"{str(value)[:80]!r} cannot be passed to the page: {error}.") from error


def _text(value: object) -> str | None:
    if not isinstance(value, str):
        return None
    return value[:MAX_QUERY_CHARS].encode("utf-16", "surrogatepass").decode("utf-16", "replace")
