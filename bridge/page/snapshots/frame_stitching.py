"""Stitches the snapshots of all frames into one tree, each under the iframe that shows it. Pure.

A child frame reports its position in its parent's `window.frames`, and an iframe that of its `contentWindow`, so no
element has to be looked up. Frames in shadow trees have no such position. They are matched if exactly one is left on
each side; otherwise they are left out and the snapshot says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

RefOf = Callable[["FrameTree", str, str, str, bool], str]


@dataclass(frozen=True, slots=True)
class FrameTree:
    """The raw snapshot of one frame; `parent` is the position of its parent in the list, None for the top frame."""

    frame_id: str
    parent: int | None
    context_key: str
    raw: Mapping[str, Any]


def stitch(frames: list[FrameTree], ref_of: RefOf) -> dict[str, Any]:
    """The raw snapshot of all frames, with the refs of the tab.

    Args:
        frames: Parents before children; the first is the top frame.
        ref_of: Mints the ref for (frame, local ref, role, name, whether it is a cut), in reading order.
    """
    children: dict[int, list[int]] = {}
    for index, frame in enumerate(frames):
        if frame.parent is not None:
            children.setdefault(frame.parent, []).append(index)
    whole = dict(frames[0].raw)
    whole["tree"] = {}
    placed: list[Any] = []
    ambiguous = False
    hosts: list[dict[int, int]] = []
    for index in range(len(frames)):
        matched, left = _match(frames, index, children.get(index, []))
        hosts.append(matched)
        ambiguous |= left
    # (frame, remaining raw nodes, the list for their copies). A stack, because a hostile page can nest deeper than
    # Python's recursion limit.
    stack: list[tuple[int, Iterator[Any], list[Any]]] = [(0, iter((frames[0].raw.get("tree"),)), placed)]
    while stack:
        index, nodes, siblings = stack[-1]
        for node in nodes:
            # json.loads makes dicts; an isinstance check against an abstract class costs too much for every node.
            if type(node) is not dict and not isinstance(node, Mapping):
                continue
            copy = dict(node)
            siblings.append(copy)
            if "ref" in node or "more" in node:
                _set_refs(copy, frames[index], ref_of)
            found = node.get("children")
            child = hosts[index].pop(id(node), None) if hosts[index] else None
            if child is None and not isinstance(found, list):
                continue
            below: list[Any] = []
            copy["children"] = below
            if child is not None:
                stack.append((child, iter((frames[child].raw.get("tree"),)), below))
            if isinstance(found, list):
                stack.append((index, iter(found), below))
            break
        else:
            stack.pop()
    if placed:
        whole["tree"] = placed[0]
    _merge_stats(whole, frames)
    if ambiguous:
        whole["reasons"] = [*whole.get("reasons", []), "frames"]
        whole["truncated"] = True
    return whole


def _match(frames: list[FrameTree], parent: int, children: list[int]) -> tuple[dict[int, int], bool]:
    """For one frame: the child frame of each iframe, by the id of its raw node; and whether some were ambiguous."""
    if not children:
        return {}, False
    iframes: dict[int, list[int]] = {}
    pending = [frames[parent].raw.get("tree")]
    while pending:
        node = pending.pop()
        if not isinstance(node, Mapping):
            continue
        if isinstance(node.get("frame"), int):
            iframes.setdefault(node["frame"], []).append(id(node))
        below = node.get("children")
        if isinstance(below, list):
            pending.extend(below)
    by_number: dict[int, list[int]] = {}
    for child in children:
        number = frames[child].raw.get("frameIndex")
        by_number.setdefault(number if isinstance(number, int) else -1, []).append(child)
    matched: dict[int, int] = {}
    ambiguous = False
    for number, nodes in iframes.items():
        candidates = by_number.get(number, [])
        if len(nodes) == 1 and len(candidates) == 1:
            matched[nodes[0]] = candidates[0]
        elif candidates:
            ambiguous = True
    return matched, ambiguous


def _set_refs(node: dict[str, Any], frame: FrameTree, ref_of: RefOf) -> None:
    role, name = str(node.get("role", "")), str(node.get("name") or node.get("text") or "")
    for key in ("ref", "more"):
        local = node.get(key)
        if isinstance(local, str):
            node[key] = ref_of(frame, local, role, name, key == "more")


def _merge_stats(whole: dict[str, Any], frames: list[FrameTree]) -> None:
    totals: dict[str, float] = {}
    reasons: list[str] = []
    for frame in frames:
        stats = frame.raw.get("stats")
        for key, value in stats.items() if isinstance(stats, Mapping) else ():
            if isinstance(value, int | float) and not isinstance(value, bool):
                totals[key] = totals.get(key, 0) + value
        found = frame.raw.get("reasons")
        reasons.extend(reason for reason in found if isinstance(reason, str)) if isinstance(found, list) else None
    whole["stats"] = totals
    whole["reasons"] = list(dict.fromkeys(reasons))
    whole["truncated"] = any(bool(frame.raw.get("truncated")) for frame in frames)
