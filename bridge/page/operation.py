"""Operations on a page: one at a time, each with one deadline, one attachment and its notices."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace

from bridge.cdp.meter import Meter, measure
from bridge.cost import Cost, est_tokens
from bridge.deadline import Deadline, checked_seconds
from bridge.errors import (
    BridgeError,
    DeadlineExceeded,
    DeviceError,
    HostError,
    NavigationFailed,
    TabLost,
    TransportError,
)
from bridge.page.input.actions import Actions
from bridge.page.locator_handlers import LocatorHandlers
from bridge.page.navigation.errors import refused_navigation
from bridge.page.results import ActionResult
from bridge.page.snapshots.refs import RefTable
from bridge.page.snapshots.take import Snapshots
from bridge.page.tab_handle import TabHandle
from bridge.page.target.attachment import Attachment

# Errors that may be symptoms: of a page that hangs, or of a renderer, a host app or a device that is gone.
_SYMPTOMS = (DeadlineExceeded, DeviceError, HostError, TabLost, TransportError)
# A renderer that dies aborts the navigation first, and the news of its death may follow.
_ABORTED = "net::ERR_ABORTED"
_NOTICES_KEPT = 5
_FRESH_SNAPSHOT_S = 5.0


# The lock of the operation that a locator handler, which may use the page, interrupts.
_lent: ContextVar[OperationLock | None] = ContextVar("lent", default=None)


class OperationLock:
    """Lets one operation at a time use a page. Two at once would each report the changes of the other."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._holder: str | None = None

    @asynccontextmanager
    async def acquire(self, deadline: Deadline) -> AsyncIterator[str]:
        """Wait for the page; yields a notice if it was held, else "".

        Raises:
            DeadlineExceeded: The page was in use until the deadline; names the holder.
        """
        if _lent.get() is self:
            yield ""
            return
        holder, began = self._holder, time.monotonic()
        async with deadline.bound("waiting for the page", lambda: f"in use by {self._holder or 'another operation'}"):
            await self._lock.acquire()
        try:
            yield f"waited {time.monotonic() - began:.1f} s: in use by {holder}" if holder else ""
        finally:
            self._lock.release()

    @contextmanager
    def lent(self) -> Iterator[None]:
        """Let the operations that the block awaits use the page inside of the present one."""
        token = _lent.set(self)
        try:
            yield
        finally:
            _lent.reset(token)

    @asynccontextmanager
    async def hold(self, by: str) -> AsyncIterator[None]:
        """Keep operations waiting while the block runs; each reports that it waited for `by`."""
        await self._lock.acquire()
        self._holder = by
        try:
            yield
        finally:
            self._holder = None
            self._lock.release()


@dataclass(frozen=True, slots=True)
class AttachedPage:
    """An attachment with the snapshots and actions made on it."""

    attachment: Attachment
    snapshots: Snapshots
    actions: Actions


class Operation:
    """One operation, from the time when it has the page.

    Attributes:
        deadline: The operation's only deadline; every wait in it takes this object.
    """

    def __init__(self, operations: Operations, deadline: Deadline, meter: Meter) -> None:
        self.deadline = deadline
        self._operations = operations
        self._meter = meter

    @property
    def attachment(self) -> Attachment:
        return self._operations.attached.attachment

    @property
    def snapshots(self) -> Snapshots:
        return self._operations.attached.snapshots

    @property
    def actions(self) -> Actions:
        return self._operations.attached.actions

    async def reattach(self, *, revisit: bool) -> None:
        """Attach again after the tab was given up; `revisit` loads its address."""
        await self._operations.attach(self.deadline, revisit=revisit)

    def cost(self, text: str = "") -> Cost:
        """The cost until now of a result with this text."""
        return self._meter.cost(text)

    def take_notices(self) -> tuple[str, ...]:
        """Notices that no result has reported yet. Those that are not taken wait for the next operation."""
        return self._operations.take_notices()

    def take_side_effects(self) -> tuple[str, ...]:
        """Popups, downloads and pickers that no result has reported yet."""
        return self._operations.take_side_effects()

    def report(self, result: ActionResult) -> ActionResult:
        """The result of an action with its notices and side effects.

        Raises:
            PolicyRefused: The action led to an address that the policy forbids; the page stays as it was.
        """
        if refused := self.attachment.take_refused_navigations():
            raise refused[-1]
        notices = (*self.take_notices(), *result.notices, *self.take_side_effects())
        cost = replace(result.cost, est_tokens=est_tokens(result.changes.text))
        return replace(result, notices=notices, cost=cost)

    async def add_snapshot(self, error: BridgeError) -> None:
        """Put a fresh snapshot into `error.details["snapshot"]`, for an error about a dead ref."""
        try:
            fresh = await self.snapshots.take(self.snapshots.last_request, Deadline.after(_FRESH_SNAPSHOT_S))
        except BridgeError as failed:
            error.details["snapshot_failed"] = str(failed)
            return
        error.details["snapshot"] = fresh.text
        error.hint = "The page has changed; use the refs of the snapshot in this error."


class Operations:
    """Starts the operations of one page and diagnoses their errors before they reach the caller."""

    def __init__(self, tab: TabHandle, refs: RefTable) -> None:
        self.lock = OperationLock()
        self.handlers = LocatorHandlers(self.lock)
        self._tab = tab
        self._refs = refs
        self._attached: AttachedPage | None = None
        self._notices: tuple[str, ...] = ()

    @property
    def attached(self) -> AttachedPage:
        assert self._attached is not None, "no operation has begun"
        return self._attached

    @property
    def last_attached(self) -> AttachedPage | None:
        """The last attachment, which may be closed; None before the first operation."""
        return self._attached

    @asynccontextmanager
    async def begin(self, deadline: Deadline, *, revisit: bool = True) -> AsyncIterator[Operation]:
        """Wait for the page and attach to it; an error of the block is diagnosed.

        Args:
            revisit: Load the tab's address again if the tab had to be reopened.
        """
        async with self.lock.acquire(deadline) as waited:
            self._notices = self._newest((waited,) if waited else ())
            try:
                await self.attach(deadline, revisit=revisit)
                refused = self.attached.attachment.take_refused_navigations()
                self._notices = self._newest(tuple(refused_navigation(error) for error in refused))
                with measure() as meter:
                    yield Operation(self, deadline, meter)
            except (*_SYMPTOMS, NavigationFailed) as error:
                if isinstance(error, NavigationFailed) and error.net_error != _ABORTED:
                    raise
                diagnosed = await self._tab.diagnose(error)
                if diagnosed is error:
                    raise
                raise diagnosed from error

    async def attach(self, deadline: Deadline | None = None, *, revisit: bool = True) -> Attachment:
        """The live attachment, outside of the lock as well.

        Raises:
            DeadlineExceeded: Restoring the tab took all the time.
        """
        deadline = deadline or Deadline.after(math.inf)
        attachment, restored = await self._tab.attachment(deadline, revisit=revisit)
        if self._attached is None or attachment is not self._attached.attachment:
            snapshots = Snapshots(attachment, self._refs)
            actions = Actions(attachment, self._refs, snapshots, self._tab.side_effects, self.handlers)
            self._attached = AttachedPage(attachment, snapshots, actions)
        self._notices = self._newest(restored)
        if restored and deadline.passed:
            raise deadline.exceeded("the operation", restored[-1])
        return attachment

    def take_notices(self) -> tuple[str, ...]:
        notices, self._notices = self._notices, ()
        return notices

    def take_side_effects(self) -> tuple[str, ...]:
        schemes = self._attached.attachment.state.take_schemes_for_apps() if self._attached else ()
        return self._tab.side_effects.take_unreported(schemes)

    def _newest(self, more: tuple[str, ...]) -> tuple[str, ...]:
        return (*self._notices, *more)[-_NOTICES_KEPT:]


@dataclass(slots=True)
class Timeouts:
    """A page's default timeouts in seconds; None for those of the methods."""

    default_s: float | None = None
    navigation_s: float | None = None

    def seconds(self, given: float | None, own_s: float) -> float:
        """The timeout of a call: what it gives, the page's default, or the method's own."""
        if given is not None:
            return checked_seconds("timeout_s", given)
        return self.default_s if self.default_s is not None else own_s

    def navigation_seconds(self, given: float | None, own_s: float) -> float:
        """The same for navigations and waits."""
        return self.navigation_s if given is None and self.navigation_s is not None else self.seconds(given, own_s)
