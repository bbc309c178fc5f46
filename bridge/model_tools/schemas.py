"""The declarations as the JSON that each way of calling functions wants. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, get_args

from bridge.errors import UsageError
from bridge.model_tools.declaration import Parameter, Tool, ToolSet

Dialect = Literal["openai-responses", "openai-chat", "anthropic", "gemini", "mcp"]
DIALECTS: tuple[Dialect, ...] = get_args(Dialect)

# What OpenAI's strict mode, and Gemini's subset of OpenAPI, take of JSON Schema; the limits that are left out there
# are checked when the tool is called.
_PLAIN_KEYS = ("type", "description", "enum", "items")


def schema_of(tools: ToolSet, dialect: str) -> list[dict[str, Any]] | dict[str, Any]:
    """What goes into the `tools` of a request.

    Raises:
        UsageError: There is no such dialect.
    """
    if dialect == "gemini":
        return {"functionDeclarations": [_gemini(tool) for tool in tools]}
    project = _PROJECTIONS.get(dialect)
    if project is None:
        raise UsageError(f"there is no format {dialect[:40]!r}", hint=f"There are {', '.join(DIALECTS)}.")
    return [project(tool) for tool in tools]


def input_schema(tool: Tool) -> dict[str, Any]:
    """The arguments as JSON Schema (2020-12), with defaults and limits."""
    schema: dict[str, Any] = {"type": "object", "properties": {**tool.parameters}}
    if tool.required:
        schema["required"] = list(tool.required)
    return {**schema, "additionalProperties": False}


def mcp_annotations(tool: Tool) -> dict[str, Any]:
    """MCP's hints, by the effect of the tool."""
    hints: dict[str, Any] = {"title": tool.title, "readOnlyHint": tool.effect == "observe", "openWorldHint": True}
    if tool.effect != "observe":
        # A tap may order, send or delete; going somewhere by itself does none of these.
        hints |= {"destructiveHint": tool.effect != "navigate", "idempotentHint": False}
    return hints


def _mcp(tool: Tool) -> dict[str, Any]:
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": input_schema(tool),
        "annotations": mcp_annotations(tool),
    }


def _anthropic(tool: Tool) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "input_schema": input_schema(tool)}


def _openai_chat(tool: Tool) -> dict[str, Any]:
    return {"type": "function", "function": _openai_function(tool)}


def _openai_responses(tool: Tool) -> dict[str, Any]:
    return {"type": "function", **_openai_function(tool)}


def _openai_function(tool: Tool) -> dict[str, Any]:
    """Strict mode: every argument is required, one that may be left out takes null."""
    properties = {name: _strict(found, name in tool.required) for name, found in tool.parameters.items()}
    parameters = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    return {"name": tool.name, "description": tool.description, "strict": True, "parameters": parameters}


def _strict(parameter: Parameter, required: bool) -> Parameter:
    schema = _plain(parameter)
    if not required:
        schema["type"] = [schema["type"], "null"]
        if "enum" in schema:
            schema["enum"] = [*schema["enum"], None]
    return schema


def _gemini(tool: Tool) -> dict[str, Any]:
    declaration: dict[str, Any] = {"name": tool.name, "description": tool.description}
    if tool.parameters:  # an object without properties is refused there
        properties = {name: _plain(found) for name, found in tool.parameters.items()}
        declaration["parameters"] = {"type": "object", "properties": properties, "required": list(tool.required)}
    return declaration


def _plain(parameter: Parameter) -> Parameter:
    """Without limits; a default is said in words, since these dialects have no keyword for it."""
    schema = {key: parameter[key] for key in _PLAIN_KEYS if key in parameter}
    if "items" in schema:
        schema["items"] = {"type": schema["items"]["type"]}
    if (default := parameter.get("default")) is not None:
        words = str(default).lower() if isinstance(default, bool) else str(default)
        schema["description"] = f"{schema['description']} Default: {words}."
    return schema


_PROJECTIONS: Mapping[str, Callable[[Tool], dict[str, Any]]] = {
    "mcp": _mcp,
    "anthropic": _anthropic,
    "openai-chat": _openai_chat,
    "openai-responses": _openai_responses,
}
