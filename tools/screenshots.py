"""Takes the images of README and docs from real commands, a real trace and the real live view.

tools/screenshots [FOLDER]      .github/images without one
"""

from __future__ import annotations

import asyncio
import html
import io
import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from PIL import Image

from bridge import Session, TestServerGrant, expect
from bridge.errors import DeadlineExceeded
from bridge.page.page import Page
from bridge.surfaces.demo.server import serve_demo_pages
from bridge.surfaces.live_view import live_view
from bridge.surfaces.local_server import LocalServer
from bridge.surfaces.pytest_plugin.local_server import serving

IMAGES = Path(__file__).resolve().parent.parent / ".github" / "images"
NAMES = ("annotated-shop.png", "terminal.png", "trace.png", "live-view.png")
_COLOURS = 256

_TERMINAL = """<!doctype html><meta charset="utf-8"><title>Terminal</title><style>
body {{ margin: 0; background: #16181c; }}
pre {{ margin: 0; padding: 20px 24px; color: #e4e6ea; white-space: pre-wrap;
  font: 15px/1.5 "DejaVu Sans Mono", monospace; }}
b {{ color: #6fd3ab; font-weight: normal; }} i {{ color: #8d96a3; font-style: normal; }}
</style><pre>{text}</pre>"""


async def make(folder: Path) -> None:
    with serve_demo_pages() as shop, tempfile.TemporaryDirectory() as work:
        await annotated(shop, folder / "annotated-shop.png")
        await terminal(shop, Path(work), folder / "terminal.png")
        await trace(shop, Path(work), folder / "trace.png")
        await seen_live(shop, folder / "live-view.png")


async def annotated(shop: LocalServer, target: Path) -> None:
    async with Session.open("virtual", grants=[shop.grant]) as session:
        page = await session.new_page(shop.url("shop.html"))
        save(target, (await page.screenshot(annotate=True)).image_bytes)


async def terminal(shop: LocalServer, work: Path, target: Path) -> None:
    """Commands as they answer; what they say on stderr in grey."""
    lines: list[str] = []
    with own_sessions() as environment:
        for arguments in (
            ("open", shop.url("login.html"), "--device", "virtual", "--local", str(shop.port)),
            ("snapshot",),
            ("fill", "e3", "ann@example.com"),
            ("fill", "e4", "correct horse"),
            ("click", "e6"),
        ):
            done = await asyncio.to_thread(
                subprocess.run,
                [sys.executable, "-c", "from bridge.surfaces.cli import main; main()", *arguments],
                env=environment,
                capture_output=True,
                text=True,
                timeout=60,
                check=True,
            )
            said = [line for line in done.stderr.splitlines() if "no policy is configured" not in line]
            lines += [
                f"<b>$ webview-bridge {html.escape(shlex.join(arguments))}</b>",
                html.escape(done.stdout.rstrip()),
            ]
            lines += [f"<i>{html.escape(line)}</i>" for line in said] + [""]
    (work / "terminal.html").write_text(_TERMINAL.format(text="\n".join(lines).rstrip()), encoding="utf-8")
    await screenshot_of(work, "terminal.html", target, width_px=900, whole=True)


@contextmanager
def own_sessions() -> Iterator[dict[str, str]]:
    """The environment of commands whose kept session is not the user's, and ends with the block."""
    with tempfile.TemporaryDirectory(prefix="wvb-") as folder:
        environment = {**os.environ, "XDG_RUNTIME_DIR": folder}
        try:
            yield environment
        finally:
            close = [sys.executable, "-c", "from bridge.surfaces.cli import main; main()", "close"]
            subprocess.run(close, env=environment, capture_output=True, timeout=60, check=True)


async def trace(shop: LocalServer, work: Path, target: Path) -> None:
    async with Session.open("virtual", grants=[shop.grant], trace=work / "trace.html") as session:
        page = await session.new_page(shop.url("shop.html"))
        shot = await page.snapshot()
        await page.fill(shot.find(role="searchbox").ref, "gold")
        await page.get_by_role("button", name="Search").click()
        await page.get_by_role("button", name="Add to cart").first.click()
        await page.get_by_role("button", name="Cart 1").click()
        await expect(page.get_by_role("heading", name="Your cart")).to_be_visible()
        login = await session.new_page(shop.url("login.html"))
        await login.get_by_label("E-mail").fill("ann@example.com")
        await login.get_by_label("Password").fill("correct horse")
        await login.get_by_role("button", name="Sign in").click()
        await page.read()
        with suppress(DeadlineExceeded):
            await page.get_by_role("button", name="Pay now").click(timeout_s=0.5)
    await screenshot_of(work, "trace.html#5", target, width_px=1280, height_px=760)


async def seen_live(shop: LocalServer, target: Path) -> None:
    """A person has taken over a login and typed the address; the viewer is a page on a device of its own."""
    async with Session.open("virtual", grants=[shop.grant], height_px=640) as session:
        page = await session.new_page(shop.url("login.html"))
        at = await place_of(page)  # asked for before: operations wait while a person has taken over
        async with live_view(page) as view:
            port = int(view.url.split(":")[2].split("/")[0])
            grant = TestServerGrant("127.0.0.1", port)
            async with Session.open("virtual", grants=[grant], width_px=860, height_px=760) as watching:
                viewer = await watching.new_page(view.url)
                await viewer.wait_for(text="watching")
                await viewer.get_by_role("button", name="Take over").click()
                await viewer.wait_for(text="you have taken over")
                await touch(viewer, at)
                await viewer.get_by_label("Text for the focused field").fill("ann@example.com")
                await viewer.get_by_role("button", name="Type").click()
                await expect(viewer.get_by_role("status")).to_have_text("you have taken over")
                await viewer.wait_for(function=is_written(at), timeout_s=20)
                save(target, (await viewer.screenshot()).image_bytes)


def is_written(at: tuple[float, float]) -> str:
    """Whether the picture has come that has words in the field there: dark pixels on its light ground."""
    return f"""() => {{ const c = document.getElementById('screen');
      const d = c.getContext('2d').getImageData(c.width * 0.1, c.height * {at[1]} - 8, c.width * 0.5, 16).data;
      let dark = 0; for (let i = 0; i < d.length; i += 4) if (d[i] + d[i + 1] + d[i + 2] < 240) dark++;
      return dark > 60; }}"""


async def place_of(page: Page) -> tuple[float, float]:
    """Where the e-mail field is, as parts of the picture."""
    box = (await page.get_by_label("E-mail").query("box")).value
    return (box["left"] + box["width"] / 2) / 412, (box["top"] + box["height"] / 2) / 640


async def touch(viewer: Page, at: tuple[float, float]) -> None:
    attachment = await viewer.attached()
    measured = "JSON.stringify(document.getElementById('screen').getBoundingClientRect())"
    reply = await attachment.call("Runtime.evaluate", {"expression": measured, "returnByValue": True}, timeout_s=10)
    box = json.loads(reply["result"]["value"])
    point = {"x": box["left"] + at[0] * box["width"], "y": box["top"] + at[1] * box["height"]}
    for kind, points in (("touchStart", [point]), ("touchEnd", [])):
        await attachment.call("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points}, timeout_s=10)


async def screenshot_of(
    work: Path, name: str, target: Path, *, width_px: int, height_px: int = 600, whole: bool = False
) -> None:
    with serving(work) as server:
        async with Session.open("virtual", grants=[server.grant], width_px=width_px, height_px=height_px) as session:
            page = await session.new_page(server.url(name))
            save(target, (await page.screenshot(full_page=whole)).image_bytes)


def save(target: Path, png: bytes) -> None:
    """As a palette: a third of the size, and what is on a screen has few colours."""
    with Image.open(io.BytesIO(png)) as image:
        image.convert("RGB").quantize(_COLOURS, kmeans=4).save(target, optimize=True)
    print(f"saved {target} ({target.stat().st_size / 1000:.0f} kB)", file=sys.stderr)


if __name__ == "__main__":
    asyncio.run(make(Path(sys.argv[1]) if len(sys.argv) > 1 else IMAGES))
