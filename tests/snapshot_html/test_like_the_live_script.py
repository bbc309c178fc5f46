"""The same roles, names and lines as the injected script gives in Chromium, wherever no style sheet decides."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from browser import ACCNAME, Page

from bridge.snapshot import render_snapshot
from bridge.snapshot.plain_html.names import Names
from bridge.snapshot.plain_html.snapshot import HtmlSnapshotOptions, build_document, snapshot_html

PAGES = sorted((Path(__file__).parent / "pages").glob("*.html"))
ACCNAME_PAGES = sorted({case.partition("#")[0] for case in json.loads((ACCNAME / "cases.json").read_text())})

# What is different, element by element (page#id or page#tag), and why it has to be.
PSEUDO = "words that a style sheet puts before or after it"
SHEET = "a style sheet hides a part of it"
SHADOW = "it is in a shadow root, or its name is"
LENGTH = "a name of more than 2,000 characters ends elsewhere: generated boxes count as blanks there"
DIFFERENCES = {
    "accname/manual/name_from_content-manual.html#test": SHEET,
    "accname/manual/name_from_content_of_labelledby_element-manual.html#test": SHEET,
    "accname/manual/name_link-mixed-content-manual.html#test": SHEET,
    "accname/manual/name_test_case_660-manual.html#test": PSEUDO,
    "accname/manual/name_test_case_661-manual.html#test": PSEUDO,
    "accname/manual/name_test_case_662-manual.html#test": PSEUDO,
    "accname/manual/name_test_case_753-manual.html#test": PSEUDO,
    "accname/manual/name_test_case_760-manual.html#test": PSEUDO,
    "accname/name/comp_name_from_content_alt_counter_invalidation.html#a": PSEUDO,
    "accname/name/comp_name_from_content_alt_counter_invalidation.html#button": PSEUDO,
    "accname/name/comp_name_from_content_alt_counter_invalidation.html#h3": PSEUDO,
    "accname/name/shadowdom/basic.html#labelled1": SHADOW,
    "accname/name/shadowdom/basic.html#labelled2": SHADOW,
    "accname/name/shadowdom/slot.html#labelled1": SHADOW,
    "accname/name/shadowdom/slot.html#labelled2": SHADOW,
    "accname/name/shadowdom/slot.html#labelled3": SHADOW,
    "accname/name/shadowdom/slot.html#labelled4": SHADOW,
    "wai-aria/role/tree-roles.html#tbody": LENGTH,
}

MARK = """(() => {
  let i = 0;
  for (const el of document.querySelectorAll('body *')) el.setAttribute('data-n', i++);
  return document.documentElement.outerHTML;
})()"""
ASK = """[...document.querySelectorAll('[data-n]')].filter(el => !/^(script|style)$/.test(el.localName)).map(el =>
  [el.getAttribute('data-n'), el.id || el.localName, __agentBrowser.roleOf(el), __agentBrowser.nameOf(el)])"""


def differences(page: Page) -> tuple[dict[str, str], int]:
    """The elements of the document that has been loaded for which the two do not say the same, and how many it has."""
    html = page.run(MARK)
    told: list[list[Any]] = page.run(ASK, world=page.world())
    document = build_document(html)
    names = Names(document)
    elements = {element.get("data-n"): element for element in document.root.iter()}
    found = {}
    for number, which, role, name in told:
        element = elements.get(number)
        seen = ("missing", "") if element is None else (names.role_of(element), names.name_of(element))
        if seen != (role, name):
            found[which] = f"{role} {name!r} in the browser, {seen[0]} {seen[1]!r} without"
    return found, len(told)


@pytest.mark.browser
def test_roles_and_names_on_the_public_cases_are_the_same_but_for_what_a_browser_alone_knows(live: Page) -> None:
    found: dict[str, str] = {}
    count = 0
    for path in ACCNAME_PAGES:
        live.goto(f"/{path}")
        live.run("__hkReady")
        on_page, elements = differences(live)
        count += elements
        found |= {f"{path}#{which}": words for which, words in on_page.items()}
    print(f"{count - len(found)} of {count} elements alike")
    assert count > 1_500
    new = [f"different: {which}: {found[which]}" for which in sorted(found.keys() - DIFFERENCES.keys())]
    alike = [f"alike now, take it from the list: {which}" for which in sorted(DIFFERENCES.keys() - found.keys())]
    assert not new + alike, "\n".join(["", *new, *alike])


@pytest.mark.browser
@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_roles_and_names_on_static_pages_are_the_same(live: Page, path: Path) -> None:
    live.show(path.read_text())
    found, count = differences(live)
    assert found == {}
    assert count > 60


@pytest.mark.browser
@pytest.mark.parametrize("everything", [False, True], ids=["interactive", "everything"])
@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_the_text_of_a_static_page_is_the_same_line_by_line(live: Page, path: Path, everything: bool) -> None:
    html = path.read_text()
    live.show(html)
    seen = render_snapshot(live.snapshot(interactiveOnly=not everything, cursorInteractive=True))
    read = snapshot_html(html, HtmlSnapshotOptions(interactive_only=not everything), url=seen.url)
    assert without_numbers(read.text) == without_numbers(seen.text)
    assert len(read.refs) > 15
    assert read.stats.js_stats["hiddenTextRemoved"] == seen.stats.js_stats["hiddenTextRemoved"]


def without_numbers(text: str) -> list[str]:
    return re.sub(r"\[ref=e?\d+\]", "[ref]", text).splitlines()
