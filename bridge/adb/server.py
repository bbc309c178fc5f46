"""The adb server: finds or starts it, and lists its devices."""

from __future__ import annotations

import os
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from bridge.adb.device import AdbDevice
from bridge.adb.failures import server_failures
from bridge.adb.program import find_adb_program, run_start_server
from bridge.adb.smart_socket import DeviceEntry, Refused, answer, encode_request, parse_devices
from bridge.adb.stream import AdbStream, Unreachable, open_adb_stream
from bridge.adb.tracking import DeviceTracker, track_devices
from bridge.deadline import Deadline
from bridge.errors import AdbUnavailable, DeadlineExceeded, DeviceNotFound, DeviceUnauthorized, UsageError

DEFAULT_PORT = 5037
# 1.0.36 (Android 7) is the first server with `features`, shell v2 and the port number in the reply to tcp:0.
OLDEST_VERSION = 36
_ADDRESS = re.compile(r"(?:tcp:)?(?:(?P<host>[^\s:/\[\]]+|\[[0-9a-fA-F:.]+\]):)?(?P<port>\d{1,5})")
_LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True)
class AdbServer:
    """The user's adb server: started if it does not run, never stopped or restarted."""

    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT

    @classmethod
    def from_environment(cls, address: str | None = None, environ: Mapping[str, str] | None = None) -> AdbServer:
        """The server that `adb` would use, or the one at `address` ("host:port" or "tcp:host:port").

        Raises:
            UsageError: The address, or the environment variable with it, is invalid.
        """
        environ = os.environ if environ is None else environ
        if address:
            return cls(*_parse_address(address, "the adb server address"))
        if spec := environ.get("ADB_SERVER_SOCKET"):
            return cls(*_parse_address(spec, "ADB_SERVER_SOCKET"))
        host = environ.get("ANDROID_ADB_SERVER_ADDRESS") or "127.0.0.1"
        port = environ.get("ANDROID_ADB_SERVER_PORT") or str(DEFAULT_PORT)
        return cls(host, _parse_port(port, "ANDROID_ADB_SERVER_PORT"))

    @property
    def is_local(self) -> bool:
        return self.host in _LOOPBACK_NAMES

    @property
    def address(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    def device(self, serial: str) -> AdbDevice:
        """The device with that serial, without any check."""
        return AdbDevice(self, serial)

    async def ensure_running(self, *, timeout_s: float) -> int:
        """The server's version (41 for 1.0.41). Starts a local server if nothing listens.

        Raises:
            AdbUnavailable: There is no adb program, nothing listens at a remote address, the listener is not an adb
                server or does not respond, or it is older than 1.0.36.
        """
        deadline = Deadline.after(timeout_s)
        try:
            version = await self._version(deadline)
        except AdbUnavailable as error:
            if not self.is_local or not isinstance(error.__cause__, Unreachable):
                raise
            version = await self._start(deadline)
        except DeadlineExceeded as error:
            raise AdbUnavailable(
                f"the listener at {self.address} did not reply to host:version within {timeout_s:g} s.",
                address=self.address,
            ) from error
        if version < OLDEST_VERSION:
            raise AdbUnavailable(
                f"The adb server at {self.address} is version 1.0.{version}; "
                f"1.0.{OLDEST_VERSION} is the oldest supported version.",
                hint="Stop it with its own `adb kill-server` and update the Android platform tools.",
                address=self.address,
                version=version,
            )
        return version

    async def query(self, service: str, deadline: Deadline) -> str:
        """The text in the reply of a `host:` service; Refused for FAIL."""
        async with self.conversation(deadline, service) as stream:
            await stream.write(encode_request(service))
            stream.waiting_for = f"the reply to {service}"
            return (await stream.read(answer())).decode("utf-8", "replace")

    @asynccontextmanager
    async def conversation(self, deadline: Deadline, awaited: str) -> AsyncIterator[AdbStream]:
        """A connection to this server; its failures are raised as AdbUnavailable."""
        with server_failures(self.address):
            async with open_adb_stream(self.host, self.port, deadline, awaited) as stream:
                yield stream

    async def user(self, *, timeout_s: float) -> int | None:
        """The user id of its process; None if it is not on this machine or unknown."""
        async with self.conversation(Deadline.after(timeout_s), "connecting to the adb server") as stream:
            return stream.peer_user()

    async def devices(self, *, timeout_s: float) -> tuple[DeviceEntry, ...]:
        """All attached devices in any state, in the server's order."""
        return parse_devices(await self.query("host:devices-l", Deadline.after(timeout_s)))

    @asynccontextmanager
    async def track(self, *, timeout_s: float) -> AsyncIterator[DeviceTracker]:
        """The device list after each change, starting now: `async with server.track(…) as lists: async for …`.

        `timeout_s` applies to the whole block; `math.inf` is unlimited.

        Raises:
            AdbUnavailable: The server is not running or was lost.
            DeadlineExceeded: The message has the last list.
        """
        async with track_devices(self.host, self.port, self.address, Deadline.after(timeout_s)) as tracker:
            yield tracker

    async def connect(self, address: str, *, timeout_s: float) -> str:
        """Attaches a device that listens on TCP and returns its serial.

        Raises:
            DeviceUnauthorized: The device did not accept this computer's key.
            DeviceNotFound: No adbd at the address; the message has the server's reason.
        """
        try:
            said = await self.query(f"host:connect:{address}", Deadline.after(timeout_s))
        except Refused as error:
            said = error.reason
        for greeting in ("already connected to ", "connected to "):
            if said.startswith(greeting):
                return said.removeprefix(greeting).strip()
        if "authenticate" in said:
            raise DeviceUnauthorized(f"{address} has not authorised this computer: {said.strip()}", address=address)
        raise DeviceNotFound(f"adb could not connect to {address}: {said.strip()}", address=address)

    async def disconnect(self, address: str, *, timeout_s: float) -> None:
        """Detaches a TCP device; DeviceNotFound if it is not attached."""
        try:
            await self.query(f"host:disconnect:{address}", Deadline.after(timeout_s))
        except Refused as error:
            raise DeviceNotFound(f"adb did not disconnect {address}: {error.reason}", address=address) from error

    async def _version(self, deadline: Deadline) -> int:
        try:
            text = await self.query("host:version", deadline)
            return int(text, 16)
        except (Refused, ValueError) as error:
            raise AdbUnavailable(
                f"the listener at {self.address} is not an adb server: its version is {str(error)[:80]!r}.",
                address=self.address,
            ) from error

    async def _start(self, deadline: Deadline) -> int:
        """Starts the server with the adb program. Call it only if nothing listens on the port: `adb start-server` would
        kill a server of another version."""
        program = await find_adb_program()
        said = await run_start_server(program, self.port, deadline)
        try:
            return await self._version(deadline)
        except AdbUnavailable as error:
            raise AdbUnavailable(
                f"{program} did not start an adb server at {self.address}: {said[-300:] or 'no output'}",
                address=self.address,
                program=str(program),
            ) from error


def _parse_address(text: str, name: str) -> tuple[str, int]:
    """ "tcp:host:port", "tcp:port", "host:port" or "[v6]:port" (AOSP adb/socket_spec.cpp)."""
    match = _ADDRESS.fullmatch(text)
    if match is None or not (match["host"] or text.startswith("tcp:")):
        raise UsageError(f"{name} is {text!r}; it must be host:port.")
    return (match["host"] or "127.0.0.1").strip("[]"), _parse_port(match["port"], f"the port of {name} {text!r}")


def _parse_port(text: str, name: str) -> int:
    if not re.fullmatch("[0-9]{1,5}", text) or not 0 < int(text) < 65536:
        raise UsageError(f"{name} is {text!r}; it must be a number from 1 to 65535.")
    return int(text)
