"""The device's adb daemon: a loopback listener and its connections.

Every local user can connect to loopback, so a connection gets no service before it has proven one of this user's keys.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Literal

from bridge.virtual_device.adb import auth
from bridge.virtual_device.adb.slow_link import LinkShape
from bridge.virtual_device.adb.transport import Handler, Transport

if TYPE_CHECKING:
    from bridge.virtual_device.device import VirtualDevice

Authorize = Literal["user", "never"]

MAX_TRANSPORTS = 16


class Adbd:
    """The listener. `authorize` is "user" (this user's keys) or "never" (the device shows as unauthorized)."""

    def __init__(self, device: VirtualDevice, *, authorize: Authorize = "user") -> None:
        self.device = device
        self.authorize: Authorize = authorize
        self.is_plugged_in = True
        self.link_shape = LinkShape()
        self.is_blocked = False
        self.online: list[Transport] = []
        self._transports: dict[Transport, None] = {}  # oldest first
        self._server: asyncio.Server | None = None

    @property
    def port(self) -> int:
        assert self._server is not None
        return int(self._server.sockets[0].getsockname()[1])

    async def start(self) -> None:
        """Starts listening on a port that the system chooses."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: Transport(self), "127.0.0.1", 0)

    async def stop(self) -> None:
        """Stops listening and drops every connection."""
        if self._server is not None:
            self._server.close()
            self._server = None
        await self.drop_transports()

    async def drop_transports(self) -> None:
        """Pulls the cable. The listener stays bound, so that no other process can take the port."""
        await asyncio.gather(*(transport.close() for transport in tuple(self._transports)))

    def shape_link(self, shape: LinkShape) -> None:
        """Applies the shape to present and future connections."""
        self.link_shape = shape
        for transport in self._transports:
            transport.shape(shape)

    def block(self, blocked: bool) -> None:
        """Stops serving all connections, or goes on: adbd connects on the thread that serves everything (`fdevent`)."""
        if blocked == self.is_blocked:
            return
        self.is_blocked = blocked
        for transport in self._transports:
            transport.block(blocked)

    def accepts(self, token: bytes, signature: bytes) -> bool:
        """True if one of the user's own keys made that signature."""
        if self.authorize != "user":
            return False
        return any(auth.verify_token(key, token, signature) for key in self.device.adb_keys())

    def banner(self) -> str:
        return self.device.adb_banner()

    async def open_service(self, name: str, transport: Transport) -> Handler:
        return await self.device.open_service(name, transport)

    def on_connected(self, transport: Transport) -> None:
        """Accepts a connection. If there are too many, the oldest unauthenticated one is dropped."""
        if len(self._transports) >= MAX_TRANSPORTS:
            stranger = next((other for other in self._transports if not other.is_online), None)
            if stranger is not None:
                self._transports.pop(stranger)
                stranger.abort()
        if not self.is_plugged_in or len(self._transports) >= MAX_TRANSPORTS:
            transport.abort()
            return
        self._transports[transport] = None
        if self.is_blocked:
            transport.block(True)

    def on_online(self, transport: Transport) -> None:
        self.online.append(transport)

    def on_disconnected(self, transport: Transport) -> None:
        self._transports.pop(transport, None)
        if transport in self.online:
            self.online.remove(transport)
            self.device.on_transport_closed(transport)
