"""A trace of operations: their secrets are in it by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from bridge import Session
from bridge.ops import Executor, Secrets, parse_operation
from tests.conftest import LocalServer

VALUE = "hunter2secretvalue"


@pytest.mark.browser
@pytest.mark.timeout(180)
async def test_a_secret_that_an_operation_fills_in_is_not_in_the_file(
    webview_device: str, local_server: LocalServer, tmp_path: Path
) -> None:
    file = tmp_path / "trace.html"
    async with Session.open(webview_device, grants=[local_server.grant], trace=file) as session:
        executor = Executor(session, secrets=Secrets({"PW": VALUE}))
        for operation in (
            {"kind": "navigate", "url": local_server.url("tasks/enter-text.html")},
            {"kind": "snapshot"},
            {"kind": "fill", "ref": "e1", "value": "secret:PW"},
            {"kind": "read"},
        ):
            done = await executor.run(parse_operation(operation))
            assert done.ok, done.error
    told = file.read_text()
    assert "[secret:PW]" in told
    assert VALUE not in told
    assert "bound method" not in told
