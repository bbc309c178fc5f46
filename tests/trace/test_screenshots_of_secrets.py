"""A secret that a page shows is not in the screenshots of its trace."""

from __future__ import annotations

import base64
import io
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from bridge import Session
from bridge.ops import Executor, Secrets, parse_operation
from bridge.page.capture.image import encoded
from bridge.page.capture.secret_masking import Box, painted_over
from bridge.surfaces.trace.document import read_trace
from tests.conftest import LocalServer

# Of the same length and other letters: what is in a screenshot of either may be in the other's.
FIRST, SECOND = "hunter2secretvalue", "wwwwwwwwwwwwwwwwww"
PAGE = """
<label>Field <input id=i></label> <label>Area <textarea id=t></textarea></label>
<p style="font:20px monospace">You said <b id=said>nothing</b>.</p><div id=host></div>
"""
ECHO = """
document.body.innerHTML = %r;
host.attachShadow({mode: 'open'}).innerHTML = '<p id=p style="font:20px monospace"></p>';
i.oninput = () => { t.value = said.textContent = host.shadowRoot.getElementById('p').textContent = i.value };
i.style.font = t.style.font = '20px monospace'; i.style.caretColor = t.style.caretColor = 'transparent';
"""


async def last_screenshot(device: str, local: LocalServer, file: Path, secret: str, *, in_frame: bool = False) -> Any:
    async with Session.open(device, grants=[local.grant], trace=file) as session:
        executor = Executor(session, secrets=Secrets({"PW": secret}))
        await executor.run(parse_operation({"kind": "navigate", "url": local.url("tasks/enter-text.html")}))
        page = session.pages[-1]
        script = ECHO % PAGE
        if in_frame:
            script = "document.body.innerHTML = '<iframe id=f height=300></iframe>'; f.srcdoc = " + repr(PAGE)
        await (await page.attached()).evaluate_raw({"expression": script}, timeout_s=20)
        await page.wait_for(role="textbox", name="Field")
        ref = (await page.snapshot()).find(role="textbox", name="Field").ref
        done = await executor.run(parse_operation({"kind": "fill", "ref": ref, "value": "secret:PW"}))
        assert done.ok, done.error
    trace = read_trace(file)
    (filled,) = [entry for entry in trace["operations"] if entry["name"] == "fill"]
    return None if filled["screenshot"] is None else base64.b64decode(trace["screenshots"][filled["screenshot"]])


@pytest.mark.browser
@pytest.mark.timeout(180)
async def test_fields_and_texts_that_show_a_secret_are_painted_over(
    webview_device: str, local_server: LocalServer, tmp_path: Path
) -> None:
    screenshots = [
        Image.open(io.BytesIO(await last_screenshot(webview_device, local_server, tmp_path / f"{secret}.html", secret)))
        for secret in (FIRST, SECOND)
    ]
    first, second = [screenshot.convert("L") for screenshot in screenshots]
    assert first.size == second.size
    assert first.tobytes() == second.tobytes()
    assert len(set(first.tobytes())) > 20, "the rest of the page is there"


@pytest.mark.browser
@pytest.mark.timeout(180)
async def test_a_screenshot_of_a_frame_that_shows_a_secret_is_left_out(
    webview_device: str, local_server: LocalServer, tmp_path: Path
) -> None:
    file = tmp_path / "frame.html"
    assert await last_screenshot(webview_device, local_server, file, FIRST, in_frame=True) is None


def test_boxes_are_painted_where_they_lie_in_the_screenshot() -> None:
    screenshot = encoded(Image.new("RGB", (200, 100), "white"), "png", None)
    painted = Image.open(io.BytesIO(painted_over(screenshot, [Box(0.5, 0.25, 0.1, 0.1)], "png", 0)))
    grey = [(x, y) for x in range(200) for y in range(100) if painted.getpixel((x, y)) != (255, 255, 255)]
    assert (grey[0], grey[-1]) == ((100, 50), (120, 70))
