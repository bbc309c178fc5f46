"""One module per subject; `ROWS` is the order of the table."""

from __future__ import annotations

from tools.benchmarks.bench import Row
from tools.benchmarks.rows.actions import actions
from tools.benchmarks.rows.calls import calls
from tools.benchmarks.rows.captures import captures
from tools.benchmarks.rows.command_line import command_line
from tools.benchmarks.rows.coverage import coverage
from tools.benchmarks.rows.fetching import fetching
from tools.benchmarks.rows.mcp import mcp
from tools.benchmarks.rows.one_shot import one_shot
from tools.benchmarks.rows.policies import policies
from tools.benchmarks.rows.reading import reading
from tools.benchmarks.rows.rendered import rendered
from tools.benchmarks.rows.round_trips import round_trips
from tools.benchmarks.rows.scale import scale
from tools.benchmarks.rows.sizes import sizes
from tools.benchmarks.rows.slow_links import slow_links
from tools.benchmarks.rows.snapshots import growth, snapshots
from tools.benchmarks.rows.startup import startup

ROWS = (
    Row("sizes", sizes),
    Row("round-trips", round_trips),
    Row("calls", calls),
    Row("snapshots", snapshots),
    Row("growth", growth),
    Row("coverage", coverage),
    Row("actions", actions),
    Row("slow-links", slow_links),
    Row("captures", captures),
    Row("one-shot", one_shot),
    Row("reading", reading),
    Row("rendered", rendered),
    Row("fetching", fetching),
    Row("command-line", command_line),
    Row("mcp", mcp),
    Row("startup", startup),
    Row("policy", policies),
    Row("scale", scale),
)
