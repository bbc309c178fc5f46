"""The MCP server: CPU time until it has answered `tools/list`."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Sequence
from contextlib import suppress

from tools.benchmarks.bench import Bench
from tools.benchmarks.measuring import Finding, Samples, below, median_finding
from tools.benchmarks.pages import ROOT
from tools.benchmarks.processes import cpu_s, tree
from tools.benchmarks.rows.command_line import COMMAND

_LIMIT_S = 60.0
_HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "benchmark", "version": "1"},
}


async def mcp(bench: Bench) -> Sequence[Finding]:
    samples, wall = Samples(), Samples()
    count = 0
    for _ in range(bench.choose(9, 5)):
        cpu_ms, wall_ms, count = await _until_listed()
        samples.values.append(cpu_ms)
        wall.values.append(wall_ms)
    note = f"{count} tools; {wall.median:.0f} ms on the wall"
    return [
        median_finding("MCP server until `tools/list` is answered, CPU time", samples, "ms", bar=below(1000), note=note)
    ]


async def _until_listed() -> tuple[float, float, int]:
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    began = asyncio.get_running_loop().time()
    process = await asyncio.create_subprocess_exec(
        *COMMAND, "mcp", env=environ, stdin=-1, stdout=-1, stderr=-3, limit=16 * 1024 * 1024
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        async with asyncio.timeout(_LIMIT_S):
            for message in (
                {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": _HELLO},
                {"jsonrpc": "2.0", "method": "notifications/initialized"},
                {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
            ):
                process.stdin.write(json.dumps(message).encode() + b"\n")
            while True:
                answer = json.loads(await process.stdout.readline())
                if answer.get("id") == 2:
                    break
        wall_ms = (asyncio.get_running_loop().time() - began) * 1000
        return cpu_s(tree(process.pid)) * 1000, wall_ms, len(answer["result"]["tools"])
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
