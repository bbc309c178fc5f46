"""The declarations as tables for people: the README of this folder has them between two marks."""

from __future__ import annotations

from bridge.model_tools.declaration import Tool
from bridge.model_tools.sets import SET_NAMES, tool_set

BEGIN, END = "<!-- tools: begin -->", "<!-- tools: end -->"


def readme_with_tables(readme: str) -> str:
    """The README with its tables as the declarations are now.

    Raises:
        ValueError: It has no marks.
    """
    head, found, rest = readme.partition(BEGIN)
    _, ended, tail = rest.partition(END)
    if not found or not ended:
        raise ValueError(f"the README has no {BEGIN} … {END}")
    return f"{head}{BEGIN}\n\n{tables()}\n{END}{tail}"


def tables() -> str:
    """One table for each set."""
    return "\n".join(_table(name) for name in SET_NAMES)


def _table(name: str) -> str:
    rows = "".join(f"| {_signature(tool)} | {tool.effect} | {tool.description} |\n" for tool in tool_set(name))
    return f"### `{name}`\n\n| tool | effect | what a model is told |\n|---|---|---|\n{rows}"


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
