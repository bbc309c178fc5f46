"""Pages to measure on, and loopback servers for them: saved ones where they are, generated ones everywhere."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from bridge.surfaces.local_server import LocalServer, QuietHandler, listening

ROOT = Path(__file__).resolve().parents[2]
# Saved pages draw themselves without their scripts, and ask nothing of the network.
_CSP = "script-src 'none'; img-src 'none'; frame-src 'none'; font-src 'none'; connect-src 'none'; media-src 'none'"
_ITEM = (
    '<li class="card"><article><h3><a href="/item/{n}">Article {n} of the list</a></h3>'
    '<p>A few words about it, <b>some bold</b>, <a href="/author/{n}">by somebody</a>.</p>'
    '<div class="row"><span>{n} EUR</span><label>Count <input name="count{n}" value="1"></label>'
    '<button type="button">Add {n} to cart</button></div></article></li>'
)
#: Elements of one generated item.
_PER_ITEM = 11


@contextmanager
def served(pages: Mapping[str, bytes], *, is_gzip: bool = False, scripts: bool = False) -> Iterator[LocalServer]:
    """The pages at `/NAME`.

    Args:
        is_gzip: The bodies are gzip streams already, and are sent as such.
        scripts: Pages may run scripts; else nothing of them runs or is fetched.
    """

    headers = {"Cache-Control": "no-store"}
    if not scripts:
        headers["Content-Security-Policy"] = _CSP
    encoded = {"Content-Encoding": "gzip"} if is_gzip else {}

    class Handler(QuietHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            body = pages.get(self.path.removeprefix("/").partition("?")[0])
            kind = "image/svg+xml" if self.path.endswith(".svg") else "text/html; charset=utf-8"
            if body is None:
                self.respond(b"", kind, 404, **headers)
            else:
                self.respond(body, kind, **headers, **encoded)

    with listening(Handler) as server:
        yield server


def generated(elements: int) -> bytes:
    """A shop's list of about so many elements."""
    items = "".join(_ITEM.format(n=number) for number in range(max(1, elements // _PER_ITEM)))
    return f"<!doctype html><title>{elements} elements</title><h1>A list</h1><ul>{items}</ul>".encode()


def shared_folder(kind: str, variable: str) -> Path | None:
    """The folder that the variable names, else shared/data/KIND beside the project or one of its parents."""
    named = os.environ.get(variable)
    candidates = [Path(named)] if named else [up / "shared" / "data" / kind for up in ROOT.parents]
    return next((folder for folder in candidates if folder.is_dir()), None)


def saved_pages() -> dict[str, bytes]:
    """The HTML of the saved pages by name; empty where there are none (`BRIDGE_BENCH_PAGES` names their folder)."""
    folder = shared_folder("pages", "BRIDGE_BENCH_PAGES")
    paths = sorted(folder.glob("*.html.gz")) if folder else []
    return {path.name.removesuffix(".html.gz"): gzip.decompress(path.read_bytes()) for path in paths}


def large_pages() -> dict[str, bytes]:
    """The saved pages, or where there are none generated ones of about the same sizes, which are called so."""
    return saved_pages() or {f"generated-{size}": generated(size) for size in (600, 6_000, 17_000, 49_000)}
