"""What the script's short answers mean, in the words of whoever has to act on them."""

from __future__ import annotations

from collections.abc import Mapping

from bridge.snapshot.escape import clean, cut

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
_LIMIT_CHARS = 40


def refusal(error: Mapping[str, object]) -> str:
    """The message of an error that the script reports: its own, else what the code says.

    The page's words in it (bounds of an input) are cleaned and cut.
    """
    if error.get("code") == "invalid_value":
        bounds = [_words(error.get(key)) for key in ("min", "max")]
        between = "".join(f" {word} {bound}" for word, bound in zip(("from", "to"), bounds, strict=True) if bound)
        return f"takes {_FORMS.get(_words(error.get('type')), 'another form')}{between}"
    message = error.get("message")
    if isinstance(message, str) and message:
        return message
    if error.get("code") == "no_such_option":
        return f'no option "{_words(error.get("want"))}"'
    return str(error.get("code") or "").replace("_", " ")


def _words(value: object) -> str:
    return cut(clean(value[:200]), _LIMIT_CHARS) if isinstance(value, str) else ""
