"""Session and page fixtures for asynchronous tests: one pair per loop scope, because both run in the test's loop.

Registered only with pytest-asyncio.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any, Literal, get_args

import pytest_asyncio

if TYPE_CHECKING:
    from bridge import Page
    from bridge.surfaces.pytest_plugin.sessions import SessionSettings

LoopScope = Literal["function", "class", "module", "package", "session"]


def _define(scope: LoopScope) -> None:
    @pytest_asyncio.fixture(loop_scope=scope, name=f"webview_session_{scope}")
    async def session(webview_session_settings: SessionSettings) -> AsyncIterator[Any]:
        from bridge.surfaces.pytest_plugin.sessions import session_for_test

        async with session_for_test(webview_session_settings) as session:
            yield session

    @pytest_asyncio.fixture(loop_scope=scope, name=f"webview_page_{scope}")
    async def page(webview_session_settings: SessionSettings, webview_session: Any) -> AsyncIterator[Page]:
        from bridge.surfaces.pytest_plugin.sessions import page_for_test

        async with page_for_test(webview_session, webview_session_settings) as page:
            yield page

    globals()[f"session_in_{scope}_loop"], globals()[f"page_in_{scope}_loop"] = session, page


for _scope in get_args(LoopScope):
    _define(_scope)
