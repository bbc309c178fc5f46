"""Frames are hung under the iframe that shows them, and nowhere else."""

from __future__ import annotations

import copy
from typing import Any

from bridge.page.results import LabelledBox
from bridge.page.snapshots.boxes import labelled_boxes, place_boxes
from bridge.page.snapshots.frame_stitching import FrameTree, stitch
from bridge.page.target.frame_geometry import FramePath, Matrix


def node(role: str, *children: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"role": role, "tag": "div", **fields, **({"children": list(children)} if children else {})}


def raw(tree: dict[str, Any], frame_index: int = -1, **fields: Any) -> dict[str, Any]:
    return {"tree": tree, "frameIndex": frame_index, "stats": {"domNodes": 10}, "reasons": [], **fields}


def session_ref(frame: FrameTree, local: str, role: str, name: str, is_cut: bool) -> str:
    return f"{frame.frame_id}.{local}"


def names(tree: dict[str, Any]) -> list[str]:
    found = []
    pending = [tree]
    while pending:
        current = pending.pop()
        if "ref" in current:
            found.append(current["ref"])
        pending.extend(reversed(current.get("children", [])))
    return found


def test_child_frames_are_distinguished_by_their_index() -> None:
    top = raw(node("document", node("iframe", frame=1), node("link", ref="1"), node("iframe", frame=0)))
    frames = [
        FrameTree("top", None, "w0", top),
        FrameTree("first", 0, "w1", raw(node("document", node("button", ref="1")), 0)),
        FrameTree("second", 0, "w2", raw(node("document", node("button", ref="1")), 1)),
    ]
    whole = stitch(frames, session_ref)
    assert names(whole["tree"]) == ["second.1", "top.1", "first.1"]
    assert whole["stats"]["domNodes"] == 30
    assert not whole["truncated"]


def test_frames_within_frames_are_stitched_too() -> None:
    frames = [
        FrameTree("a", None, "w", raw(node("document", node("iframe", frame=0)))),
        FrameTree("b", 0, "w", raw(node("document", node("iframe", frame=0)), 0)),
        FrameTree("c", 1, "w", raw(node("document", node("button", ref="5")), 0)),
    ]
    assert names(stitch(frames, session_ref)["tree"]) == ["c.5"]


def test_one_frame_in_a_shadow_tree_is_matched_and_two_are_not_guessed() -> None:
    inside = raw(node("document", node("button", ref="1")))
    one = [
        FrameTree("top", None, "w", raw(node("document", node("iframe", frame=-1)))),
        FrameTree("x", 0, "w", inside),
    ]
    assert names(stitch(one, session_ref)["tree"]) == ["x.1"]
    two = [
        FrameTree("top", None, "w", raw(node("document", node("iframe", frame=-1), node("iframe", frame=-1)))),
        FrameTree("x", 0, "w", inside),
        FrameTree("y", 0, "w", inside),
    ]
    whole = stitch(two, session_ref)
    assert names(whole["tree"]) == []
    assert whole["truncated"]
    assert whole["reasons"] == ["frames"]


def test_the_page_own_tree_is_left_as_it_was() -> None:
    top = raw(node("document", node("link", ref="1")))
    stitch([FrameTree("top", None, "w", top)], session_ref)
    assert top["tree"]["children"][0]["ref"] == "1"


def test_a_tree_of_twenty_thousand_levels_is_stitched() -> None:
    deep = node("button", ref="1")
    for _ in range(20_000):
        deep = node("group", deep)
    assert names(stitch([FrameTree("top", None, "w", raw(deep))], session_ref)["tree"]) == ["top.1"]


def test_boxes_of_child_frames_move_with_their_iframe_and_stay_within_the_picture() -> None:
    def boxes(scale: float, shown: dict[FramePath, Matrix]) -> tuple[LabelledBox, ...]:
        taken = copy.deepcopy({"tree": tree})
        place_boxes(taken, shown)
        return labelled_boxes(taken, scale, 800, 1600)

    tree = node(
        "document",
        node("button", ref="e2", name="Top", box=[10, 20, 30, 40]),
        node(
            "iframe",
            node("document", node("button", ref="e1", name="Inner", box=[5, 5, 10, 10])),
            frame=0,
            box=[100, 200, 50, 50],
        ),
        node("button", ref="e3", box=[0, 5000, 10, 10]),
        node("button", ref="e4", box=[0, 0, 0, 10]),
    )
    moved = boxes(2.0, {(0,): (1, 0, 0, 1, 102, 203)})
    assert [(box.ref, box.x_px, box.y_px, box.width_px) for box in moved] == [("e1", 214, 416, 20), ("e2", 20, 40, 60)]
    (turned, _) = boxes(1.0, {(0,): (0, 0.5, -0.5, 0, 150, 200)})
    assert (turned.x_px, turned.y_px, turned.width_px, turned.height_px) == (142.5, 202.5, 5, 5)
    (unknown, _) = boxes(1.0, {})
    assert (unknown.x_px, unknown.y_px) == (105, 205)
