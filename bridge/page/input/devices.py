"""Keyboard, mouse and touchscreen of a page: input at the focus or at coordinates, for no element in particular."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from bridge.page.input.keyboard import checked_text, press_key, type_text
from bridge.page.input.keys import key_down, key_up
from bridge.page.input.touch import checked_px, tap_at
from bridge.page.instrumentation import instrumented
from bridge.page.misuse import helpful
from bridge.page.results import ActionResult

if TYPE_CHECKING:
    from bridge.page.operation import Operation
    from bridge.page.page import Page

Button = Literal["left", "right", "middle"]
OpenAction: TypeAlias = "Callable[[float | None], AbstractAsyncContextManager[Operation]]"
_BUTTONS = {"left": 1, "right": 2, "middle": 4}


@helpful
@instrumented(lambda device: device._page, lambda device: "keyboard")
class Keyboard:
    """Keys for what has the focus. No key opens a system dialog."""

    def __init__(self, page: Page, action: OpenAction) -> None:
        self._page = page
        self._action = action

    async def press(self, key: str, *, timeout_s: float | None = None, settle_s: float = 1.0) -> ActionResult:
        """Press a key (`Enter`, `a`) or chord (`Control+A`) and report what changed."""
        async with self._action(timeout_s) as op:
            return op.report(await press_key(op.actions, key, None, op.deadline, settle_s=settle_s))

    async def type(self, text: str, *, timeout_s: float | None = None, settle_s: float = 1.0) -> ActionResult:
        """Type key by key and report what changed."""
        async with self._action(timeout_s) as op:
            return op.report(await type_text(op.actions, None, text, op.deadline, settle_s=settle_s))

    async def insert_text(self, text: str, *, timeout_s: float | None = None) -> None:
        """Insert text at the caret, without key events."""
        async with self._action(timeout_s) as op:
            command = ("Input.insertText", {"text": checked_text("text", text)})
            await op.actions.send([command], "inserting text", op.deadline)

    async def down(self, key: str, *, timeout_s: float | None = None) -> None:
        """Press a key and hold it; `up` releases it. Keys that open a system dialog are refused."""
        async with self._action(timeout_s) as op:
            await op.actions.send([("Input.dispatchKeyEvent", key_down(key))], f"keyboard.down({key!r})", op.deadline)

    async def up(self, key: str, *, timeout_s: float | None = None) -> None:
        """Release a key."""
        async with self._action(timeout_s) as op:
            await op.actions.send([("Input.dispatchKeyEvent", key_up(key))], f"keyboard.up({key!r})", op.deadline)


@helpful
@instrumented(lambda device: device._page, lambda device: "mouse")
class Mouse:
    """A mouse at coordinates of the viewport, in CSS pixels. Actions on elements use a finger."""

    def __init__(self, page: Page, action: OpenAction, place: MousePlace) -> None:
        self._page = page
        self._action = action
        self._place = place

    async def move(self, x: float, y: float, *, steps: int = 1, timeout_s: float | None = None) -> None:
        """Move the pointer to (x, y) in `steps` moves."""
        place, to = self._place, (checked_px(x), checked_px(y))
        start = place.x, place.y
        async with self._action(timeout_s) as op:
            for step in range(1, max(1, steps) + 1):
                part = step / max(1, steps)
                place.x, place.y = (begin + (end - begin) * part for begin, end in zip(start, to, strict=True))
                await op.actions.send([place.event("mouseMoved")], "mouse.move", op.deadline)

    async def down(self, *, button: Button = "left", click_count: int = 1, timeout_s: float | None = None) -> None:
        """Press a button."""
        async with self._action(timeout_s) as op:
            pressed = self._place.event("mousePressed", button, click_count)
            await op.actions.send([pressed], "mouse.down", op.deadline)

    async def up(self, *, button: Button = "left", click_count: int = 1, timeout_s: float | None = None) -> None:
        """Release a button."""
        async with self._action(timeout_s) as op:
            released = self._place.event("mouseReleased", button, click_count)
            await op.actions.send([released], "mouse.up", op.deadline)

    async def click(
        self, x: float, y: float, *, button: Button = "left", click_count: int = 1, timeout_s: float | None = None
    ) -> None:
        """Move to (x, y), press a button and release it, `click_count` times in a row."""
        place = self._place
        async with self._action(timeout_s) as op:
            place.x, place.y = checked_px(x), checked_px(y)
            events = [place.event("mouseMoved")]
            for count in range(1, click_count + 1):
                events += [place.event(kind, button, count) for kind in ("mousePressed", "mouseReleased")]
            await op.actions.send(events, "mouse.click", op.deadline)

    async def dblclick(self, x: float, y: float, *, button: Button = "left", timeout_s: float | None = None) -> None:
        """Click twice in a row."""
        await self.click(x, y, button=button, click_count=2, timeout_s=timeout_s)

    async def wheel(self, delta_x: float, delta_y: float, *, timeout_s: float | None = None) -> None:
        """Turn the wheel where the pointer is, by CSS pixels."""
        async with self._action(timeout_s) as op:
            method, params = self._place.event("mouseWheel")
            turned = {**params, "deltaX": checked_px(delta_x), "deltaY": checked_px(delta_y)}
            await op.actions.send([(method, turned)], "mouse.wheel", op.deadline)


class MousePlace:
    """The place of the pointer, and the buttons that it holds."""

    def __init__(self) -> None:
        self.x = self.y = 0.0
        self._held = 0

    def event(self, kind: str, button: Button | None = None, click_count: int = 0) -> tuple[str, dict[str, Any]]:
        """The CDP command of an event at this place."""
        if button is not None:
            bit = _BUTTONS[button]
            self._held = self._held | bit if kind == "mousePressed" else self._held & ~bit
        return "Input.dispatchMouseEvent", {
            "type": kind,
            "x": round(self.x, 2),
            "y": round(self.y, 2),
            "button": button or "none",
            "buttons": self._held,
            "clickCount": click_count,
        }


@helpful
@instrumented(lambda device: device._page, lambda device: "touchscreen")
class Touchscreen:
    """A finger at coordinates of the viewport, in CSS pixels."""

    def __init__(self, page: Page, action: OpenAction) -> None:
        self._page = page
        self._action = action

    async def tap(self, x: float, y: float, *, timeout_s: float | None = None) -> None:
        """Tap at (x, y)."""
        async with self._action(timeout_s) as op:
            await op.actions.send(tap_at(checked_px(x), checked_px(y)), "touchscreen.tap", op.deadline)
