"""Error messages and hints for the injected script's error codes."""

from __future__ import annotations

from collections.abc import Mapping

from bridge.snapshot.escape import clean, cut, quote

#: The value sanitization of HTML §4.10.5.1, by input type.
_FORMS = {
    "date": "YYYY-MM-DD",
    "time": "HH:MM",
    "datetime-local": "YYYY-MM-DDTHH:MM",
    "month": "YYYY-MM",
    "week": "YYYY-Www",
    "color": "#rrggbb",
    "number": "a number",
    "range": "a number",
}
_MOST_OPTIONS = 20
_LIMIT_CHARS = 40


def refusal(error: Mapping[str, object]) -> str:
    """The message of an error that the script reports: its own, else what the code says.

    The page's words in it (bounds of an input) are cleaned and cut.
    """
    message = error.get("message")
    if isinstance(message, str) and message:
        return message
    if error.get("code") == "invalid_value":
        bounds = [_words(error.get(key)) for key in ("min", "max")]
        between = "".join(f" {word} {bound}" for word, bound in zip(("from", "to"), bounds, strict=True) if bound)
        step = _words(error.get("step"))
        steps = f" in steps of {step}" if step not in ("", "any") and error.get("type") in ("number", "range") else ""
        return f"takes {_FORMS.get(_words(error.get('type')), 'another form')}{between}{steps}"
    if isinstance(holder := error.get("holder"), list):
        return f"it does not have the focus; {named(holder) or 'the page itself'} has it"
    if error.get("code") == "no_such_option":
        options = error.get("options")
        names = [quote(_words(option)) for option in options] if isinstance(options, list) else []
        more = f" and {len(names) - _MOST_OPTIONS} more" if len(names) > _MOST_OPTIONS else ""
        offered = f"; the options are {', '.join(names[:_MOST_OPTIONS])}{more}" if names else "; it has no options"
        return f'no option "{_words(error.get("want"))}"{offered}'
    return str(error.get("code") or "").replace("_", " ")


def opened_by(error: Mapping[str, object]) -> str:
    """The reason for not touching a control that opens a system dialog.

    Other apps have an Activity that shows the dialog, but the bridge cannot answer it, and it covers the page until a
    person at the phone closes it. Without an Activity, a select is cancelled at once (SelectPopupDialog.java).
    Dialogs of inputs end older WebViews; newer ones show none (DateTimeChooserAndroid.java, ColorChooserAndroid.java).
    """
    kind = _words(error.get("kind"))
    if kind == "option":
        return "an option of a drop-down list cannot be tapped"
    return f"tapping {_control(kind)} opens a system dialog, {_effect(kind)}"


def requested_picker(error: Mapping[str, object]) -> str:
    """The outcome of the page's own request for a system dialog, by `showPicker()` or a click of its script."""
    kind = _words(error.get("kind"))
    dialog = f"the system dialog of {_control(kind)}, {_effect(kind)}"
    return f"the page opened {dialog}" if error.get("isOpen") else f"the page was kept from opening {dialog}"


def _control(kind: str) -> str:
    return "a <select>" if kind == "select" else f"an <input type={kind}>"


def _effect(kind: str) -> str:
    effect = "is cancelled at once in a WebView" if kind == "select" else "does not appear in, or crashes, a WebView"
    return f"which {effect} without an Activity"


def instead(error: Mapping[str, object], ref: str | None) -> str:
    """The action that works on this kind of control; "" if unknown. Without a ref, the hint is general."""
    kind, on = _words(error.get("kind")), ref or "REF"
    if kind in ("select", "option"):
        return f'Use select_option({on}, "…") with the option\'s text or value.'
    if kind in ("checkbox", "radio"):
        return f"Use check({on})."
    if kind == "file":
        return f'Use set_input_files({on}, "…").'
    if kind in ("submit", "button", "reset", "image"):
        return f"Use click({on})."
    return f'Use fill({on}, "{_FORMS[kind]}").' if kind in _FORMS else ""


def named(holder: list[object]) -> str:
    """`button "Pay"` of role and name as the script gives them; the name's escapes are a snapshot's."""
    if len(holder) != 2:
        return ""
    role, name = (_words(word) for word in holder)
    return f"{role} {quote(name)}" if name else role


def _words(value: object) -> str:
    return cut(clean(value[:200]), _LIMIT_CHARS) if isinstance(value, str) else ""
