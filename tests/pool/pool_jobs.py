"""Jobs as users write them: the same functions on this machine's devices and on a Ray cluster."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

from bridge import Session


async def products_for(session: Session, item: dict[str, Any]) -> str:
    """How many products the shop finds for some words."""
    page = await session.new_page(item["url"])
    await page.get_by_role("searchbox").fill(item["words"])
    if flag := item.get("dies_once"):
        die_once(Path(flag), session.serial)
    await page.get_by_role("button", name="Search").click()
    count = await page.get_by_role("status").query("text")
    return f"{item['words']}: {count.value}"


def products_without_await(session: Any, item: dict[str, Any]) -> str:
    page = session.new_page(item["url"])
    page.get_by_role("searchbox").fill(item["words"])
    if flag := item.get("dies_once"):
        die_once(Path(flag), session.serial)
    page.get_by_role("button", name="Search").click()
    return f"{item['words']}: {page.get_by_role('status').query('text').value}"


def die_once(flag: Path, serial: str) -> None:
    """End the device without a word, for the first that asks."""
    from bridge.virtual_device import list_virtual_devices

    try:
        flag.touch(exist_ok=False)
    except FileExistsError:
        return
    pids = [handle.pid for handle in list_virtual_devices() if handle.serial == serial]
    if not pids:
        flag.unlink()  # its record is not there, so it is ending already: the next one dies
        return
    os.kill(pids[0], signal.SIGKILL)


#: What the shop has, by what is searched for.
FOUND = {"gold": "4 products", "ring": "4 products", "silver ring": "2 products", "nothing": "0 products"}


def work_for(url: str, count: int, flags: Path, *, deaths: int = 1) -> list[dict[str, Any]]:
    """So many searches; `deaths` of them, spread over all, take their device down once."""
    words = list(FOUND)
    items = [{"url": url, "words": words[number % len(words)]} for number in range(count)]
    for death in range(deaths):
        items[count * (death + 1) // (deaths + 2)]["dies_once"] = str(flags / f"death-{death}")
    return items


def wanted(items: list[dict[str, Any]]) -> list[str]:
    return [f"{item['words']}: {FOUND[item['words']]}" for item in items]
