"""Tab sizes that no host app accepts."""

from __future__ import annotations

from typing import Any

import pytest

from bridge import Session
from bridge.errors import UsageError


@pytest.mark.parametrize(
    "size",
    [
        {"width_px": -1},
        {"width_px": 0},
        {"width_px": 10_001},
        {"height_px": 412.5},
        {"height_px": True},
        {"density_dpi": 71},
        {"width_px": 9_000, "height_px": 9_000},
    ],
    ids=str,
)
async def test_an_invalid_size_is_refused_before_a_device_is_selected(size: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=next(iter(size)) if len(size) == 1 else "9000 x 9000 px"):
        async with Session.open("no-such-device", **size):
            pass
