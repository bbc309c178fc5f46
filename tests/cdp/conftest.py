"""Real WebSocket servers on loopback that respond like a devtools endpoint."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest
from devtools_peer import dial
from websockets.asyncio.server import ServerConnection, serve

from bridge.cdp import CdpConnection, open_cdp

Handler = Callable[[ServerConnection], Awaitable[None]]


@pytest.fixture
def devtools() -> Callable[[Handler], AbstractAsyncContextManager[CdpConnection]]:
    """`async with devtools(handler) as connection`: a connection whose other end `handler` serves."""

    @asynccontextmanager
    async def connected(handler: Handler) -> AsyncIterator[CdpConnection]:
        async with serve(handler, "127.0.0.1", 0, compression=None, close_timeout=1) as server:
            sock = await dial(server.sockets[0].getsockname()[1])
            async with open_cdp(sock, "/devtools/page/1", timeout_s=20) as connection:
                yield connection

    return connected
