"""Port mappings (`reverse`, `forward`) that last as long as a block.

AOSP SERVICES.TXT: adbd serves `reverse:…` on a transport, the server serves `host-serial:S:forward:…`. Both reply OKAY
twice, for the connection and for the mapping, followed by a block with the port if `tcp:0` was requested.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from bridge.adb.failures import device_failures
from bridge.adb.orphans import guarded_mapping
from bridge.adb.smart_socket import block, parse_pairs, status
from bridge.adb.stream import AdbStream, StreamClosed
from bridge.deadline import Deadline, finish
from bridge.errors import BridgeError, ServiceRefused, UsageError

if TYPE_CHECKING:
    from bridge.adb.device import AdbDevice

_CLEANUP_S = 5.0
_log = logging.getLogger(__name__)


@asynccontextmanager
async def reversed_port(device: AdbDevice, remote: str, local: str, timeout_s: float) -> AsyncIterator[str]:
    """See AdbDevice.reverse."""
    deadline = Deadline.after(timeout_s)
    before = [theirs for theirs, target in await _list_reverses(device, deadline) if target == local]
    if remote in before:
        yield remote  # an identical mapping of another process or the user: use it, and leave it to them
        return
    server = device.server
    with guarded_mapping(server.host, server.port, device.serial, remote, local, before) as tell_guard:
        made = await _make_or_undo(
            _make_reverse(device, remote, local, deadline),
            lambda name: _remove_reverse(device, name, local),
            f"reverse {remote} of {device.serial}",
        )
        tell_guard(made)
        try:
            yield made
        finally:
            what = f"removing reverse {made} of {device.serial}"
            await finish(_remove_reverse(device, made, local), at_most_s=_CLEANUP_S, what=what)


@asynccontextmanager
async def forwarded(device: AdbDevice, local: str, remote: str, timeout_s: float) -> AsyncIterator[int]:
    """See AdbDevice.forward."""
    if not re.fullmatch("tcp:[0-9]{1,5}", local):
        raise UsageError(f"a forward must start at tcp:PORT or tcp:0, not at {local!r}.")
    made = await _make_or_undo(
        _make_forward(device, local, remote, Deadline.after(timeout_s)),
        lambda name: _remove_forward(device, name, remote),
        f"forward {local} to {device.serial}",
    )
    try:
        yield int(made.removeprefix("tcp:"))
    finally:
        what = f"removing forward {made} to {device.serial}"
        await finish(_remove_forward(device, made, remote), at_most_s=_CLEANUP_S, what=what)


async def _make_or_undo(
    making: Coroutine[Any, Any, str], undo: Callable[[str], Coroutine[Any, Any, None]], what: str
) -> str:
    """The name that `making` returns. If the caller is cancelled, waits for the result and undoes it."""
    task = asyncio.create_task(making, name=f"make {what}")
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await finish(_undo_when_made(task, undo), at_most_s=_CLEANUP_S, what=f"undoing {what}")
        raise


async def _undo_when_made(task: asyncio.Task[str], undo: Callable[[str], Coroutine[Any, Any, None]]) -> None:
    try:
        made = await task
    except BridgeError:
        return
    await undo(made)


async def _make_reverse(device: AdbDevice, remote: str, local: str, deadline: Deadline) -> str:
    async with device.service(f"reverse:forward:norebind:{remote};{local}", deadline) as stream:
        await stream.read(status())
        return remote if remote != "tcp:0" else await _chosen_port(stream, f"reverse {remote}", "the device")


async def _remove_reverse(device: AdbDevice, remote: str, local: str) -> None:
    """Removes the mapping unless another process has replaced it."""
    deadline = Deadline.after(_CLEANUP_S)
    if (remote, local) in await _list_reverses(device, deadline):
        async with device.service(f"reverse:killforward:{remote}", deadline) as stream:
            await stream.read(status())
    else:
        _log.info("reverse %s of %s was already removed", remote, device.serial)


async def _list_reverses(device: AdbDevice, deadline: Deadline) -> set[tuple[str, str]]:
    """The mappings of adbd. Unlike the other reverse services, this one replies without a second OKAY."""
    async with device.service("reverse:list-forward", deadline) as stream:
        listed = (await stream.read(block())).decode("utf-8", "replace")
    return {(remote, local) for _, remote, local in parse_pairs(listed)}


async def _make_forward(device: AdbDevice, local: str, remote: str, deadline: Deadline) -> str:
    async with device.host_service(f"forward:norebind:{local};{remote}", deadline) as stream:
        await stream.read(status())
        await stream.read(status())
        return local if local != "tcp:0" else await _chosen_port(stream, f"forward {local}", "the adb server")


async def _chosen_port(stream: AdbStream, service: str, peer: str) -> str:
    try:
        return f"tcp:{int(await stream.read(block()))}"
    except (StreamClosed, ValueError) as error:
        raise ServiceRefused(service, f"{peer} did not report the chosen port") from error


async def _remove_forward(device: AdbDevice, local: str, remote: str) -> None:
    """Removes the mapping unless it was replaced. The server lists forwards of all devices, but not of lost ones."""
    deadline = Deadline.after(_CLEANUP_S)
    listed = await device.server.query("host:list-forward", deadline)
    if (device.serial, local, remote) not in parse_pairs(listed):
        _log.info("forward %s to %s was already removed", local, device.serial)
        return
    async with device.server.conversation(deadline, f"killforward {local}") as stream:
        with device_failures(device.serial, f"killforward {local}"):
            await stream.request(f"host-serial:{device.serial}:killforward:{local}")
            await stream.read(status())
