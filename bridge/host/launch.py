"""Starts the host app and connects to it."""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
import socket
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext
from typing import Literal

from bridge.adb import AdbDevice
from bridge.deadline import Deadline
from bridge.errors import BridgeError, DeadlineExceeded, HostFailed, ServiceRefused
from bridge.host.client import HostClient, connect_host
from bridge.host.installation import HOST_PACKAGE, host_missing, installed_apk
from bridge.host.lease import hold_lease, lease_key

_SERVICE = f"{HOST_PACKAGE}/.HostService"
_INSTRUMENTATION = f"{HOST_PACKAGE}/.HostInstrumentation"
_FIRST_RETRY_S, _LAST_RETRY_S = 0.02, 0.25
# How long the service may take to listen. The fallback would end a service that is only slow.
_SERVICE_SHARE, _SERVICE_AT_MOST_S = 0.6, 20.0

logger = logging.getLogger(__name__)

Plan = Literal["service", "instrumentation"]


@asynccontextmanager
async def start_host(
    device: AdbDevice,
    *,
    owner: str,
    policy_digest: str,
    timeout_s: float,
    idle_timeout_s: int | None = None,
    plans: Sequence[Plan] = ("service", "instrumentation"),
    takes_lease: bool = True,
) -> AsyncIterator[HostClient]:
    """Starts the host app if necessary and yields an authenticated client, with a lease on the device for the block.

    The intent carries the socket's name and the token, so nothing has to be searched on the device. The service stops
    by itself after its last client and tab.

    Args:
        idle_timeout_s: How long a tab lives without activity. Ignored if the process already runs.
        plans: How to start it, in order. `am instrument` is the fallback for phones that kill foreground services; it
            ends a running host first.
        takes_lease: False leaves it to the host app to refuse a second client, to check that it does.

    Raises:
        DeviceBusy: Another process of this machine or another client of the host app uses the device.
        HostMissing: The host app is not installed.
        HostFailed: Android did not start it; the message has its output.
        HostVersionMismatch, HostUnproven: See connect_host.
        DeadlineExceeded: It was started but does not listen.
    """
    deadline = Deadline.after(timeout_s)
    lease = hold_lease(lease_key(device), owner=owner, policy_digest=policy_digest)
    with lease if takes_lease else nullcontext():
        name, token, sock = await _started(device, tuple(plans), idle_timeout_s, deadline)
        async with connect_host(
            sock,
            token=token,
            socket_name=name,
            owner=owner,
            policy_digest=policy_digest,
            timeout_s=deadline.remaining_s,
        ) as host:
            yield host


async def _started(
    device: AdbDevice, plans: tuple[Plan, ...], idle_timeout_s: int | None, deadline: Deadline
) -> tuple[str, bytes, socket.socket]:
    """The name and token of the endpoint, and a connection to it."""
    plan, *others = plans
    share_s = min(_SERVICE_AT_MOST_S, _SERVICE_SHARE * deadline.remaining_s) if others else deadline.remaining_s
    try:
        return await _start(device, plan, idle_timeout_s, Deadline(deadline.timeout_s, time.monotonic() + share_s))
    except (HostFailed, DeadlineExceeded) as error:
        if not others:
            raise
        logger.warning("the host app did not start as a %s, trying as %s: %s", plan, others[0], error.message)
        try:
            return await _started(device, tuple(others), idle_timeout_s, deadline)
        except (HostFailed, DeadlineExceeded) as second:
            # A user can resolve the first failure; the second is appended.
            raise _both(error, second) from second


def _both(first: HostFailed | DeadlineExceeded, second: HostFailed | DeadlineExceeded) -> HostFailed | DeadlineExceeded:
    if isinstance(first, HostFailed):
        said = second.reason if isinstance(second, HostFailed) else second.message
        reason = first.reason if said == first.reason else f"{first.reason}; and by am instrument: {said}"
        return HostFailed(first.request, first.host_code, reason)
    said = second.reason if isinstance(second, HostFailed) else second.last_seen
    also = "" if said == first.last_seen else f"; am instrument: {said}"
    return DeadlineExceeded(first.awaited, first.timeout_s, f"{first.last_seen}{also}")


async def _start(
    device: AdbDevice, plan: Plan, idle_timeout_s: int | None, deadline: Deadline
) -> tuple[str, bytes, socket.socket]:
    name, token = f"webview_bridge_{secrets.token_hex(16)}", secrets.token_bytes(32)
    extras = {"socket": name, "token": token.hex()}
    if idle_timeout_s is not None:
        extras["idle_timeout_s"] = str(idle_timeout_s)
    await _ask_android(device, _words(plan, extras), token.hex(), deadline)
    return name, token, await _connect(device, name, deadline)


def _words(plan: Plan, extras: Mapping[str, str]) -> list[str]:
    if plan == "service":
        flags = [word for key, value in extras.items() for word in ("--es", key, value)]
        return ["am", "start-foreground-service", "--user", "0", "-n", _SERVICE, *flags]
    flags = [word for key, value in extras.items() for word in ("-e", key, value)]
    return ["am", "instrument", "--user", "0", *flags, _INSTRUMENTATION]


async def _ask_android(device: AdbDevice, words: list[str], token: str, deadline: Deadline) -> None:
    """Starts the app. Checks whether it is installed only after a failure: on a phone the check takes half a second."""
    try:
        result = await device.shell(words, timeout_s=deadline.remaining_s)
    except BridgeError as error:  # it may quote the command, and a reader of the token could be a client of the host
        for facts in (vars(error), error.details):
            facts.update({name: text.replace(token, "…") for name, text in facts.items() if isinstance(text, str)})
        error.args = (error.message,)
        raise
    said = (result.stdout + result.stderr).replace(token, "…").strip()
    # Before Android 12 `am` exits with 0 even after "Error: Not found; no service started.".
    refused = result.exit_code != 0 or any(_REFUSAL.match(line) for line in said.splitlines())
    if not refused:
        return
    if await installed_apk(device, timeout_s=deadline.remaining_s) is None:
        raise host_missing(device.serial)
    raise HostFailed("its start", f"am exited with {result.exit_code}", said[:500])


# The messages of ActivityManagerShellCommand and, for a missing instrumentation, of Instrument.java.
_REFUSAL = re.compile(r"Error|Exception|INSTRUMENTATION_STATUS: Error|INSTRUMENTATION_FAILED|android\.util\.Android")


async def _connect(device: AdbDevice, name: str, deadline: Deadline) -> socket.socket:
    """Connects with retries: the host app binds its name a moment after the intent."""
    pause_s = _FIRST_RETRY_S
    while True:
        try:
            return await device.open_stream(f"localabstract:{name}", timeout_s=deadline.remaining_s)
        except ServiceRefused as error:
            if deadline.remaining_s <= pause_s:
                raise deadline.exceeded("the host app's control socket", "nothing listens there yet") from error
        await asyncio.sleep(pause_s)
        pause_s = min(2 * pause_s, _LAST_RETRY_S)
