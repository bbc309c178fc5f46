"""Fields of a form are properties of the form (HTML §4.10.3): whatever a page calls them, the page is read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from browser import Page

pytestmark = pytest.mark.browser

NAMES_OF_ALL_INTERFACES = """[...new Set(Object.getOwnPropertyNames(window)
  .filter(name => /^(HTML.*Element|SVG.*Element|Document|Element|Node|EventTarget|Text|Object|Array)$/.test(name))
  .flatMap(name => [...Object.getOwnPropertyNames(window[name].prototype)]))].filter(name => !name.includes('"'))"""
#: In the order of the document: a form whose field has each of the names, and last one with a name that means nothing.
FORM = '<section role=group><form {attributes}><input name="{name}"><button>Go</button>words</form></section>'
#: With each a form is asked for something else: focus, values, states, places, layers, sizes.
ATTRIBUTES = [
    "",
    "role=none tabindex=0",
    "role=region aria-label=x title=t",
    "onclick=0 role=link style=cursor:pointer",
    "contenteditable",
    "role=listbox aria-owns=x",
    "role=textbox aria-expanded=true",
    "role=spinbutton",
    "role=checkbox aria-checked=true",
    'style="overflow:hidden;height:90px;position:relative;transform:scale(.9)"',
    'style="position:absolute;overflow:auto;height:50px"',
]


def groups_of(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The sections around the forms, without what tells them apart: refs, and the name of the field."""
    if node.get("tag") == "section":
        yield plain(node)
    for child in node.get("children", ()):
        yield from groups_of(child)


def plain(node: dict[str, Any]) -> dict[str, Any]:
    attributes = {key: value for key, value in node.get("attrs", {}).items() if key != "name"}
    children = [plain(child) for child in node.get("children", ())]
    return {**node, "ref": "ref" in node, "attrs": attributes, "children": children}


@pytest.mark.parametrize("attributes", ATTRIBUTES)
def test_the_name_of_a_field_changes_nothing_in_the_snapshot(tab: Page, attributes: str) -> None:
    tab.show("<main id=m></main>")
    names = [*tab.run(NAMES_OF_ALL_INTERFACES), "meansNothing"]
    assert {"selectedOptions", "assignedSlot", "getRootNode", "offsetParent", "indeterminate", "all"} <= set(names)
    tab.show("".join(FORM.format(attributes=attributes, name=name) for name in names))
    raw = tab.snapshot(cursorInteractive=True, interactiveOnly=False, maxNodes=100_000, budgetChars=10**9)
    *groups, expected = groups_of(raw["tree"])
    assert len(groups) == len(names) - 1
    assert expected["children"]
    assert [name for name, group in zip(names, groups, strict=False) if group != expected] == []


def test_forms_in_slots_are_read_whatever_their_fields_are_called(tab: Page) -> None:
    tab.show("<main id=m></main>")
    names = tab.run(NAMES_OF_ALL_INTERFACES)
    forms = "".join(
        f'<form><input name="{name}"><button>Go {place}</button></form>' for place, name in enumerate(names)
    )
    tab.run("m.attachShadow({mode: 'open'}).innerHTML = '<slot></slot>'; 0")
    tab.run(f"m.innerHTML = {json.dumps(forms)}; 0")
    text = json.dumps(tab.snapshot(maxNodes=100_000, budgetChars=10**9)["tree"])
    assert [name for place, name in enumerate(names) if f'"Go {place}"' not in text] == []


@pytest.mark.parametrize("tag", ["img", "form", "embed", "iframe", "object"])
def test_no_element_named_like_a_property_of_the_document_keeps_it_from_being_read(tab: Page, tag: str) -> None:
    tab.show("<main id=m></main>")
    interfaces = "[Document, Node, EventTarget, Object]"
    names = tab.run(f"[...new Set({interfaces}.flatMap(it => Object.getOwnPropertyNames(it.prototype)))]")
    assert {"documentElement", "getElementById", "querySelectorAll"} <= set(names)
    named = "".join(f"<{tag} name='{name}'></{tag}>" for name in names if name.isalnum())
    words = "<b id=l>Words</b><button aria-labelledby=l>x</button><div role=list aria-owns=i></div>"
    words += "<div role=listitem id=i>One</div>"
    tab.run(f"document.body.innerHTML = {json.dumps(words + named)}; 0")
    raw = tab.snapshot(cursorInteractive=True, interactiveOnly=False)
    text = json.dumps(raw["tree"])
    assert '"Words"' in text
    assert '"listitem"' in text
    assert raw["url"].startswith("http")
