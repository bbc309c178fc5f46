"""The steps of a locator, as the injected script takes them (injected_js/src/locate), and selectors as such steps."""

from __future__ import annotations

import re
from typing import Any, TypeAlias

from bridge.errors import UsageError
from bridge.page.snapshots.aria_roles import checked_role

Step: TypeAlias = dict[str, Any]
Steps: TypeAlias = tuple[Step, ...]
Text: TypeAlias = str | re.Pattern[str]

_REF = re.compile(r"@?(e[1-9][0-9]{0,8})\Z")
_ENGINE = re.compile(r"\s*(css|text|xpath|ref|id|data-testid|role|nth|visible)\s*=\s*(.*?)\s*\Z", re.DOTALL)
_ROLE = re.compile(r"([a-z]+)(?:\[name=(?:\"([^\"]*)\"|'([^']*)')( i| s)?\])?\Z")
_QUOTED = re.compile(r"\"([^\"]*)\"\Z|'([^']*)'\Z")
_PARTS = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|>>|.", re.DOTALL)


def ref_in(selector: str) -> str | None:
    """The ref that a selector consists of (`e7`, `@e7`, `ref=e7`); None for any other selector."""
    found = _REF.match(selector.strip().removeprefix("ref=")) if isinstance(selector, str) else None
    # What a snapshot handed out keeps its type, which knows its numbering.
    return (selector if selector == found[1] else found[1]) if found else None


def selector_steps(selector: str) -> Steps:
    """CSS, or `text=`, `role=`, `xpath=` (also `//…`), `id=`, `data-testid=`, `ref=`, `nth=` and `visible=`; `>>` goes
    on inside what was found.

    Raises:
        UsageError: Not a valid selector.
    """
    if not isinstance(selector, str) or not selector.strip():
        raise UsageError(f"{str(selector)[:80]!r} is not a valid selector")
    if (ref := ref_in(selector)) is not None:
        return ({"ref": ref},)
    parts = [""]
    for piece in _PARTS.findall(selector):
        if piece == ">>":
            parts.append("")
        else:
            parts[-1] += piece
    return tuple(_step(part.strip(), selector) for part in parts)


def text_matcher(text: Text, exact: bool) -> dict[str, Any]:
    """The script's way of comparing a text: ignoring case and as a part of the text, unless `exact`."""
    if isinstance(text, str):
        return {"text": text, "exact": exact}
    if not isinstance(text, re.Pattern):
        raise UsageError(f"{text!r} is not a string or a regular expression")
    return {"source": text.pattern, "flags": "i" if text.flags & re.IGNORECASE else ""}


def as_source(text: Text) -> str:
    """Python source for `text`: traces are exported as tests."""
    if isinstance(text, str):
        return repr(text)
    return f"re.compile({text.pattern!r}{', re.IGNORECASE' if text.flags & re.IGNORECASE else ''})"


def _step(part: str, selector: str) -> Step:
    if not part:
        raise UsageError(f"{selector[:80]!r} is not a valid selector", hint="Write a selector on each side of >>.")
    if part.startswith(("//", "(//", "..")):
        return {"xpath": part}
    found = _ENGINE.match(part)
    if found is None:
        return {"css": part}
    engine, value = found.groups()
    match engine:
        case "css" | "xpath":
            return {engine: value}
        case "text":
            quoted = _QUOTED.match(value)
            return {"text": {"text": (quoted[1] or quoted[2] or "") if quoted else value, "exact": quoted is not None}}
        case "id":
            return {"xpath": f"//*[@id={_xpath_literal(value)}]"}
        case "data-testid":
            return {"testid": value}
        case "nth" if re.fullmatch(r"-?[0-9]+", value):
            return {"nth": int(value)}
        case "visible" if value in ("true", "false"):
            return {"visible": value == "true"}
        case "ref" if (ref := ref_in(value)) is not None:
            return {"ref": ref}
        case "role" if (role := _ROLE.match(value)) is not None:
            name = role[2] if role[2] is not None else role[3]
            step: Step = {"role": checked_role(role[1])}
            return step if name is None else {**step, "name": {"text": name, "exact": role[4] == " s"}}
    raise UsageError(f"{part[:80]!r} is not a valid selector")


def _xpath_literal(value: str) -> str:
    if '"' in value:
        raise UsageError(f"{value[:80]!r} is not a valid id")
    return f'"{value}"'
