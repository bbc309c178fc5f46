"""The pages that `doctor --device-checks` opens, served on this machine's loopback."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

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


_WEBGL = """<canvas id=c width=200 height=200></canvas><script>
const gl = c.getContext('webgl');
window.hasWebGL = !!gl;
const draw = () => { gl.clearColor(1, 0, 0, 1); gl.clear(gl.COLOR_BUFFER_BIT); requestAnimationFrame(draw) };
if (gl) draw();
</script>"""

_FORM = f"""<label>Colour <select id=s><option value=red>Red<option value=blue>Blue</select></label>
<p><label>Document <input id=f type=file></label>
<p><a href="/{DOWNLOAD_NAME}" download>Save the file</a>"""

_PAGES: dict[str, tuple[str, bytes]] = {
    "/bands": ("text/html; charset=utf-8", _page("Bands", _bands())),
    "/webgl": ("text/html; charset=utf-8", _page("WebGL", _WEBGL)),
    "/form": ("text/html; charset=utf-8", _page("Form", _FORM)),
    "/original": ("text/plain; charset=utf-8", b"from the server"),
    f"/{DOWNLOAD_NAME}": ("application/octet-stream", DOWNLOAD),
}


@contextmanager
def serve_check_pages() -> Iterator[LocalServer]:
    """Serve the pages on a free port while the block runs."""
    with serving_table(_PAGES, product="webview-bridge-doctor") as server:
        yield server
