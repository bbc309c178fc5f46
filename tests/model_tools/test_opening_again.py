"""A session that could not be opened is opened with the next call."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bridge import Session
from bridge.errors import DeviceError
from bridge.model_tools import SharedSession


async def test_what_this_machine_could_not_do_is_tried_again_with_the_next_call(tmp_path: Path) -> None:
    folder = tmp_path / "not yet"

    @asynccontextmanager
    async def opener() -> AsyncIterator[Session]:
        (folder / "lease").write_text("ours")
        raise ValueError("tried again")
        yield

    async with SharedSession(opener) as shared:
        with pytest.raises(DeviceError, match="not yet"):
            await shared.get()
        folder.mkdir()
        with pytest.raises(ValueError, match="tried again"):
            await shared.get()
        (folder / "lease").unlink()
        folder.rmdir()
        with pytest.raises(DeviceError, match="not yet"):
            await shared.get()
