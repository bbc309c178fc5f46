"""The tool sets by name, and servers made of several of them."""

from __future__ import annotations

from typing import Literal, get_args

from bridge.errors import UsageError
from bridge.model_tools.declaration import ToolSet

SetName = Literal["web", "extra", "simple", "ops"]
SET_NAMES: tuple[SetName, ...] = get_args(SetName)


def tool_set(names: str, *, allow_javascript: bool = False) -> ToolSet:
    """The tools of these sets, imported on demand.

    Args:
        names: Sets, and single tools of them, separated by commas: "web", "web,extra", "web,webfetch".
        allow_javascript: Whether `browser` has its argument `javascript`; the operator decides.

    Raises:
        UsageError: A name is unknown, or JavaScript is allowed for tools that cannot run it.
    """
    wanted = list(dict.fromkeys(name.strip() for name in names.split(",")))
    if len(wanted) == 1 and wanted[0] in SET_NAMES:
        found = _named(wanted[0], allow_javascript)
    else:
        found = ToolSet(names)
        every = [tool for name in SET_NAMES for tool in _named(name, allow_javascript)] if wanted else []
        for name in wanted:
            tools = list(_named(name, allow_javascript)) if name in SET_NAMES else [t for t in every if t.name == name]
            if not tools:
                known = f"The sets are {', '.join(SET_NAMES)}; single tools have names such as {every[0].name}."
                raise UsageError(f"unknown tool set {name[:40]!r}", hint=known)
            for tool in tools:
                if found.get(tool.name) is None:
                    found.add(tool)
    if allow_javascript and found.get("browser") is None:
        raise UsageError(f"the set {names!r} has no tool that runs JavaScript", hint="Use --tools simple.")
    return found


def _named(name: str, allow_javascript: bool) -> ToolSet:
    if name in ("web", "extra"):
        from bridge.model_tools.web import EXTRA, WEB

        return WEB if name == "web" else EXTRA
    if name == "ops":
        from bridge.model_tools.operations import OPS

        return OPS
    from bridge.model_tools.simple import SIMPLE

    return SIMPLE if allow_javascript else SIMPLE.without("browser", "javascript")
