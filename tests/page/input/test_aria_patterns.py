"""Each widget of the ARIA Authoring Practices Guide is operated by refs of the default snapshot alone."""

from __future__ import annotations

import pytest

from bridge.page.page import Page
from tests.conftest import LocalServer

pytestmark = pytest.mark.browser

#: What is clicked one after the other, by role and name, and what the widget says then.
CLICKS: dict[str, tuple[tuple[tuple[str, str], ...], str]] = {
    "accordion": ((("button", "Personal"),), "true"),
    "disclosure": ((("button", "Why so dear?"),), "true"),
    "menu button": ((("button", "Actions"), ("menuitem", "Paste")), "Paste"),
    "menubar": ((("menuitem", "Font"), ("menuitemradio", "Mono")), "Mono"),
    "tree": ((("treeitem", "Projects"), ("treeitem", "Bridge")), "Bridge"),
    "treegrid": ((("row", "Treegrids are great"), ("row", "Re: Treegrids")), "Re: Treegrids"),
    "grid": ((("button", "Date"), ("gridcell", "700")), "700"),
    "date grid": ((("gridcell", "16"),), "16"),
    "listbox": ((("option", "Silver"),), "Silver"),
    "select-only combobox": ((("combobox", "Fruit"), ("option", "Banana")), "Banana"),
    "tabs": ((("tab", "Waltz"),), "Waltz"),
    "radio group": ((("radio", "Deep dish"),), "Deep dish"),
    "toggle button": ((("button", "Mute"),), "true"),
    "link": ((("link", "W3C website"),), "followed"),
    "carousel": ((("button", "Next slide"),), "Nova"),
    "feed": ((("article", "La Tortilla"),), "La Tortilla"),
    "toolbar": ((("button", "Centre"),), "Centre"),
}


async def ref_of(page: Page, role: str, name: str) -> str:
    shot = await page.snapshot()
    for ref, node in shot.refs.items():
        # A row is told by its cells, which are on the lines below.
        said = shot.text.split(f"[ref={ref}]")[1].split("[ref=")[0] if role == "row" else ""
        if node.role == role and (node.name == name or name in said):
            return ref
    raise AssertionError(f"no {role} {name!r} in:\n{shot.text}")


async def test_widgets_of_the_authoring_practices_are_operated_by_ref(page: Page, local_server: LocalServer) -> None:
    await page.goto(local_server.url("patterns.html"))
    for steps, _ in CLICKS.values():
        for role, name in steps:
            await page.click(await ref_of(page, role, name))
    for role, name in (("switch", "Lights"), ("checkbox", "All toppings")):
        assert (await page.check(await ref_of(page, role, name))).checked is True
    await page.fill(await ref_of(page, "slider", "Temperature"), "70")
    await page.fill(await ref_of(page, "spinbutton", "Adults"), "3")
    await page.fill(await ref_of(page, "combobox", "State"), "Ala")
    await page.click(await ref_of(page, "option", "Alaska"))
    opened = await page.click(await ref_of(page, "button", "Add address"))
    assert 'dialog "Address"' in opened.changes.text
    await page.fill(await ref_of(page, "textbox", "Street"), "Main 5")
    await page.click(await ref_of(page, "button", "Verify"))
    said = await page.evaluate("said")
    wanted = {pattern: value for pattern, (_, value) in CLICKS.items()} | {
        "switch": "true",
        "checkbox": "true",
        "slider": 70,
        "spinbutton": 3,
        "editable combobox": "Alaska",
        "dialog": "Main 5",
        "sort": "ascending",
    }
    assert said == wanted
