"""Finds the CDP target of a new tab or popup behind the host app's devtools socket."""

from __future__ import annotations

import asyncio
from collections.abc import Collection

from bridge.adb import AdbDevice
from bridge.cdp import open_cdp
from bridge.cdp.discovery import list_targets
from bridge.deadline import Deadline

_PAUSE_S = 0.05


def host_service(pid: int) -> str:
    """The devtools socket of the host app with this pid, as an adb service.

    The pid comes from the host app itself, so other apps' sockets are never probed: a frozen one blocks adbd.
    """
    return f"localabstract:webview_devtools_remote_{pid}"


async def find_new_tab(device: AdbDevice, service: str, nonce: str, deadline: Deadline) -> str:
    """The target of the tab that the host app has just made: its address is about:blank#NONCE.

    Raises:
        DeadlineExceeded: The endpoint does not list it.
    """
    while True:
        sock = await device.open_stream(service, timeout_s=deadline.remaining_s)
        targets = await list_targets(sock, timeout_s=deadline.remaining_s)
        for target in targets:
            if target.url == f"about:blank#{nonce}":
                return target.target_id
        if deadline.remaining_s <= _PAUSE_S:
            raise deadline.exceeded("finding the new tab", f"{len(targets)} other targets in the devtools list")
        await asyncio.sleep(_PAUSE_S)


async def find_popup(
    device: AdbDevice, service: str, opener_target_id: str, known: Collection[str], deadline: Deadline
) -> str:
    """The unknown target whose `openerId` is the opener; only the browser-level endpoint reports that field.

    Raises:
        DeadlineExceeded: There is none.
    """
    sock = await device.open_stream(service, timeout_s=deadline.remaining_s)
    async with open_cdp(sock, "/devtools/browser", timeout_s=deadline.remaining_s) as connection:
        while True:
            reply = await connection.call("Target.getTargets", timeout_s=deadline.remaining_s)
            for info in reply.get("targetInfos", ()):
                if info.get("openerId") == opener_target_id and info.get("targetId") not in known:
                    return str(info["targetId"])
            if deadline.remaining_s <= _PAUSE_S:
                raise deadline.exceeded("finding the popup's target", "no new target names its opener")
            await asyncio.sleep(_PAUSE_S)
