"""A snapshot for its caller: text, refs, and how much of the page the text shows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from bridge.cost import Cost
from bridge.errors import RefNotFound, UsageError
from bridge.json_record import JsonRecord
from bridge.snapshot.escape import clean, quote

#: Below this a header with every reason for truncation would not fit.
MIN_CHARS_TOTAL = 200
#: Deeper indentation does not help a reader; this bounds the length of a line.
MAX_DEPTH_LIMIT = 100
#: Limit of a control's name; of a card that is one link, the name is its heading.
_CONTROL_NAME_CHARS = 100


@dataclass(frozen=True)
class RenderOptions:
    """Limits, filters and form of a rendered tree.

    Attributes:
        max_chars_total: Limit of the whole text, header included; at least `MIN_CHARS_TOTAL`.
        max_nodes: Limit of the lines with a ref.
        max_depth: Levels of indentation.
        compact: Leave out boxes without meaning and text that repeats a name.
        format: `text`, or `json` (one object, the same budgets).
        max_text_per_node: Limit of a name or a text. With `controls_only`, a name has at most 100 characters.
        max_attr_value_len: Limit of a value, a placeholder, a description.
        include_urls: Show the URLs of links. Off by default: clicks take refs, and URLs are long.
        boxes: Show `[box=x,y,width,height]` where the page sent it.
        find: Show only the lines with this text (case-insensitive) and their ancestors.
        start: Show only the lines from this ref on, and its ancestors: the next page after `more=`.
        controls_only: Show only elements that can be acted on, without text and structure; similar ones share a line.
        text: False shows controls and what places them (headings, landmarks, items of lists), without other text.
        redact: Applied only to the text that `find` searches.

    Raises:
        UsageError: A limit is out of range.
    """

    max_chars_total: int = 12_000
    max_nodes: int = 200
    max_depth: int = 12
    compact: bool = True
    format: Literal["text", "json"] = "text"
    max_text_per_node: int = 200
    max_attr_value_len: int = 150
    include_urls: bool = False
    boxes: bool = False
    find: str = ""
    start: str = ""
    controls_only: bool = False
    text: bool = True
    redact: Callable[[str], str] | None = None

    def __post_init__(self) -> None:
        for name, low, high in (
            ("max_chars_total", MIN_CHARS_TOTAL, 1_000_000_000),
            ("max_nodes", 1, 1_000_000_000),
            ("max_depth", 1, MAX_DEPTH_LIMIT),
            ("max_text_per_node", 8, 100_000),
            ("max_attr_value_len", 8, 100_000),
        ):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
                raise UsageError(f"{name} is {value!r}; it must be a whole number from {low} to {high}.")
        if self.format not in ("text", "json"):
            raise UsageError(f"format is {self.format!r}; it must be 'text' or 'json'.")

    @property
    def max_name_chars(self) -> int:
        return min(self.max_text_per_node, _CONTROL_NAME_CHARS) if self.controls_only else self.max_text_per_node


class Line(NamedTuple):
    """One line of a rendered snapshot, without its indentation.

    `kind` is `node`, `text` or `cut`; `name` is the text between the quotes (for `cut`: its description);
    `attrs` are the brackets before the ref.
    """

    depth: int
    kind: str
    role: str
    name: str
    attrs: tuple[str, ...]
    ref: str

    @property
    def body(self) -> str:
        """The line from its role on, without `- ` and without the colon of a line with children."""
        if self.kind == "cut":
            return f"… (truncated, {self.name})"
        text = f"{self.role} {quote(self.name)}" if self.name else self.role
        for attr in self.attrs:
            text = f"{text} [{attr}]"
        return f"{text} [ref={self.ref}]" if self.ref else text


class NodeRef(NamedTuple):
    """The node that a ref of the text stands for.

    `path` lists the roles around it, outermost first (`main > list > listitem`); `text_snippet` is the start of its
    own text.
    """

    ref: str
    tag: str
    role: str
    name: str
    attrs: Mapping[str, Any]
    text_snippet: str
    path: str

    def __str__(self) -> str:
        return f"{self.ref} {self.role} {quote(self.name)}" if self.name else f"{self.ref} {self.role}"

    def to_json(self) -> dict[str, Any]:
        return {**self._asdict(), "attrs": dict(self.attrs)}


@dataclass(frozen=True)
class SnapshotStats(JsonRecord):
    """Counts of what the page has and what is shown, with the reasons for cuts.

    Attributes:
        js_stats: The page script's own counts (`domNodes`, `skippedHidden`, `jsTimeMs` …).
        nodes_emitted: Lines with a ref.
        chars_emitted: Length of the text.
        truncated: Something was cut, by the page script or here.
        truncate_reasons: `maxCharsTotal`, `maxNodes`, `maxDepth`, `maxTextPerNode`, `jsTime`, and the script's.
        input_chars: Length of the raw JSON; 0 if unknown because a parsed tree was given.
        nodes_cut: Nodes with a ref that the page sent and the text does not show.
        texts_cut: Lines without a ref that the text does not show.
    """

    JSON_HAS_EMPTY = True

    js_stats: Mapping[str, float] = field(default_factory=dict)
    nodes_emitted: int = 0
    chars_emitted: int = 0
    truncated: bool = False
    truncate_reasons: tuple[str, ...] = ()
    input_chars: int = 0
    nodes_cut: int = 0
    texts_cut: int = 0


@dataclass(frozen=True)
class SnapshotResult:
    """The page as text, and the nodes that its refs stand for.

    Attributes:
        refs: Exactly the refs that the text shows, in its order.
        more: Refs after `more=`, from which a cut snapshot continues.
        lines: The text line by line, for comparing two snapshots.
        cut_refs: Refs that the page sent and the budget left out; they are live.
    """

    text: str
    refs: dict[str, NodeRef]
    stats: SnapshotStats
    cost: Cost | None = None
    url: str = ""
    title: str = ""
    more: tuple[str, ...] = ()
    lines: tuple[Line, ...] = field(default=(), repr=False)
    cut_refs: frozenset[str] = field(default=frozenset(), repr=False)

    def __str__(self) -> str:
        return self.text

    def find(
        self, *, role: str | None = None, name: str | None = None, text: str | None = None, nth: int | None = None
    ) -> NodeRef:
        """The one node that matches all criteria; with `nth`, one of several, counted from 0.

        A name matches if it is equal after collapsing white space. If no name is equal, names that contain it match,
        ignoring case. `text` matches anywhere in name or text, ignoring case.

        Raises:
            RefNotFound: No node matches; the message names the nearest ones.
            UsageError: Several match, or no criterion was given.
        """
        if role is None and name is None and text is None:
            raise UsageError("find needs a role, a name or a text.")
        nodes = [node for node in self.refs.values() if role is None or node.role == role]
        found = nodes
        if text is not None:
            words = clean(text).casefold()
            found = [node for node in found if words in f"{node.name}\n{node.text_snippet}".casefold()]
        if name is not None:
            wanted = clean(name)
            exact = [node for node in found if node.name == wanted]
            found = exact or [node for node in found if wanted.casefold() in node.name.casefold()]
        asked = " ".join(
            part
            for part in (role or "node", name and quote(clean(name)), text and f"with text {quote(clean(text))}")
            if part
        )
        if nth is not None and found:
            if not -len(found) <= nth < len(found):
                raise RefNotFound(f"{len(found)} nodes match {asked}, none with nth={nth}.")
            return found[nth]
        if len(found) == 1:
            return found[0]
        if found:
            raise UsageError(f"{len(found)} nodes match {asked}: {_some(found)}.", matches=[n.ref for n in found[:20]])
        near = _some(nodes or self.refs.values())
        seen = f"; there is {near}" if near else "; the snapshot has no refs"
        cut_short = " The snapshot is truncated." if self.stats.truncated else ""
        raise RefNotFound(f"no {asked} in the snapshot{seen}.{cut_short}")

    def to_json(self) -> dict[str, Any]:
        return {
            "text": self.text,
            "refs": {ref: node.to_json() for ref, node in self.refs.items()},
            "stats": self.stats.to_json(),
            "cost": self.cost.to_json() if self.cost is not None else None,
            "url": self.url,
            "title": self.title,
            "more": list(self.more),
        }


def _some(nodes: Iterable[NodeRef], limit: int = 5) -> str:
    shown = [str(node) if len(str(node)) <= 80 else f"{str(node)[:79]}…" for node in list(nodes)[: limit + 1]]
    return ", ".join(shown[:limit]) + (" …" if len(shown) > limit else "")
