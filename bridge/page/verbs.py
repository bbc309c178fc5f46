"""The actions on a page, declared once: operations, tools for models and shell commands are made from this table."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from bridge.page.page import Page
    from bridge.page.results import ActionResult

#: Called with the page, the ref (None without one) and the arguments by name.
Run = Callable[..., "Awaitable[ActionResult]"]


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a verb besides its element.

    Attributes:
        kind: "texts" and "files" are lists; "files" are paths inside the uploads folder.
        default: None for a required argument.
        is_secret: The text may be `secret:NAME`.
    """

    name: str
    description: str
    kind: Literal["text", "texts", "files", "ref", "number"] = "text"
    choices: tuple[str, ...] = ()
    default: float | None = None
    max_chars: int = 100_000
    is_secret: bool = False


@dataclass(frozen=True, slots=True)
class Verb:
    """An action.

    Attributes:
        summary: One imperative sentence.
        takes_element: Whether it acts on an element: always, if one is given, or never without one.
        tool: The name and title of its tool for models; () for none.
        more: What a model has to know besides the summary.
        shown: The fields that its result has besides those of every action.
    """

    name: str
    summary: str
    run: Run
    arguments: tuple[Argument, ...] = ()
    takes_element: Literal["always", "optionally"] = "always"
    effect: Literal["act", "file"] = "act"
    tool: tuple[str, str] | tuple[()] = ()
    more: str = ""
    shown: str = ""


def _method(name: str, *arguments: str) -> Run:
    """The method of Page with that name: the ref first, then these arguments in order."""

    def run(page: Page, ref: str | None, given: Mapping[str, Any], **options: Any) -> Awaitable[ActionResult]:
        return getattr(page, name)(ref, *(given[argument] for argument in arguments), **options)  # type: ignore[no-any-return]

    return run


def _press(page: Page, ref: str | None, given: Mapping[str, Any], **options: Any) -> Awaitable[ActionResult]:
    return page.press(ref, given["key"], **options) if ref else page.keyboard.press(given["key"], **options)


def _scroll(page: Page, ref: str | None, given: Mapping[str, Any], **options: Any) -> Awaitable[ActionResult]:
    return page.scroll(given["direction"], given["amount"], ref=ref, **options)


_VERBS = (
    Verb(
        "click",
        "Tap an element.",
        _method("click"),
        tool=("web_click", "Click"),
    ),
    Verb("double_click", "Double-tap an element.", _method("dblclick")),
    Verb("long_press", "Long-press an element.", _method("long_press")),
    Verb(
        "fill",
        "Replace the value of a control.",
        _method("fill", "value"),
        (Argument("value", "The new value, or secret:NAME for a secret of the operator.", is_secret=True),),
        tool=("web_fill", "Fill"),
        more="Text field, date input, slider or editable element.",
        shown="value",
    ),
    Verb(
        "type",
        "Type text key by key at the end of a control.",
        _method("type", "text"),
        (Argument("text", "The text, or secret:NAME.", is_secret=True),),
        tool=("web_type", "Type"),
        more="web_fill is faster; use this for controls that react to keys.",
        shown="value",
    ),
    Verb("clear", "Clear a control.", _method("clear"), shown="value"),
    Verb(
        "check",
        "Turn on a checkbox, radio button or switch.",
        _method("check"),
        tool=("web_check", "Check"),
        shown="checked",
    ),
    Verb(
        "uncheck",
        "Turn off a checkbox or switch.",
        _method("uncheck"),
        tool=("web_uncheck", "Uncheck"),
        shown="checked",
    ),
    Verb(
        "select",
        "Choose options of a select element by value or visible text.",
        _method("select_option", "values"),
        (Argument("values", "Visible texts or values of the options.", "texts", max_chars=1_000),),
        tool=("web_select", "Choose options"),
        more="Click other comboboxes and lists instead.",
        shown="values",
    ),
    Verb(
        "press",
        "Press a key or key combination.",
        _press,
        (Argument("key", "Enter, Escape, ArrowDown, a, Control+A, …", max_chars=60),),
        takes_element="optionally",
        tool=("web_press_key", "Press a key"),
    ),
    Verb("focus", "Focus an element.", _method("focus")),
    Verb("hover", "Rest a mouse pointer on an element.", _method("hover"), tool=("web_hover", "Hover")),
    Verb(
        "scroll",
        "Scroll the page, or the area around an element, without touch events.",
        _scroll,
        (
            Argument("direction", "Direction.", choices=("up", "down", "left", "right")),
            Argument("amount", "CSS pixels.", "number", default=300),
        ),
        takes_element="optionally",
        tool=("web_scroll", "Scroll"),
        more="Not needed before an action.",
    ),
    Verb("scroll_into_view", "Scroll an element into view.", _method("scroll_into_view_if_needed")),
    Verb(
        "drag",
        "Drag an element onto another one.",
        _method("drag_and_drop", "to"),
        (Argument("to", "Ref of the element to drop it on.", "ref"),),
        tool=("web_drag", "Drag"),
    ),
    Verb(
        "upload",
        "Set the files of a file input, or drop files on an element.",
        _method("set_input_files", "paths"),
        (Argument("paths", "Paths inside the operator's uploads folder.", "files", max_chars=4_096),),
        effect="file",
        tool=("web_upload", "Upload files"),
        shown="values",
    ),
)

VERBS: Mapping[str, Verb] = {verb.name: verb for verb in _VERBS}
