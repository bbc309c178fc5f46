"""Results of operations on a page: frozen values, each with its cost."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from bridge.cost import Cost


@dataclass(frozen=True, slots=True)
class NavigationResult:
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

    def to_json(self) -> dict[str, Any]:
        return {
            "url": self.url,
            "title": self.title,
            "status": self.status,
            "waited_for": self.waited_for,
            "cost": self.cost.to_json(),
            **({"notices": list(self.notices)} if self.notices else {}),
        }


@dataclass(frozen=True, slots=True)
class PageLocation:
    """The address and title of a tab."""

    url: str
    title: str
    cost: Cost

    def to_json(self) -> dict[str, Any]:
        return {"url": self.url, "title": self.title, "cost": self.cost.to_json()}


@dataclass(frozen=True, slots=True)
class Changes:
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

    def to_json(self) -> dict[str, Any]:
        out: dict[str, Any] = {"text": self.text, "settled": self.settled}
        for key in ("added", "removed", "changed", "texts", "dialogs"):
            if values := getattr(self, key):
                out[key] = list(values)
        for key in ("url", "title"):
            if (value := getattr(self, key)) is not None:
                out[key] = value
        return out


@dataclass(frozen=True, slots=True)
class ActionResult:
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

    def to_json(self) -> dict[str, Any]:
        out: dict[str, Any] = {"success": self.success, "action": self.action, "ref": self.ref}
        for key in ("value", "checked"):
            if (value := getattr(self, key)) is not None:
                out[key] = value
        if self.values is not None:
            out["values"] = list(self.values)
        out["changes"] = self.changes.to_json()
        out["cost"] = self.cost.to_json()
        if self.notices:
            out["notices"] = list(self.notices)
        return out


@dataclass(frozen=True, slots=True)
class WaitResult:
    """The condition that was met, and how long that took."""

    awaited: str
    waited_ms: float
    cost: Cost

    def to_json(self) -> dict[str, Any]:
        return {"awaited": self.awaited, "waited_ms": self.waited_ms, "cost": self.cost.to_json()}


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


@dataclass(frozen=True, slots=True)
class Screenshot:
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
    cost: Cost
    legend: tuple[LabelledBox, ...] = ()
    notices: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """All fields except the bytes."""
        return {
            "format": self.format,
            "width_px": self.width_px,
            "height_px": self.height_px,
            "scale": self.scale,
            "strategy": self.strategy,
            "truncated": self.truncated,
            "legend": [
                {
                    "ref": box.ref,
                    "role": box.role,
                    "name": box.name,
                    "box": [box.x_px, box.y_px, box.width_px, box.height_px],
                }
                for box in self.legend
            ],
            "cost": self.cost.to_json(),
            **({"notices": list(self.notices)} if self.notices else {}),
        }
