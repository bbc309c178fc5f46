"""What outputs show although a person cannot see it, and why."""

from __future__ import annotations

from dataclasses import dataclass

from tests.hidden_text.outputs import NAMES
from tests.hidden_text.tricks import of_group


@dataclass(frozen=True)
class Limit:
    """Tricks that some outputs miss for one reason."""

    why: str
    shown_by: tuple[str, ...]
    tricks: tuple[str, ...]


_ALL = tuple(name for name in NAMES if name != "controls")
_SNAPSHOTS = ("snapshot", "full", "find")
_INK, _SIZE, _OUTSIDE = "without ink: ", "without size: ", "outside what is shown: "

LIMITS = (
    Limit(
        "`webfetch` has no clock: it runs no animations",
        ("fetch",),
        (
            _INK + "animated to opacity 0",
            _INK + "animation paused at opacity 0",
            _OUTSIDE + "animated away",
        ),
    ),
    Limit(
        "`webfetch` has no layout: what depends on the size of the page, of its text or of other boxes is not known",
        ("fetch",),
        (
            _SIZE + "contain: size",
            _SIZE + "far behind the screen",
            _SIZE + "block-size: 0 that clips",
            _SIZE + "flex item without room",
            _SIZE + "line-height: 0 that clips",
            _SIZE + "row of 0fr",
            _OUTSIDE + "clip-path: inset of one side",
            _OUTSIDE + "clip-path: ellipse",
            _OUTSIDE + "clipped by overflow: clip",
            _OUTSIDE + "clipped by contain: paint",
            _OUTSIDE + "clipped below",
            _OUTSIDE + "clipped beside",
            _OUTSIDE + "column beyond the clip",
            _OUTSIDE + "right: 200%",
            _OUTSIDE + "line-clamp",
            _OUTSIDE + "calc()",
            _OUTSIDE + "far right of the page",
            _OUTSIDE + "text-indent with nowrap",
        ),
    ),
    Limit(
        "`webfetch` computes no colours, masks and fonts",
        ("fetch",),
        (_INK + "color-mix", "by a style sheet: colour of the ground"),
    ),
    Limit(
        "`webfetch` attaches no shadow roots: it takes their host's children as they are written",
        ("fetch",),
        tuple(
            f"slots, ruby, mathematics: {name}"
            for name in (
                ":host not shown",
                "content without a slot",
                "slot that is not there",
                "::slotted() without ink",
                "slot not shown",
            )
        ),
    ),
    Limit(
        "names of controls follow ARIA: a name has all that a screen reader says, wherever it is drawn",
        (*_SNAPSHOTS, "controls"),
        (
            "inside other text: clipped in a link",
            "inside other text: beside a button's words",
            "inside other text: without ink in a link",
            "generated: in a button, clipped",
            "generated: in a button, transparent",
            "generated: in a button, left of the page",
            "generated: in a button, scaled",
        ),
    ),
    Limit(
        "snapshots look at each element once and at no picture: they compare colours only as `rgb()`, and multiply no "
        "opacities; `webfetch` likewise",
        (*_SNAPSHOTS, "fetch"),
        (
            _INK + "lab() near the ground",
            _INK + "filter: blur",
            _INK + "many small opacities",
            _INK + "-webkit-text-security",
            _SIZE + "font-size-adjust: 0",
            _SIZE + "letters on top of each other",
        ),
    ),
    Limit(
        "only the picture shows it: what filters, masks, gradients and paths leave of a text is not computed",
        _ALL,
        (
            _INK + "filter: contrast",
            _INK + "filter: brightness",
            _INK + "mask without alpha",
            _INK + "background clipped to text",
            _INK + "colour of a gradient",
            _OUTSIDE + "clip-path: circle elsewhere",
            _OUTSIDE + "clip-path: path",
        ),
    ),
    Limit(
        "only the picture shows it: which of two layers is in front, and whether it is opaque, is not computed",
        _ALL,
        tuple(of_group("under a layer")),
    ),
    Limit(
        "the box of the element still reaches into the page, and where its lines are in it is not measured",
        _ALL,
        (_OUTSIDE + "margin",),
    ),
    Limit(
        "a marquee moves by itself, so its text may be about to come into view",
        _ALL,
        (_OUTSIDE + "marquee that stands still", _OUTSIDE + "marquee that has ended"),
    ),
)
