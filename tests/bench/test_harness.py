"""What could make the benchmarks lie: turns, ratios, aborted runs, missing peers, a page that says something else."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from tools.benchmarks import performance_page, report
from tools.benchmarks.__main__ import run_row
from tools.benchmarks.bench import Bench, Row
from tools.benchmarks.measuring import (
    Aborted,
    Finding,
    NotMeasured,
    Ratio,
    Samples,
    at_least,
    at_most,
    geometric_mean,
    interleave,
    ratio_finding,
)
from tools.benchmarks.peers import PeerMissing, node_modules
from tools.benchmarks.plots import plots
from tools.benchmarks.rows import ROWS
from tools.benchmarks.rows.coverage import _from_e1

ABOUT = {
    "date": "2026-01-02",
    "quick": False,
    "machine": {"cpu": "CPU", "cores": 2, "memory_gb": 8, "system": "Linux"},
    "versions": dict.fromkeys(
        ["commit", "Chromium", "Python", "agent-browser", "playwright-core", "trafilatura", "markdownify"], "1.2.3"
    ),
}


def taking(ms: float, order: list[str], name: str) -> Callable[[], Awaitable[float]]:
    async def contender() -> float:
        order.append(name)
        return ms

    return contender


def run_of(*findings: Finding) -> dict[str, object]:
    return report.document(ABOUT, [report.Measured("row", findings, 1.0, 0.5)])


async def test_everybody_has_a_turn_in_every_round_and_each_round_begins_with_another() -> None:
    order: list[str] = []
    contenders = {name: taking(5, order, name) for name in "abc"}
    samples = await interleave(contenders, rounds=3, warmups=0)
    assert ["".join(order[at : at + 3]) for at in (0, 3, 6)] == ["abc", "bca", "cab"]
    assert {name: one.values for name, one in samples.items()} == {name: [5, 5, 5] for name in "abc"}


async def test_warming_up_does_not_count() -> None:
    order: list[str] = []
    samples = await interleave({"a": taking(1, order, "a")}, rounds=2, warmups=3)
    assert len(order) == 5
    assert len(samples["a"].values) == 2


def test_a_ratio_is_that_of_the_medians_and_its_spread_that_of_the_rounds() -> None:
    samples = {"theirs": Samples([10, 20, 90, 20, 20]), "ours": Samples([5, 10, 45, 10, 10])}
    ratio = Ratio.of(samples, "theirs", "ours")
    assert ratio == Ratio(2.0, 0.0)  # both sides were slow at once: the rounds agree
    assert geometric_mean([Ratio(2, 0.1), Ratio(8, 0.3)]).value == pytest.approx(4)


async def test_a_run_that_gave_up_is_not_fast() -> None:
    async def gives_up() -> float:
        raise Aborted("its time budget was over")

    samples = await interleave({"ours": gives_up, "theirs": taking(100, [], "theirs")}, rounds=3)
    found = ratio_finding("snapshot", samples, "theirs", "ours", bar=at_least(1))
    assert found.state == "not measured"
    assert "time budget" in found.note
    text, is_met = report.verdict(run_of(found))
    assert not is_met
    assert "0 of 1 bars are met" in text
    with pytest.raises(NotMeasured):
        Ratio.of(samples, "theirs", "ours")
    assert math.isnan(samples["ours"].values[0])
    assert "NaN" not in json.dumps(run_of(found))


async def test_one_aborted_round_of_many_is_enough_not_to_count() -> None:
    samples = {"ours": Samples([1, math.nan, 1], ["it gave up"]), "theirs": Samples([5, 5, 5])}
    assert ratio_finding("x", samples, "theirs", "ours", bar=at_least(2)).state == "not measured"


@pytest.mark.parametrize(
    ("value", "bar", "state"),
    [(2.2, at_most(2.2), "met"), (2.21, at_most(2.2), "missed"), (3, None, "reported"), (None, None, "not measured")],
)
def test_a_line_is_met_missed_reported_or_not_measured(value: float | None, bar: object, state: str) -> None:
    assert Finding("x", value, "×", bar).state == state  # type: ignore[arg-type]


async def test_a_failed_row_is_reported_on_its_line() -> None:
    async def fails(_: Bench) -> list[Finding]:
        raise RuntimeError("the browser went away")

    (found,) = await run_row(Row("calls", fails), Bench())
    assert found.state == "not measured"
    assert "the browser went away" in found.note
    assert report.verdict(run_of(found))[1] is False


def test_a_peer_that_cannot_be_installed_is_refused_with_the_installers_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    npm = tmp_path / "npm"
    npm.write_text("#!/bin/sh\necho no such version >&2\nexit 1\n")
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    for _ in range(2):  # a half-made folder is not taken for an installed one
        with pytest.raises(PeerMissing, match="no such version"):
            node_modules(tmp_path / "home")
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    with pytest.raises(PeerMissing, match="install Node"):
        node_modules(tmp_path / "home")


def test_published_table_names_missed_bars_and_the_machine() -> None:
    results = report.summary(
        run_of(
            Finding("fast thing", 3.14159, "×", at_least(2), 0.1, facts={"samples": [1.0] * 99}),
            Finding("slow thing", 900.0, "ms", at_most(500)),
            Finding("absent thing", None, "×", at_most(1), note="npm is not here"),
        )
    )
    text = performance_page.section(results)
    assert "| fast thing | 3.14 × | 10% | ≥ 2 | met |" in text
    assert "| slow thing | 900 ms |  | ≤ 500 | **missed** |" in text
    assert "not measured: npm is not here" in text
    assert "2026-01-02" in text
    assert "2 cores" in text
    assert "samples" not in json.dumps(results)


def test_only_what_stands_between_the_markers_is_replaced() -> None:
    section = f"{performance_page.BEGIN}\nnew\n{performance_page.END}"
    before = f"# Title\n{performance_page.BEGIN}\nold\n{performance_page.END}\nrest\n"
    assert performance_page.replaced(before, section) == f"# Title\n{section}\nrest\n"
    for wrong in ("# Title\n", before + before, f"{performance_page.END}{performance_page.BEGIN}"):
        with pytest.raises(ValueError, match="once each"):
            performance_page.replaced(wrong, section)


def test_a_number_changed_by_hand_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(performance_page, "PAGE", tmp_path / "performance.md")
    monkeypatch.setattr(performance_page, "IMAGES", tmp_path / "images")
    monkeypatch.setattr(performance_page, "COMMITTED", tmp_path / "latest.json")
    monkeypatch.setattr(performance_page, "ROOT", tmp_path)
    (tmp_path / "performance.md").write_text(f"# Title\n{performance_page.BEGIN}\n{performance_page.END}\n")
    assert performance_page.differences() == []
    found = Finding("a cold start", 12.0, "ms", at_most(20), facts={"parts_ms": {"imports": 5.0, "device": 7.0}})
    assert performance_page.write(report.document(ABOUT, [report.Measured("startup", [found], 1.0, 0.5)])) == 0
    assert performance_page.differences() == []
    text = (tmp_path / "performance.md").read_text()
    (tmp_path / "performance.md").write_text(text.replace("12 ms", "2 ms"))
    assert performance_page.differences() == ["docs/performance.md does not match the committed results"]
    (tmp_path / "images" / "bench-startup.svg").write_text("<svg/>")
    assert len(performance_page.differences()) == 2


def test_plots_are_well_formed_and_are_drawn_only_of_what_was_measured() -> None:
    growth = [
        Finding(f"growth: {tool}", 1.0, "", facts={"nodes_ms": [(500, 3.0), (5_000, ms)]})
        for tool, ms in (("ours", 20.0), ("playwright", 900.0))
    ]
    rows = [
        report.Measured("growth", growth, 1.0, 0.5),
        report.Measured("calls", [Finding("click: playwright / ours <&>", 0.4, "×", at_least(2))], 1.0, 0.5),
    ]
    drawn = plots(report.summary(report.document(ABOUT, rows)))
    assert set(drawn) == {"bench-growth.svg", "bench-ratios.svg"}
    for _, svg in drawn.values():
        assert ET.fromstring(svg).tag.endswith("svg")  # noqa: S314 - our own text
    assert plots(report.summary(report.document(ABOUT, []))) == {}


def test_published_page_matches_the_committed_results() -> None:
    assert performance_page.differences() == []


def test_every_row_can_be_asked_for_by_name() -> None:
    names = [row.name for row in ROWS]
    assert len(set(names)) == len(names)
    done = subprocess.run(
        [sys.executable, "-m", "tools.benchmarks", "--only", "nothing"],
        cwd=performance_page.ROOT, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert names[0] in done.stderr


def test_a_peers_refs_are_counted_as_on_its_first_page() -> None:
    later = '- link "A" [ref=e990]\n- heading "B" [level=1, ref=e1002]\n'
    assert _from_e1(later) == '- link "A" [ref=e1]\n- heading "B" [level=1, ref=e13]\n'
    assert _from_e1("nothing") == "nothing"
