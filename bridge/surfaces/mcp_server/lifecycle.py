"""Starts the server's process and shuts it down cleanly, on the client's disconnect or a signal."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import socket
import sys

from bridge.errors import UsageError
from bridge.model_tools.sets import tool_set
from bridge.model_tools.toolbox import Toolbox
from bridge.surfaces.mcp_server.bearer import token_for
from bridge.surfaces.mcp_server.operator_options import ServerOptions, open_server_context

logger = logging.getLogger(__name__)

LOOPBACK = "127.0.0.1"


def run_server(options: ServerOptions, *, verbose: bool = False) -> None:
    """Serve until the client closes stdin, or until SIGTERM or SIGINT; then close the tabs and the device.

    Raises:
        UsageError: The options or the configuration are not valid; nothing was started.
        SystemExit: 143 or 130 after a signal.
    """
    # stdout is the protocol.
    logging.basicConfig(
        level=logging.DEBUG if verbose else logging.WARNING,
        format="%(levelname)s %(name)s: %(message)s",
        stream=sys.stderr,
    )
    logging.getLogger("mcp").setLevel(logging.DEBUG if verbose else logging.ERROR)
    received = asyncio.run(_serve(options))
    if received is not None:
        sys.exit(128 + received)


async def _serve(options: ServerOptions) -> int | None:
    """The signal that ended the server; None if the client disconnected."""
    token = token_for(os.environ) if options.http_port is not None else None
    toolbox = Toolbox(tool_set(options.tools, allow_javascript=options.allow_javascript))
    stop = asyncio.Event()
    received: list[int] = []

    def take(number: int) -> None:
        received.append(number)
        stop.set()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        with contextlib.suppress(NotImplementedError):  # Windows has no such handler
            loop.add_signal_handler(number, take, number)
    async with open_server_context(options, os.environ) as server_context:
        from bridge.surfaces.mcp_server.protocol import Service, serve_http, serve_stdio

        service = Service(toolbox, server_context)
        if options.http_port is not None and token is not None:
            with _listening(options.http_port) as listener:
                port = listener.getsockname()[1]
                sys.stderr.write(f"serving MCP at http://{LOOPBACK}:{port}/mcp\n{token.notice}\n")
                sys.stderr.flush()
                _log_notices(options)
                await serve_http(service, listener, token, stop)
            return received[0] if received else None
        _log_notices(options)
        serving = asyncio.create_task(serve_stdio(service))
        stopping = asyncio.create_task(stop.wait())
        await asyncio.wait({serving, stopping}, return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        if serving.done():
            await serving
            return None
    # The SDK reads stdin in a thread that cannot be interrupted while the client keeps the pipe open. The session is
    # already closed.
    logging.shutdown()
    sys.stderr.flush()
    os._exit(128 + received[0])


def _log_notices(options: ServerOptions) -> None:
    for notice in options.notices:
        logger.warning("%s", notice)


def _listening(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((LOOPBACK, port))
        listener.listen()  # before the SDK is imported, so that an early client waits instead of failing
    except OSError as error:
        listener.close()
        raise UsageError(
            f"cannot listen on port {port}: {error.strerror}", hint="Choose another port with --port."
        ) from error
    return listener
