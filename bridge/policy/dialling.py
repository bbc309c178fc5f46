"""Resolving a name and connecting to an address, as functions that a `PinnedEgress` can be given.

Tests give functions that lead public names and addresses to servers on loopback; the policy code between is the same.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from bridge.deadline import Deadline
from bridge.errors import NameNotResolved

StreamPair = tuple[asyncio.StreamReader, asyncio.StreamWriter]
# Returns every address of a name or raises NameNotResolved. The caller sets the timeout.
Resolve = Callable[[str], Awaitable[tuple[str, ...]]]
# Connects to an IP literal and a port or raises OSError. The caller sets the timeout.
Connect = Callable[[str, int], Awaitable[StreamPair]]

# Not the loop's default executor: images and files must not wait for slow name servers, nor names for them.
_RESOLVERS = ThreadPoolExecutor(32, "webview-bridge-names")
STREAM_LIMIT_BYTES = 256 * 1024
_STAGGER_S = 0.25


async def system_resolve(host: str) -> tuple[str, ...]:
    """The addresses of a name from the system's resolver, in its order (RFC 6724)."""
    asked = partial(socket.getaddrinfo, host, None, type=socket.SOCK_STREAM)
    try:
        found = await asyncio.get_running_loop().run_in_executor(_RESOLVERS, asked)
    except (OSError, UnicodeError) as error:
        raise NameNotResolved(
            f"{host} has no address: {getattr(error, 'strerror', None) or error}", host=host
        ) from error
    return tuple(dict.fromkeys(str(entry[4][0]) for entry in found))


async def system_connect(address: str, port: int) -> StreamPair:
    """Open a TCP connection to an IP literal. Never called with a name."""
    return await asyncio.open_connection(address, port, limit=STREAM_LIMIT_BYTES)


async def first_connection(
    connect: Connect, addresses: tuple[str, ...], port: int, deadline: Deadline
) -> tuple[str, StreamPair]:
    """The first of `addresses` to connect; the attempts start one after the other, a little apart (RFC 8305 §5).

    Raises:
        OSError: None connected; the last failure.
    """
    failure: OSError = OSError("the name has no addresses")
    racing: dict[asyncio.Task[StreamPair], str] = {}
    waiting = list(addresses)
    try:
        while waiting or racing:
            if waiting:
                address = waiting.pop(0)
                racing[asyncio.ensure_future(connect(address, port))] = address
            pause_s = min(_STAGGER_S, deadline.remaining_s) if waiting else deadline.remaining_s
            done, _ = await asyncio.wait(racing, timeout=pause_s, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                address = racing.pop(task)
                error = task.exception()
                if error is None:
                    return address, task.result()
                if not isinstance(error, OSError):
                    raise error
                failure = error
            if deadline.passed:
                raise TimeoutError(f"{', '.join(addresses)} did not respond within {deadline.timeout_s:g} s")
        raise failure
    finally:
        for task in racing:
            task.add_done_callback(_close_late)
            task.cancel()


def _close_late(task: asyncio.Task[StreamPair]) -> None:
    """Close a connection that lost the race, or was made while its task was being cancelled."""
    if not task.cancelled() and task.exception() is None:
        task.result()[1].close()
