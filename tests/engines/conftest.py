"""Sessions on virtual devices whose Chromium is as old as the WebViews of old images."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from bridge import Session
from bridge.surfaces.local_server import LocalServer
from bridge.surfaces.pytest_plugin.local_server import FolderHandler, serving
from bridge.virtual_device.engine.old_engines import cached_engines
from tests.temp_devices import own_device

TODAY = "today"
OLD = (91, 103, 113, 123, 133, 143, 148)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Every engine in the cache, and today's; `tools/engines` fetches the others."""
    if "engine" in metafunc.fixturenames:
        cached = set(cached_engines())
        missing = pytest.mark.skip(reason="not fetched; run tools/engines")
        old = [pytest.param(str(version), marks=() if version in cached else missing) for version in OLD]
        metafunc.parametrize("engine", [*old, TODAY], scope="module")


@pytest.fixture(scope="module")
def site() -> Iterator[LocalServer]:
    with serving(Path(__file__).parent / "pages", FolderHandler) as server:
        yield server


@pytest.fixture
async def session(engine: str, site: LocalServer, webview_device: str, tmp_path: Path) -> AsyncIterator[Session]:
    """A session on that engine; today's is the one that the suite runs on."""
    options = {} if engine == TODAY else {"engine": {"chromium": engine}}
    async with (
        own_device(**options) as device,
        Session.open(device.serial, grants=[site.grant], downloads_root=tmp_path) as session,
    ):
        yield session
