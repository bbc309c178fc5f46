"""Resources are looking too: the operator can deny it, and of a long log the newest lines are told."""

from __future__ import annotations

import pytest
from mcp.shared.exceptions import MCPError

from bridge.model_tools import MAX_RESULT_CHARS
from bridge.surfaces.mcp_server.protocol import newest
from tests.mcp.conftest import Serving


@pytest.mark.browser
@pytest.mark.timeout(180)
async def test_a_denied_effect_also_hides_the_resource(serving: Serving) -> None:
    serving.configure('[browser.actions]\ndeny = ["observe"]\n')
    async with serving.client("stdio") as client:
        await client.call_tool("web_open", {"url": serving.local.url("second.html")})
        for name in ("console", "network", "trace"):
            with pytest.raises(MCPError, match="its effect is observe"):
                await client.read_resource(f"webview://{name}")


def test_a_long_log_shows_its_newest_lines() -> None:
    lines = [f"{number} {'x' * 100}" for number in range(1_000)]
    told = newest(lines).splitlines()
    assert told[-1] == lines[-1]
    left_out = 1_000 - (len(told) - 1)
    assert told[0] == f"… ({left_out} earlier lines omitted)"
    assert told[1] == lines[left_out]
    assert 10_000 < len(newest(lines)) < MAX_RESULT_CHARS
    assert newest(lines[:3]) == "\n".join(lines[:3])
