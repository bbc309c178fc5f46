"""How often an operation waits for the device, and what it sends and receives."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from bridge.cost import Cost
from tools.benchmarks.bench import Bench, opened
from tools.benchmarks.measuring import Finding, at_most
from tools.benchmarks.pages import served

_FORM = (
    b"<!doctype html><title>Form</title><h1>Order</h1><label>Name <input id=name></label>"
    b"<label>Size <select><option>small<option>large</select></label>"
    b"<label><input type=checkbox> Gift</label><button onclick='out.textContent=+out.textContent+1'>Count</button>"
    b"<p>A paragraph that can be read, with <a href='/next'>a link</a> and a few words more.</p>"
    b"<output id=out>0</output>"
)


async def round_trips(bench: Bench) -> Sequence[Finding]:
    with served({"": _FORM}, scripts=True) as site:
        async with opened([site.grant]) as (_, _, page):
            await page.goto(site.url(""))
            shot = await page.snapshot()
            name, size = shot.find(role="textbox").ref, shot.find(role="combobox").ref
            button, gift = shot.find(role="button").ref, shot.find(role="checkbox").ref
            looking: dict[str, Callable[[], Awaitable[object]]] = {
                "snapshot": page.snapshot,
                "read": page.read,
                "wait_for": lambda: page.wait_for(text="Order"),
                "query": lambda: page.query(name, "value"),
            }
            acting: dict[str, Callable[[], Awaitable[object]]] = {
                "click": lambda: page.click(button),
                "fill": lambda: page.fill(name, "Ann"),
                "select": lambda: page.select_option(size, ["large"]),
                "check": lambda: page.check(gift),
            }
            rounds = bench.choose(20, 5)
            return [
                await _most("snapshot, read, wait_for, query: round trips", looking, rounds, 1),
                await _most("click, fill, select, check on a ready element: round trips", acting, rounds, 2),
            ]


async def _most(what: str, deeds: dict[str, Callable[[], Awaitable[object]]], rounds: int, limit: int) -> Finding:
    """The largest number of round trips of any operation in any round."""
    costs: dict[str, list[Cost]] = {name: [] for name in deeds}
    for _ in range(rounds):
        for name, deed in deeds.items():
            cost = getattr(await deed(), "cost")  # noqa: B009 - results share no base class
            assert isinstance(cost, Cost)
            costs[name].append(cost)
    facts = {
        name: {
            "round_trips": max(cost.round_trips for cost in some),
            "bytes_sent": max(cost.bytes_sent for cost in some),
            "bytes_received": max(cost.bytes_received for cost in some),
        }
        for name, some in costs.items()
    }
    note = ", ".join(f"{name} {one['bytes_sent']}/{one['bytes_received']}" for name, one in facts.items())
    return Finding(
        what, max(one["round_trips"] for one in facts.values()), "", at_most(limit),
        note=f"bytes sent/received: {note}", facts=facts,
    )  # fmt: skip
