"""The sets of tools by name."""

from __future__ import annotations

from typing import Literal, get_args

from bridge.errors import UsageError
from bridge.model_tools.declaration import ToolSet

SetName = Literal["web", "simple", "ops"]
SET_NAMES: tuple[SetName, ...] = get_args(SetName)


def tool_set(name: str, *, allow_javascript: bool = False) -> ToolSet:
    """The tools of that name; imported when they are asked for.

    Args:
        allow_javascript: Whether `browser` has its argument `javascript`; only the operator can say so.

    Raises:
        UsageError: There is no such set, or JavaScript is allowed for one that has no use for it.
    """
    if allow_javascript and name != "simple":
        raise UsageError(f"the set {name!r} has no tool that runs JavaScript", hint="Only --set simple has.")
    if name == "web":
        from bridge.model_tools.web import WEB

        return WEB
    if name == "ops":
        from bridge.model_tools.operations import OPS

        return OPS
    if name == "simple":
        from bridge.model_tools.simple import SIMPLE

        return SIMPLE if allow_javascript else SIMPLE.without("browser", "javascript")
    raise UsageError(f"there is no set {name[:40]!r}", hint=f"There are {', '.join(SET_NAMES)}.")
