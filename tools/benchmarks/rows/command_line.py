"""The command line: its help, a warm command beside the operation, what an import takes and pytest's plugin adds."""

from __future__ import annotations

import asyncio
import contextlib
import json
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
    """`wvb snapshot` on a kept session, beside the operation's own reported cost plus the start of an interpreter."""
    costs: list[float] = []
    with serve_demo_pages() as site, tempfile.TemporaryDirectory(prefix="wvb-") as runtime:
        environ = {**environ, "XDG_RUNTIME_DIR": runtime}

        async def run(*command: str) -> bytes:
            process = await asyncio.create_subprocess_exec(*command, env=environ, stdin=-3, stdout=-1, stderr=-1)
            out, err = await asyncio.wait_for(process.communicate(), 120)
            if process.returncode:
                raise RuntimeError(f"{command[3:]} ended with {process.returncode}: {err.decode()[-300:]}")
            return out

        async def warm() -> None:
            costs.append(json.loads(await run(*COMMAND, "snapshot", "--json"))["cost"]["ms"])

        async def interpreter() -> None:
            await run(sys.executable, "-c", "pass")

        async with device(quirks=True) as handle:
            address = site.url("shop.html")
            await run(*COMMAND, "open", address, "--device", handle.serial, "--local", str(site.port))
            try:
                await _until_listening(Path(runtime) / "webview-bridge" / "sessions" / "default.zygote")
                samples = await interleave({"wvb snapshot": warm, "interpreter": interpreter}, rounds=rounds)
            finally:
                await run(*COMMAND, "close")
    floor = [start + cost for start, cost in zip(samples["interpreter"].values, costs[-rounds:], strict=True)]
    ratios = Samples([whole / least for whole, least in zip(samples["wvb snapshot"].values, floor, strict=True)])
    whole_ms, least_ms = samples["wvb snapshot"].median, Samples(floor).median
    note = f"{whole_ms:.0f} ms, beside {least_ms:.0f} ms of which {Samples(costs[-rounds:]).median:.1f} the operation"
    return Finding(
        "a warm `wvb snapshot`, beside the operation and an interpreter's start",
        whole_ms / least_ms, "×", below(1.5), ratios.spread, note,
    )  # fmt: skip


async def _until_listening(path: Path) -> None:
    """Until the session's zygote takes commands: one that comes earlier goes without, and is not warm."""
    async with asyncio.timeout(30):
        while True:
            with contextlib.suppress(FileNotFoundError, ConnectionRefusedError):
                _, writer = await asyncio.open_unix_connection(path)
                writer.close()
                return
            await asyncio.sleep(0.05)
