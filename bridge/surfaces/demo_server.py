"""The demo pages, served on this machine's loopback."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import resources

from bridge.policy.grant import TestServerGrant

HOST = "127.0.0.1"
# Not asked of the machine: on some, registries and mime.types files say other things about .js.
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
}


@dataclass(frozen=True, slots=True)
class DemoServer:
    """A running server; `grant` lets a session open its pages."""

    port: int

    @property
    def grant(self) -> TestServerGrant:
        return TestServerGrant(HOST, self.port)

    def url(self, page: str = "") -> str:
        """The address of one page, such as `shop.html`."""
        return f"http://{HOST}:{self.port}/{page}"


@contextmanager
def serve_demo_pages() -> Iterator[DemoServer]:
    """Serve the pages on a free port for as long as the block lasts."""
    with http.server.ThreadingHTTPServer((HOST, 0), _handler(_read_pages())) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, name="demo pages")
        thread.start()
        try:
            yield DemoServer(server.server_address[1])
        finally:
            server.shutdown()
            thread.join()


def _read_pages() -> dict[str, tuple[str, bytes]]:
    """Path -> (content type, body). What is not in this table does not exist, so no path leads anywhere else."""
    pages: dict[str, tuple[str, bytes]] = {}
    for entry in resources.files("bridge.surfaces").joinpath("demo_pages").iterdir():
        suffix = "." + entry.name.rpartition(".")[2]
        if suffix in _TYPES:
            pages["/" + entry.name] = (_TYPES[suffix], entry.read_bytes())
    pages["/"] = pages["/index.html"]
    return pages


def _handler(pages: dict[str, tuple[str, bytes]]) -> type[http.server.BaseHTTPRequestHandler]:
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        server_version = "webview-bridge-demo"
        sys_version = ""
        timeout = 30  # of a connection that is kept open and says nothing

        def do_GET(self) -> None:
            path = self.path.partition("?")[0].partition("#")[0]
            status, (content_type, body) = 200, pages.get(path, ("", b""))
            if path not in pages:
                status, content_type, body = 404, "text/plain; charset=utf-8", b"There is no such page.\n"
            self.send_response(status)
            self.send_header("Content-Type", content_type)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Cache-Control", "no-store")
            self.send_header("X-Content-Type-Options", "nosniff")
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

        def do_HEAD(self) -> None:
            self.do_GET()

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler
