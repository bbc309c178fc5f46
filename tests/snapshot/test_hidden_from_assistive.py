"""Controls that a person sees and `aria-hidden` hides: counted in the header, and shown on request."""

from __future__ import annotations

import re

import pytest
from browser import Page

from bridge.snapshot import HtmlSnapshotOptions, render_snapshot, snapshot_html
from bridge.snapshot.model import RenderOptions

pytestmark = pytest.mark.browser

PAGE = """<button>Public</button>
<div aria-hidden=true><a href=#>Card</a><p>Text <button>Buy</button></p><button hidden>No</button>
<button style="visibility:hidden">No</button><div style="display:none"><button>No</button></div></div>
<button aria-hidden=true>Alone</button><div hidden aria-hidden=true><button>No</button></div>
<section aria-hidden=true style="opacity:0"><button>No</button></section>"""


def test_the_header_counts_visible_controls(tab: Page) -> None:
    tab.show(PAGE)
    text = render_snapshot(tab.snapshot()).text
    assert " hidden_from_assistive=3" in text.splitlines()[0]
    assert "Card" not in text
    assert " hidden_from_assistive=3" in snapshot_html(PAGE).text.splitlines()[0]
    as_json = render_snapshot(tab.snapshot(), RenderOptions(format="json")).text
    assert '"hidden_from_assistive":3' in as_json


def test_a_page_without_them_has_no_count(tab: Page) -> None:
    html = "<button>Public</button><svg aria-hidden=true></svg><span aria-hidden=true>x</span>"
    tab.show(html)
    assert "hidden_from_assistive" not in render_snapshot(tab.snapshot()).text
    assert "hidden_from_assistive" not in snapshot_html(html).text


def test_they_are_shown_on_request(tab: Page) -> None:
    tab.show(PAGE)
    text = render_snapshot(tab.snapshot(ariaHidden=True)).text
    assert "hidden_from_assistive" not in text
    assert re.search(r'- link "Card" \[aria-hidden\] \[ref=', text)
    assert re.search(r'- button "Buy" \[aria-hidden\] \[ref=', text)
    assert re.search(r'- button "Alone" \[aria-hidden\] \[ref=', text)
    assert re.search(r'- button "Public" \[ref=', text)
    assert '"No"' not in text
    offline = snapshot_html(PAGE, HtmlSnapshotOptions(aria_hidden=True)).text

    def lines(text: str) -> list[str]:
        return [re.sub("ref=e?[0-9]+", "ref", line) for line in text.splitlines()[1:]]

    assert lines(offline) == lines(text)


def test_a_ref_of_one_can_be_tapped(tab: Page) -> None:
    tab.show("<div aria-hidden=true><button onclick=\"this.textContent='Done'\">Go</button></div>")
    raw = tab.snapshot(ariaHidden=True)
    ref = next(iter(render_snapshot(raw).refs))
    assert tab.call("action", ref, "click", {})["success"]
    assert tab.run("document.querySelector('button').textContent") == "Done"


@pytest.mark.parametrize("alike", [False, True], ids=["cut", "alike"])
def test_the_cut_of_an_unchanged_page_keeps_its_number(tab: Page, alike: bool) -> None:
    row = "<p><button>Go {}</button></p>" if alike else "<p class=c{0}><button>Go {0}</button></p>"
    tab.show("".join(row.format(place) for place in range(400)) + "<p id=last>")
    first = render_snapshot(tab.snapshot(maxNodes=50))
    assert first.more
    assert render_snapshot(tab.snapshot(maxNodes=50)).text == first.text
    tab.run("last.append('new words')")
    assert render_snapshot(tab.snapshot(maxNodes=50)).more == first.more
    rest = render_snapshot(tab.snapshot(scope=first.more[-1], maxNodes=50))
    assert rest.refs
    assert not rest.refs.keys() & first.refs.keys()
