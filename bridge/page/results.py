"""Results of operations on a page: frozen values, each with its cost."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypedDict

from bridge.cost import Cost
from bridge.json_record import JsonRecord


@dataclass(frozen=True, slots=True)
class NavigationResult(JsonRecord):
    """The document that a navigation ended at.

    Attributes:
        url: Its address, after redirects.
        status: Its HTTP status, or None without HTTP.
        waited_for: commit, domcontentloaded, load or networkidle.
    """

    url: str
    title: str
    status: int | None
    waited_for: str
    cost: Cost
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PageLocation(JsonRecord):
    """The address and title of a tab."""

    url: str
    title: str
    cost: Cost


@dataclass(frozen=True, slots=True)
class Changes(JsonRecord):
    """The changes of the page after an action, until it settled.

    Attributes:
        text: The delta for a model, with page text escaped as in a snapshot; "no change" if there is none.
        settled: Why the wait ended: quiet, navigation, deadline.
        texts: Text that appeared outside of elements with refs, such as validation messages.
        url: The new address, if it changed.
        title: The new title, if it changed.
        dialogs: Dialogs that opened, `kind "message" (accepted|dismissed)`.
    """

    text: str
    settled: str
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    url: str | None = None
    title: str | None = None
    dialogs: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class ActionResult(JsonRecord):
    """The outcome of an action and the changes that followed it."""

    action: str
    ref: str | None
    changes: Changes
    cost: Cost
    success: bool = True
    value: str | None = None
    values: tuple[str, ...] | None = None
    checked: bool | str | None = None
    notices: tuple[str, ...] = ()


class BoundingBox(TypedDict):
    """A box in CSS pixels."""

    x: float
    y: float
    width: float
    height: float


class ViewportSize(TypedDict):
    """A size in CSS pixels."""

    width: int
    height: int


@dataclass(frozen=True, slots=True)
class WaitResult(JsonRecord):
    """The condition that was met, and how long that took."""

    awaited: str
    waited_ms: float
    cost: Cost


@dataclass(frozen=True, slots=True)
class LabelledBox:
    """A box drawn on an annotated screenshot, in pixels of the image."""

    ref: str
    role: str
    name: str
    x_px: float
    y_px: float
    width_px: float
    height_px: float

    def to_json(self) -> dict[str, Any]:
        box = [self.x_px, self.y_px, self.width_px, self.height_px]
        return {"ref": self.ref, "role": self.role, "name": self.name, "box": box}


@dataclass(frozen=True, slots=True)
class Screenshot(JsonRecord):
    """An image of the tab.

    Attributes:
        scale: Image pixels per CSS pixel.
        strategy: How it was taken: `cdp-viewport`, `cdp-beyond-viewport`, `scroll-and-stitch` or `host-native`.
        truncated: A limit cut the image; `notices` name the limit.
        legend: The boxes of an annotated screenshot, in the order of their refs.
    """

    image_bytes: bytes = field(repr=False)
    format: str
    width_px: int
    height_px: int
    scale: float
    strategy: str
    truncated: bool
    legend: tuple[LabelledBox, ...]
    cost: Cost
    notices: tuple[str, ...] = ()
