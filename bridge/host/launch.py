"""From a device to a connected host app."""

from __future__ import annotations

import asyncio
import secrets
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bridge.adb import AdbDevice
from bridge.deadline import Deadline
from bridge.errors import HostFailed, ServiceRefused
from bridge.host.client import HostClient, connect_host
from bridge.host.installation import HOST_PACKAGE, host_missing, installed_apk
from bridge.host.lease import hold_lease, lease_key

_SERVICE = f"{HOST_PACKAGE}/.HostService"
_FIRST_RETRY_S, _LAST_RETRY_S = 0.02, 0.25


@asynccontextmanager
async def start_host(
    device: AdbDevice, *, owner: str, policy_digest: str, timeout_s: float
) -> AsyncIterator[HostClient]:
    """The device's host app, started if need be, proven to be ours, and ours while the block lives.

    The socket's name is chosen here and travels in the intent with the token, so nothing on the device has to be
    searched for. The service ends by itself when its last client and tab are gone.

    Raises:
        DeviceBusy: Another process of this machine, or another client of the host app, works on the device.
        HostMissing: The host app is not installed.
        HostFailed: Android did not start it; its words are in the message.
        HostVersionMismatch, HostUnproven: See connect_host.
        DeadlineExceeded: It was started and does not listen.
    """
    deadline = Deadline.after(timeout_s)
    with hold_lease(lease_key(device), owner=owner, policy_digest=policy_digest):
        name, token = f"webview_bridge_{secrets.token_hex(16)}", secrets.token_bytes(32)
        await _start_service(device, name, token.hex(), deadline)
        sock = await _connect(device, name, deadline)
        async with connect_host(
            sock,
            token=token,
            socket_name=name,
            owner=owner,
            policy_digest=policy_digest,
            timeout_s=deadline.remaining_s,
        ) as host:
            yield host


async def _start_service(device: AdbDevice, name: str, token: str, deadline: Deadline) -> None:
    """Whether the app is installed is asked only when Android refuses: on a phone that question takes half a second."""
    result = await device.shell(
        [
            "am",
            "start-foreground-service",
            "--user",
            "0",
            "-n",
            _SERVICE,
            "--es",
            "socket",
            name,
            "--es",
            "token",
            token,
        ],
        timeout_s=deadline.remaining_s,
    )
    said = (result.stdout + result.stderr).replace(token, "…").strip()
    # Before Android 12 `am` ended with 0 whatever it said ("Error: Not found; no service started.").
    refused = result.exit_code != 0 or any(line.startswith(("Error", "Exception")) for line in said.splitlines())
    if not refused:
        return
    if await installed_apk(device, timeout_s=deadline.remaining_s) is None:
        raise host_missing(device.serial)
    raise HostFailed("its start", f"am ended with {result.exit_code}", said[:500])


async def _connect(device: AdbDevice, name: str, deadline: Deadline) -> socket.socket:
    """The host app binds its name a moment after the intent; until then adbd refuses the connection."""
    pause_s = _FIRST_RETRY_S
    while True:
        try:
            return await device.open_stream(f"localabstract:{name}", timeout_s=deadline.remaining_s)
        except ServiceRefused as error:
            if deadline.remaining_s <= pause_s:
                raise deadline.exceeded("the host app's control socket", "nobody listens there") from error
        await asyncio.sleep(pause_s)
        pause_s = min(2 * pause_s, _LAST_RETRY_S)
