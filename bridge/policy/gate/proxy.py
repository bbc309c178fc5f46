"""The egress gate: an HTTP proxy on this machine's loopback that connects only where the policy allows.

It takes CONNECT (https, WebSocket) and plain requests in absolute form, resolves names itself, checks every address and
connects to a pinned one: the phone's name server has no say, nor has a page. Clients and servers may be hostile: heads
are bounded, bodies are streamed, every wait has a timeout.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager

from bridge.peer_user import is_peer_of, own_user
from bridge.policy.dialling import STREAM_LIMIT_BYTES
from bridge.policy.gate.client import GateClient
from bridge.policy.gate.http_messages import error_page
from bridge.policy.pinning import PinnedEgress

_log = logging.getLogger(__name__)

MAX_CLIENTS = 1024


class Gate:
    """A running gate; made by `run_gate`.

    Attributes:
        port: Where it listens on 127.0.0.1.
        users: The ids of the users of this machine that it serves, where the system reports the user of a connection.
        has_pages: Whether a client gets an error page for a request that is not served. A browser would show the page
            as if it were the site's, so for a browser the gate closes the connection, and the egress knows the reason.
    """

    def __init__(self, egress: PinnedEgress, *, has_pages: bool, users: Collection[int]) -> None:
        self.port = 0
        self.egress = egress
        self.has_pages = has_pages
        self.users = users
        self._server: asyncio.Server | None = None
        self._clients: set[asyncio.Task[None]] = set()
        self._is_stopped = False
        self._has_refused_user = False

    @property
    def url(self) -> str:
        """For `--proxy`, HTTP_PROXY and the like."""
        return f"http://127.0.0.1:{self.port}"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not is_peer_of(writer.get_extra_info("socket"), self.users):
            _log.log(
                logging.DEBUG if self._has_refused_user else logging.WARNING,
                "another user of this machine connected to the gate and was refused",
            )
            self._has_refused_user = True
            writer.transport.abort()
            return
        if self._is_stopped:  # asyncio may call this some loop iterations after it accepted the connection
            writer.transport.abort()
            return
        task = asyncio.current_task()
        assert task is not None
        self._clients.add(task)
        try:
            if len(self._clients) > MAX_CLIENTS:
                writer.write(error_page(503, "Busy", f"{MAX_CLIENTS} connections are open already.", code="busy"))
            else:
                await GateClient(self.egress, (reader, writer), has_pages=self.has_pages).run()
        except (ConnectionError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
            _log.debug("a client connection of the gate ended: %s", error)
        except asyncio.CancelledError:
            writer.transport.abort()  # asyncio would log a cancelled handler as an error
        except Exception:
            _log.exception("the gate failed on a connection and closes it")
        finally:
            self._clients.discard(task)
            writer.close()

    async def stop(self) -> None:
        """Stop listening and end every connection. Clients that use the gate as their proxy reach nothing then."""
        self._is_stopped = True
        if self._server is not None:
            self._server.close()
        for task in self._clients:
            task.cancel()
        await asyncio.gather(*self._clients, return_exceptions=True)


@asynccontextmanager
async def run_gate(
    egress: PinnedEgress, *, port: int = 0, has_pages: bool = True, users: Collection[int] | None = None
) -> AsyncIterator[Gate]:
    """Run a gate on 127.0.0.1 and `port` (0: any free one). Its connections end with the block.

    It serves the processes of `users`, by default of this process's user.

    Raises:
        OSError: The port is in use.
    """
    gate = Gate(egress, has_pages=has_pages, users={own_user()} if users is None else users)
    gate._server = server = await asyncio.start_server(gate._serve, "127.0.0.1", port, limit=STREAM_LIMIT_BYTES)
    gate.port = server.sockets[0].getsockname()[1]
    try:
        yield gate
    finally:
        await gate.stop()
