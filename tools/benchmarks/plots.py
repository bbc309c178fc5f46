"""Three plots as SVG: growth with the page's size, the parts of a cold start, ratios to peers and their bars."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from tools.benchmarks.report import shown

_WIDTH = 760
_COLOURS = {"ours": "#0b7285", "ours, no budget": "#3bc9db", "playwright": "#e8590c", "agent-browser": "#862e9c"}
_PARTS = ("#0b7285", "#1098ad", "#3bc9db", "#99e9f2", "#e8590c", "#ffa94d", "#862e9c", "#cc5de8", "#2f9e44")
_RATIO_TICKS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)
_STYLE = (
    "text{font:13px system-ui,sans-serif;fill:#343a40}.small{font-size:11px;fill:#495057}.title{font-weight:600}"
    ".end{text-anchor:end}.middle{text-anchor:middle}line{stroke:#dee2e6}"
)


def plots(results: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    """File name → title and SVG, of those plots for which the results have numbers."""
    found: dict[str, tuple[str, str]] = {}
    rows = {row["row"]: row["findings"] for row in results["rows"]}
    series = {
        one["what"].rpartition(": ")[2]: one["facts"]["nodes_ms"]
        for one in rows.get("growth", ())
        if one["facts"].get("nodes_ms")
    }
    if series:
        title = "A snapshot's time beside the page's size"
        found["bench-growth.svg"] = title, growth(title, series)
    parts = next((one["facts"]["parts_ms"] for one in rows.get("startup", ()) if "parts_ms" in one["facts"]), None)
    if parts:
        title = "Where a cold start to the first snapshot spends its time"
        found["bench-startup.svg"] = title, startup(title, parts)
    ratios = [
        one
        for findings in rows.values()
        for one in findings
        if one["unit"] == "×" and one["value"] and any(peer in one["what"] for peer in _PEERS)
    ]
    if ratios:
        title = "Beside peers: how many times as long they take"
        found["bench-ratios.svg"] = title, bars(title, [one for one in ratios if _is_theirs(one["what"])])
    return found


_PEERS = ("playwright", "Playwright", "agent-browser", "markdownify", "html2text", "trafilatura", "pychrome")


def _is_theirs(what: str) -> bool:
    """Whether a larger number is better for us: all but the size for a model, where ours stands above the line."""
    return "ours / " not in what


def growth(title: str, series: Mapping[str, Sequence[Sequence[float]]]) -> str:
    """Nodes against milliseconds, both logarithmic, a line per tool."""
    height, left, right, top, bottom = 380, 76, 610, 46, 330
    xs = [point[0] for points in series.values() for point in points]
    ys = [max(point[1], 0.1) for points in series.values() for point in points]
    x_low, x_high, y_low, y_high = (math.log10(v) for v in (min(xs), max(xs), min(ys), max(ys)))
    y_low, y_high = math.floor(y_low), math.ceil(y_high)

    def x(nodes: float) -> float:
        return left + (math.log10(nodes) - x_low) / ((x_high - x_low) or 1) * (right - left)

    def y(ms: float) -> float:
        return bottom - (math.log10(max(ms, 0.1)) - y_low) / ((y_high - y_low) or 1) * (bottom - top)

    body = []
    for power in range(y_low, y_high + 1):
        at = y(10.0**power)
        label = f"{10**power:,} ms" if power >= 0 else f"{10.0**power:g} ms"
        body.append(f'<line x1="{left}" y1="{at:.1f}" x2="{right}" y2="{at:.1f}"/>')
        body.append(f'<text class="small end" x="{left - 6}" y="{at + 4:.1f}">{label}</text>')
    body += [
        f'<text class="small middle" x="{x(nodes):.1f}" y="{bottom + 18}">{nodes:,.0f}</text>'
        for nodes in sorted({point[0] for point in next(iter(series.values()))})
    ]
    axes = "elements of the page; both axes are logarithmic"
    body.append(f'<text class="small middle" x="{(left + right) / 2}" y="{bottom + 38}">{axes}</text>')
    labels = sorted(((y(points[-1][1]), tool) for tool, points in series.items()), key=lambda one: one[0])
    last = -math.inf
    for at, tool in labels:
        last = max(at, last + 16)  # labels that would cover each other move down
        body.append(f'<text x="{right + 10}" y="{last + 4:.1f}" style="fill:{_colour(tool)}">{escape(tool)}</text>')
    for tool, points in series.items():
        path = " ".join(f"{x(nodes):.1f},{y(ms):.1f}" for nodes, ms in points)
        body.append(f'<polyline points="{path}" fill="none" stroke="{_colour(tool)}" stroke-width="2"/>')
        body += [f'<circle cx="{x(n):.1f}" cy="{y(ms):.1f}" r="3" fill="{_colour(tool)}"/>' for n, ms in points]
    return _svg(title, height, body)


def _colour(tool: str) -> str:
    return _COLOURS.get(tool, "#495057")


def startup(title: str, parts: Mapping[str, float]) -> str:
    """One stacked bar, and below it what its parts are."""
    left, right, height = 20, _WIDTH - 20, 128 + 20 * math.ceil(len(parts) / 3)
    total = sum(parts.values()) or 1
    body, at = [], float(left)
    for number, (name, ms) in enumerate(parts.items()):
        wide = ms / total * (right - left)
        colour = _PARTS[number % len(_PARTS)]
        body.append(f'<rect x="{at:.1f}" y="46" width="{wide:.1f}" height="40" fill="{colour}"/>')
        at += wide
        column, row = number % 3, number // 3
        x, y = left + column * 240, 112 + row * 20
        body.append(f'<rect x="{x}" y="{y - 10}" width="12" height="12" fill="{colour}"/>')
        body.append(f'<text class="small" x="{x + 18}" y="{y}">{escape(name)}: {shown(ms, "ms")}</text>')
    body.append(f'<text class="end" x="{right}" y="24">{shown(total, "ms")} in all</text>')
    return _svg(title, height, body)


def bars(title: str, ratios: Sequence[Mapping[str, Any]]) -> str:
    """A bar per ratio on a logarithmic axis, its number at the right; a tick where the bar to be reached is."""
    left, right, top, step = 350, _WIDTH - 128, 50, 26
    bottom = top + step * len(ratios)
    highest = max([max(one["value"], _limit(one) or 1.0) for one in ratios] + [2.0])
    lowest = min([1.0] + [one["value"] for one in ratios])
    low, high = math.log10(lowest), math.log10(highest)

    def x(ratio: float) -> float:
        return left + (math.log10(ratio) - low) / (high - low) * (right - left)

    body = []
    for ratio in (one for one in _RATIO_TICKS if lowest <= one <= highest):
        at, stroke = x(ratio), "#868e96" if ratio == 1 else "#dee2e6"
        body.append(f'<line x1="{at:.1f}" y1="{top - 8}" x2="{at:.1f}" y2="{bottom}" style="stroke:{stroke}"/>')
        body.append(f'<text class="small middle" x="{at:.1f}" y="{bottom + 16}">{ratio:g} ×</text>')
    for number, one in enumerate(ratios):
        y = top + number * step
        begin, end = sorted((x(1), x(one["value"])))
        colour = "#0b7285" if one["value"] >= 1 else "#c92a2a"
        body.append(f'<text class="small end" x="{left - 8}" y="{y + 13}">{escape(_short(one["what"]))}</text>')
        body.append(f'<rect x="{begin:.1f}" y="{y + 2}" width="{end - begin:.1f}" height="14" fill="{colour}"/>')
        words = shown(one["value"], "×")
        if limit := _limit(one):
            at = x(limit)
            words += f", bar {limit:g} ×"
            body.append(
                f'<line x1="{at:.1f}" y1="{y - 2}" x2="{at:.1f}" y2="{y + 20}" style="stroke:#212529;stroke-width:2"/>'
            )
        body.append(f'<text class="small" x="{right + 14}" y="{y + 13}">{words}</text>')
    legend = "The axis is logarithmic. Red: they are faster than ours. Black line: the bar that ours is to reach."
    body.append(f'<text class="small end" x="{_WIDTH - 10}" y="{bottom + 40}">{legend}</text>')
    return _svg(title, bottom + 54, body)


def _short(what: str) -> str:
    return what if len(what) <= 56 else what[:55] + "…"


def _limit(one: Mapping[str, Any]) -> float | None:
    return float(one["bar"].split()[1]) if one["bar"] else None


def _svg(title: str, height: float, body: Sequence[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height:g}" role="img" '
        f'aria-label="{escape(title)}">\n<style>{_STYLE}</style>\n<rect width="100%" height="100%" fill="#fff"/>\n'
        f'<text class="title" x="20" y="24">{escape(title)}</text>\n' + "\n".join(body) + "\n</svg>\n"
    )
