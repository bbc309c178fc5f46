"""Click, fill and select beside Playwright over CDP; ours also reports what changed, Playwright's does not."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from bridge.page.page import Page
from tools.benchmarks.bench import Bench, opened
from tools.benchmarks.measuring import Contender, Finding, interleave, ratio_finding
from tools.benchmarks.pages import served
from tools.benchmarks.peers import playwright

_FORM = (
    b"<!doctype html><title>Form</title><h1>Order</h1>" + b"<p>Some text around it, as pages have it.</p>" * 200 + b""
    b"<label>Name <input id=name></label><select id=size aria-label=Size><option>small<option>large</select>"
    b"<button id=count onclick='out.textContent=+out.textContent+1'>Count</button><output id=out>0</output>"
)


def _deed(work: Callable[[], Awaitable[object]]) -> Contender:
    async def contender() -> None:
        await work()

    return contender


async def actions(bench: Bench) -> Sequence[Finding]:
    with served({"": _FORM}, scripts=True) as site:
        async with opened([site.grant]) as (_, session, page):
            await page.goto(site.url(""))
            async with session.forward() as port, playwright(port) as talk:
                rounds = bench.choose(25, 9)
                refs = await _refs(page)
                clicked = await interleave(
                    {
                        "ours": _deed(lambda: page.click(refs["button"])),
                        "playwright": lambda: talk.timed({"do": "click", "selector": "#count"}),
                    },
                    rounds=rounds,
                )
                filled = await interleave(
                    {
                        "ours": _deed(lambda: page.fill(refs["textbox"], "Ann")),
                        "playwright": lambda: talk.timed({"do": "fill", "selector": "#name", "value": "Bob"}),
                    },
                    rounds=rounds,
                )
                chosen = await interleave(
                    {
                        "ours": _deed(lambda: page.select_option(refs["combobox"], ["large"])),
                        "playwright": lambda: talk.timed({"do": "select", "selector": "#size", "value": "small"}),
                    },
                    rounds=rounds,
                )
    return [
        ratio_finding("click, beside Playwright over CDP", clicked, "playwright", "ours"),
        ratio_finding("fill, beside Playwright over CDP", filled, "playwright", "ours"),
        ratio_finding("select, beside Playwright over CDP", chosen, "playwright", "ours"),
    ]


async def _refs(page: Page) -> dict[str, str]:
    shot = await page.snapshot()
    return {role: shot.find(role=role).ref for role in ("button", "textbox", "combobox")}
