"""Lists other apps' devtools sockets and their owners.

The list is read from /proc/net/unix and the process list, without connecting: a cached app's frozen process keeps its
socket but does not accept, each connect takes a slot of its backlog, and adbd connects on the thread that serves all
ADB traffic.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from bridge.adb import AdbDevice
from bridge.cdp.discovery import Target, list_targets
from bridge.deadline import Deadline
from bridge.json_record import JsonRecord
from bridge.session.attached.app_state import opening

CHROME_SOCKET = "chrome_devtools_remote"
# Vendors append suffixes to the pid (webview_devtools_remote_1234_xyz).
_WEBVIEW = re.compile(r"webview_devtools_remote_(\d+)(?:\D.*)?")
# 00010000 is __SO_ACCEPTCON: the socket listens (Linux net/unix/af_unix.c, unix_seq_show).
_LISTENING = "00010000"


@dataclass(frozen=True, slots=True)
class DevtoolsSocket(JsonRecord):
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


@dataclass(frozen=True, slots=True)
class Endpoints:
    """The listening devtools sockets of a device and the names of its processes by pid."""

    sockets: tuple[DevtoolsSocket, ...]
    processes: dict[int, str]

    def pids_of(self, package: str) -> tuple[int, ...]:
        """The processes of a package, its main process first."""
        named = ((name, pid) for pid, name in self.processes.items() if name.partition(":")[0] == package)
        return tuple(pid for _, pid in sorted(named))


async def read_endpoints(device: AdbDevice, *, timeout_s: float) -> Endpoints:
    """The sockets that listen on the device, found without connecting to it.

    Raises:
        DeviceError: See AdbDevice.shell.
    """
    deadline = Deadline.after(timeout_s)
    table = await device.shell("cat /proc/net/unix", timeout_s=deadline.remaining_s, check=True)
    listed = await device.shell("ps -A -o PID,ARGS", timeout_s=deadline.remaining_s)
    processes = _processes(listed.stdout)
    return Endpoints(parse_sockets(table.stdout, processes), processes)


async def devtools_sockets(device: AdbDevice, *, timeout_s: float) -> tuple[DevtoolsSocket, ...]:
    """The sockets of `read_endpoints`."""
    return (await read_endpoints(device, timeout_s=timeout_s)).sockets


async def pages_of(device: AdbDevice, name: str, pid: int | None, *, timeout_s: float) -> tuple[Target, ...]:
    """The pages behind one socket; `pid` is its process, None if that is not known.

    Raises:
        AppUnavailable: See `opening`.
        TransportError, DeadlineExceeded: The socket does not answer.
    """
    deadline = Deadline.after(timeout_s)
    async with opening(device, name, pid, timeout_s=deadline.remaining_s) as sock:
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
