"""Tools for models. Each is declared once; MCP, function-calling schemas and documentation are generated from that."""

from __future__ import annotations

from bridge.model_tools.client_context import ClientContext, ServerContext
from bridge.model_tools.declaration import InvalidArguments, MalformedTool, Tool, ToolSet
from bridge.model_tools.elicitation import Elicitation, NoElicitation, PendingElicitation, Unanswered
from bridge.model_tools.sets import SET_NAMES, tool_set
from bridge.model_tools.shared_session import SharedSession
from bridge.model_tools.tool_result import MAX_RESULT_CHARS, Image, ToolResult
from bridge.model_tools.toolbox import RenderedResult, Toolbox, UnknownTool

__all__ = [
    "MAX_RESULT_CHARS",
    "SET_NAMES",
    "ClientContext",
    "Elicitation",
    "Image",
    "InvalidArguments",
    "MalformedTool",
    "NoElicitation",
    "PendingElicitation",
    "RenderedResult",
    "ServerContext",
    "SharedSession",
    "Tool",
    "ToolResult",
    "ToolSet",
    "Toolbox",
    "Unanswered",
    "UnknownTool",
    "tool_set",
]
