"""Fields of a form are properties of the form (HTML §4.10.3): whatever a page calls them, the page is read."""

from __future__ import annotations

import json

import pytest
from browser import Page

pytestmark = pytest.mark.browser

NAMES_OF_ALL_INTERFACES = """[...new Set(Object.getOwnPropertyNames(window)
  .filter(name => /^(HTML.*Element|SVG.*Element|Element|Node|EventTarget|Text|Object|Array)$/.test(name))
  .flatMap(name => [...Object.getOwnPropertyNames(window[name].prototype)]))]"""
FORM = '<form id=f{place} {attributes}><input name="{name}"><button>Go {place}</button></form>'


@pytest.mark.parametrize("attributes", ["", "role=none", "role=region aria-label=x", "tabindex=0", "onclick=0"])
@pytest.mark.parametrize("is_slotted", [False, True], ids=["plain", "slotted"])
def test_no_name_of_a_field_keeps_a_page_from_being_read(tab: Page, attributes: str, is_slotted: bool) -> None:
    tab.show("<main id=m></main>")
    names = tab.run(NAMES_OF_ALL_INTERFACES)
    assert {"selectedOptions", "assignedSlot", "getRootNode", "getAttributeNames"} <= set(names)
    forms = "".join(
        FORM.format(place=place, attributes=attributes, name=name.replace('"', "")) for place, name in enumerate(names)
    )
    if is_slotted:
        tab.run("m.attachShadow({mode: 'open'}).innerHTML = '<slot></slot>'; 0")
    tab.run(f"m.innerHTML = {json.dumps(forms)}; 0")
    raw = tab.snapshot(cursorInteractive=True, interactiveOnly=False, maxNodes=100_000, budgetChars=10**9)
    text = json.dumps(raw["tree"])
    missing = [name for place, name in enumerate(names) if f'"Go {place}"' not in text]
    assert not missing


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
