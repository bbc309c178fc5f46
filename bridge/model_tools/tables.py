"""The declarations as Markdown tables, for the documentation."""

from __future__ import annotations

from bridge.model_tools.declaration import Tool
from bridge.model_tools.sets import SET_NAMES, tool_set


def tables() -> str:
    """One table per set."""
    return "\n".join(_table(name) for name in SET_NAMES)


def _table(name: str) -> str:
    rows = "".join(f"| {_signature(tool)} | {tool.effect} | {tool.description} |\n" for tool in tool_set(name))
    return f"### `{name}`\n\n| tool | effect | description |\n|---|---|---|\n{rows}"


def _signature(tool: Tool) -> str:
    words = []
    for name, schema in tool.parameters.items():
        if name in tool.required:
            words.append(name)
        elif (default := schema.get("default")) is not None:
            words.append(f"{name}={str(default).lower() if isinstance(default, bool) else default}")
        else:
            words.append(f"{name}?")
    shown = ", ".join(words)
    return f"`{tool.name}({shown})`" if len(shown) < 200 else f"`{tool.name}({tool.required[0]}, …)`"
