"""The storing site, and a session that may open it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from bridge import Session
from bridge.surfaces.local_server import listening
from tests.session.storage.storing_site import StoringSite, grant_for


@pytest.fixture(scope="module")
def base() -> Iterator[str]:
    with listening(StoringSite) as server:
        yield f"http://127.0.0.1:{server.port}"


@pytest.fixture
async def granted_session(webview_device: str, base: str) -> AsyncIterator[Session]:
    async with Session.open(webview_device, grants=[grant_for(base)]) as session:
        yield session
