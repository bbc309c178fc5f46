# ruff: noqa: E501 - HTML and scripts read better on one line
"""The injected script on pages that fight it, and on pages that are too large."""

from __future__ import annotations

from pathlib import Path

import pytest
from browser import ACTIONS, CHECKS, SCRIPT, Page
from raw_tree import find, nodes, refs

HOSTILE = """<script>
  noticed = [];
  const trap = (owner, name) => { owner[name] = function () { noticed.push(name); throw new Error('trapped'); }; };
  const protos = {JSON: [JSON, 'stringify parse'],
    array: [Array.prototype, 'map filter forEach push pop splice slice find includes indexOf join reduce some every sort concat reverse'],
    element: [Element.prototype, 'querySelector querySelectorAll getAttribute matches closest getBoundingClientRect getClientRects setAttribute'],
    document: [Document.prototype, 'querySelector querySelectorAll elementFromPoint getElementById getElementsByTagName'],
    string: [String.prototype, 'replace trim includes slice split'],
    window: [window, 'getComputedStyle requestAnimationFrame setTimeout MutationObserver'],
    collections: [Map.prototype, 'get set has'], weak: [WeakMap.prototype, 'get set has']};
  addEventListener('load', () => {
    new MutationObserver(records => noticed.push(...records.map(r => 'mutation ' + r.attributeName))).observe(document, {subtree: true, childList: true, attributes: true, characterData: true});
    for (const [owner, names] of Object.values(protos)) names.split(' ').map.call ? 0 : 0;
    const all = Object.values(protos);
    for (let i = 0; i < all.length; i++) { const names = all[i][1].split(' '); all[i].push(names); }
    for (let i = 0; i < all.length; i++) for (let k = 0; k < all[i][2].length; k++) trap(all[i][0], all[i][2][k]);
    trap(WeakRef.prototype, 'deref');
    for (const p of ['localName', 'textContent', 'parentNode', 'shadowRoot', 'firstChild'])
      Object.defineProperty(p in Element.prototype ? Element.prototype : Node.prototype, p, {get() { noticed[noticed.length] = p; throw new Error('trapped'); }});
  });
</script>"""


@pytest.mark.browser
def test_a_hostile_page_neither_breaks_nor_notices_the_script(tab: Page) -> None:
    tab.show(
        HOSTILE
        + "<button id=a>A</button><input id=i aria-label=I><form aria-label=F><input name=localName aria-label=n1><input name=parentNode aria-label=n2><input name=getAttribute aria-label=n3></form>"
    )
    raw = tab.snapshot(cursorInteractive=True)
    assert [node["name"] for node in refs(raw).values()] == ["A", "I", "n1", "n2", "n3"]
    assert tab.call("prepare", find(raw, "button")["ref"], "click", {"timeoutMs": 10_000})["ok"]
    assert tab.run("noticed.length ? noticed[0] : ''") == ""
    assert tab.call("action", find(raw, "textbox", "I")["ref"], "fill", {"value": "v"})["value"] == "v"


@pytest.mark.browser
def test_named_inputs_of_a_form_do_not_shadow_the_tree(tab: Page) -> None:
    names = "children childNodes attributes id tagName nodeType parentElement innerText textContent nextSibling firstChild matches closest isConnected assignedSlot labels role tabIndex type".split()  # fmt: skip
    tab.show("<form aria-label=F>" + "".join(f"<input name={name} aria-label={name}>" for name in names) + "</form>")
    assert [node["name"] for node in refs(tab.snapshot()).values()] == names


DEEP = "let e = m; for (let i = 0; i < {}; i++) {{ const d = document.createElement('div'); e.appendChild(d); e = d; }} e.innerHTML = '<button>deep</button>'; 0"


@pytest.mark.browser
@pytest.mark.parametrize(("depth", "style"), [(1_500, ""), (20_000, "display:none")])
def test_a_deep_page_overflows_nothing(tab: Page, depth: int, style: str) -> None:
    """Chromium itself ends on what is rendered much deeper; what is not rendered may be 20,000 deep."""
    tab.show(f"<button>top</button><main id=m style='{style}'></main>")
    tab.run(DEEP.format(depth))
    raw = tab.snapshot(cursorInteractive=True)
    names = [node.get("name") for node in nodes(raw)]
    assert "top" in names
    assert "deep" in names or raw["truncated"] or style
    assert raw["stats"]["domNodes"] > depth
    assert tab.call("prepare", find(raw, "button", "top")["ref"], "click", {"timeoutMs": 5000})["ok"]


@pytest.mark.browser
def test_a_name_taken_from_a_deep_tree_overflows_nothing(tab: Page) -> None:
    tab.show("<button aria-labelledby=m>top</button><button>other</button><main id=m hidden></main>")
    tab.run(DEEP.format(20_000))
    assert [node["name"] for node in refs(tab.snapshot()).values()][-1] == "other"


@pytest.mark.browser
def test_two_hundred_thousand_nodes_stay_within_the_time_budget(tab: Page) -> None:
    tab.show("<button>first</button><div id=m></div>")
    tab.run(
        "m.innerHTML = '<div><p>a <b>b</b> <i>c</i> <a href=#>d</a></p><span></span></div>'.repeat(33400); m.offsetTop; 0"
    )
    tab.snapshot(timeBudgetMs=50)
    raw = tab.snapshot(timeBudgetMs=200, maxNodes=100_000, budgetChars=100_000_000)
    assert raw["stats"]["domNodes"] > 200_000
    assert "jsTime" in raw["reasons"]
    assert raw["truncated"]
    assert raw["stats"]["visitedNodes"] < 200_000
    assert find(raw, "button", "first")
    usual = tab.snapshot(timeBudgetMs=300)
    assert usual["stats"]["visitedNodes"] < 20_000


@pytest.mark.browser
def test_pages_without_a_body_or_with_an_odd_root_are_answered(tab: Page) -> None:
    for kind, markup in (
        ("image/svg+xml", "<svg xmlns='http://www.w3.org/2000/svg'><text>t</text></svg>"),
        ("text/xml", "<a><b>t</b></a>"),
        ("text/plain", "t"),
    ):
        tab.goto(f"data:{kind},{markup}")
        assert "tree" in tab.snapshot(), kind
    tab.show("x")
    tab.run("document.body.remove()")
    assert "tree" in tab.snapshot()
    tab.world()
    tab.run("document.documentElement.remove()")
    assert "threw" not in tab.snapshot()


@pytest.mark.parametrize(
    ("file", "limit"),
    [
        (SCRIPT, 15 * 1024),
        (ACTIONS, 7 * 1024),
        (SCRIPT.with_name("standalone.min.js"), 15 * 1024),
        (SCRIPT.with_name("standalone_actions.min.js"), 7 * 1024),
        (SCRIPT.with_name("standalone_replies.min.js"), 4 * 1024),
        (CHECKS, 42 * 1024),
    ],
)
def test_each_script_fits_its_limit(file: Path, limit: int) -> None:
    assert len(file.read_bytes()) <= limit
