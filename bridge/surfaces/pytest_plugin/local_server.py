"""Serves a folder on loopback."""

from __future__ import annotations

import functools
import http.server
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bridge.surfaces.local_server import LocalServer, listening


class FolderHandler(http.server.SimpleHTTPRequestHandler):
    """Serves files uncached and without logging."""

    def end_headers(self) -> None:
        self.send_header("Cache-Control", "no-store")
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def serving(folder: Path, handler: type[FolderHandler] = FolderHandler) -> Iterator[LocalServer]:
    """Serve `folder` while the block runs."""
    with listening(functools.partial(handler, directory=str(folder))) as server:
        yield server
