"""Tools for models, each declared once; MCP, function calling and the documents are projections of the declarations."""

from __future__ import annotations

from bridge.model_tools.answer import MAX_ANSWER_CHARS, Answer, Image
from bridge.model_tools.declaration import InvalidArguments, MalformedTool, Tool, ToolSet
from bridge.model_tools.desk import Desk, House
from bridge.model_tools.person import Asking, Nobody, Person, Unanswered
from bridge.model_tools.sets import SET_NAMES, tool_set
from bridge.model_tools.shared_session import SharedSession
from bridge.model_tools.toolbox import Shown, Toolbox, UnknownTool

__all__ = [
    "MAX_ANSWER_CHARS",
    "SET_NAMES",
    "Answer",
    "Asking",
    "Desk",
    "House",
    "Image",
    "InvalidArguments",
    "MalformedTool",
    "Nobody",
    "Person",
    "SharedSession",
    "Shown",
    "Tool",
    "ToolSet",
    "Toolbox",
    "Unanswered",
    "UnknownTool",
    "tool_set",
]
