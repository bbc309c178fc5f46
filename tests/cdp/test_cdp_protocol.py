"""The protocol without I/O: ids, replies, events, flattened sessions."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.cdp.protocol import CdpError, CdpEvent, CdpProtocol, CdpReply, InvalidCdpMessage, LostCommand

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


def message(**fields: Any) -> bytes:
    return json.dumps(fields).encode()


def test_a_command_is_numbered_and_names_its_flattened_session() -> None:
    session = CdpProtocol()
    _, first = session.command("Page.enable")
    _, second = session.command("Runtime.evaluate", {"expression": "1"}, "S")
    assert json.loads(first) == {"id": 1, "method": "Page.enable", "params": {}}
    assert json.loads(second) == {
        "id": 2,
        "method": "Runtime.evaluate",
        "params": {"expression": "1"},
        "sessionId": "S",
    }


@given(st.lists(st.integers(0, 5), min_size=1, max_size=30), st.randoms(use_true_random=False))
def test_replies_are_paired_with_commands_in_any_order(tags: list[int], random: Any) -> None:
    session = CdpProtocol()
    commands = [session.command("A.b", {"tag": tag})[0] for tag in tags]
    shuffled = list(zip(commands, tags, strict=True))
    random.shuffle(shuffled)
    for command, tag in shuffled:
        assert session.receive(message(id=command.id, result={"tag": tag})) == [CdpReply(command, {"tag": tag})]
    assert session.in_flight == {}


def test_an_error_keeps_code_message_and_data() -> None:
    session = CdpProtocol()
    command, _ = session.command("Page.navigate")
    error = {"code": -32602, "message": "Invalid parameters", "data": "url: string expected", "extra": 1}
    assert session.receive(message(id=1, error=error)) == [
        CdpError(command, -32602, "Invalid parameters: url: string expected")
    ]


def test_a_reply_with_exception_details_is_a_reply() -> None:
    session = CdpProtocol()
    command, _ = session.command("Runtime.evaluate")
    result = {"result": {"type": "object"}, "exceptionDetails": {"text": "Uncaught"}}
    assert session.receive(message(id=1, result=result)) == [CdpReply(command, result)]


def test_the_reply_to_a_forgotten_command_is_ignored() -> None:
    session = CdpProtocol()
    command, _ = session.command("A.b")
    session.forget(command)
    assert session.receive(message(id=1, result={})) == []


def test_a_reply_is_settled_once() -> None:
    session = CdpProtocol()
    session.command("A.b")
    assert len(session.receive(message(id=1, result={}))) == 1
    assert session.receive(message(id=1, result={})) == []


def test_unknown_fields_are_ignored() -> None:
    session = CdpProtocol()
    session.command("A.b")
    assert len(session.receive(message(id=1, result={}, trace="x"))) == 1
    assert session.receive(message(method="New.thing", params={"a": 1}, future=True)) == [
        CdpEvent("New.thing", {"a": 1}, None)
    ]


def test_an_event_names_the_flattened_session_it_came_from() -> None:
    received = CdpProtocol().receive(message(method="Page.loadEventFired", params={}, sessionId="S"))
    assert received == [CdpEvent("Page.loadEventFired", {}, "S")]


def test_flattened_sessions_are_tracked_from_attach_to_detach() -> None:
    session = CdpProtocol()
    session.receive(
        message(method="Target.attachedToTarget", params={"sessionId": "S", "targetInfo": {"targetId": "T"}})
    )
    assert session.sessions == {"S": "T"}
    session.receive(message(method="Target.detachedFromTarget", params={"sessionId": "S"}))
    assert session.sessions == {}


def test_commands_of_a_detached_session_are_lost() -> None:
    session = CdpProtocol()
    kept, _ = session.command("A.b")
    lost, _ = session.command("A.b", None, "S")
    outcomes = session.receive(message(method="Target.detachedFromTarget", params={"sessionId": "S"}))
    assert [outcome.command for outcome in outcomes if isinstance(outcome, LostCommand)] == [lost]
    assert isinstance(outcomes[-1], CdpEvent)
    assert list(session.in_flight.values()) == [kept]


def attached(session_id: str, target_id: str, above: str | None = None) -> bytes:
    params = {"sessionId": session_id, "targetInfo": {"targetId": target_id}}
    fields: dict[str, Any] = {"method": "Target.attachedToTarget", "params": params}
    return message(**fields, **({"sessionId": above} if above else {}))


def test_child_sessions_end_with_their_parent() -> None:
    session = CdpProtocol()
    for above, session_id, target_id in ((None, "A", "a"), ("A", "B", "b"), ("B", "C", "c"), (None, "D", "d")):
        session.receive(attached(session_id, target_id, above))
    kept, _ = session.command("A.b", None, "D")
    lost, _ = session.command("A.b", None, "C")
    outcomes = session.receive(message(method="Target.detachedFromTarget", params={"sessionId": "A", "targetId": "a"}))
    assert [outcome.command for outcome in outcomes if isinstance(outcome, LostCommand)] == [lost]
    assert [(event.params, event.session_id) for event in outcomes if isinstance(event, CdpEvent)] == [
        ({"sessionId": "C", "targetId": "c"}, "B"),
        ({"sessionId": "B", "targetId": "b"}, "A"),
        ({"sessionId": "A", "targetId": "a"}, None),
    ]
    assert session.sessions == {"D": "d"}
    assert list(session.in_flight.values()) == [kept]


def test_sessions_that_are_each_others_parents_end() -> None:
    session = CdpProtocol()
    session.receive(attached("A", "a", "B"))
    session.receive(attached("B", "b", "A"))
    assert len(session.receive(message(method="Target.detachedFromTarget", params={"sessionId": "A"}))) == 2
    assert session.sessions == {}


def test_session_not_found_means_detached() -> None:
    session = CdpProtocol()
    missing = {"code": -32001, "message": "Session with given id not found."}
    of_session, _ = session.command("A.b", None, "S")
    (outcome,) = session.receive(message(id=of_session.id, error=missing, sessionId="S"))
    assert isinstance(outcome, LostCommand)
    assert "session S was detached" in outcome.reason
    own, _ = session.command("A.b")
    (outcome,) = session.receive(message(id=own.id, error=missing))
    assert isinstance(outcome, CdpError)


def test_an_error_without_a_command_is_ignored() -> None:
    session = CdpProtocol()
    session.command("A.b")
    assert session.receive(message(id=None, error={"code": -32700, "message": "x"})) == []
    assert session.receive(message(error={"code": -32700, "message": "x"})) == []
    assert len(session.in_flight) == 1


@pytest.mark.parametrize("garbage", [b"", b"hello", b"[]", b"{}", b'{"method": 1}', b"\xff\xfe", b"[" * 100_000])
def test_invalid_cdp_messages_are_rejected(garbage: bytes) -> None:
    with pytest.raises(InvalidCdpMessage):
        CdpProtocol().receive(garbage)


@given(st.dictionaries(st.sampled_from(["id", "method", "params", "result", "error", "sessionId"]), json_values))
def test_any_json_object_is_handled(fields: dict[str, Any]) -> None:
    session = CdpProtocol()
    session.command("A.b")
    try:
        session.receive(message(**fields))
    except InvalidCdpMessage:
        assert "id" not in fields


def test_a_parameter_that_is_not_json_leaves_nothing_in_flight() -> None:
    session = CdpProtocol()
    with pytest.raises(TypeError):
        session.command("A.b", {"x": object()})
    assert session.in_flight == {}
