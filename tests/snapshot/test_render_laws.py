"""The laws of rendering, over trees that a hostile page might send."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from text_format import RAW, read_text

from bridge.errors import ScriptFailed
from bridge.snapshot import RenderOptions, render_snapshot

OPTIONS = st.builds(
    RenderOptions,
    max_chars_total=st.one_of(st.integers(200, 700), st.integers(200, 12_000)),
    max_nodes=st.integers(1, 60),
    max_depth=st.integers(1, 12),
    compact=st.booleans(),
    include_urls=st.booleans(),
    boxes=st.booleans(),
    max_text_per_node=st.integers(8, 200),
)
law = settings(max_examples=400, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
ROOMY = RenderOptions(max_chars_total=1_000_000, max_nodes=10_000, max_depth=100)


@law
@given(RAW, OPTIONS)
def test_no_text_is_longer_than_its_bounds(raw: dict[str, Any], options: RenderOptions) -> None:
    result = render_snapshot(raw, options)
    _, lines = read_text(result.text)
    assert len(result.text) <= options.max_chars_total
    assert result.stats.chars_emitted == len(result.text)
    assert sum(1 for line in lines if line.ref) <= options.max_nodes
    assert all(line.depth < options.max_depth + (line.kind == "cut") for line in lines)
    bound = 2 * options.max_depth + 2 * options.max_text_per_node + 5 * 2 * options.max_attr_value_len + 300
    assert all(len(line) <= bound for line in result.text.splitlines()[1:])
    result.text.encode("utf-8")


@law
@given(RAW, OPTIONS)
def test_values_survive_the_round_trip(raw: dict[str, Any], options: RenderOptions) -> None:
    result = render_snapshot(raw, options)
    header, lines = read_text(result.text)
    meant = [
        (line.depth, line.kind, "" if line.kind == "cut" else line.role, line.name, line.ref) for line in result.lines
    ]
    assert [(line.depth, line.kind, line.role, line.name, line.ref) for line in lines] == meant
    shown = [line.ref for line in lines if line.ref]
    assert shown == list(result.refs)
    assert re.findall(r"\[ref=(.*?)\]", result.text) == shown
    assert int(header["nodes"]) == len(shown) == result.stats.nodes_emitted


@law
@given(RAW, OPTIONS)
def test_every_cut_is_reported(raw: dict[str, Any], options: RenderOptions) -> None:
    result = render_snapshot(raw, options)
    header, lines = read_text(result.text)
    everything = render_snapshot(
        raw,
        replace(options, max_chars_total=1_000_000, max_nodes=10_000, max_depth=100, max_text_per_node=100_000),
    )
    missing = set(everything.refs) - set(result.refs)
    assert missing == result.cut_refs
    assert result.stats.nodes_cut == len(missing) == int(header["cut_nodes"] or 0)
    assert (header["truncated"] == "true") == result.stats.truncated
    if missing or result.stats.texts_cut or any(line.kind == "cut" for line in lines):
        assert result.stats.truncated
        assert result.stats.truncate_reasons
    if not result.stats.truncated:
        assert result.lines == everything.lines
    if missing and result.lines:
        assert result.more


@law
@given(RAW, OPTIONS)
def test_the_same_page_gives_the_same_text(raw: dict[str, Any], options: RenderOptions) -> None:
    assert render_snapshot(raw, options).text == render_snapshot(raw, options).text


@law
@given(RAW)
def test_the_compact_form_keeps_every_ref_that_can_be_acted_on(raw: dict[str, Any]) -> None:
    plain = RenderOptions(max_chars_total=1_000_000, max_nodes=10_000, max_depth=100, compact=False)
    roles = ("link", "button", "textbox", "checkbox", "option")
    acted = {ref for ref, node in render_snapshot(raw, plain).refs.items() if node.role in roles}
    assert acted <= set(render_snapshot(raw, ROOMY).refs)


@law
@given(RAW)
def test_compact_leaves_no_structure_with_nothing_in_it(raw: dict[str, Any]) -> None:
    _, lines = read_text(render_snapshot(raw, ROOMY).text)
    structure = {"list", "table", "form", "group", "dialog", "generic", "paragraph", "row", "none"}
    for line in lines:
        assert line.kind != "node" or line.ref or line.opens or line.name or line.role not in structure


@law
@given(RAW, OPTIONS)
def test_the_json_form_keeps_the_same_bounds(raw: dict[str, Any], options: RenderOptions) -> None:
    options = RenderOptions(
        max_chars_total=options.max_chars_total, max_nodes=options.max_nodes, max_depth=options.max_depth, format="json"
    )
    result = render_snapshot(raw, options)
    assert len(result.text) <= options.max_chars_total
    seen: list[str] = []

    def walk(nodes: list[dict[str, Any]]) -> None:
        for node in nodes:
            seen.extend([node["ref"]] if "ref" in node else [])
            walk(node.get("children", []))

    page = json.loads(result.text)
    walk(page["tree"])
    assert seen == list(result.refs)
    assert page["nodes"] == len(seen) <= options.max_nodes
    assert page["truncated"] == result.stats.truncated


@law
@given(RAW, st.text(max_size=3))
def test_find_shows_only_matches_and_what_they_stand_in(raw: dict[str, Any], words: str) -> None:
    result = render_snapshot(raw, RenderOptions(find=words, max_chars_total=1_000_000, max_depth=100, max_nodes=1000))
    read_text(result.text)


@pytest.mark.parametrize("tree", [None, 3, "x", True, 1e999])
def test_a_snapshot_without_a_tree_is_an_error_of_ours(tree: Any) -> None:
    with pytest.raises(ScriptFailed, match="has no tree"):
        render_snapshot({"tree": tree})
