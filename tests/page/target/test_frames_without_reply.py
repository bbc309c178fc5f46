"""Frames that give no answer are left out of a snapshot, and it says so."""

from __future__ import annotations

import pytest

from bridge.errors import ExecutionContextDestroyed
from bridge.page.page import Page
from bridge.page.snapshots.take import SnapshotRequest
from tests.conftest import LocalServer

pytestmark = pytest.mark.browser


async def test_snapshot_reports_frames_that_did_not_answer(page: Page, local_server: LocalServer) -> None:
    await page.goto(local_server.url("frames.html"))
    whole = await page.snapshot()
    assert "frames" not in whole.text.partition("\n")[0].partition(" nodes=")[2]
    attachment, snapshots = await page.attached(), page._operations.attached.snapshots
    assert snapshots is not None
    frames = attachment.state.ordered_frames()
    expression = snapshots.expression(SnapshotRequest(), None)
    top = await attachment.evaluate(frames[0].frame_id, expression, timeout_s=20)
    raw = snapshots.assemble(
        frames, [top, *(ExecutionContextDestroyed("it has a renderer of its own") for _ in frames[1:])]
    )
    assert len(frames) > 1
    assert (raw["truncated"], raw["reasons"]) == (True, ["frames"])
