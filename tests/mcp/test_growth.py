"""A server that is used for long stays as large as it was."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import LocalServer
from tests.mcp.conftest import LIMIT_S, Address, Serving, text_of

pytestmark = [pytest.mark.browser]

PAGE_KB = os.sysconf("SC_PAGE_SIZE") / 1024
GROWTH_KB = 12_000


class Process:
    """What the system says of a process."""

    def __init__(self, pid: int) -> None:
        self._folder = Path("/proc") / str(pid)

    @property
    def resident_kb(self) -> float:
        return int((self._folder / "statm").read_text().split()[1]) * PAGE_KB

    @property
    def open_files(self) -> int:
        return len(list((self._folder / "fd").iterdir()))

    @property
    def threads(self) -> int:
        return len(list((self._folder / "task").iterdir()))


def calls(local: LocalServer) -> list[tuple[str, dict[str, Any]]]:
    """Ten calls that an agent makes, with pages, actions, pictures and mistakes in them."""
    return [
        ("web_open", {"url": local.url("controls.html")}),
        ("web_snapshot", {"interactive_only": False}),
        ("web_press_key", {"key": "Tab"}),
        ("web_screenshot", {}),
        ("web_open", {"url": local.url("second.html"), "new_tab": True}),
        ("web_read", {}),
        ("web_click", {"ref": "e99999"}),
        ("web_open", {"url": "http://169.254.169.254/"}),
        ("web_tabs", {"action": "close"}),
        ("web_wait", {"text": "never", "timeout_seconds": 0.05}),
    ]


async def grown(serving: Serving, rounds: int) -> tuple[float, int, int]:
    """By how much the server has grown after `rounds` of ten calls: kB, open files, threads."""
    server = serving.start("--http", "--port", "0")
    try:
        address = Address.said_by(server)
        process = Process(server.pid)
        async with address.client(mode="legacy") as client:

            async def work(times: int) -> None:
                for _ in range(times):
                    for tool, arguments in calls(serving.local):
                        result = await client.call_tool(tool, arguments)
                        expected = arguments in ({"ref": "e99999"}, {"url": "http://169.254.169.254/"})
                        assert result.is_error is (expected or tool == "web_wait"), text_of(result)

            await work(max(3, rounds // 5))
            before = (process.resident_kb, process.open_files, process.threads)
            await work(rounds)
            after = (process.resident_kb, process.open_files, process.threads)
        print(f"{rounds * 10} calls: {before} -> {after} (resident kB, open files, threads)")
        return after[0] - before[0], after[1] - before[1], after[2] - before[2]
    finally:
        server.terminate()
        server.communicate(timeout=LIMIT_S)


@pytest.mark.timeout(180)
async def test_a_server_does_not_grow_with_its_calls(serving: Serving) -> None:
    resident_kb, open_files, threads = await grown(serving, 6)
    assert resident_kb < GROWTH_KB
    assert open_files <= 2
    assert threads <= 2


@pytest.mark.slow
@pytest.mark.timeout(1800)
async def test_a_server_does_not_grow_with_a_thousand_calls(serving: Serving) -> None:
    resident_kb, open_files, threads = await grown(serving, 100)
    assert resident_kb < GROWTH_KB
    assert open_files <= 2
    assert threads <= 2
