"""Everything that a model-facing surface takes, gone through: no grant, no wider list, no script, no other device."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bridge.errors import BridgeError
from bridge.model_tools.sets import SET_NAMES, tool_set
from bridge.ops import OPERATION_KINDS, InvalidOperation, operation_schema, parse_operation
from bridge.policy import BrowserPolicy, decide, policy_for
from bridge.policy.configuration import from_environment, load_policy

WIDENS = (
    "grant",
    "allow",
    "deny",
    "local",
    "policy",
    "origin",
    "strict",
    "repin",
    "proxy",
    "egress",
    "device",
    "serial",
)
RUNS = ("script", "eval", "function", "expression", "code", "cdp", "header", "cookie")


def accepted() -> Iterator[tuple[str, str]]:
    """Every name that an operation or a tool takes, with where."""
    for name, definition in operation_schema()["$defs"].items():
        yield from ((f"operation {name}", field) for field in definition["properties"])
    for set_name in SET_NAMES:
        for tool in tool_set(set_name):
            yield from ((f"tool {tool.name}", field) for field in tool.parameters)


@pytest.mark.parametrize(("where", "field"), sorted(accepted()))
def test_no_field_reaches_what_is_the_operators(where: str, field: str) -> None:
    assert not [word for word in (*WIDENS, *RUNS) if word in field], where


@pytest.mark.parametrize("word", [*WIDENS, *RUNS, "grants", "allowed_origins", "local_ports", "javascript"])
@pytest.mark.parametrize("kind", OPERATION_KINDS)
def test_a_field_of_that_name_is_refused_and_not_passed_on(kind: str, word: str) -> None:
    with pytest.raises(InvalidOperation):
        parse_operation({"kind": kind, word: "1"})


@pytest.mark.parametrize("kind", ["evaluate", "eval", "execute", "cdp", "grant", "set_policy", "Navigate", "navigate "])
def test_no_other_kind_is_an_operation(kind: str) -> None:
    with pytest.raises(InvalidOperation):
        parse_operation(json.dumps({"kind": kind}))


@pytest.mark.parametrize("source", [{"grants": ["127.0.0.1:80"]}, {"local_ports": [80]}, {"test_servers": []}])
def test_no_file_and_no_variable_can_hold_a_grant(source: dict[str, Any], tmp_path: Path) -> None:
    (name, value), *_ = source.items()
    file = tmp_path / "config.toml"
    file.write_text(f"[browser.policy]\n{name} = {json.dumps(value)}")
    with pytest.raises(BridgeError):
        load_policy("operator", {"BRIDGE_CONFIG": str(file)})
    with pytest.raises(BridgeError):
        from_environment({f"BRIDGE_POLICY_{name.upper()}": "127.0.0.1:80"})
    with pytest.raises(BridgeError):
        BrowserPolicy(allowed_origins=("127.0.0.1:80",))


def test_what_a_model_meets_without_configuration_denies_all_and_names_the_line() -> None:
    for url in ("https://example.com/", "http://1.1.1.1/"):
        decision = decide(policy_for("model"), url)
        assert decision.action == "deny"
        assert "allowed_origins = [" in decision.hint
