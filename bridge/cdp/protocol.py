"""The Chrome DevTools Protocol without the socket (sans-I/O): messages in, outcomes out.

https://chromedevtools.github.io/devtools-protocol/ and Chromium's content/browser/devtools. One connection carries the
page's own session (no `sessionId`) and the flattened sessions that Target.attachedToTarget announces.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any, TypeAlias

# crdtp, dispatch.h: DispatchCode::SESSION_NOT_FOUND.
_SESSION_NOT_FOUND = -32001


class InvalidCdpMessage(Exception):
    """The peer sent something that is not a CDP message; the error text quotes its beginning."""


@dataclass(frozen=True)
class CdpCommand:
    """A command without a reply yet."""

    id: int
    method: str
    session_id: str | None


@dataclass(frozen=True)
class CdpReply:
    """The result of a command. It may contain `exceptionDetails`, which are left to the caller."""

    command: CdpCommand
    result: dict[str, Any]


@dataclass(frozen=True)
class CdpError:
    """The JSON-RPC error of a command."""

    command: CdpCommand
    cdp_code: int
    reason: str


@dataclass(frozen=True)
class LostCommand:
    """A command that gets no reply because its session was detached."""

    command: CdpCommand
    reason: str


@dataclass(frozen=True)
class CdpEvent:
    """An event with its parameters as received; `session_id` is None for the connection's own session."""

    method: str
    params: dict[str, Any]
    session_id: str | None


CdpOutcome: TypeAlias = CdpReply | CdpError | LostCommand | CdpEvent


@dataclass
class CdpProtocol:
    """Numbers commands, pairs replies with them, and tracks the attached flattened sessions.

    Attributes:
        in_flight: Commands without a reply, by id, oldest first.
        sessions: Target ids of the attached flattened sessions, by session id.
        ids: The ids of the next commands.
    """

    in_flight: dict[int, CdpCommand] = field(default_factory=dict)
    sessions: dict[str, str] = field(default_factory=dict)
    _parents: dict[str, str | None] = field(default_factory=dict)
    ids: count[int] = field(default_factory=lambda: count(1))

    def command(
        self, method: str, params: Mapping[str, Any] | None = None, session_id: str | None = None
    ) -> tuple[CdpCommand, bytes]:
        """A new command and its message; TypeError if a parameter is not JSON."""
        command = CdpCommand(next(self.ids), method, session_id)
        message: dict[str, Any] = {"id": command.id, "method": method, "params": params or {}}
        if session_id is not None:
            message["sessionId"] = session_id
        encoded = json.dumps(message, separators=(",", ":")).encode()
        self.in_flight[command.id] = command
        return command, encoded

    def forget(self, command: CdpCommand) -> None:
        """Drop a command; a later reply to it is ignored."""
        self.in_flight.pop(command.id, None)

    def receive(self, message: str | bytes) -> list[CdpOutcome]:
        """Parse a message; [] for the reply to a forgotten command.

        Raises:
            InvalidCdpMessage: The message is not a JSON object, or has neither an id nor a method.
        """
        try:
            fields = json.loads(message)
        except (ValueError, RecursionError) as error:
            raise InvalidCdpMessage(f"{message[:80]!r} is not JSON") from error
        if not isinstance(fields, dict):
            raise InvalidCdpMessage(f"{message[:80]!r} is not an object")
        if "id" in fields:
            return self._receive_reply(fields)
        if isinstance(fields.get("method"), str):
            return self._receive_event(fields)
        if "error" in fields:  # the response to a message that could not be parsed: no command waits for it
            return []
        raise InvalidCdpMessage(f"{message[:80]!r} has neither an id nor a method")

    def _receive_reply(self, fields: dict[str, Any]) -> list[CdpOutcome]:
        number = fields["id"]
        command = self.in_flight.pop(number, None) if isinstance(number, int) else None
        if command is None:
            return []
        error = fields.get("error")
        if error is None:
            result = fields.get("result")
            return [CdpReply(command, result if isinstance(result, dict) else {})]
        if not isinstance(error, dict):
            return [CdpError(command, 0, str(error))]
        reason = str(error.get("message", "no reason given"))
        if detail := error.get("data"):
            reason = f"{reason}: {detail}"
        code = error.get("code")
        if code == _SESSION_NOT_FOUND and command.session_id is not None:
            return [_lost_command(command)]
        return [CdpError(command, code if isinstance(code, int) else 0, reason)]

    def _receive_event(self, fields: dict[str, Any]) -> list[CdpOutcome]:
        params = fields.get("params")
        session_id = fields.get("sessionId")
        event = CdpEvent(
            fields["method"],
            params if isinstance(params, dict) else {},
            session_id if isinstance(session_id, str) else None,
        )
        if event.method == "Target.attachedToTarget":
            target = event.params.get("targetInfo")
            target_id = target.get("targetId", "") if isinstance(target, dict) else ""
            attached = str(event.params.get("sessionId", ""))
            self.sessions[attached] = str(target_id)
            self._parents[attached] = event.session_id
        elif event.method == "Target.detachedFromTarget":
            return [*self._detach(str(event.params.get("sessionId", ""))), event]
        return [event]

    def _detach(self, session_id: str) -> list[CdpOutcome]:
        """The outcomes of a session's end: its child sessions end first, innermost first, and the commands of each.

        Chromium reports the end of a session to its parent session. It does not report the end of a session whose
        parent has ended, so those events are made here.
        """
        ending = [session_id]
        for ended in ending:  # grows as it goes
            ending.extend(child for child, parent in self._parents.items() if parent == ended and child not in ending)
        outcomes: list[CdpOutcome] = []
        for ended in reversed(ending):
            params = {"sessionId": ended, "targetId": self.sessions.pop(ended, "")}
            parent = self._parents.pop(ended, None)
            lost = [command for command in self.in_flight.values() if command.session_id == ended]
            for command in lost:
                del self.in_flight[command.id]
            outcomes.extend(map(_lost_command, lost))
            if ended != session_id:
                outcomes.append(CdpEvent("Target.detachedFromTarget", params, parent))
        return outcomes


def _lost_command(command: CdpCommand) -> LostCommand:
    return LostCommand(command, f"session {command.session_id} was detached from its target")
