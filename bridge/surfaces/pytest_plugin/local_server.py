"""A folder served on this machine's loopback, with the grant that lets a session open it."""

from __future__ import annotations

import functools
import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bridge.policy.grant import TestServerGrant

_HOST = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class LocalServer:
    """Where it listens; `url("form.html")` is an address below it."""

    port: int

    @property
    def grant(self) -> TestServerGrant:
        """For `Session.open(grants=…)`; it also has the port reversed onto the device."""
        return TestServerGrant(_HOST, self.port)

    def url(self, path: str = "") -> str:
        return f"http://{_HOST}:{self.port}/{path.lstrip('/')}"


class FolderHandler(http.server.SimpleHTTPRequestHandler):
    """Files as they are now: nothing is cached, and nothing is said about it."""

    def end_headers(self) -> None:
        self.send_header("Cache-Control", "no-store")
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def serving(folder: Path, handler: type[FolderHandler] = FolderHandler) -> Iterator[LocalServer]:
    """Serve `folder` while the block lasts."""
    answer = functools.partial(handler, directory=str(folder))
    with http.server.ThreadingHTTPServer((_HOST, 0), answer) as server:
        thread = threading.Thread(target=server.serve_forever, name="local_server", daemon=True)
        thread.start()
        try:
            yield LocalServer(server.server_address[1])
        finally:
            server.shutdown()
            thread.join()
