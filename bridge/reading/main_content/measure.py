"""Measures in one pass how much text each element holds, and how much of it is links and prose."""

from __future__ import annotations

import re
from collections.abc import Container
from dataclasses import dataclass
from typing import Any

from lxml import etree

#: Signs that end clauses, in every script that has such: prose has them, menus do not.
CLAUSES = re.compile(r"[,.;:!?…،؛؟۔।॥、。，．；：！？]")  # noqa: RUF001
_PROSE_TAGS = frozenset(
    [
        "p",
        "pre",
        "blockquote",
        "td",
        "dd",
        "li",
        "h2",
        "h3",
        "h4",
        "div",
        "section",
        "article",
        "span",
        "font",
        "center",
        "figcaption",
    ]
)
_INLINE = frozenset(
    [
        "a",
        "abbr",
        "b",
        "bdi",
        "bdo",
        "big",
        "cite",
        "code",
        "del",
        "dfn",
        "em",
        "font",
        "i",
        "img",
        "ins",
        "kbd",
        "label",
        "mark",
        "q",
        "s",
        "samp",
        "small",
        "span",
        "strike",
        "strong",
        "sub",
        "sup",
        "time",
        "tt",
        "u",
        "var",
        "wbr",
        "br",
    ]
)
_GOES_ON = frozenset(
    ["p", "ul", "ol", "dl", "dd", "dt", "blockquote", "table", "tbody", "tr", "pre", "figure", "h2", "h3", "h4", "h5"]
)
_SHORT = 25
_LONG_RUN = 60.0


@dataclass(slots=True, eq=False)
class Mass:
    """Characters below an element without white space; `prose` is the score of the paragraphs in it.

    Paragraphs that follow each other are a run; in `weighted` a long run counts more than teasers do.
    """

    text: int = 0
    link: int = 0
    links: int = 0
    clauses: int = 0
    prose: float = 0.0
    weighted: float = 0.0
    run: float = 0.0
    # The largest part below that goes on in this element.
    whole: int = 0
    # Of the paragraph that is being gathered: text outside of any block below.
    own_text: int = 0
    own_link: int = 0
    own_clauses: int = 0

    @property
    def link_density(self) -> float:
        return self.link / self.text if self.text else 0.0


Masses = dict[etree._Element, Mass]


def measure(root: etree._Element, leave_out: Container[etree._Element] = ()) -> Masses:
    """The mass of every element below `root` and of itself, without those in `leave_out`."""
    masses: Masses = {}
    stack: list[Mass] = []
    in_links = 0
    walker: Any = etree.iterwalk(root, events=("start", "end"))
    for event, element in walker:
        if event == "start":
            if element in leave_out and element is not root:
                walker.skip_subtree()
                stack.append(Mass())
                continue
            mass = masses[element] = Mass()
            stack.append(mass)
            if element.tag == "a":
                in_links += 1
            if element.text:
                _add(mass, element.text, in_links)
            continue
        mass = stack.pop()
        if element not in masses:
            if element.tail:
                _add(stack[-1], element.tail, in_links)
            continue
        tag = element.tag
        if tag == "a":
            in_links -= 1
            mass.links += 1
        is_inline = tag in _INLINE
        if not is_inline and mass.own_text:
            own = _prose(mass, str(tag))
            mass.run += own
            mass.prose += own
        # Is it one paragraph or one list, or a box of its own?
        goes_on = is_inline or tag in _GOES_ON or max(mass.whole, mass.own_text) * 10 >= mass.text * 9
        below = mass.weighted
        mass.weighted += mass.run * min(1.0, 0.05 + mass.run / _LONG_RUN)
        if stack:
            around = stack[-1]
            around.text += mass.text
            around.link += mass.link
            around.links += mass.links
            around.clauses += mass.clauses
            around.prose += mass.prose
            around.weighted += below if goes_on else mass.weighted
            if goes_on:
                around.run += mass.run
            if mass.run and mass.text > around.whole:
                around.whole = mass.text if goes_on else 0
            if is_inline:
                around.own_text += mass.own_text
                around.own_link += mass.own_link
                around.own_clauses += mass.own_clauses
            if element.tail and element is not root:
                _add(around, element.tail, in_links)
    return masses


def _add(mass: Mass, text: str, in_links: int) -> None:
    if text.isspace():
        return
    length = len(text) - text.count(" ")
    clauses = len(CLAUSES.findall(text))
    mass.text += length
    mass.own_text += length
    if in_links:
        mass.link += length
        mass.own_link += length
    mass.clauses += clauses
    mass.own_clauses += clauses


def _prose(mass: Mass, tag: str) -> float:
    """0 for labels and menus, more for long text with clauses."""
    free = mass.own_text - mass.own_link
    if free < _SHORT or tag not in _PROSE_TAGS:
        return 0.0
    share = free / mass.own_text
    weight = 0.4 if tag in ("li", "td", "figcaption", "span") else 1.0
    return weight * share * share * (min(free, 2_000) / 40 + min(mass.own_clauses, 40))
