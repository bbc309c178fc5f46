from __future__ import annotations

import http.client
import re
from collections.abc import Iterator
from importlib import resources

import pytest

from bridge.surfaces.demo.server import serve_demo_pages
from bridge.surfaces.local_server import LocalServer

PAGES = sorted(entry.name for entry in resources.files("bridge.surfaces.demo").joinpath("pages").iterdir())


@pytest.fixture(scope="module")
def demo() -> Iterator[LocalServer]:
    with serve_demo_pages() as server:
        yield server


def fetch(demo: LocalServer, path: str, method: str = "GET") -> tuple[int, str, bytes]:
    """Status, content type and body for a path that is sent exactly as given."""
    connection = http.client.HTTPConnection("127.0.0.1", demo.port, timeout=30)
    try:
        connection.putrequest(method, path, skip_host=False)
        connection.endheaders()
        answer = connection.getresponse()
        return answer.status, answer.headers["Content-Type"], answer.read()
    finally:
        connection.close()


@pytest.mark.parametrize("name", PAGES)
def test_every_shipped_file_is_served_with_its_type(demo: LocalServer, name: str) -> None:
    wanted = {"html": "text/html", "css": "text/css", "js": "text/javascript", "json": "application/json"}

    status, content_type, body = fetch(demo, f"/{name}?any=query")

    assert status == 200
    assert content_type.startswith(wanted[name.rpartition(".")[2]])
    assert body == resources.files("bridge.surfaces.demo").joinpath("pages", name).read_bytes()


def test_the_root_is_the_index_and_not_a_listing(demo: LocalServer) -> None:
    assert fetch(demo, "/")[2] == fetch(demo, "/index.html")[2]


@pytest.mark.parametrize(
    "path",
    [
        "/../demo_server.py",
        "/%2e%2e/demo_server.py",
        "//etc/passwd",
        "/..\\demo_server.py",
        "/style.css/",
        "/nothing",
        "*",
    ],
)
def test_an_unknown_path_is_not_found(demo: LocalServer, path: str) -> None:
    assert fetch(demo, path)[0] == 404


def test_head_answers_without_a_body(demo: LocalServer) -> None:
    assert fetch(demo, "/shop.html", "HEAD")[::2] == (200, b"")


def test_the_server_listens_on_loopback_only_and_carries_its_grant(demo: LocalServer) -> None:
    assert (demo.grant.host, demo.grant.port) == ("127.0.0.1", demo.port)
    assert demo.url("shop.html") == f"http://127.0.0.1:{demo.port}/shop.html"


def test_the_port_is_free_again_after_the_block() -> None:
    with serve_demo_pages() as server:
        pass

    with pytest.raises(ConnectionRefusedError):
        fetch(server, "/")


@pytest.mark.parametrize("name", [name for name in PAGES if name.endswith((".html", ".css", ".js"))])
def test_pages_ask_for_nothing_outside(name: str) -> None:
    text = resources.files("bridge.surfaces.demo").joinpath("pages", name).read_text(encoding="utf-8")

    assert not re.search(r"https?://|@import|url\(", text)
