"""The pages that `doctor --device-checks` opens, served on this machine's loopback."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files

from bridge.surfaces.local_server import LocalServer, serving_table

BAND_PX, BANDS = 400, 30
DOWNLOAD_NAME, DOWNLOAD = "doctor.bin", bytes(range(256)) * 64


def band_colour(index: int) -> tuple[int, int, int]:
    """The colour of the band that starts at `index * BAND_PX`; neighbours differ."""
    return (index * 8, 255 - index * 8, 200 if index % 2 else 40)


def _page(title: str, body: str) -> bytes:
    head = f"<!doctype html><meta name=viewport content='width=device-width'><title>{title}</title>"
    return f"{head}<body style='margin:0'>{body}".encode()


def _bands() -> str:
    boxes = (f"<div style='height:{BAND_PX}px;background:rgb{band_colour(index)}'></div>" for index in range(BANDS))
    return "".join(boxes)


_FORM = f"""<label>Colour <select id=s><option value=red>Red<option value=blue>Blue</select></label>
<p><label>Document <input id=f type=file></label>
<p><a href="/{DOWNLOAD_NAME}" download>Save the file</a>"""


def _packaged(name: str) -> str:
    return files("bridge.surfaces.doctor").joinpath(name).read_text("utf-8")


_HTML = "text/html; charset=utf-8"
_PAGES: dict[str, tuple[str, bytes]] = {
    "/bands": (_HTML, _page("Bands", _bands())),
    **{
        f"/{title.lower()}": (_HTML, _page(title, _packaged(f"{title.lower()}.html")))
        for title in ("WebGL", "Events", "Inner", "Worker", "Embedder", "Third")
    },
    "/service_worker.js": ("text/javascript; charset=utf-8", _packaged("service_worker.js").encode()),
    "/form": (_HTML, _page("Form", _FORM)),
    "/original": ("text/plain; charset=utf-8", b"from the server"),
    f"/{DOWNLOAD_NAME}": ("application/octet-stream", DOWNLOAD),
}


@contextmanager
def serve_check_pages() -> Iterator[LocalServer]:
    """Serve the pages on a free port while the block runs."""
    with serving_table(_PAGES, product="webview-bridge-doctor") as server:
        yield server
