"""Screenshots of whole pages beside the bare CDP capture, and how much memory a long one takes."""

from __future__ import annotations

import base64
from collections.abc import Sequence

from tools.benchmarks.bench import Bench, opened
from tools.benchmarks.measuring import Finding, at_most, below, interleave, ratio_finding
from tools.benchmarks.memory import resident_bytes, sampling
from tools.benchmarks.pages import ROOT, served

_ROWS = ROOT / "tests" / "pages" / "capture" / "rows.html"
_HEIGHT_PX = 5_000


async def captures(bench: Bench) -> Sequence[Finding]:
    found = []
    with served({"rows.html": _ROWS.read_bytes()}, scripts=True) as site:
        async with opened([site.grant]) as (_, _, page):
            await page.goto(site.url(f"rows.html?height={_HEIGHT_PX}"))
            connection = (await page.attached()).connection
            clip = {"x": 0, "y": 0, "width": 412, "height": _HEIGHT_PX, "scale": 1}

            async def bare() -> None:
                reply = await connection.call(
                    "Page.captureScreenshot",
                    {"format": "png", "captureBeyondViewport": True, "clip": clip},
                    timeout_s=60,
                )
                base64.b64decode(reply["data"])

            async def ours() -> None:
                shot = await page.screenshot(full_page=True)
                assert (shot.width_px, shot.height_px) == (412, _HEIGHT_PX)

            samples = await interleave({"ours": ours, "bare CDP": bare}, rounds=bench.choose(11, 5))
            what = f"a screenshot of {_HEIGHT_PX} px, beside the bare CDP capture"
            found.append(ratio_finding(what, samples, "ours", "bare CDP", bar=at_most(1.5)))
        async with opened([site.grant], quirks=True) as (_, _, page):
            await page.goto(site.url("rows.html?height=12000"))
            await page.screenshot(full_page=True, max_height_px=1_000)  # what is imported and allocated once
            base = resident_bytes()
            with sampling(resident_bytes) as seen:
                shot = await page.screenshot(full_page=True)
                peak = max(seen)
            bitmap = shot.width_px * shot.height_px * 4
            found.append(
                Finding(
                    f"peak memory of a screenshot of {shot.height_px} px, in its bitmaps",
                    (peak - base) / bitmap, "×", below(4), note=f"stitched; the bitmap is {bitmap / 1e6:.1f} MB",
                )
            )  # fmt: skip
    return found
