"""One device, as the adb server shows it."""

from __future__ import annotations

import math
import socket
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from bridge.adb.failures import device_failures
from bridge.adb.files import pull_file, push_file
from bridge.adb.install import stream_install
from bridge.adb.ports import forwarded, reversed_port
from bridge.adb.shell_protocol import ShellOutput, ShellResult, command_line, parse_exit_mark, with_exit_mark
from bridge.adb.smart_socket import Refused, answer, encode_request, status
from bridge.adb.stream import AdbStream, StreamClosed
from bridge.deadline import Deadline
from bridge.errors import DeviceLost, DeviceNotFound, DeviceOffline, ShellFailed

if TYPE_CHECKING:
    from bridge.adb.server import AdbServer

# How long the question "is it still there?" may take after a service was refused.
_STATE_AFTER_REFUSAL_S = 2.0


@dataclass(frozen=True)
class AdbDevice:
    """A serial at a server. Every method opens its own connection, so they may run at the same time.

    All of them raise DeviceNotFound, DeviceUnauthorized, DeviceOffline or DeviceLost for what is wrong with the device,
    AdbUnavailable for what is wrong with the server, and DeadlineExceeded when either does not answer.
    """

    server: AdbServer
    serial: str
    _features: set[str] = field(default_factory=set, compare=False, repr=False)

    async def state(self, *, timeout_s: float) -> str:
        """The word of the server's list, `device` when it can be worked with; DeviceNotFound when it is not listed."""
        for entry in await self.server.devices(timeout_s=timeout_s):
            if entry.serial == self.serial:
                return entry.state
        raise DeviceNotFound(f"No device {self.serial} is attached.", serial=self.serial)

    async def wait_for_state(self, state: str, *, timeout_s: float) -> None:
        """Return as soon as the device is in `state`; `absent` waits until it is gone."""
        deadline = Deadline.after(timeout_s)
        seen = "nothing"
        async with (
            deadline.bound(f"{self.serial} becoming {state}", lambda: seen),
            self.server.track(timeout_s=math.inf) as lists,
        ):
            async for entries in lists:
                seen = next((entry.state for entry in entries if entry.serial == self.serial), "absent")
                if seen == state:
                    return

    async def features(self, deadline: Deadline) -> frozenset[str]:
        """What adbd can do (`shell_v2`, `cmd`, `abb_exec`, …), asked once per AdbDevice."""
        if not self._features:
            self._features.update((await self.query("features", deadline)).split(","))
        return frozenset(self._features)

    async def shell(self, command: str | Sequence[str], *, timeout_s: float, check: bool = False) -> ShellResult:
        """Run a command on the device and wait for its end.

        A string is a line for the device's sh; of a sequence every word is quoted.

        Raises:
            ShellFailed: With `check`, the exit code was not 0.
        """
        deadline = Deadline.after(timeout_s)
        line = command_line(command)
        if "shell_v2" in await self.features(deadline):
            result = await self._shell_v2(line, deadline)
        else:
            async with self.service(f"shell:{with_exit_mark(line)}", deadline) as stream:
                result = parse_exit_mark(await stream.read_to_end())
        if check and result.exit_code != 0:
            raise ShellFailed(line, result.exit_code, result.stderr or result.stdout)
        return result

    async def _shell_v2(self, line: str, deadline: Deadline) -> ShellResult:
        output = ShellOutput()
        async with self.service(f"shell,v2,raw:{line}", deadline) as stream:
            while output.result is None:
                stream.waiting_for = f"the end of {line[:80]!r}, which said {output.last_words or 'nothing'!r}"
                piece = await stream.read_piece()
                if not piece:
                    raise StreamClosed(f"no exit code, it said {output.last_words!r}")
                output.feed(piece)
        return output.result

    async def getprop(self, name: str, *, timeout_s: float) -> str:
        """A system property, "" when it is not set."""
        return (await self.shell(["getprop", name], timeout_s=timeout_s, check=True)).stdout.strip()

    async def open_stream(self, service: str, *, timeout_s: float) -> socket.socket:
        """A socket that *is* the service (`localabstract:NAME`, `tcp:PORT`, …) from its first byte on.

        It is connected and non-blocking, and the caller's to close.

        Raises:
            ServiceRefused: Nobody listens there, or adbd may not connect to it.
        """
        async with self.service(service, Deadline.after(timeout_s)) as stream:
            return stream.detach()

    async def install(
        self, apk: Path, *, timeout_s: float, on_progress: Callable[[int, int], None] | None = None
    ) -> None:
        """Install or replace a package, streamed: no copy stays on the device.

        `on_progress` is called with (bytes sent, bytes in all).

        Raises:
            InstallFailed: The package manager's code and words.
        """
        await stream_install(self, apk, Deadline.after(timeout_s), on_progress)

    async def uninstall(self, package: str, *, timeout_s: float) -> None:
        """Remove a package; ShellFailed with the package manager's words when it could not."""
        result = await self.shell(["cmd", "package", "uninstall", package], timeout_s=timeout_s)
        if result.exit_code != 0 or "Success" not in result.stdout:
            said = (result.stdout + result.stderr).strip()
            raise ShellFailed(f"cmd package uninstall {package}", result.exit_code, said)

    async def push(
        self,
        content: Path | bytes,
        remote_path: str,
        *,
        timeout_s: float,
        mode: int = 0o644,
        on_progress: Callable[[int, int], None] | None = None,
    ) -> None:
        """Write a local file, or bytes, to a path on the device; ServiceRefused with its reason when it may not."""
        await push_file(self, content, remote_path, mode, Deadline.after(timeout_s), on_progress)

    async def pull(self, remote_path: str, local_path: Path, *, timeout_s: float) -> int:
        """Copy a file from the device and return its size; `local_path` appears when it is complete."""
        return await pull_file(self, remote_path, local_path, Deadline.after(timeout_s))

    def reverse(self, remote: str, local: str, *, timeout_s: float) -> AbstractAsyncContextManager[str]:
        """While the block lives, connections to `remote` on the device come to `local` beside the adb server.

        Yields `remote`, with the port that was chosen for `tcp:0`. `timeout_s` is for the making. Somebody else's
        reverse is neither replaced (ServiceRefused) nor removed; where it leads to the same `local`, it is used.
        """
        return reversed_port(self, remote, local, timeout_s)

    def forward(self, local: str, remote: str, *, timeout_s: float) -> AbstractAsyncContextManager[int]:
        """While the block lives, `local` (`tcp:0`, `tcp:PORT`) beside the adb server leads to `remote` on the device.

        Yields the port. `timeout_s` is for the making; nothing of somebody else's is replaced or removed.
        """
        return forwarded(self, local, remote, timeout_s)

    async def query(self, service: str, deadline: Deadline) -> str:
        """The text a `host-serial:` service answers with."""
        async with self.host_service(service, deadline) as stream:
            return (await stream.read(answer())).decode("utf-8", "replace")

    @asynccontextmanager
    async def host_service(self, service: str, deadline: Deadline) -> AsyncIterator[AdbStream]:
        """A connection on which the server was asked about this device; its answer is still to be read."""
        async with self.server.conversation(deadline, f"{service} of {self.serial}") as stream:
            with device_failures(self.serial, service):
                await stream.write(encode_request(f"host-serial:{self.serial}:{service}"))
                stream.waiting_for = f"the answer to {service}"
                try:
                    yield stream
                except Refused as error:
                    # Server 1.0.41 refuses a forward of an unknown device without a word.
                    if not error.reason:
                        await self._require_working(deadline)
                    raise

    @asynccontextmanager
    async def service(self, service: str, deadline: Deadline) -> AsyncIterator[AdbStream]:
        """A connection that adbd has connected to `service`."""
        name = service.replace("\0", " ")[:100]
        async with self.server.conversation(deadline, f"{name} on {self.serial}") as stream:
            with device_failures(self.serial, name):
                await stream.request(f"host:transport:{self.serial}")
                await stream.write(encode_request(service))
                stream.waiting_for = f"the device to accept {name}"
                try:
                    await stream.read(status())
                except Refused as error:
                    # All that is said both of a service that is not there and of a device that went away.
                    if error.reason == "closed":
                        await self._require_still_there(name, deadline)
                    raise
                stream.waiting_for = f"the answer to {name}"
                yield stream

    async def _require_still_there(self, service: str, deadline: Deadline) -> None:
        try:
            await self._require_working(deadline)
        except DeviceNotFound as error:
            raise DeviceLost(f"{self.serial} went away during {service}.", serial=self.serial) from error

    async def _require_working(self, deadline: Deadline) -> None:
        """Raise what the server's list says against this device, if it says something."""
        state = await self.state(timeout_s=min(deadline.remaining_s, _STATE_AFTER_REFUSAL_S))
        if state != "device":
            raise DeviceOffline(f"{self.serial} does not answer: it is {state}.", serial=self.serial)
