"""The tool sets by name."""

from __future__ import annotations

from typing import Literal, get_args

from bridge.errors import UsageError
from bridge.model_tools.declaration import ToolSet

SetName = Literal["web", "simple", "ops"]
SET_NAMES: tuple[SetName, ...] = get_args(SetName)


def tool_set(name: str, *, allow_javascript: bool = False) -> ToolSet:
    """The tool set with that name, imported on demand.

    Args:
        allow_javascript: Whether `browser` has its argument `javascript`; the operator decides.

    Raises:
        UsageError: The set is unknown, or JavaScript is allowed for a set that cannot run it.
    """
    if allow_javascript and name != "simple":
        raise UsageError(f"the set {name!r} has no tool that runs JavaScript", hint="Use --set simple.")
    if name == "web":
        from bridge.model_tools.web import WEB

        return WEB
    if name == "ops":
        from bridge.model_tools.operations import OPS

        return OPS
    if name == "simple":
        from bridge.model_tools.simple import SIMPLE

        return SIMPLE if allow_javascript else SIMPLE.without("browser", "javascript")
    raise UsageError(f"unknown tool set {name[:40]!r}", hint=f"The sets are {', '.join(SET_NAMES)}.")
