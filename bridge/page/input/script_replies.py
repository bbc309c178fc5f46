"""Replies of the injected script before and after an action, parsed once (injected_js/src/checks types them).

An `error` stays the mapping that the script sent: a `code` and its details. `bridge.snapshot.wording` phrases it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, cast, get_args

from bridge.errors import ScriptFailed
from bridge.snapshot.wording import named

ScriptError: TypeAlias = Mapping[str, object]
SettleReason = Literal["quiet", "deadline", "navigation", "closed"]


@dataclass(frozen=True, slots=True)
class PrepareReply:
    """The element's readiness for an action, and the point where a touch reaches it.

    Attributes:
        error: Why it cannot. The other fields mean nothing then.
        x, y: The point to touch in CSS pixels, in the visual viewport of the frame that is `frames_up` levels above the
            element's own.
        frames_up: How many ancestor frames the script could read; the rest need a call each.
        is_skipped: The caller's `first` expression had a value, so nothing was waited for and no guard is armed.
        first, also: The values of the caller's own expressions on the element, run before and after the checks.
    """

    error: ScriptError | None = None
    x: float = 0.0
    y: float = 0.0
    frames_up: int = 0
    is_skipped: bool = False
    first: Any = None
    also: Any = None

    @classmethod
    def parse(cls, reply: object) -> PrepareReply:
        if not isinstance(reply, Mapping):
            raise ScriptFailed("the check before the action returned no object")
        return cls(
            error=_error(reply),
            x=_number(reply, "x"),
            y=_number(reply, "y"),
            frames_up=round(_number(reply, "up")),
            is_skipped="first" in reply,
            first=reply.get("first"),
            also=reply.get("also"),
        )


@dataclass(frozen=True, slots=True)
class SettleReply:
    """Events in one frame from arming its guard until the document was quiet.

    Attributes:
        reason: Why the wait ended. `navigation`: the document began to unload. `closed`: its window was closed.
        error: What the guard refused: the element has changed, or would open a system dialog.
        is_hit: The first event of the input reached the element. Meaningless unless input was sent to an element.
        blocked_by: What the input would have hit instead, such as `div#veil`; the guard stopped all of it.
        interrupted_by: What appeared over the element after the first event, or took the focus from it; the guard
            stopped the rest of the input.
        is_opened: The element says that it is expanded now (`aria-expanded`), and was not before.
        clicks: The click events that reached the element; for keys, the keydown events.
        is_taken: The page's own touch handlers prevented the click.
        texts: Texts that appeared.
        appearing: What was still coming or going at the deadline, such as `listbox "City"`; "" if nothing was.
        picker: The control whose system dialog the page itself asked for, described like an error.
        ended_at: The document's clock when the wait ended, in ms. Frames of one renderer share the clock.
        snapshot: The raw snapshot of the frame, if one was asked for and the document is still there.
        after: The value of the caller's own expression on the element, run at the end.
        done: The reply of an action that the script performed itself.
        moved: Whether `scroll` changed the scroll position.
        drag_failure: Why drag and drop by script did nothing; "" if it did.
    """

    reason: SettleReason
    error: ScriptError | None = None
    is_hit: bool = True
    blocked_by: str | None = None
    interrupted_by: str | None = None
    is_opened: bool = False
    clicks: int = 0
    is_taken: bool = False
    texts: tuple[str, ...] = ()
    appearing: str = ""
    picker: ScriptError | None = None
    ended_at: float | None = None
    snapshot: Mapping[str, Any] | None = None
    after: Any = None
    done: Mapping[str, Any] = field(default_factory=dict)
    moved: bool | None = None
    drag_failure: str = ""

    @classmethod
    def parse(cls, reply: object) -> SettleReply:
        if not isinstance(reply, Mapping):
            raise ScriptFailed("settling returned no object")
        reason, texts = reply.get("reason"), reply.get("texts")
        return cls(
            reason=cast(SettleReason, reason) if reason in get_args(SettleReason) else "quiet",
            error=_error(reply),
            is_hit=reply.get("hit") is not False,
            blocked_by=_text(reply, "landedOn"),
            interrupted_by=_text(reply, "over"),
            is_opened=reply.get("opened") is True,
            clicks=round(_number(reply, "clicks")),
            is_taken=reply.get("taken") is True,
            texts=tuple(map(str, texts)) if isinstance(texts, list) else (),
            appearing=named(appearing) if isinstance(appearing := reply.get("appearing"), list) else "",
            picker=_mapping(reply, "picker"),
            ended_at=float(at) if isinstance(at := reply.get("endedAt"), int | float) else None,
            snapshot=_mapping(reply, "snapshot"),
            after=reply.get("after"),
            done=_mapping(reply, "done") or {},
            moved=moved if isinstance(moved := reply.get("moved"), bool) else None,
            drag_failure=_text(reply, "dragFailure") or "",
        )


def _error(reply: Mapping[str, Any]) -> ScriptError | None:
    return _mapping(reply, "error")


def _mapping(reply: Mapping[str, Any], key: str) -> Mapping[str, Any] | None:
    value = reply.get(key)
    return value if isinstance(value, Mapping) else None


def _text(reply: Mapping[str, Any], key: str) -> str | None:
    value = reply.get(key)
    return value if isinstance(value, str) else None


def _number(reply: Mapping[str, Any], key: str) -> float:
    value = reply.get(key)
    return float(value) if isinstance(value, int | float) else 0.0
