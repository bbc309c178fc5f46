"""The operations as data: exactly 18, closed, and every one comes back from JSON as it went."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.ops import EFFECT_OF, EFFECTS, OPERATION_KINDS, InvalidOperation, operation_schema, parse_operation
from bridge.ops.models import OPERATION_TYPES

SAMPLES = [
    {"kind": "navigate", "url": "https://example.com/", "wait_until_loaded": True},
    {"kind": "snapshot", "interactive_only": True, "scope": None, "delta": False},
    {"kind": "read", "mode": "main_content", "max_length": 50_000},
    {"kind": "click", "ref": "e5"},
    {"kind": "fill", "ref": "e5", "value": "gold"},
    {"kind": "press", "key": "Enter"},
    {"kind": "select", "ref": "e5", "values": ["a", "b"]},
    {"kind": "upload", "ref": "e5", "paths": ["a.txt"]},
    {"kind": "download", "url": "https://example.com/a.zip", "dest_path": "a.zip"},
    {"kind": "screenshot", "full_page": False, "annotate": False, "ref": None},
    {"kind": "get_state"},
    {"kind": "wait_for", "selector": "#done", "role": None, "timeout_ms": 10_000},
    {"kind": "network_log", "tab": None, "filter": None, "limit": 100, "clear": False},
    {"kind": "console", "tab": None, "filter": None, "limit": 100, "clear": False},
    {"kind": "new_tab", "url": None},
    {"kind": "close_tab"},
    {"kind": "back"},
    {"kind": "forward"},
]


def test_there_are_exactly_18_and_none_runs_javascript() -> None:
    assert len(OPERATION_KINDS) == 18
    assert [sample["kind"] for sample in SAMPLES] == list(OPERATION_KINDS)
    assert set(EFFECT_OF) == set(OPERATION_KINDS)
    assert set(EFFECT_OF.values()) == set(EFFECTS)
    fields = {name for model in OPERATION_TYPES for name in model.model_fields}
    assert not {name for name in fields if any(word in name for word in ("script", "eval", "function", "expression"))}
    assert not {name for name in fields if any(word in name for word in ("policy", "grant", "allow", "local"))}


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample["kind"])
def test_every_kind_comes_back_as_it_went(sample: dict[str, object]) -> None:
    operation = parse_operation(json.dumps(sample))
    assert operation.model_dump(mode="json") == sample
    assert parse_operation(operation.model_dump_json()) == operation
    assert parse_operation(dict(sample)) == operation


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample["kind"])
def test_an_unknown_field_is_refused_by_name(sample: dict[str, object]) -> None:
    with pytest.raises(InvalidOperation, match="surprise: Extra inputs are not permitted"):
        parse_operation({**sample, "surprise": 1})


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("{", "Invalid JSON"),
        ("[]", "object"),
        ("{}", "kind"),
        ({"kind": "evaluate", "code": "1"}, "evaluate"),
        ({"kind": "click"}, "click.ref: Field required"),
        ({"kind": "click", "ref": "e0"}, "click.ref"),
        ({"kind": "click", "ref": "5"}, "click.ref"),
        ({"kind": "click", "ref": 5}, "click.ref"),
        ({"kind": "click", "ref": "e5\n"}, "click.ref"),
        ({"kind": "click", "ref": "@@e5"}, "click.ref"),
        ({"kind": "click", "ref": "e٣"}, "click.ref"),
        ({"kind": "navigate", "url": ""}, "navigate.url"),
        ({"kind": "navigate", "url": "https://a/", "wait_until_loaded": "yes"}, "wait_until_loaded"),
        ({"kind": "navigate", "url": "x" * 9_000}, "navigate.url"),
        ({"kind": "read", "mode": "everything"}, "read.mode"),
        ({"kind": "read", "max_length": -1}, "read.max_length"),
        ({"kind": "read", "max_length": "many"}, "read.max_length"),
        ({"kind": "read", "max_length": 1.5}, "read.max_length"),
        ({"kind": "select", "ref": "e1", "values": []}, "select.values"),
        ({"kind": "select", "ref": "e1", "values": "a"}, "select.values"),
        ({"kind": "wait_for"}, "give either selector or role"),
        ({"kind": "wait_for", "selector": "a", "role": "link"}, "give either selector or role"),
        ({"kind": "wait_for", "role": "link", "timeout_ms": 10**9}, "wait_for.timeout_ms"),
        ({"kind": "screenshot", "full_page": True, "ref": "e1"}, "full_page and ref exclude each other"),
        ({"kind": "console", "limit": True}, "console.limit"),
    ],
)
def test_an_error_about_an_invalid_operation_names_the_field(source: str | dict[str, object], words: str) -> None:
    with pytest.raises(InvalidOperation) as refused:
        parse_operation(source)
    assert words in str(refused.value)
    assert refused.value.exit_code == 2


def test_an_error_about_an_unknown_kind_lists_the_kinds() -> None:
    with pytest.raises(InvalidOperation, match="The kinds are navigate, snapshot, read"):
        parse_operation({"kind": "evaluate"})


def test_refs_are_taken_with_and_without_the_at_sign() -> None:
    assert parse_operation({"kind": "click", "ref": "@e12"}) == parse_operation({"kind": "click", "ref": "e12"})


def test_the_schema_is_closed_everywhere() -> None:
    definitions = operation_schema()["$defs"]
    assert len(definitions) == 18
    assert all(definition["additionalProperties"] is False for definition in definitions.values())


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.dictionaries(
        st.sampled_from(["kind", "ref", "url", "value", "values", "limit"]), _json | st.sampled_from(OPERATION_KINDS)
    )
)
def test_no_object_is_anything_but_an_operation_or_refused(source: dict[str, object]) -> None:
    try:
        operation = parse_operation(source)
    except InvalidOperation:
        return
    assert operation.kind in OPERATION_KINDS
