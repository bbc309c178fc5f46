"""Serves the demo pages on loopback."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources

from bridge.surfaces.local_server import LocalServer, serving_table

# Not from the machine: some registries and mime.types files map .js to other types.
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
}


@contextmanager
def serve_demo_pages() -> Iterator[LocalServer]:
    """Serve the pages on a free port while the block runs."""
    with serving_table(_read_pages(), product="webview-bridge-demo") as server:
        yield server


def _read_pages() -> dict[str, tuple[str, bytes]]:
    """Path -> (content type, body). Only these paths exist, so no path can leave the folder."""
    pages: dict[str, tuple[str, bytes]] = {}
    for entry in resources.files("bridge.surfaces.demo").joinpath("pages").iterdir():
        suffix = "." + entry.name.rpartition(".")[2]
        if suffix in _TYPES:
            pages["/" + entry.name] = (_TYPES[suffix], entry.read_bytes())
    pages["/"] = pages["/index.html"]
    return pages
