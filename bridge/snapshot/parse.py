"""The raw tree of a page, believed only as far as it can be checked.

The raw JSON comes out of a page that may have replaced every function it is made with. Whatever has the wrong type is
left out; what is not a snapshot at all is an error. Nothing here recurses: a tree may be 20,000 levels deep.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeGuard

from bridge.errors import ActionFailed, ScriptFailed, action_error
from bridge.snapshot.address import shown_url
from bridge.snapshot.escape import ELLIPSIS, clean, clean_lines, hides_words
from bridge.snapshot.json_text import decode_json
from bridge.snapshot.wording import refusal

#: More than any budget shows; the rest of a larger tree is counted as cut (`maxNodes`).
MAX_RAW_NODES = 200_000
#: What is looked at of one string, before white space is folded and it is cut to what is shown.
MAX_RAW_STRING = 20_000

STRING_ATTRS = frozenset(
    ("href", "name", "type", "value", "placeholder", "src", "alt", "title", "action", "method"),
)
STATE_ATTRS = frozenset(
    "checked selected expanded disabled required readonly pressed current invalid aria-hidden".split(),
)
CURSOR_WORDS = frozenset(("clickable", "focusable", "editable"))

_ROLE = re.compile(r"[a-z][a-z0-9-]{0,31}")
_TAG = re.compile(r"[a-zA-Z][a-zA-Z0-9.:_-]{0,39}")
_REF = re.compile(r"e?[0-9]{1,12}")
_HEADING = re.compile(r"h[1-6]")
_NUMBER = re.compile(r"-?[0-9]{1,15}(\.[0-9]{1,15})?")
_WORD = re.compile(r"[a-z]{1,16}")
_REASON = re.compile(r"[A-Za-z]{1,24}")
#: The script cuts the name by which it knows an element here, whatever its options.
_NAME_CHARS = 200


@dataclass(slots=True, eq=False, repr=False)
class RawNode:
    """A checked node; strings are clean, children are in document order.

    `count` > 0 makes it a cut: that many nodes of `role` stand here, `more` is the ref to go on with, and `alike` says
    that they repeat the ones before. A node with `role` "text" has only `text`. `lines_below` and `gives_way` are the
    layout's notes.
    """

    role: str
    tag: str = ""
    name: str = ""
    text: str = ""
    attrs: dict[str, Any] = field(default_factory=dict)
    ref: str = ""
    cursor: str = ""
    description: str = ""
    box: tuple[int, ...] = ()
    children: list[RawNode] = field(default_factory=list)
    count: int = 0
    more: str = ""
    alike: bool = False
    lines_below: int = 1
    gives_way: bool = False


@dataclass(frozen=True, eq=False)
class RawSnapshot:
    """A checked raw snapshot; `root` is always there, also of a document that `is_bare`: without any element."""

    url: str
    title: str
    root: RawNode
    js_stats: Mapping[str, float]
    truncated: bool
    reasons: tuple[str, ...]
    input_chars: int
    is_bare: bool = False


def parse_snapshot(
    raw: Mapping[str, Any] | str | bytes, *, text_chars: int = _NAME_CHARS, value_chars: int = 150
) -> RawSnapshot:
    """The checked tree of what `snapshot()` of the injected script answered.

    A string may be JSON, or JSON of a JSON string as Android's `evaluateJavascript` hands it out.

    Args:
        text_chars: The script's limit of a name, a text or a description; one that is cut there is reported.
        value_chars: Its limit of a value or a placeholder, likewise.

    Raises:
        ScriptFailed: This is not a snapshot.
        ActionFailed: The script refused (a scope that is gone, a selector that is wrong) with a code of the tree.
    """
    value, input_chars = parse_reply(raw, "snapshot")
    tree = value.get("tree")
    if isinstance(tree, list):
        tree = {"role": "generic", "children": tree}
    if not isinstance(tree, Mapping):
        raise ScriptFailed(f"the page's snapshot has no tree, but {_kind(tree)}.")
    builder = _TreeBuilder(text_chars, value_chars)
    root = builder.build(tree)
    reasons = [r for r in _list(value.get("reasons")) if isinstance(r, str) and _REASON.fullmatch(r)][:8]
    reasons += builder.reasons
    if builder.cut and not reasons:
        reasons.append("maxNodes")
    return RawSnapshot(
        url=shown_url(_string(value.get("url"))[:MAX_RAW_STRING]),
        title=clean(_string(value.get("title"))[:MAX_RAW_STRING]),
        root=root,
        js_stats=_with_removed(_numbers(value.get("stats")), builder.removed),
        truncated=value.get("truncated") is True or bool(reasons),
        reasons=tuple(dict.fromkeys(reasons)),
        input_chars=input_chars,
        is_bare=value.get("isBare") is True,
    )


def parse_reply(raw: Mapping[str, Any] | str | bytes, what: str) -> tuple[Mapping[str, Any], int]:
    """The object that a function of the injected script answered, and the length of its JSON (0 for a mapping).

    Raises:
        ScriptFailed: It is not JSON, or not an object.
        ActionFailed: It is `{"error": {"code", "message"}}`.
    """
    value: Any = raw
    input_chars = 0
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    for _ in range(2):
        if isinstance(value, str):
            input_chars = input_chars or len(value)
            try:
                value = decode_json(value)
            except ValueError as error:
                raise ScriptFailed(f"the page's reply to {what} is not JSON: {str(error)[:200]}.") from error
    if not isinstance(value, Mapping):
        raise ScriptFailed(f"the page's reply to {what} is not an object, but {_kind(value)}.")
    if isinstance(value.get("error"), Mapping) and value.get("success") is None:
        raise reported_error(value["error"])
    return value, input_chars


def reported_error(error: Mapping[str, Any]) -> ActionFailed | ScriptFailed:
    """The error of the tree for `{"code", "message", …}` of the script; other keys become its details."""
    code = clean(_string(error.get("code"))[:60])
    message = clean(refusal(error)[:1000]) or "the script gave no reason"
    if code in ("script_missing", "script_failed", ""):
        return ScriptFailed(message)
    details: dict[str, Any] = {}
    for key in ("was", "now", "nearest", "lastSeen", "options", "covered_by"):
        if key in error:
            details[key] = _plain(error[key])
    return action_error(code, message, **details)


class _Known(dict[str, str]):
    """Caches `judge` per word: a page has few different roles and tags."""

    def __init__(self, judge: Callable[[str], str]) -> None:
        self._judge = judge

    def __missing__(self, word: str) -> str:
        judged = self[word] = self._judge(word)
        return judged


class _TreeBuilder:
    def __init__(self, text_chars: int, value_chars: int) -> None:
        self._cut_lengths = (text_chars, _NAME_CHARS)
        self._value_chars = value_chars
        self.reasons: list[str] = []
        self.cut = False
        # Texts with characters that take no room: words for a model can hide in them.
        self.removed = 0
        self._refs: set[str] = set()
        self._roles = _Known(lambda role: role if _ROLE.fullmatch(role) else "")
        self._tags = _Known(lambda tag: tag.lower() if _TAG.fullmatch(tag) else "")

    def build(self, tree: Mapping[str, Any]) -> RawNode:
        root = self._node(tree) or RawNode("generic")
        stack: list[tuple[list[RawNode], Iterator[Any]]] = [(root.children, iter(_list(tree.get("children"))))]
        budget = MAX_RAW_NODES
        while stack:
            children, siblings = stack[-1]
            for raw in siblings:
                # As json.loads gives it, without the price of asking an abstract class of every node.
                if type(raw) is not dict and not isinstance(raw, Mapping):
                    continue
                node = self._node(raw)
                if node is None:
                    continue
                if budget <= 0:
                    self._reason("maxNodes")
                    return root
                budget -= 1
                children.append(node)
                below = raw.get("children")
                if below and isinstance(below, list) and not node.count and node.role != "text":
                    stack.append((node.children, iter(below)))
                    break
            else:
                stack.pop()
        return root

    def _node(self, raw: Mapping[str, Any]) -> RawNode | None:
        role = raw.get("role")
        if "more" in raw and "count" in raw:
            return self._cut(raw, role, raw["count"])
        text = ""
        if "text" in raw:
            text = self._words(raw["text"])
            if text != raw["text"] and hides_words(raw["text"]):
                self.removed += 1
        if role == "text" or (role is None and text and "children" not in raw):
            return RawNode("text", text=text) if text else None
        tag = raw.get("tag")
        node = RawNode(
            (self._roles[role] if isinstance(role, str) else "") or "generic",
            self._tags[tag] if isinstance(tag, str) else "",
            self._words(raw["name"]) if "name" in raw else "",
            text,
        )
        for key in ("name", "description"):
            if key in raw and self._is_cut(raw[key], *self._cut_lengths):
                self._reason("maxTextPerNode")
        if "ref" in raw:
            ref = raw["ref"]
            if isinstance(ref, str) and _REF.fullmatch(ref) and ref not in self._refs:
                self._refs.add(ref)
                node.ref = ref
        if "cursorInteractive" in raw:
            cursor = raw["cursorInteractive"]
            node.cursor = cursor if isinstance(cursor, str) and cursor in CURSOR_WORDS else ""
        if "attrs" in raw:
            attrs = raw["attrs"]
            if isinstance(attrs, Mapping):
                node.attrs = self._attrs(attrs)
        if node.role in ("heading", "button"):
            _add_from_tag(node)
        if "description" in raw:
            node.description = self._words(raw["description"])
        if "box" in raw:
            box = raw["box"]
            if isinstance(box, list) and len(box) == 4 and all(_is_number(side) and abs(side) < 1e9 for side in box):
                node.box = tuple(round(side) for side in box)
        return node

    def _cut(self, raw: Mapping[str, Any], role: object, count: object) -> RawNode | None:
        if not _is_number(count) or not 0 < count < 1e12:
            return None
        node = RawNode(role if isinstance(role, str) and _ROLE.fullmatch(role) else "", count=int(count) or 1)
        self.cut = True
        node.alike = raw.get("kind") == "alike" and bool(node.role)
        more = raw.get("more")
        if isinstance(more, str) and _REF.fullmatch(more):
            node.more = more
        return node

    def _attrs(self, raw: Mapping[str, Any]) -> dict[str, Any]:
        attrs: dict[str, Any] = {}
        for key, value in raw.items():
            if key in STRING_ATTRS:
                if isinstance(value, str):
                    if key in ("value", "placeholder") and self._is_cut(value, self._value_chars):
                        self._reason("maxTextPerNode")
                    value = clean_lines(self._short(value)) if key == "value" else self._words(value)
                    if value:
                        # A data: URL carries its content and is not an address to navigate to.
                        attrs[key] = "data:" if value.startswith("data:") else value
                elif _is_number(value):
                    attrs[key] = f"{value:g}"
            elif key in STATE_ATTRS:
                if isinstance(value, bool):
                    attrs[key] = value
                elif value in ("true", "false"):
                    attrs[key] = value == "true"
                elif isinstance(value, str) and _WORD.fullmatch(value):
                    attrs[key] = value
            elif key in ("level", "valuenow"):
                number = float(value) if isinstance(value, str) and _NUMBER.fullmatch(value) else value
                if _is_number(number) and (key == "valuenow" or 1 <= number < 100):
                    attrs[key] = int(number) if key == "level" else number
        return attrs

    @staticmethod
    def _is_cut(value: object, *lengths: int) -> bool:
        """Has the script cut this? It ends what it cuts with an ellipsis, exactly at its limit."""
        return isinstance(value, str) and len(value) in lengths and value.endswith(ELLIPSIS)

    def _words(self, value: object) -> str:
        if not isinstance(value, str):
            return ""
        return clean(value if len(value) <= MAX_RAW_STRING else self._short(value))

    def _short(self, value: str) -> str:
        if len(value) > MAX_RAW_STRING:
            self._reason("maxTextPerNode")
            return value[:MAX_RAW_STRING]
        return value

    def _reason(self, reason: str) -> None:
        if reason not in self.reasons:
            self.reasons.append(reason)


def _is_number(value: object) -> TypeGuard[int | float]:
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 63


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""


def _add_from_tag(node: RawNode) -> None:
    """Adds a heading's level and a closed disclosure from the tag, where the author gave none."""
    if node.role == "heading" and "level" not in node.attrs and _HEADING.fullmatch(node.tag):
        node.attrs["level"] = int(node.tag[1])
    elif node.role == "button" and node.tag == "summary":
        node.attrs.setdefault("expanded", False)


def _with_removed(stats: dict[str, float], removed: int) -> dict[str, float]:
    if removed:
        stats["hiddenTextRemoved"] = stats.get("hiddenTextRemoved", 0) + removed
    return stats


def _numbers(value: object) -> dict[str, float]:
    if not isinstance(value, Mapping):
        return {}
    return {
        key: number
        for key, number in list(value.items())[:32]
        if isinstance(key, str) and re.fullmatch(r"[A-Za-z]{1,32}", key) and _is_number(number)
    }


def _plain(value: object) -> Any:
    """Two levels of clean, bounded values: enough for `nearest: [{ref, role, name}]`."""
    if isinstance(value, str):
        return clean(value[:300])
    if isinstance(value, Mapping):
        return {
            clean(str(key)[:40]): clean(str(item)[:300]) if isinstance(item, str) else _scalar(item)
            for key, item in list(value.items())[:16]
        }
    if isinstance(value, list):
        return [_plain(item) if not isinstance(item, list) else None for item in value[:20]]
    return _scalar(value)


def _scalar(value: object) -> Any:
    return value if value is None or isinstance(value, bool) or _is_number(value) else None


def _kind(value: object) -> str:
    names = {dict: "an object", list: "a list", str: "a string", bool: "a boolean", int: "a number", float: "a number"}
    return "null" if value is None else names.get(type(value), type(value).__name__)
