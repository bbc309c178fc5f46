"""One device of an adb server."""

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

# How long the check whether the device is still attached may take after a refused service.
_STATE_AFTER_REFUSAL_S = 2.0


@dataclass(frozen=True)
class AdbDevice:
    """A device, identified by its serial. Every method opens its own connection, so they may run concurrently.

    All of them raise DeviceNotFound, DeviceUnauthorized, DeviceOffline or DeviceLost for failures of the device,
    AdbUnavailable for failures of the server, and DeadlineExceeded if either does not respond.
    """

    server: AdbServer
    serial: str
    _features: set[str] = field(default_factory=set, compare=False, repr=False)

    async def state(self, *, timeout_s: float) -> str:
        """The state in the server's list, `device` if it is usable; DeviceNotFound if it is not listed."""
        for entry in await self.server.devices(timeout_s=timeout_s):
            if entry.serial == self.serial:
                return entry.state
        raise DeviceNotFound(f"device {self.serial} is not attached.", serial=self.serial)

    async def wait_for_state(self, state: str, *, timeout_s: float) -> None:
        """Waits until the device is in `state`; `absent` means not listed."""
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
        """The features of adbd (`shell_v2`, `cmd`, `abb_exec`, …), cached."""
        if not self._features:
            self._features.update((await self.query("features", deadline)).split(","))
        return frozenset(self._features)

    async def shell(self, command: str | Sequence[str], *, timeout_s: float, check: bool = False) -> ShellResult:
        """Runs a command on the device and waits for its end.

        A string is a line for the device's sh; the words of a sequence get quoted.

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
                stream.waiting_for = f"the end of {line[:80]!r} (last output: {output.last_words or 'none'!r})"
                piece = await stream.read_piece()
                if not piece:
                    raise StreamClosed(f"no exit code, output {output.last_words!r}")
                output.feed(piece)
        return output.result

    async def getprop(self, name: str, *, timeout_s: float) -> str:
        """A system property, "" if it is not set."""
        return (await self.shell(["getprop", name], timeout_s=timeout_s, check=True)).stdout.strip()

    async def open_stream(self, service: str, *, timeout_s: float) -> socket.socket:
        """A socket connected to a service (`localabstract:NAME`, `tcp:PORT`, …).

        It is non-blocking; the caller closes it.

        Raises:
            ServiceRefused: Nothing listens there, or adbd may not connect to it.
        """
        async with self.service(service, Deadline.after(timeout_s)) as stream:
            return stream.detach()

    async def install(
        self, apk: Path, *, timeout_s: float, on_progress: Callable[[int, int], None] | None = None
    ) -> None:
        """Installs or replaces a package from a stream, without a copy on the device.

        `on_progress` is called with (bytes sent, bytes in total).

        Raises:
            InstallFailed: With the package manager's code and message.
        """
        await stream_install(self, apk, Deadline.after(timeout_s), on_progress)

    async def uninstall(self, package: str, *, timeout_s: float) -> None:
        """Removes a package; ShellFailed with the package manager's message on failure."""
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
        """Writes a local file, or bytes, to a path on the device; ServiceRefused with the device's reason."""
        await push_file(self, content, remote_path, mode, Deadline.after(timeout_s), on_progress)

    async def pull(self, remote_path: str, local_path: Path, *, timeout_s: float) -> int:
        """Copies a file from the device and returns its size. `local_path` appears when it is complete."""
        return await pull_file(self, remote_path, local_path, Deadline.after(timeout_s))

    def reverse(self, remote: str, local: str, *, timeout_s: float) -> AbstractAsyncContextManager[str]:
        """During the block, connects `remote` on the device to `local` on the adb server's machine.

        Yields `remote`, with the chosen port for `tcp:0`. `timeout_s` applies to the setup. If another process has made
        the same mapping, it is used and not removed; a different one for `remote` raises ServiceRefused.
        """
        return reversed_port(self, remote, local, timeout_s)

    def forward(self, local: str, remote: str, *, timeout_s: float) -> AbstractAsyncContextManager[int]:
        """During the block, connects `local` (`tcp:0`, `tcp:PORT`) on the server's machine to `remote` on the device.

        Yields the port. `timeout_s` applies to the setup. Mappings of other processes are neither replaced nor removed.
        """
        return forwarded(self, local, remote, timeout_s)

    async def query(self, service: str, deadline: Deadline) -> str:
        """The text in the reply of a `host-serial:` service."""
        async with self.host_service(service, deadline) as stream:
            return (await stream.read(answer())).decode("utf-8", "replace")

    @asynccontextmanager
    async def host_service(self, service: str, deadline: Deadline) -> AsyncIterator[AdbStream]:
        """A connection on which a `host-serial:` service was requested; the caller reads the reply."""
        async with self.server.conversation(deadline, f"{service} of {self.serial}") as stream:
            with device_failures(self.serial, service):
                await stream.write(encode_request(f"host-serial:{self.serial}:{service}"))
                stream.waiting_for = f"the reply to {service}"
                try:
                    yield stream
                except Refused as error:
                    # Server 1.0.41 refuses a forward for an unknown device without a reason.
                    if not error.reason:
                        await self._require_working(deadline)
                    raise

    @asynccontextmanager
    async def service(self, service: str, deadline: Deadline) -> AsyncIterator[AdbStream]:
        """A connection to a service of adbd."""
        name = service.replace("\0", " ")[:100]
        async with self.server.conversation(deadline, f"{name} on {self.serial}") as stream:
            with device_failures(self.serial, name):
                await stream.request(f"host:transport:{self.serial}")
                await stream.write(encode_request(service))
                stream.waiting_for = f"the device to accept {name}"
                try:
                    await stream.read(status())
                except Refused as error:
                    # The server sends this for an unknown service and for a lost device alike.
                    if error.reason == "closed":
                        await self._require_still_there(name, deadline)
                    raise
                stream.waiting_for = f"the reply to {name}"
                yield stream

    async def _require_still_there(self, service: str, deadline: Deadline) -> None:
        try:
            await self._require_working(deadline)
        except DeviceNotFound as error:
            raise DeviceLost(f"{self.serial} was lost during {service}.", serial=self.serial) from error

    async def _require_working(self, deadline: Deadline) -> None:
        """Raises the error for the state in the server's list, unless the device is usable."""
        state = await self.state(timeout_s=min(deadline.remaining_s, _STATE_AFTER_REFUSAL_S))
        if state != "device":
            raise DeviceOffline(f"{self.serial} does not respond: it is {state}.", serial=self.serial)
