"""What programs that have only `evaluateJavascript` send into a page, and what they make of its answers."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from text_format import EVIL_WORDS

from bridge.errors import BridgeError, NoSuchOption, RefNotFound, ScriptFailed, StaleRef, UsageError
from bridge.snapshot import program

WORDS = st.one_of(EVIL_WORDS, st.text(), st.sampled_from(["</script><script>", "<!--", '");alert(1);("', "`${x}`"]))


def literals(expression: str) -> list[Any]:
    """The JSON literals between the first call's parentheses."""
    arguments = re.search(r"a\.(?:page\.)?\w+\((.*?)\)(?::\{error|\)\.then)", expression, re.DOTALL)
    assert arguments, expression
    return json.loads(f"[{arguments[1]}]")


@given(WORDS, WORDS, WORDS)
def test_no_argument_can_leave_its_literal(ref: str, action: str, value: str) -> None:
    action_expression = program.action_js(ref, action, {"value": value, "keys": [value]})
    assert literals(action_expression) == [ref, action, {"value": value, "keys": [value]}]
    for expression in (action_expression, program.query_js(ref, action), program.press_key_js(value)):
        assert expression.isascii()
        assert expression.isprintable()
        assert "</" not in expression
        assert "<!--" not in expression


def test_every_call_is_one_expression_that_yields_json_also_without_the_script() -> None:
    for expression in (
        program.snapshot_js({"maxNodes": 5}),
        program.action_js("e1", "click"),
        program.action_result_js(),
        program.query_js("e1", "text"),
        program.scroll_js("down"),
        program.scroll_to_js(0, 10),
        program.press_key_js("Enter"),
        program.get_url_js(),
        program.get_title_js(),
    ):
        assert expression.startswith("(function(a){try{return JSON.stringify(a?")
        assert expression.endswith("})(window.__agentBrowser)")
        assert "script_missing" in expression


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), object(), {"__proto__": {"x": 1}}, {"a": {"__proto__": 1}}]
)
def test_what_has_no_safe_literal_is_refused(value: Any) -> None:
    with pytest.raises(UsageError):
        program.action_js("e1", "fill", {"value": value})


def test_an_unknown_direction_is_refused() -> None:
    with pytest.raises(UsageError, match="up, down, left or right"):
        program.scroll_js("sideways")


@pytest.mark.parametrize(
    "wrap", [lambda v: v, json.dumps, lambda v: json.dumps(json.dumps(v)), lambda v: json.dumps(v).encode()]
)
def test_a_reply_is_understood_in_every_wrapping(wrap: Any) -> None:
    reply = program.parse_action_result(
        wrap({"success": True, "action": "check", "ref": "e4", "checked": True, "values": ["a"]})
    )
    assert reply is not None
    assert reply.success
    assert (reply.action, reply.ref, reply.checked, reply.values) == ("check", "e4", True, ("a",))
    assert program.parse_query_result(wrap({"value": "two  words\n"})) == "two  words\n"
    snapshot = program.render_snapshot(wrap({"tree": {"role": "link", "name": "Home", "ref": "e1"}}))
    assert list(snapshot.refs) == ["e1"]


def test_an_action_that_is_still_running_has_no_result_yet() -> None:
    assert program.parse_action_result('{"pending":true}') is None


def test_a_refused_action_carries_the_error_of_the_tree() -> None:
    error = {"code": "no_such_option", "message": "there is no option X", "options": ["A", "B"]}
    reply = program.parse_action_result({"success": False, "action": "select", "ref": "e4", "error": error})
    assert reply is not None
    assert isinstance(reply.error, NoSuchOption)
    assert reply.error.details["options"] == ["A", "B"]
    with pytest.raises(NoSuchOption, match="there is no option X"):
        reply.raise_for_error()


def test_an_error_of_the_script_is_raised_with_what_it_knows() -> None:
    near = [{"ref": "e31", "role": "button", "name": "Beta (2)"}]
    answer = {"error": {"code": "stale_ref", "message": "e14 was button", "nearest": near, "was": 'button "Beta"'}}
    with pytest.raises(StaleRef) as caught:
        program.parse_query_result(answer)
    assert caught.value.details == {"nearest": near, "was": 'button "Beta"'}
    with pytest.raises(RefNotFound):
        program.render_snapshot({"error": {"code": "ref_not_found", "message": "nothing matches #x"}})


@pytest.mark.parametrize(
    "answer", ["", "null", "{}", "[]", "undefined", '"x"', "3", '{"success":"yes"}', "{", "\ufeff{}", b"\xff"]
)
def test_an_answer_that_is_none_is_a_script_failure(answer: str | bytes) -> None:
    with pytest.raises(ScriptFailed):
        program.parse_action_result(answer)
    with pytest.raises(ScriptFailed):
        program.parse_query_result(answer)
    with pytest.raises(ScriptFailed):
        program.render_snapshot(answer)


@given(
    st.recursive(
        st.one_of(st.none(), st.booleans(), st.floats(), st.text(max_size=8)),
        lambda x: st.one_of(
            st.lists(x, max_size=3),
            st.dictionaries(
                st.sampled_from(
                    ["success", "error", "value", "values", "checked", "code", "message", "nearest", "options", "ref"]
                ),
                x,
                max_size=5,
            ),
        ),
        max_leaves=15,
    )
)
def test_no_answer_of_a_page_breaks_the_reader(answer: Any) -> None:
    for parse in (program.parse_action_result, program.parse_query_result, program.render_snapshot):
        try:
            parse(json.dumps(answer))
        except BridgeError as error:
            json.dumps(error.to_json())
