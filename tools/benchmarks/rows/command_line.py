"""The command line: its help, a warm command, the import of the package, and the pytest plugin."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bridge.surfaces.demo.server import serve_demo_pages
from tools.benchmarks.bench import Bench, device
from tools.benchmarks.measuring import Contender, Finding, Samples, below, interleave, median_finding
from tools.benchmarks.pages import ROOT
from tools.benchmarks.processes import cpu_ms_of

COMMAND = (sys.executable, "-c", "import sys; from bridge.surfaces.cli import main; sys.exit(main())")


async def command_line(bench: Bench) -> Sequence[Finding]:
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    rounds = bench.choose(15, 7)
    cpu = await interleave(
        {
            "help": _cpu(environ, *COMMAND, "--help"),
            "import": _cpu(environ, sys.executable, "-c", "import bridge"),
            "nothing": _cpu(environ, sys.executable, "-c", "pass"),
        },
        rounds=rounds,
    )
    imported = Samples(
        [one - nothing for one, nothing in zip(cpu["import"].values, cpu["nothing"].values, strict=True)]
    )
    with tempfile.TemporaryDirectory(prefix="wvb-") as folder:
        (Path(folder) / "test_many.py").write_text("\n".join(f"def test_{number}(): pass" for number in range(200)))
        collect = (sys.executable, "-m", "pytest", "--collect-only", "-q", f"--rootdir={folder}", folder)
        alone = {**environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        collected = await interleave(
            {
                "plugin": _cpu(alone, *collect, "-p", "bridge.surfaces.pytest_plugin"),
                "none": _cpu(alone, *collect),
            },
            rounds=rounds,
        )
    plugin = Samples(
        [one - none for one, none in zip(collected["plugin"].values, collected["none"].values, strict=True)]
    )
    return [
        median_finding("`webview-bridge --help`, CPU time", cpu["help"], "ms", bar=below(150)),
        median_finding("`import bridge`, CPU time beyond the interpreter's", imported, "ms", bar=below(60)),
        median_finding("collecting 200 tests, CPU time that the pytest plugin adds", plugin, "ms", bar=below(50)),
        await _warm(environ, bench.choose(25, 9)),
    ]


def _cpu(environ: dict[str, str], *command: str) -> Contender:
    async def contender() -> float:
        return await asyncio.to_thread(cpu_ms_of, command, environ)

    return contender


async def _warm(environ: dict[str, str], rounds: int) -> Finding:
    """`wvb snapshot` on a kept session: the CPU time of its process, a thin client of the session's."""
    with serve_demo_pages() as site, tempfile.TemporaryDirectory(prefix="wvb-") as runtime:
        environ = {**environ, "XDG_RUNTIME_DIR": runtime}
        async with device(quirks=True) as handle:
            address = site.url("shop.html")
            opened = (*COMMAND, "open", address, "--device", handle.serial, "--local", str(site.port))
            await asyncio.to_thread(cpu_ms_of, opened, environ)
            try:
                contenders = {
                    "wvb snapshot": _cpu(environ, *COMMAND, "snapshot", "--json"),
                    "interpreter": _cpu(environ, sys.executable, "-c", "pass"),
                }
                samples = await interleave(contenders, rounds=rounds)
            finally:
                await asyncio.to_thread(cpu_ms_of, (*COMMAND, "close"), environ)
    note = f"an interpreter's start takes {samples['interpreter'].median:.0f} ms"
    return median_finding("a warm `wvb snapshot`, CPU time", samples["wvb snapshot"], "ms", bar=below(150), note=note)
