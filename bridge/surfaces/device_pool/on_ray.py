"""Runs the jobs of a pool on a Ray cluster: one actor per device, on the machine of the device.

A machine declares its number of devices to Ray as the resource `android_device`:

    ray start --address=HEAD --resources="$(webview-bridge devices --ray)"

Ray is an extra (`pip install webview-bridge[ray]`), imported only here.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import ExitStack, asynccontextmanager
from dataclasses import replace
from typing import Any, Literal, TypeVar

from bridge.deadline import Deadline, finish
from bridge.errors import BridgeError, DeviceLost, NoDevice, UsageError
from bridge.surfaces.device_pool.jobs import JobBook, JobOutcome, Ticket
from bridge.surfaces.device_pool.lease import leased

Item = TypeVar("Item")

RESOURCE = "android_device"  # as `webview-bridge devices --ray` prints it
START_TIMEOUT_S = 120.0
_CLOSE_S = 30.0


async def run_on_ray(
    job: Callable[[Any, Item], Any],
    items: Iterable[Item],
    *,
    device: Literal["attached", "virtual"] = "attached",
    session_options: Mapping[str, Any] | None = None,
    attempts: int = 3,
    timeout_s: float = START_TIMEOUT_S,
    on_outcome: Callable[[JobOutcome[Any]], None] | None = None,
) -> list[JobOutcome[Any]]:
    """Run `job(session, item)` for each item on the connected Ray cluster; returns the outcomes in order.

    As for `DevicePool.run`, a coroutine function gets a Session and a plain one a bridge.sync.Session. A job whose
    device, actor or machine is lost runs again on another.

    Args:
        job, items: Sent to the machines; they and the return values have to be picklable.
        device: An actor uses a device attached to its machine, or starts a virtual one there.
        session_options: Arguments of `Session.open` on those machines.
        attempts: Maximum number of attempts per job.
        timeout_s: Time to wait for a device in the cluster.

    Raises:
        UsageError: Ray is not installed, or not connected.
        NoDevice: No machine of the cluster offers the resource `android_device`.
    """
    if attempts < 1:
        raise UsageError(f"attempts is {attempts}; it must be at least 1")
    from bridge.surfaces.device_pool.pool import together

    ray = _connected_ray()
    offered = int(ray.cluster_resources().get(RESOURCE, 0))
    if offered < 1:
        raise NoDevice(
            f"no machine of the Ray cluster offers {RESOURCE}",
            hint='Start its nodes with: ray start … --resources="$(webview-bridge devices --ray)"',
        )
    book = JobBook(items, attempts=attempts, on_outcome=on_outcome)
    crew = _Crew(ray, book, ray.put(job), (device, dict(session_options or {}), timeout_s), timeout_s)
    # A job whose device is lost returns to the book, perhaps after all other workers have ended.
    while not book.is_settled:
        await together(crew.work() for _ in range(min(offered, len(book))))
    return book.outcomes()


def _connected_ray() -> Any:
    try:
        import ray
    except ImportError as error:
        raise UsageError("Ray is not installed", hint="pip install 'webview-bridge[ray]'") from error
    if not ray.is_initialized():
        raise UsageError("this process is not connected to a Ray cluster", hint="Call ray.init() first.")
    return ray


class _Crew:
    """Local workers, each with one actor at a time."""

    def __init__(self, ray: Any, book: JobBook, job: Any, arguments: tuple[Any, ...], timeout_s: float) -> None:
        self._ray = ray
        self._book = book
        self._job = job
        self._arguments = arguments
        self._timeout_s = timeout_s
        self._at_work = 0

    async def work(self) -> None:
        """Run jobs until none waits; replaces an actor that has lost its device."""
        self._at_work += 1
        try:
            while self._book.has_waiting:
                if not await self._with_an_actor():
                    return
        finally:
            self._at_work -= 1

    async def _with_an_actor(self) -> bool:
        """Run jobs on one actor until none waits or its device is lost; False if no actor started."""
        actor_class = self._ray.remote(DeviceActor)
        actor = actor_class.options(num_cpus=0, resources={RESOURCE: 1}).remote(*self._arguments)
        try:
            try:
                async with Deadline.after(self._timeout_s).bound(f"a free {RESOURCE} of the Ray cluster"):
                    await actor.start.remote()
            except (BridgeError, self._ray.exceptions.RayError) as error:
                if self._at_work == 1:  # the other workers have no actor either, or have ended
                    self._book.abandon(_bridge_error(error))
                return False
            while (ticket := self._book.take()) is not None:
                outcome = await self._attempt(actor, ticket)
                self._book.settle(ticket, outcome)
                if outcome.lost:
                    break
            return True
        finally:
            await finish(self._dismiss(actor), at_most_s=_CLOSE_S, what="ending a device's actor")

    async def _attempt(self, actor: Any, ticket: Ticket) -> JobOutcome[Any]:
        try:
            outcome: JobOutcome[Any] = await actor.attempt.remote(self._job, ticket.item)
        except self._ray.exceptions.RayTaskError as error:  # such as a value that cannot be pickled
            return JobOutcome(error=_bridge_error(error))
        except self._ray.exceptions.RayError as error:
            lost = f"the actor of a device ended: {type(error).__name__}"
            return JobOutcome(error=DeviceLost(lost), lost=lost)
        if not outcome.attempts:  # that actor has lost its device; another may have one
            return replace(outcome, lost=str(outcome.error))
        return outcome

    async def _dismiss(self, actor: Any) -> None:
        try:
            await asyncio.wait_for(actor.close.remote(), _CLOSE_S / 2)
        except (TimeoutError, self._ray.exceptions.RayError):
            pass  # it has exited, or never started
        finally:
            self._ray.kill(actor)


class DeviceActor:
    """Runs on the machine of one device and holds it."""

    def __init__(self, device: str, session_options: Mapping[str, Any], timeout_s: float) -> None:
        self._device = device
        self._session_options = session_options
        self._timeout_s = timeout_s
        self._stack = ExitStack()
        self._pool: Any = None

    def start(self) -> None:
        """Take a device that no other actor has.

        Raises:
            DeviceError, DeadlineExceeded: No device is available.
        """
        from bridge import sync
        from bridge.surfaces.blocking import LoopThread, block

        serial = self._device
        if serial == "attached":
            serial = self._stack.enter_context(block(_pinned_device(self._timeout_s), LoopThread()))
        opening = sync.DevicePool.open([serial], session_options=self._session_options)
        self._pool = self._stack.enter_context(opening)

    def attempt(self, job: Any, item: Any) -> JobOutcome[Any]:
        outcome: JobOutcome[Any] = self._pool.attempt(job, item, timeout_s=self._timeout_s)
        return outcome

    def close(self) -> None:
        self._stack.close()


@asynccontextmanager
async def _pinned_device(timeout_s: float) -> AsyncIterator[str]:
    """Lease one of this machine's attached devices for an actor while the block runs."""
    from bridge.surfaces.device_pool.pool import attached_serials

    serials = {f"{serial} on Ray": serial for serial in await attached_serials()}
    if not serials:
        raise NoDevice("no device is attached to this machine of the Ray cluster")
    async with leased(tuple(serials), timeout_s=timeout_s) as pin:
        yield serials[pin]


def _bridge_error(error: Exception) -> Exception:
    """The bridge's error behind a Ray error, if there is one."""
    cause = getattr(error, "cause", None)
    return cause if isinstance(cause, BridgeError) else error
