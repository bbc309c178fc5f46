"""Tools for models, each declared once; MCP, function calling and the documents are projections of the declarations."""

from __future__ import annotations

from bridge.model_tools.client_context import ClientContext, ServerContext
from bridge.model_tools.declaration import InvalidArguments, MalformedTool, Tool, ToolSet
from bridge.model_tools.elicitation import Elicitation, NoElicitation, PendingElicitation, Unanswered
from bridge.model_tools.sets import SET_NAMES, tool_set
from bridge.model_tools.shared_session import SharedSession
from bridge.model_tools.tool_result import MAX_ANSWER_CHARS, Image, ToolResult
from bridge.model_tools.toolbox import Shown, Toolbox, UnknownTool

__all__ = [
    "MAX_ANSWER_CHARS",
    "SET_NAMES",
    "ClientContext",
    "Elicitation",
    "Image",
    "InvalidArguments",
    "MalformedTool",
    "NoElicitation",
    "PendingElicitation",
    "ServerContext",
    "SharedSession",
    "Shown",
    "Tool",
    "ToolResult",
    "ToolSet",
    "Toolbox",
    "Unanswered",
    "UnknownTool",
    "tool_set",
]
