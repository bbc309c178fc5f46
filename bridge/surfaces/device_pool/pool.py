"""A pool that leases devices to concurrent jobs on one machine."""

from __future__ import annotations

import asyncio
import math
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, cast

from bridge.adb import AdbServer, DeviceEntry
from bridge.deadline import Deadline, finish
from bridge.errors import (
    AdbUnavailable,
    BridgeError,
    DeadlineExceeded,
    DeviceError,
    DeviceLost,
    DeviceNotFound,
    DeviceOffline,
    HostError,
    HostLost,
    NoDevice,
    TransportError,
    UsageError,
)
from bridge.host.lease import lease_key
from bridge.surfaces.blocking import in_a_thread
from bridge.surfaces.composition import Session
from bridge.surfaces.device_pool.jobs import JobBook, JobOutcome
from bridge.surfaces.device_pool.slots import AttachedSlot, Slot, VirtualSlot

Item = TypeVar("Item")
Value = TypeVar("Value")
Job = Callable[[Session, Item], Awaitable[Value]]

LEASE_TIMEOUT_S = 600.0
ATTEMPTS = 3
_LIST_S = 20.0
_OPEN_S = 60.0
_CLOSE_S = 30.0
# Errors of a job whose device was lost, even if it is back by now.
_LOSSES = (DeviceLost, DeviceOffline, AdbUnavailable, HostLost, TransportError)


@dataclass(slots=True)
class _Lease:
    slot: Slot
    session: Session
    lost: BridgeError | None = None


class DevicePool:
    """Devices shared by concurrent jobs, one job per device at a time. Made by `DevicePool.open`.

    async with DevicePool.open(["virtual"] * 4) as pool:
        async with pool.lease() as session:          # a device, and a session of its own on it
            page = await session.new_page("https://example.com/")
        outcomes = await pool.run(job, items)        # async def job(session, item): …
    """

    def __init__(self, slots: Sequence[Slot], adb_server: str | None, options: Mapping[str, Any]) -> None:
        self._slots = tuple(slots)
        self._adb_server = adb_server
        self._options = options
        self._changed = asyncio.Event()

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        devices: Sequence[str] | Literal["all"] = "all",
        *,
        adb_server: str | None = None,
        session_options: Mapping[str, Any] | None = None,
    ) -> AsyncIterator[DevicePool]:
        """A pool of these devices; its virtual devices stop with the block.

        Attached devices are leased only while a job uses them, so that other pools and test runs of this user can use
        them in between. Virtual devices start on demand, for this pool alone.

        Args:
            devices: Serials, and "virtual" once per virtual device; "all" means all attached devices.
            session_options: Arguments of `Session.open` for every lease: `policy`, `grants`, `uploads_root`, …

        Raises:
            NoDevice: "all" was given and no device is attached.
            DeviceNotFound: A serial is not attached.
        """
        server = AdbServer.from_environment(adb_server)
        await server.ensure_running(timeout_s=_LIST_S)
        slots = await _slots(server, devices)
        try:
            yield cls(slots, adb_server, dict(session_options or {}))
        finally:
            ending = asyncio.gather(*(slot.discard() for slot in slots))
            await finish(_awaited(ending), at_most_s=_CLOSE_S, what="ending the devices of a pool")

    @property
    def size(self) -> int:
        """The number of jobs that can run at once."""
        return len(self._slots)

    @asynccontextmanager
    async def lease(self, *, timeout_s: float = LEASE_TIMEOUT_S) -> AsyncIterator[Session]:
        """Open a session on a leased device while the block runs.

        Raises:
            DeadlineExceeded: No device became usable in time; the message has the state of each.
            DeviceError, HostError: No device of the pool is usable; the error of the last one.
        """
        async with self._leased(Deadline.after(timeout_s)) as lease:
            yield lease.session

    async def run(
        self,
        job: Job[Item, Value],
        items: Iterable[Item],
        *,
        attempts: int = ATTEMPTS,
        timeout_s: float = LEASE_TIMEOUT_S,
        on_outcome: Callable[[JobOutcome[Value]], None] | None = None,
    ) -> list[JobOutcome[Value]]:
        """Run `job(session, item)` for each item, one per device at a time; returns the outcomes in order.

        A job whose device is lost runs again on any free device, so running it twice must be safe. An exception ends
        only its own job. `bridge.run_on_ray` takes the same functions.

        Args:
            job: An `async def`; with `bridge.sync.DevicePool` also a plain function, which gets a blocking session.
            attempts: Maximum number of attempts per job.
            timeout_s: Time that a job waits for a device.
            on_outcome: Called with each outcome when its job ends.
        """
        if attempts < 1:
            raise UsageError(f"attempts is {attempts}; it must be at least 1")
        book = JobBook(items, attempts=attempts, on_outcome=on_outcome)

        async def work() -> None:
            while (ticket := book.take()) is not None:
                book.settle(ticket, await self.attempt(job, ticket.item, timeout_s=timeout_s))

        await together(work() for _ in range(min(self.size, len(book))))
        return book.outcomes()

    async def attempt(
        self, job: Job[Item, Value], item: Item, *, timeout_s: float = LEASE_TIMEOUT_S
    ) -> JobOutcome[Value]:
        """Run one job once. The outcome has its exception, and whether its device was lost."""
        serial, lease = "", None
        try:
            async with self._leased(Deadline.after(timeout_s)) as lease:
                serial = lease.session.serial
                return JobOutcome(value=await _called(job, lease.session, item), serial=serial)
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            # The job has cancelled itself, not its caller.
            reason = f": {error}" if str(error) else ""
            return JobOutcome(error=BridgeError(f"the job cancelled itself{reason}"), serial=serial)
        except Exception as error:
            lost = "" if lease is None or lease.lost is None else lease.lost.message
            return JobOutcome(error=error, serial=serial, lost=lost, attempts=0 if lease is None else 1)

    @asynccontextmanager
    async def _leased(self, deadline: Deadline) -> AsyncIterator[_Lease]:
        async with AsyncExitStack() as stack:
            lease = await self._opened(stack, deadline)
            try:
                yield lease
            except Exception as error:
                lease.lost = await lease.session.diagnose() or (error if isinstance(error, _LOSSES) else None)
                raise
            finally:
                lost = lease.lost
                if lost is not None:
                    lease.slot.failed(lost)
                    stack.push_async_callback(lease.slot.discard)

    async def _opened(self, stack: AsyncExitStack, deadline: Deadline) -> _Lease:
        """Open a session on a usable device; both last until the stack ends."""
        while True:
            slot = await self._free_slot(deadline)
            async with AsyncExitStack() as trying:
                trying.callback(self._release, slot)
                try:
                    serial = await slot.acquire(trying, deadline)
                    if serial is None:
                        slot.busy()
                        continue
                    opening = Session.open(
                        serial,
                        **{
                            "adb_server": self._adb_server,
                            "timeout_s": min(_OPEN_S, deadline.remaining_s),
                            **self._options,
                        },
                    )
                    session = await trying.enter_async_context(opening)
                except (DeviceError, HostError, TransportError, DeadlineExceeded) as error:
                    slot.failed(error)
                    trying.push_async_callback(slot.discard)
                    continue
                slot.succeeded()
                await stack.enter_async_context(trying.pop_all())
                return _Lease(slot, session)

    async def _free_slot(self, deadline: Deadline) -> Slot:
        while True:
            if all(slot.is_out for slot in self._slots):
                raise self._slots[-1].trouble or NoDevice("the pool has no device")
            free = [slot for slot in self._slots if not slot.is_taken and not slot.is_out]
            now = time.monotonic()
            ready = [slot for slot in free if slot.not_before <= now]
            if ready:
                slot = next((slot for slot in ready if slot.is_warm), ready[0])
                slot.is_taken = True
                return slot
            if deadline.passed:
                raise deadline.exceeded("a free device", self._seen())
            wait_s = min(deadline.remaining_s, min((slot.not_before - now for slot in free), default=math.inf))
            try:
                async with asyncio.timeout(wait_s):
                    await self._changed.wait()
            except TimeoutError:
                continue

    def _release(self, slot: Slot) -> None:
        slot.is_taken = False
        self._changed.set()
        self._changed = asyncio.Event()

    def _seen(self) -> str:
        return "; ".join(f"{slot.name}: {_state_of(slot)}" for slot in self._slots)


def _state_of(slot: Slot) -> str:
    if slot.trouble is not None:
        return slot.trouble.message
    return "running a job" if slot.is_taken else "in use by another process"


async def attached_serials(adb_server: str | None = None) -> tuple[str, ...]:
    """The attached, ready devices, without virtual devices that belong to a session."""
    server = AdbServer.from_environment(adb_server)
    await server.ensure_running(timeout_s=_LIST_S)
    return _ready(await server.devices(timeout_s=_LIST_S))


def _ready(entries: Iterable[DeviceEntry]) -> tuple[str, ...]:
    assert Session.virtual_devices is not None
    owned = Session.virtual_devices.owned()
    return tuple(entry.serial for entry in entries if entry.state == "device" and entry.serial not in owned)


async def _slots(server: AdbServer, devices: Sequence[str] | Literal["all"]) -> list[Slot]:
    virtual = Session.virtual_devices
    assert virtual is not None
    entries = await server.devices(timeout_s=_LIST_S)
    if isinstance(devices, str):
        if devices != "all":
            raise UsageError(f"devices is {devices!r}", hint=f'Give a list, such as [{devices!r}], or "all".')
        devices = _ready(entries)
        if not devices:
            raise NoDevice("no device is attached", hint='Attach one, or name virtual ones: ["virtual"] * 4.')
    elif not devices:
        raise UsageError("a pool needs at least one device")
    starting = asyncio.Semaphore(os.cpu_count() or 1)
    slots: list[Slot] = []
    for serial in devices:
        if serial == "virtual":
            slots.append(VirtualSlot(f"virtual device {len(slots) + 1}", server, virtual, starting))
        elif any(slot.name == serial for slot in slots):
            raise UsageError(f"{serial} is given twice")
        elif all(entry.serial != serial for entry in entries):
            attached = ", ".join(entry.serial for entry in entries) or "none"
            raise DeviceNotFound(f"no device with serial {serial!r} is attached (attached: {attached})")
        else:
            slots.append(AttachedSlot(serial, lease_key(server.device(serial))))
    return slots


async def together(works: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Run all concurrently. The first error cancels the others and is raised unchanged."""
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _called(job: Job[Item, Value], session: Session, item: Item) -> Value:
    # An object with an `async def __call__` is not itself a coroutine function.
    if asyncio.iscoroutinefunction(job) or asyncio.iscoroutinefunction(type(job).__call__):
        return await job(session, item)
    return cast(Value, await in_a_thread(job, session, item))


async def _awaited(work: Awaitable[object]) -> None:
    await work
