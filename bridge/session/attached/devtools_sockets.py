"""Lists other apps' devtools sockets and their owners.

The list is read from /proc/net/unix and the process list, without connecting: a cached app's frozen process keeps its
socket but does not accept, each connect takes a slot of its backlog, and adbd connects on the thread that serves all
ADB traffic.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import Any

from bridge.adb import AdbDevice
from bridge.cdp.discovery import Target, list_targets
from bridge.deadline import Deadline

CHROME_SOCKET = "chrome_devtools_remote"
# Vendors append suffixes to the pid (webview_devtools_remote_1234_xyz).
_WEBVIEW = re.compile(r"webview_devtools_remote_(\d+)(?:\D.*)?")
# 00010000 is __SO_ACCEPTCON: the socket listens (Linux net/unix/af_unix.c, unix_seq_show).
_LISTENING = "00010000"


@dataclass(frozen=True, slots=True)
class DevtoolsSocket:
    """A devtools endpoint on the device.

    Attributes:
        name: In the abstract namespace.
        kind: "webview" or "chrome".
        pid: None for Chrome, whose socket name does not contain it.
        process: The name of the process, "" if unknown; a second process of an app has a `:suffix`.
        package: The package of the process, "" if unknown.
    """

    name: str
    kind: str
    pid: int | None
    process: str
    package: str

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def parse_sockets(unix_table: str, processes: dict[int, str]) -> tuple[DevtoolsSocket, ...]:
    """The listening devtools sockets, in the order of /proc/net/unix."""
    found: dict[str, DevtoolsSocket] = {}
    for line in unix_table.splitlines()[1:]:
        fields = line.split(None, 7)
        if len(fields) != 8 or fields[3] != _LISTENING or not fields[7].startswith("@"):
            continue
        name = fields[7][1:]
        webview = _WEBVIEW.fullmatch(name)
        if webview is not None:
            process = processes.get(int(webview[1]), "")
            found[name] = DevtoolsSocket(name, "webview", int(webview[1]), process, process.partition(":")[0])
        elif name == CHROME_SOCKET:
            found[name] = DevtoolsSocket(name, "chrome", None, "", "")
    return tuple(found.values())


async def devtools_sockets(device: AdbDevice, *, timeout_s: float) -> tuple[DevtoolsSocket, ...]:
    """The listening devtools sockets of the device, found without connecting to any.

    Raises:
        DeviceError: See AdbDevice.shell.
    """
    deadline = Deadline.after(timeout_s)
    table = await device.shell("cat /proc/net/unix", timeout_s=deadline.remaining_s, check=True)
    listed = await device.shell("ps -A -o PID,ARGS", timeout_s=deadline.remaining_s)
    return parse_sockets(table.stdout, _processes(listed.stdout))


async def pages_of(device: AdbDevice, name: str, *, timeout_s: float) -> tuple[Target, ...]:
    """The pages behind one socket.

    Raises:
        TransportError, DeadlineExceeded: The socket does not answer; the process may be frozen.
    """
    deadline = Deadline.after(timeout_s)
    sock = await device.open_stream(f"localabstract:{name}", timeout_s=deadline.remaining_s)
    targets = await list_targets(sock, timeout_s=deadline.remaining_s)
    return tuple(target for target in targets if target.kind == "page")


def _processes(listing: str) -> dict[int, str]:
    """Process names by pid; an app's process is named after its package, without path or arguments."""
    found: dict[int, str] = {}
    for line in listing.splitlines():
        pid, _, rest = line.strip().partition(" ")
        if re.fullmatch("[0-9]{1,9}", pid) and rest.strip():
            found[int(pid)] = rest.split()[0]
    return found
