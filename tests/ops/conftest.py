"""A site with everything that operations can be done to, and a session that may open only it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from bridge import Session
from bridge.surfaces.local_server import LocalServer, QuietHandler, listening

PAGE = b"""<!doctype html><title>Everything</title><meta name=viewport content="width=device-width">
<h1>Everything</h1>
<label>Name <input id=name></label> <label>Password <input id=password type=password></label>
<label>Colour <select id=colour><option value=r>Red<option value=g>Green</select></label>
<label>Files <input type=file id=files></label>
<button onclick="tell()">Tell</button> <button onclick="window.open('/second')">Window</button>
<button onclick="this.remove()">Vanish</button> <button onclick="rename(this)">Rename</button>
<a href="/second">Second</a> <p id=echo></p> <p id=late></p>
<script>
  const tell = () => {
    const said = document.getElementById('password').value || document.getElementById('name').value;
    document.getElementById('echo').textContent = 'You said ' + said;
    document.title = 'Said ' + said;
    console.log('said', said);
    console.error(new Error('failed with ' + said));
    fetch('/log?said=' + encodeURIComponent(said));
  };
  const rename = (button) => { button.textContent = 'Renamed'; };
  setTimeout(() => { document.getElementById('late').innerHTML = '<b id=done>done</b>'; }, 300);
</script>"""
SECOND = b"<!doctype html><title>Second</title><h1>Second</h1><p>Here is the end of it.</p><button>In it</button>"


class _Everything(QuietHandler):
    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if path == "/away":
            self.respond(b"", status=302, Location="http://127.0.0.1:1/forbidden")
            return
        body = {"/": PAGE, "/second": SECOND, "/file": b"a file"}.get(path, b"")
        self.respond(body, "text/plain" if path == "/file" else "text/html")


@pytest.fixture(scope="session")
def everything() -> Iterator[LocalServer]:
    with listening(_Everything) as server:
        yield server


@pytest.fixture
def roots(tmp_path: Path) -> tuple[Path, Path]:
    """The operator's folders for uploads and downloads."""
    uploads, downloads = tmp_path / "up", tmp_path / "down"
    uploads.mkdir()
    downloads.mkdir()
    (uploads / "a.txt").write_text("alpha")
    (tmp_path / "outside.txt").write_text("not to be read")
    return uploads, downloads


@pytest.fixture
async def session(webview_device: str, everything: LocalServer, roots: tuple[Path, Path]) -> AsyncIterator[Session]:
    folders = {"uploads_root": roots[0], "downloads_root": roots[1]}
    async with Session.open(webview_device, grants=[everything.grant], **folders) as session:
        yield session
