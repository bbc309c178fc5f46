"""Finds the service for an adb stream by the name in its OPEN (AOSP packages/modules/adb, `SERVICES.TXT`)."""

from __future__ import annotations

from collections.abc import Awaitable

from bridge.virtual_device.adb.reverse import ReverseTable
from bridge.virtual_device.adb.shell_service import ShellRequest, serve_shell
from bridge.virtual_device.adb.splice import splice
from bridge.virtual_device.adb.streams import Stream
from bridge.virtual_device.adb.sync_service import SyncSession
from bridge.virtual_device.adb.transport import DELAYED_ACK, Handler, ServiceUnavailable, Transport
from bridge.virtual_device.android import AndroidSystem, StreamPair

FEATURES = ("shell_v2", "cmd", "stat_v2", "ls_v2", "fixed_push_mkdir", "abb", "abb_exec", "sendrecv_v2", DELAYED_ACK)


async def find_service(name: str, system: AndroidSystem, reverse: ReverseTable, transport: Transport) -> Handler:
    """The service of that name.

    Raises:
        ServiceUnavailable: It does not exist or is not reachable.
    """
    kind = name.partition(":")[0].partition(",")[0]
    rest = name.partition(":")[2]
    match kind:
        case "shell" | "exec":
            request = ShellRequest.parse(name)
            return lambda stream: serve_shell(stream, request, system)
        case "abb" | "abb_exec":
            words = ["cmd", *rest.split("\0")]
            request = ShellRequest("", kind == "abb", False, tuple(words))
            return lambda stream: serve_shell(stream, request, system)
        case "sync":
            return lambda stream: SyncSession(stream, system.files).run()
        case "reverse":
            reply = reverse.request(rest, transport)
            return lambda stream: stream.write(reply)
        case "localabstract":
            return _joined(await _connected(system.sockets.connect(rest)))
        case "tcp":
            if not rest.isdecimal() or len(rest) > 5:
                raise ServiceUnavailable(f"no such port: {rest[:40]}")
            return _joined(await _connected(reverse.dial(f"tcp:{int(rest)}")))
        case "reboot":
            return lambda stream: _reboot(stream, system)
        case "root" | "unroot" | "remount" | "disable-verity" | "enable-verity":
            text = _REFUSALS.get(kind, "adbd cannot run as root in production builds\n")
            return lambda stream: stream.write(text.encode())
        case "tcpip" | "usb":
            return lambda stream: stream.write(b"the virtual device stays on its own port\n")
    raise ServiceUnavailable("no such service")


_REFUSALS = {
    "unroot": "adbd not running as root\n",
    "remount": 'Not running as root. Try "adb root" first.\n',
}


async def _connected(connecting: Awaitable[StreamPair]) -> StreamPair:
    try:
        return await connecting
    except OSError as error:
        raise ServiceUnavailable(str(error)) from error


def _joined(pair: StreamPair) -> Handler:
    return lambda stream: splice(stream, pair)


async def _reboot(stream: Stream, system: AndroidSystem) -> None:
    system.reboot()
