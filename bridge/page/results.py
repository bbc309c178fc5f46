"""What operations on a page give back: frozen values, each with what it cost."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from bridge.cost import Cost


@dataclass(frozen=True, slots=True)
class NavigationResult:
    """Where a navigation ended.

    Attributes:
        url: The address of the document that is shown now, after redirects.
        status: HTTP status of the main document, or None where there was no HTTP.
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
    """Where a tab is."""

    url: str
    title: str
    cost: Cost

    def to_json(self) -> dict[str, Any]:
        return {"url": self.url, "title": self.title, "cost": self.cost.to_json()}


@dataclass(frozen=True, slots=True)
class Changes:
    """What an action changed, as far as the page had settled.

    Attributes:
        text: The delta as a model reads it, page text escaped as in a snapshot; "no change" when nothing did.
        settled: Why the wait ended: quiet, navigation, deadline.
        texts: Words that appeared and that no ref carries, such as validation messages.
        url: The new address when it changed.
        title: The new title when it changed.
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
    """The outcome of an action by ref; `changes` is what came of it."""

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
    """The condition was met after `waited_ms` in the page."""

    awaited: str
    waited_ms: float
    cost: Cost

    def to_json(self) -> dict[str, Any]:
        return {"awaited": self.awaited, "waited_ms": self.waited_ms, "cost": self.cost.to_json()}


@dataclass(frozen=True, slots=True)
class LabelledBox:
    """A box drawn on an annotated picture, in pixels of that picture."""

    ref: str
    role: str
    name: str
    x_px: float
    y_px: float
    width_px: float
    height_px: float


@dataclass(frozen=True, slots=True)
class Screenshot:
    """A picture of the tab.

    Attributes:
        scale: Pixels of the picture per CSS pixel.
        strategy: How it was taken: `cdp-viewport`, `cdp-beyond-viewport`, `scroll-and-stitch` or `host-native`.
        truncated: Whether the page went on beyond what the picture shows because of a limit; `notices` say of which.
        legend: The boxes of an annotated picture, in the order of their refs.
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
        """Everything but the bytes."""
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
