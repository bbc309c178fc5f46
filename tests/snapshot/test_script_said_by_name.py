# ruff: noqa: E501 - HTML and scripts read better on one line
"""What a control's name has said is not walked for again, unless there may be another control in it."""

from __future__ import annotations

import pytest
from browser import Page
from raw_tree import nodes

pytestmark = pytest.mark.browser

#: Each within a link that has a name.
CONTROLS = {
    "a link": "<span><object></object><span id=x role=button>inner</span></span>",
    "something clickable": "<span><b id=x onclick='0'>inner</b></span>",
    "something that takes the focus": "<span><b id=x tabindex=0>inner</b></span>",
    "an editor": "<span><b id=x contenteditable>inner</b></span>",
    "a field": "<span><input id=x></span>",
    "a control in a shadow tree": "<span><span id=host></span></span><script>host.attachShadow({mode: 'open'}).innerHTML = '<button id=x>inner</button>'</script>",
}


@pytest.mark.parametrize("case", CONTROLS)
def test_a_control_inside_of_a_named_link_has_a_ref_of_its_own(tab: Page, case: str) -> None:
    tab.show(f"<a href=/>Name of the link {CONTROLS[case]}</a>")
    found = [node for node in nodes(tab.snapshot(cursorInteractive=True)) if node.get("ref")]
    assert len(found) == 2, found


def test_a_control_given_to_a_slot_inside_of_a_named_link_has_a_ref_of_its_own(tab: Page) -> None:
    tab.show(
        "<div id=host><button>inner</button></div><script>host.attachShadow({mode: 'open'}).innerHTML = '<a href=/>Name <slot></slot></a>'</script>"
    )
    found = [node["role"] for node in nodes(tab.snapshot()) if node.get("ref")]
    assert found == ["link", "button"]


def test_words_that_a_links_name_has_said_are_not_walked_again(tab: Page) -> None:
    tab.show("<a href=/>Name" + " <span>of <b>it</b></span>" * 60 + "</a>")
    raw = tab.snapshot(maxNodes=1, cursorInteractive=True)
    assert raw["stats"]["visitedNodes"] == len(("html", "head", "body", "a"))
    assert not raw["truncated"]
