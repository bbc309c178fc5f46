"""Declares a tool once: a function with flat arguments, a title and an effect, checked at import."""

from __future__ import annotations

import inspect
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, get_type_hints

from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from bridge.errors import UsageError
from bridge.model_tools.tool_result import ToolResult
from bridge.ops import EFFECTS, Effect
from bridge.ops.loose_numbers import as_number
from bridge.snapshot.escape import clean

_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
_NUMBERS = ("integer", "number")
_SIMPLE_TYPES = frozenset({"string", "integer", "number", "boolean"})

#: Called with the client, then the arguments by name.
Run = Callable[..., Awaitable[ToolResult]]
Parameter = dict[str, Any]


class MalformedTool(TypeError):
    """A declaration that a model could not use; raised when its module is imported."""


class InvalidArguments(UsageError):
    """Arguments that do not fit the tool; the message names each of them."""

    code = "invalid_arguments"


class _Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


@dataclass(frozen=True, slots=True)
class Tool:
    """One declaration.

    Attributes:
        parameters: JSON Schema of each argument by name: one of the simple types, or an array of strings.
        required: The arguments without a default.
        effects: For a tool whose effect depends on an argument: that argument, and the effect of each value.
    """

    name: str
    title: str
    description: str
    effect: Effect
    parameters: Mapping[str, Parameter]
    required: tuple[str, ...]
    model: type[BaseModel] = field(repr=False)
    run: Run = field(repr=False)
    effects: tuple[str, Mapping[str, Effect]] | None = field(default=None, repr=False)

    def effect_of(self, arguments: Mapping[str, Any]) -> Effect:
        """The effect of a call with these arguments."""
        if self.effects is None:
            return self.effect
        name, by_value = self.effects
        return by_value.get(str(arguments.get(name)), self.effect)

    def arguments(self, given: Mapping[str, Any] | None) -> dict[str, Any]:
        """The validated arguments for the function. Null for an optional argument means its default.

        Raises:
            InvalidArguments: Names each unknown, missing or wrong argument, and those that the tool takes.
        """
        kept = {
            key: as_number(value) if self.parameters.get(key, {}).get("type") in _NUMBERS else value
            for key, value in (given or {}).items()
            if value is not None or key in self.required
        }
        try:
            checked = self.model.model_validate(kept)
        except ValidationError as error:
            raise InvalidArguments(self._problems(error), hint=self._expected()) from None
        return {name: getattr(checked, name) for name in self.parameters}

    def _problems(self, error: ValidationError) -> str:
        problems = []
        for problem in error.errors(include_url=False, include_context=False, include_input=False)[:5]:
            name = str(problem["loc"][0]) if problem["loc"] else ""
            text = problem["msg"].lower().replace("input should", "it should")
            if problem["type"] == "extra_forbidden":
                text = "unknown argument"
            elif problem["type"] == "missing":
                text = "missing"
            elif problem["type"] == "string_pattern_mismatch":
                text = f"invalid value; expected: {self.parameters[name]['description']}"
            problems.append(f"{clean(name)[:80]}: {text}"[:300])
        return "; ".join(problems)

    def _expected(self) -> str:
        if not self.parameters:
            return "The tool takes no arguments."
        named = ", ".join(name if name in self.required else f"{name}?" for name in self.parameters)
        return f"The arguments are {named}."


class ToolSet:
    """Tools by name, in the order of their declaration.

    Raises:
        MalformedTool: Two tools have the same name.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._tools: dict[str, Tool] = {}

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    def get(self, name: str) -> Tool | None:
        return self._tools.get(name)

    def without(self, tool: str, parameter: str) -> ToolSet:
        """The same set, with `parameter` removed from one tool."""
        narrowed = ToolSet(self.name)
        for each in self:
            narrowed.add(_without(each, parameter) if each.name == tool else each)
        return narrowed

    def add(self, tool: Tool) -> None:
        if tool.name in self._tools:
            raise MalformedTool(f"{self.name} has two tools named {tool.name}")
        self._tools[tool.name] = tool

    def tool(self, *, title: str, effect: Effect, required: tuple[str, ...] = ()) -> Callable[[Run], Run]:
        """Declare the decorated function as a tool; its name, docstring and annotated arguments describe it to a model.

        Args:
            required: Arguments declared as required although the function has a default, because it reports a missing
                one itself.
        """

        def declare(run: Run) -> Run:
            tool = _declared(run, title, effect)
            self.add(replace(tool, required=(*required, *tool.required)))
            return run

        return declare

    def declare(
        self,
        run: Run,
        fields: Mapping[str, Any],
        *,
        title: str,
        effect: Effect,
        effects: tuple[str, Mapping[str, Effect]] | None = None,
    ) -> None:
        """Declare a tool with computed arguments: `fields` as `pydantic.create_model` takes them."""
        name = run.__name__
        model = create_model(f"{name}_arguments", __base__=_Arguments, **fields)
        self.add(replace(checked_tool(name, title, inspect.getdoc(run) or "", effect, model, run), effects=effects))


def checked_tool(name: str, title: str, description: str, effect: Effect, model: type[BaseModel], run: Run) -> Tool:
    """Build a tool; MalformedTool if its declaration is not valid."""
    if not _NAME.fullmatch(name):
        raise MalformedTool(f"{name!r} is not a valid tool name: use up to 64 lower-case letters, digits and _")
    if not title.strip() or not description.strip():
        raise MalformedTool(f"{name} has no title or no description")
    if effect not in EFFECTS:
        raise MalformedTool(f"{name}: {effect!r} is not a valid effect; the effects are {', '.join(EFFECTS)}")
    schema = model.model_json_schema()
    parameters = {key: _flat(name, key, found) for key, found in schema.get("properties", {}).items()}
    required = tuple(key for key in parameters if key in schema.get("required", ()))
    return Tool(name, title, " ".join(description.split()), effect, parameters, required, model, run)


def _declared(run: Run, title: str, effect: Effect) -> Tool:
    name = getattr(run, "__name__", "")
    hints = get_type_hints(run, include_extras=True)
    fields: dict[str, Any] = {}
    for parameter in list(inspect.signature(run).parameters.values())[1:]:
        if parameter.name not in hints:
            raise MalformedTool(f"{name}: {parameter.name} has no type")
        default = ... if parameter.default is inspect.Parameter.empty else parameter.default
        fields[parameter.name] = (hints[parameter.name], default)
    model = create_model(f"{name}_arguments", __base__=_Arguments, **fields)
    return checked_tool(name, title, inspect.getdoc(run) or "", effect, model, run)


def _flat(tool: str, name: str, found: Mapping[str, Any]) -> Parameter:
    """The schema of one argument without null and without pydantic's own keys."""
    schema = dict(found)
    if "anyOf" in schema:
        kinds = [kind for kind in schema.pop("anyOf") if kind != {"type": "null"}]
        if len(kinds) != 1:
            raise MalformedTool(f"{tool}: {name} has several types")
        schema = {**kinds[0], **schema}
    schema.pop("title", None)
    if schema.get("default", ...) is None:
        del schema["default"]
    if "const" in schema:
        schema.update(type="string", enum=[schema.pop("const")])
    if not str(schema.get("description", "")).strip():
        raise MalformedTool(f"{tool}: {name} has no description")
    if schema.get("type") == "array":
        item = schema["items"] = {key: value for key, value in schema.get("items", {}).items() if key != "title"}
        if item.get("type") != "string":
            raise MalformedTool(f"{tool}: {name} is a list of something other than strings")
    elif schema.get("type") not in _SIMPLE_TYPES or "$ref" in schema:
        raise MalformedTool(f"{tool}: {name} is nested; arguments are flat")
    return schema


def _without(tool: Tool, parameter: str) -> Tool:
    kept = {name: found for name, found in tool.parameters.items() if name != parameter}
    fields: dict[str, Any] = {}
    for name in kept:
        info = tool.model.model_fields[name]
        fields[name] = (info.annotation, info)
    model = create_model(f"{tool.name}_arguments", __base__=_Arguments, **fields)
    required = tuple(name for name in tool.required if name != parameter)
    narrowed = checked_tool(tool.name, tool.title, tool.description, tool.effect, model, tool.run)
    return replace(narrowed, required=required, effects=tool.effects)
