"""The session that all clients of a server share: opened on first use, and again after a loss."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import TYPE_CHECKING

from bridge.deadline import finish
from bridge.errors import BridgeError, DeviceError, DeviceLost

if TYPE_CHECKING:
    from bridge.session import Session

Opener = Callable[[], AbstractAsyncContextManager["Session"]]

_CLOSE_S = 15.0
_RECONNECT_S = 30.0


class SharedSession:
    """`async with SharedSession(opener) as shared`, then `await shared.get()` for each call.

    The session lives in a task of its own, so cancelling a call while the device starts does not stop it.

    Attributes:
        generation: Counts the sessions. Tabs of an earlier session are gone.
    """

    def __init__(self, opener: Opener) -> None:
        self._opener = opener
        self._kept: _Kept | None = None
        self._lock = asyncio.Lock()
        self.generation = 0

    async def __aenter__(self) -> SharedSession:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self._drop()

    @property
    def is_open(self) -> bool:
        return self._kept is not None and self._kept.is_ready

    @property
    def is_lost(self) -> bool:
        """True if the connection to the host app is lost; `get` then restores it."""
        return self.present is not None and self.present.host_client.closed.is_set()

    @property
    def present(self) -> Session | None:
        """The open session, or None."""
        return self._kept.opened.result() if self._kept is not None and self._kept.is_ready else None

    @property
    def user_agent(self) -> str | None:
        """The User-Agent of the session's tabs; None before the first tab."""
        known = self.present.capabilities if self.present is not None else None
        return (known.user_agent or None) if known is not None else None

    async def get(self) -> tuple[Session, tuple[str, ...]]:
        """The connected session, and one sentence for each thing that had to be restored.

        Raises:
            DeviceError, HostError, VirtualDeviceFailed: It cannot be opened. The next call tries again.
        """
        async with self._lock:
            notices: tuple[str, ...] = ()
            if self.is_open:
                assert self._kept is not None
                try:
                    return await self._kept.opened, await _reconnected(await self._kept.opened)
                except BridgeError as error:
                    notices = (f"The device was lost ({error.code}) and restarted: earlier tabs and refs are gone.",)
                    await self._drop()
            if self._kept is None:
                self.generation += 1
                self._kept = _Kept(self._opener)
            try:
                return await asyncio.shield(self._kept.opened), notices
            except OSError as error:  # of this machine: a full disk, a port in use
                await self._drop()
                raise DeviceError(f"the session cannot be opened: {error}") from error
            except Exception:
                await self._drop()
                raise

    async def _drop(self) -> None:
        kept, self._kept = self._kept, None
        if kept is not None:
            await finish(kept.close(), at_most_s=_CLOSE_S, what="closing the session")


class _Kept:
    def __init__(self, opener: Opener) -> None:
        self.opened: asyncio.Future[Session] = asyncio.get_running_loop().create_future()
        self._over = asyncio.Event()
        self._task = asyncio.create_task(self._keep(opener), name="the session of the tools")

    @property
    def is_ready(self) -> bool:
        return self.opened.done() and not self.opened.cancelled() and self.opened.exception() is None

    async def close(self) -> None:
        self._over.set()
        if not self.opened.done():
            self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _keep(self, opener: Opener) -> None:
        try:
            async with opener() as session:
                self.opened.set_result(session)
                # A model may think, or its user be away, longer than idle tabs last.
                await session.stay_awake(self._over)
        except asyncio.CancelledError:
            self.opened.cancel()
            raise
        except Exception as error:
            if self.opened.done():
                raise
            self.opened.set_exception(error)


async def _reconnected(session: Session) -> tuple[str, ...]:
    if not session.host_client.closed.is_set():
        return ()
    notices = await session.reconnect(timeout_s=_RECONNECT_S)
    if session.host_client.closed.is_set():
        raise DeviceLost(f"{session.serial} did not reconnect")
    return notices
