"""A tool that no model could use is no tool: it fails where it is declared."""

from __future__ import annotations

import json
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field

from bridge.errors import UsageError
from bridge.model_tools import SET_NAMES, ClientContext, InvalidArguments, MalformedTool, ToolResult, ToolSet, tool_set
from bridge.model_tools.declaration import Run
from bridge.model_tools.schemas import schema_of
from bridge.model_tools.tables import tables
from bridge.ops import OPERATION_KINDS

Described = Annotated[str, Field(description="Words.")]


class Nested(BaseModel):
    x: int


async def undescribed(client: ClientContext, ref: str) -> ToolResult:
    """Says nothing about its argument."""
    return ToolResult("")


async def untyped(client: ClientContext, ref) -> ToolResult:  # type: ignore[no-untyped-def]
    """Has an argument of no type."""
    return ToolResult("")


async def nested(client: ClientContext, options: Annotated[Nested, Field(description="An object.")]) -> ToolResult:
    """Takes an object."""
    return ToolResult("")


async def numbers(client: ClientContext, values: Annotated[list[int], Field(description="Numbers.")]) -> ToolResult:
    """Takes a list of something else than strings."""
    return ToolResult("")


async def either(
    client: ClientContext, value: Annotated[int | str, Field(description="One or the other.")]
) -> ToolResult:
    """Takes one of two types."""
    return ToolResult("")


async def mute(client: ClientContext, words: Described) -> ToolResult:
    return ToolResult("")


async def BadName(client: ClientContext) -> ToolResult:  # noqa: N802 - it is bad
    """Has capital letters."""
    return ToolResult("")


@pytest.mark.parametrize("run", [undescribed, untyped, nested, numbers, either, mute, BadName])
def test_a_malformed_declaration_fails(run: Run) -> None:
    with pytest.raises(MalformedTool):
        ToolSet("test").tool(title="Test", effect="observe")(run)


async def well_formed(client: ClientContext, words: Described) -> ToolResult:
    """Does nothing."""
    return ToolResult(words)


def test_two_tools_of_one_name_an_unknown_effect_and_an_empty_title_fail() -> None:
    tools = ToolSet("test")
    tools.tool(title="Test", effect="observe")(well_formed)
    with pytest.raises(MalformedTool, match="two tools"):
        tools.tool(title="Test", effect="observe")(well_formed)
    with pytest.raises(MalformedTool, match="not a valid effect"):
        ToolSet("test").tool(title="Test", effect="destroy")(well_formed)  # type: ignore[arg-type]
    with pytest.raises(MalformedTool, match="no title"):
        ToolSet("test").tool(title=" ", effect="observe")(well_formed)


def test_the_sets_have_the_tools_of_their_names() -> None:
    assert [tool.name for tool in tool_set("web")] == (
        "web_open web_snapshot web_click web_fill web_type web_check web_uncheck web_select web_press_key web_scroll "
        "web_upload web_fill_form web_dialog web_get_text web_get_value web_read web_screenshot web_wait web_back "
        "web_tabs web_find web_download web_ask_person"
    ).split()
    assert [tool.name for tool in tool_set("extra")] == (
        "web_hover web_drag web_forward web_downloads web_console web_network".split()
    )
    assert [tool.name for tool in tool_set("simple")] == ["browser", "webfetch"]
    (operation,) = tool_set("ops")
    assert operation.parameters["kind"]["enum"] == list(OPERATION_KINDS)
    with pytest.raises(UsageError, match="unknown tool set"):
        tool_set("all")


def test_a_server_can_have_several_sets_and_single_tools() -> None:
    names = [tool.name for tool in tool_set("web,webfetch,web")]
    assert names == [*(tool.name for tool in tool_set("web")), "webfetch"]
    assert [tool.name for tool in tool_set("web_console, browser", allow_javascript=True)] == ["web_console", "browser"]
    with pytest.raises(UsageError, match="unknown tool set 'web_fly'"):
        tool_set("web,web_fly")


def test_the_schemas_stay_small() -> None:
    def size(name: str) -> int:
        return len(json.dumps(schema_of(tool_set(name), "mcp"), ensure_ascii=False, separators=(",", ":")))

    assert size("web") < 9_500
    assert size("web,extra") < 12_000


def test_javascript_is_an_argument_only_where_the_operator_allows_it() -> None:
    assert "javascript" not in next(iter(tool_set("simple"))).parameters
    assert "javascript" in next(iter(tool_set("simple", allow_javascript=True))).parameters
    for name in ("web", "ops"):
        with pytest.raises(UsageError, match="JavaScript"):
            tool_set(name, allow_javascript=True)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "ref: missing"),
        ({"ref": None}, "ref: "),
        ({"ref": 5}, "ref: "),
        ({"ref": ["e5"]}, "ref: "),
        ({"ref": {"$ne": ""}}, "ref: "),
        ({"ref": "5"}, "Ref such as e5"),
        ({"ref": "e5\n"}, "ref: "),
        ({"ref": "e0"}, "ref: "),
        ({"ref": "e5", "force": True}, "force: unknown argument"),
        ({"ref": "e5", "__class__": "x"}, "unknown argument"),
    ],
)
def test_arguments_that_do_not_fit_are_named(given: dict[str, Any], said: str) -> None:
    tool = tool_set("web").get("web_check")
    assert tool is not None
    with pytest.raises(InvalidArguments) as raised:
        tool.arguments(given)
    assert said in raised.value.message
    assert raised.value.hint == "The arguments are ref."


def test_a_null_leaves_an_optional_argument_out() -> None:
    tool = tool_set("web").get("web_scroll")
    assert tool is not None
    assert tool.arguments({"direction": "up", "amount": None, "ref": None}) == {
        "direction": "up",
        "amount": 300,
        "ref": None,
    }


def test_the_tables_show_every_tool_with_its_arguments_and_effect() -> None:
    text = tables()
    for name in SET_NAMES:
        for tool in tool_set(name):
            row = next(line for line in text.splitlines() if line.startswith(f"| `{tool.name}("))
            assert f"| {tool.effect} | {tool.description} |" in row
    assert "| `web_scroll(direction, amount=300, ref?)` | act |" in text


def test_every_tool_of_every_set_says_what_it_is() -> None:
    for name in SET_NAMES:
        for tool in tool_set(name):
            assert len(tool.description) > 20
            assert tool.description.endswith(".")
            assert all(str(found["description"]).endswith((".", "…")) for found in tool.parameters.values()), tool.name
