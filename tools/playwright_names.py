"""Compares the public names of Playwright for Python with ours and writes the table of docs/playwright.md.

`--check` only compares. The names are kept in tools/playwright_names.json with the version that has them; `--names`
reads them anew and needs the package playwright, which the project itself does not use.
"""

from __future__ import annotations

import dis
import importlib
import json
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
NAMES = ROOT / "tools" / "playwright_names.json"
PAGE = ROOT / "docs" / "playwright.md"
BEGIN, END = "<!-- table of names -->", "<!-- end of the table -->"
#: Playwright's class → ours.
OURS = {
    "Page": "bridge.page.page:Page",
    "Locator": "bridge.page.locators.locators:Locator",
    "FrameLocator": "bridge.page.locators.locators:FrameLocator",
    "BrowserContext": "bridge.session.session:Session",
    "Keyboard": "bridge.page.input.devices:Keyboard",
    "Mouse": "bridge.page.input.devices:Mouse",
    "Touchscreen": "bridge.page.input.devices:Touchscreen",
    "Dialog": "bridge.page.events.dialog_event:DialogEvent",
    "Download": "bridge.page.events.download_event:Download",
    "Request": "bridge.page.events.messages:Request",
    "Response": "bridge.page.events.messages:Response",
    "Route": "bridge.page.fetch_messages:PausedRequest",
    "LocatorAssertions": "bridge.page.locators.assertions:LocatorAssertions",
    "PageAssertions": "bridge.page.locators.assertions:PageAssertions",
}


def playwright_names() -> dict[str, list[str]]:
    """The public names of Playwright's classes, as the installed package has them."""
    module = importlib.import_module("playwright.async_api")
    found: dict[str, list[str]] = {"version": [version("playwright")]}
    for name in OURS:
        kind: Any = getattr(module, name, None)
        if kind is None:
            kind = getattr(importlib.import_module("playwright.async_api._generated"), name)
        listeners = {"on", "once", "remove_listener"} if name not in ("Page", "BrowserContext") else set()
        found[name] = [one for one in dir(kind) if not one.startswith("_") and one not in listeners]
    return found


def rows() -> list[tuple[str, str, str]]:
    """Each name of Playwright's with "same", "different" or "missing", and the reason."""
    from bridge.page.not_here import DIFFERENT, NOT_HERE

    table = []
    for kind, names in json.loads(NAMES.read_text()).items():
        if kind == "version":
            continue
        module, _, own = OURS[kind].partition(":")
        ours = getattr(importlib.import_module(module), own)
        attributes = {*dir(ours), *getattr(ours, "__dataclass_fields__", {}), *_set_in_init(ours)}
        for name in names:
            key = f"{kind}.{name}"
            if name in attributes:
                table.append((key, "different" if key in DIFFERENT else "same", DIFFERENT.get(key, "")))
            else:
                table.append((key, "missing", NOT_HERE.get(key, "")))
    return table


def _set_in_init(kind: type) -> set[str]:
    """The attributes that `__init__` assigns."""
    code = getattr(kind.__init__, "__wrapped__", kind.__init__).__code__
    return {str(step.argval) for step in dis.get_instructions(code) if step.opname == "STORE_ATTR"}


def markdown() -> str:
    """The table as Markdown."""
    table = rows()
    lines = []
    for kind in OURS:
        of_kind = [row for row in table if row[0].startswith(f"{kind}.")]
        same = [row[0].partition(".")[2] for row in of_kind if row[1] == "same"]
        lines += [f"### {kind}", "", f"Same: {', '.join(f'`{name}`' for name in same) or 'none'}.", ""]
        rest = [row for row in of_kind if row[1] != "same"]
        if rest:
            lines += ["| name | here | why |", "|---|---|---|"]
            lines += [f"| `{key.partition('.')[2]}` | {state} | {reason} |" for key, state, reason in rest]
            lines.append("")
    counts = {state: sum(row[1] == state for row in table) for state in ("same", "different", "missing")}
    head = f"{len(table)} names: {', '.join(f'{count} {state}' for state, count in counts.items())}."
    return "\n".join([head, "", *lines])


def main() -> int:
    if "--names" in sys.argv:
        NAMES.write_text(json.dumps(playwright_names(), indent=1) + "\n")
    unexplained = [key for key, state, reason in rows() if state == "missing" and not reason]
    for key in unexplained:
        print(f"missing without a reason: {key}", file=sys.stderr)
    before, _, rest = PAGE.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    text = f"{before}{BEGIN}\n\n{markdown()}\n{END}{after}"
    if "--check" in sys.argv:
        if PAGE.read_text() != text:
            print("docs/playwright.md is not up to date: run tools/playwright_names.py", file=sys.stderr)
            return 1
    else:
        PAGE.write_text(text)
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
