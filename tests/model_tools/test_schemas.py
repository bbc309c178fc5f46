"""The schemas of each dialect, as they were agreed on and as that dialect's strict mode takes them.

`UPDATE_GOLDEN=1 pytest tests/model_tools/test_schemas.py` writes the golden files.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from bridge.errors import UsageError
from bridge.model_tools import SET_NAMES, tool_set
from bridge.model_tools.schemas import DIALECTS, schema_of

GOLDEN = Path(__file__).parent / "golden"
EVERY = [(dialect, name) for dialect in DIALECTS for name in SET_NAMES]


def parameters_of(dialect: str, name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each tool's name and the schema of its arguments; {} where the dialect leaves it out."""
    found = schema_of(tool_set(name), dialect)
    for tool in found["functionDeclarations"] if isinstance(found, dict) else found:
        inner = tool.get("function", tool)
        yield inner["name"], inner.get("parameters") or inner.get("input_schema") or inner.get("inputSchema") or {}


@pytest.mark.parametrize(("dialect", "name"), EVERY)
def test_the_schema_is_the_golden_one(dialect: str, name: str) -> None:
    text = json.dumps(schema_of(tool_set(name), dialect), ensure_ascii=False, indent=1) + "\n"
    path = GOLDEN / f"{name}.{dialect}.json"
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text


@pytest.mark.parametrize(("dialect", "name"), EVERY)
def test_every_schema_is_a_flat_json_schema(dialect: str, name: str) -> None:
    for tool, schema in parameters_of(dialect, name):
        jsonschema.Draft202012Validator.check_schema(schema)
        for field, found in schema.get("properties", {}).items():
            assert found["description"], (tool, field)
            assert not {"$ref", "anyOf", "oneOf", "allOf", "properties"} & found.keys(), (tool, field)


@pytest.mark.parametrize("dialect", ["openai-responses", "openai-chat"])
@pytest.mark.parametrize("name", SET_NAMES)
def test_openai_schemas_keep_the_rules_of_strict_mode(dialect: str, name: str) -> None:
    # https://platform.openai.com/docs/guides/structured-outputs: every field is required, no others are allowed, and
    # of the keywords these are always taken.
    for tool, schema in parameters_of(dialect, name):
        assert set(schema) == {"type", "properties", "required", "additionalProperties"}, tool
        assert schema["additionalProperties"] is False
        assert schema["required"] == list(schema["properties"])
        for found in schema["properties"].values():
            assert set(found) <= {"type", "description", "enum", "items"}
    listed = schema_of(tool_set(name), dialect)
    assert isinstance(listed, list)
    assert all(tool.get("function", tool)["strict"] is True for tool in listed)


@pytest.mark.parametrize("name", SET_NAMES)
def test_gemini_schemas_keep_to_the_subset_of_openapi(name: str) -> None:
    for tool, schema in parameters_of("gemini", name):
        if not schema:
            continue
        assert set(schema) == {"type", "properties", "required"}, tool
        for found in schema["properties"].values():
            assert set(found) <= {"type", "description", "enum", "items"}
            assert isinstance(found["type"], str)
            assert all(isinstance(value, str) for value in found.get("enum", []))


@pytest.mark.parametrize("name", SET_NAMES)
def test_names_and_descriptions_fit_every_api(name: str) -> None:
    for tool in tool_set(name):
        assert len(tool.name) <= 64
        assert len(tool.description) <= 1024


def test_a_call_that_a_strict_schema_allows_is_one_that_the_tool_takes() -> None:
    for name in SET_NAMES:
        tools = tool_set(name)
        for called, schema in parameters_of("openai-chat", name):
            given = {field: _example(field, found) for field, found in schema["properties"].items()}
            jsonschema.validate(given, schema)
            tool = tools.get(called)
            assert tool is not None
            assert tool.arguments(given).keys() == tool.parameters.keys()


def test_an_unknown_dialect_is_named() -> None:
    with pytest.raises(UsageError, match="cobol"):
        schema_of(tool_set("web"), "cobol")


def _example(field: str, schema: Mapping[str, Any]) -> Any:
    if isinstance(schema["type"], list):
        return None
    if "enum" in schema:
        return schema["enum"][0]
    return {"string": "e5", "array": ["a"], "boolean": True, "integer": 1, "number": 1}[schema["type"]]
