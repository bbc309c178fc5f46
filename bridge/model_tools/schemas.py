"""The declarations as JSON in the dialect of each function-calling API. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, get_args

from bridge.errors import UsageError
from bridge.model_tools.declaration import Parameter, Tool, ToolSet

Dialect = Literal["openai-responses", "openai-chat", "anthropic", "gemini", "mcp"]
DIALECTS: tuple[Dialect, ...] = get_args(Dialect)

# The part of JSON Schema that OpenAI's strict mode and Gemini's subset of OpenAPI accept. The limits omitted there are
# checked when the tool is called.
_UNSENT_LIMITS = frozenset(
    {"minLength", "maxLength", "pattern", "minItems", "maxItems", "minimum", "exclusiveMinimum", "maximum"}
)
_PLAIN_KEYS = ("type", "description", "enum", "items")


def schema_of(tools: ToolSet, dialect: str) -> list[dict[str, Any]] | dict[str, Any]:
    """The value of `tools` in a request.

    Raises:
        UsageError: The dialect is unknown.
    """
    if dialect == "gemini":
        return {"functionDeclarations": [_gemini(tool) for tool in tools]}
    project = _PROJECTIONS.get(dialect)
    if project is None:
        raise UsageError(f"unknown format {dialect[:40]!r}", hint=f"The formats are {', '.join(DIALECTS)}.")
    return [project(tool) for tool in tools]


def input_schema(tool: Tool) -> dict[str, Any]:
    """The arguments as JSON Schema (2020-12), with defaults and the limits of numbers. The tool checks the others."""
    schema: dict[str, Any] = {"type": "object", "properties": {}}
    for name, parameter in tool.parameters.items():
        shown = {key: value for key, value in parameter.items() if key not in _UNSENT_LIMITS}
        if "items" in shown:
            shown["items"] = {"type": shown["items"]["type"]}
        schema["properties"][name] = shown
    if tool.required:
        schema["required"] = list(tool.required)
    return schema


def mcp_annotations(tool: Tool) -> dict[str, Any]:
    """MCP annotations, derived from the effect of the tool, where they differ from the defaults of the protocol.

    A tap may order, send or delete, which is the default; a navigation alone does none of these.
    """
    return {"observe": {"readOnlyHint": True}, "navigate": {"destructiveHint": False}}.get(tool.effect, {})


def _mcp(tool: Tool) -> dict[str, Any]:
    named = {"name": tool.name, "title": tool.title, "description": tool.description}
    hints = mcp_annotations(tool)
    return {**named, "inputSchema": input_schema(tool), **({"annotations": hints} if hints else {})}


def _anthropic(tool: Tool) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "input_schema": input_schema(tool)}


def _openai_chat(tool: Tool) -> dict[str, Any]:
    return {"type": "function", "function": _openai_function(tool)}


def _openai_responses(tool: Tool) -> dict[str, Any]:
    return {"type": "function", **_openai_function(tool)}


def _openai_function(tool: Tool) -> dict[str, Any]:
    """Strict mode: every argument is required, an optional one accepts null."""
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
    if tool.parameters:  # Gemini rejects an object without properties
        properties = {name: _plain(found) for name, found in tool.parameters.items()}
        declaration["parameters"] = {"type": "object", "properties": properties, "required": list(tool.required)}
    return declaration


def _plain(parameter: Parameter) -> Parameter:
    """Without limits; a default moves into the description, because these dialects have no keyword for it."""
    schema = {key: parameter[key] for key in _PLAIN_KEYS if key in parameter}
    if "items" in schema:
        schema["items"] = {"type": schema["items"]["type"]}
    if (default := parameter.get("default")) is not None:
        text = str(default).lower() if isinstance(default, bool) else str(default)
        schema["description"] = f"{schema['description']} Default: {text}."
    return schema


_PROJECTIONS: Mapping[str, Callable[[Tool], dict[str, Any]]] = {
    "mcp": _mcp,
    "anthropic": _anthropic,
    "openai-chat": _openai_chat,
    "openai-responses": _openai_responses,
}
