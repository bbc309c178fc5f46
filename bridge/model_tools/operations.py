"""The set `ops`: the eighteen operations behind one tool, for whoever already speaks them."""

from __future__ import annotations

import json
from typing import Any, Literal

from pydantic import Field
from pydantic.fields import FieldInfo

from bridge.model_tools.client_context import ClientContext
from bridge.model_tools.declaration import ToolSet
from bridge.model_tools.tool_result import Image, ToolResult
from bridge.ops import EFFECT_OF, OPERATION_KINDS, OperationResult, parse_operation
from bridge.ops.models import OPERATION_TYPES
from bridge.ops.results import PAGE_FIELDS

OPS = ToolSet("ops")

_READ_CHARS = 10_000
_PAGE_TEXT = ("text", "changes", "legend")
_PAGE_WORDS = tuple(sorted(PAGE_FIELDS.difference(_PAGE_TEXT)))


async def browser_op(desk: ClientContext, **given: Any) -> ToolResult:
    """Carry out one operation in the mobile browser: its kind, and of the other arguments those that are said to be for
    that kind. snapshot and actions show refs such as e5, which click, fill, select and upload take."""
    wanted = {name: value for name, value in given.items() if value is not None}
    if wanted.get("kind") == "read":
        wanted["max_length"] = min(int(wanted.get("max_length", _READ_CHARS)), _READ_CHARS)
    operation = parse_operation(wanted)
    if operation.kind in ("navigate", "new_tab") and (url := getattr(operation, "url", None)) is not None:
        await desk.house.egress.check_url(url)
    executor = await desk.executor()
    desk.say(operation.kind)
    return _answer(await executor.run(operation), desk)


def _answer(done: OperationResult, desk: ClientContext) -> ToolResult:
    """The result as JSON, without what a page has written: that stands below it, inside the fence."""
    facts = {name: value for name, value in done.to_json().items() if name not in ("cost", "notices")}
    result, error = facts.get("result", {}), facts.get("error", {})
    page_text = [f"note: {desk.unfenced(notice)}" for notice in done.notices]
    for name in _PAGE_WORDS:
        if found := result.pop(name, None):
            words = desk.unfenced(found) if isinstance(found, str) else [desk.unfenced(each) for each in found]
            page_text.append(f"{name}: {words}")
    page_text += [desk.unfenced(result.pop(name)) for name in _PAGE_TEXT if result.get(name)]
    for name in ("message", "hint"):
        if (words := error.get(name, "")) != (inside := desk.unfenced(words)):
            page_text.append(inside)
            del error[name]
    if snapshot := error.pop("snapshot", None):
        page_text.append(desk.unfenced(snapshot))
        error["hint"] = "Go on with the refs of this fresh snapshot."
    image = Image(done.image_bytes, f"image/{result.get('format', 'png')}") if done.image_bytes else None
    said = json.dumps(facts, ensure_ascii=False, separators=(",", ":"))
    return ToolResult(said, "\n".join(page_text), desk.last_url, image=image, is_error=not done.ok)


def _merged() -> dict[str, Any]:
    """One flat set of fields for the union: each says for which kinds it is."""
    kinds_of: dict[str, list[str]] = {}
    first: dict[str, FieldInfo] = {}
    for model in OPERATION_TYPES:
        kind = model.model_fields["kind"].default
        for name, info in model.model_fields.items():
            if name != "kind":
                kinds_of.setdefault(name, []).append(kind)
                first.setdefault(name, info)
    fields: dict[str, Any] = {"kind": (Literal[OPERATION_KINDS], Field(description="Which operation."))}
    for name, info in first.items():
        said = f"For {', '.join(kinds_of[name])}. {info.description or ''}".strip()
        fields[name] = (info.annotation | None, Field(None, description=said))  # type: ignore[operator]
    return fields


OPS.declare(browser_op, _merged(), title="Browser operation", effect="act", effects=("kind", EFFECT_OF))
