"""The default install, over the real server: whatever a model may name an address with refuses it, and says why."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from mcp import Client

from bridge.model_tools.sets import SET_NAMES
from bridge.ops import OPERATION_KINDS, operation_schema
from tests.mcp.conftest import Serving, text_of

pytestmark = pytest.mark.browser

PUBLIC = "https://shop.example/x"
LINE = 'allowed_origins = ["shop.example"]'
ALWAYS_REFUSED = ("http://127.0.0.1:1/", "http://0x7f.1:1/", "http://169.254.169.254/", "file:///etc/passwd")
# The address is compared with the page's own, or with those of its requests.
OPENS_NOTHING = {"web_wait", "web_network"}
_VALUES: dict[str, Any] = {"string": "a.txt", "integer": 1, "number": 1, "boolean": False, "array": []}


def ways_to_name_an_address(tool: Any) -> Iterator[dict[str, Any]]:
    """Arguments for each way in which a tool takes a `url` to open, that one left out."""
    properties = tool.input_schema["properties"]
    if "url" not in properties or tool.name in OPENS_NOTHING:
        return
    given = {name: _VALUES[properties[name]["type"]] for name in tool.input_schema.get("required", ()) if name != "url"}
    if "kind" in properties:
        definitions = operation_schema()["$defs"].values()
        for kind in sorted(
            form["properties"]["kind"]["const"] for form in definitions if {"kind", "url"} <= {*form["properties"]}
        ):
            yield {**given, "kind": kind, **({"dest_path": "a.txt"} if kind == "download" else {})}
        return
    yield {**given, **({"mode": "extract"} if "mode" in properties else {})}


@pytest.mark.parametrize("name", SET_NAMES)
async def test_every_tool_refuses_every_address_and_names_the_line_that_would_allow_it(
    serving: Serving, name: str
) -> None:
    downloads = serving.folder / "down"
    downloads.mkdir()
    async with serving.client("stdio", "--set", name, "--downloads-root", str(downloads)) as client:
        asked = [
            (tool.name, arguments)
            for tool in (await client.list_tools()).tools
            for arguments in ways_to_name_an_address(tool)
        ]
        assert len(asked) >= {"web": 2, "simple": 2, "ops": 3}.get(name, 0)
        if name == "web":  # downloads begin on a page
            await client.call_tool("web_open", {"url": serving.local.url("second.html")})
        for tool, arguments in asked:
            said = await refused(client, tool, {**arguments, "url": PUBLIC})
            assert LINE in said, (tool, arguments, said)
            for url in ALWAYS_REFUSED:
                said = await refused(client, tool, {**arguments, "url": url})
                assert LINE not in said


async def refused(client: Client, tool: str, arguments: dict[str, Any]) -> str:
    result = await client.call_tool(tool, arguments)
    said = text_of(result).replace('\\"', '"')
    assert result.is_error, (tool, arguments, said)
    return said


async def test_nothing_that_a_tool_takes_is_the_operators(serving: Serving) -> None:
    """Enumerated from what the server itself declares, down to every field of every operation."""
    words = (
        "grant",
        "allow",
        "deny",
        "policy",
        "origin",
        "strict",
        "repin",
        "proxy",
        "egress",
        "eval",
        "script",
        "cdp",
    )
    for name in SET_NAMES:
        async with serving.client("stdio", "--set", name) as client:
            tools = (await client.list_tools()).tools
            schemas = [tool.input_schema for tool in tools]
            fields = {field for schema in schemas for field in property_names(schema)}
            assert not {field for field in fields for word in words if word in field.lower()}
            assert all(closed(value) for schema in schemas for value in schema["properties"].values())
            for tool in tools:  # a schema of a tool does not say that it takes nothing else, and the tool does
                assert "unknown argument" in await refused(client, tool.name, {"proxy": "http://127.0.0.1:1"})
            if name == "ops":
                text = json.dumps([dict(schema) for schema in schemas])
                assert all(f'"{kind}"' in text for kind in OPERATION_KINDS)
                assert "evaluate" not in text


def property_names(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        yield from schema.get("properties", {})
        for value in schema.values():
            yield from property_names(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from property_names(value)


def closed(schema: Any) -> bool:
    """Whether every object in it takes nothing but what it names."""
    if isinstance(schema, dict):
        is_closed = "properties" not in schema or schema.get("additionalProperties") is False
        return is_closed and all(closed(value) for value in schema.values() if isinstance(value, dict | list))
    return not isinstance(schema, list) or all(closed(value) for value in schema)
