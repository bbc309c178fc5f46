"""The set `ops`: the eighteen operations as one tool, for clients that already use them."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, Literal

from pydantic import Field
from pydantic.fields import FieldInfo

from bridge.model_tools.client_context import ClientContext
from bridge.model_tools.declaration import ToolSet
from bridge.model_tools.pictures import picture_for_model
from bridge.model_tools.tool_result import NO_LIMIT, ToolResult
from bridge.ops import EFFECT_OF, OPERATION_KINDS, OperationResult, parse_operation
from bridge.ops.models import OPERATION_TYPES
from bridge.ops.results import PAGE_FIELDS

OPS = ToolSet("ops")

_READ_CHARS = 10_000
_PAGE_TEXT = ("text", "changes", "legend")
_PAGE_VALUES = tuple(sorted(PAGE_FIELDS.difference(_PAGE_TEXT)))


async def browser_op(client: ClientContext, **given: Any) -> ToolResult:
    """Run one operation in the mobile browser: give its kind and the arguments that are described as being for that
    kind. snapshot and actions show refs such as e5, which click, fill, select and upload take."""
    wanted = {name: value for name, value in given.items() if value is not None}
    if wanted.get("kind") == "read":
        wanted["max_length"] = min(wanted.get("max_length", _READ_CHARS), _READ_CHARS)
    operation = parse_operation(wanted)
    if operation.kind in ("navigate", "new_tab") and (url := getattr(operation, "url", None)) is not None:
        await client.server.egress.check_url(url)
    executor = await client.executor()
    client.report_progress(operation.kind)
    result = _result(await executor.run(operation), client)
    return replace(result, max_chars=NO_LIMIT) if wanted.get("max_length") == 0 else result


def _result(done: OperationResult, client: ClientContext) -> ToolResult:
    """The result as JSON; what a page has written follows it, inside the markers."""
    facts = {name: value for name, value in done.to_json().items() if name not in ("cost", "notices")}
    result, error = facts.get("result", {}), facts.get("error", {})
    page_text = [f"note: {client.without_markers(notice)}" for notice in done.notices]
    for name in _PAGE_VALUES:
        if found := result.pop(name, None):
            is_text = isinstance(found, str)
            value = client.without_markers(found) if is_text else [client.without_markers(each) for each in found]
            page_text.append(f"{name}: {value}")
    page_text += [client.without_markers(result.pop(name)) for name in _PAGE_TEXT if result.get(name)]
    for name in ("message", "hint"):
        if (text := error.get(name, "")) != (content := client.without_markers(text)):
            page_text.append(content)
            del error[name]
    if snapshot := error.pop("snapshot", None):
        page_text.append(client.without_markers(snapshot))
        error["hint"] = "Continue with the refs of this new snapshot."
    image = None
    if done.image_bytes:
        picture = picture_for_model(done.image_bytes, str(result.get("format", "png")))
        image = picture.image
        if picture.notes:
            result["image"] = ", ".join(picture.notes)
    text = json.dumps(facts, ensure_ascii=False, separators=(",", ":"))
    return ToolResult(text, "\n".join(page_text), client.last_url, image=image, is_error=not done.ok)


def _merged() -> dict[str, Any]:
    """One flat set of fields for the union; each description names the kinds it is for."""
    kinds_of: dict[str, list[str]] = {}
    first: dict[str, FieldInfo] = {}
    for model in OPERATION_TYPES:
        kind = model.model_fields["kind"].default
        for name, info in model.model_fields.items():
            if name != "kind":
                kinds_of.setdefault(name, []).append(kind)
                first.setdefault(name, info)
    fields: dict[str, Any] = {"kind": (Literal[OPERATION_KINDS], Field(description="The operation."))}
    for name, info in first.items():
        description = f"For {', '.join(kinds_of[name])}. {info.description or ''}".strip()
        fields[name] = (info.annotation | None, Field(None, description=description))  # type: ignore[operator]
    return fields


OPS.declare(browser_op, _merged(), title="Browser operation", effect="act", effects=("kind", EFFECT_OF))
