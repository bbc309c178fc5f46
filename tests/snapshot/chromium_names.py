# ruff: noqa: E501 - documents and scripts read better on one line
"""Roles and names of a document by the script and by Chromium's own accessibility tree, and what they differ in."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from browser import Page

MARK = """(() => { let i = 0; for (const el of document.querySelectorAll('*')) el.setAttribute('data-n', i++); return i })()"""
ASK = """Object.fromEntries([...document.querySelectorAll('[data-n]')].map(el => [el.getAttribute('data-n'),
  [el.localName, __agentBrowser.roleOf(el), __agentBrowser.nameOf(el), el.querySelectorAll('*').length]]))"""
#: What CDP calls roles that have another name in ARIA, or none.
INTERNAL_ROLES = {
    **dict.fromkeys(
        ("LabelText", "Legend", "Figcaption", "Section", "Pre", "Abbr", "Ruby", "Canvas", "Video"), "generic"
    ),
    **dict.fromkeys(("DescriptionList", "PluginObject", "Audio", "Iframe", "LineBreak", "none", ""), "generic"),
    "DisclosureTriangle": "button",
    "image": "img",
    "SvgRoot": "graphics-document",
}
SKIPPED = frozenset("html head body style script meta title br option video audio canvas object iframe slot".split())


@dataclass(frozen=True)
class Seen:
    tag: str
    role: str
    name: str
    descendants: int = 0


def _folded(text: str) -> str:
    # What takes no room says nothing, and is white space in JavaScript.
    return " ".join(text.replace("\ufeff", " ").split())


def both_trees(page: Page) -> Iterator[tuple[Seen, Seen]]:
    """For each element that Chromium exposes, what the script and what Chromium says."""
    page.run(MARK)
    ours: dict[str, tuple[str, str, str, int]] = page.run(ASK, world=page.world())
    numbers: dict[int, str] = {}
    todo: list[dict[str, Any]] = [page.cdp("DOM.getDocument", depth=-1)["root"]]
    while todo:
        node = todo.pop()
        attributes = node.get("attributes", [])
        number = dict(zip(attributes[::2], attributes[1::2], strict=True)).get("data-n")
        if number is not None:
            numbers[node["backendNodeId"]] = number
        todo += node.get("children", [])
    for node in page.cdp("Accessibility.getFullAXTree")["nodes"]:
        number = numbers.get(node.get("backendDOMNodeId", 0))
        if number is None or node.get("ignored"):
            continue
        tag, role, name, descendants = ours[number]
        if tag in SKIPPED:
            continue
        theirs = node["role"]["value"]
        theirs = INTERNAL_ROLES.get(theirs, theirs)
        role = {"none": "generic"}.get(role, role)
        yield (
            Seen(tag, role, _folded(name), descendants),
            Seen(tag, theirs, _folded(node.get("name", {}).get("value", ""))),
        )


#: Differences that are meant, each with what it follows.
DECLARED = {
    "svg": "SVG-AAM §6: graphics-document, where Chromium says image",
    "form": "HTML-AAM §3.5: a form without a name has no role",
    "li": "HTML-AAM §3.5: an item outside of a list has no role",
    "th": "HTML §4.9.12.2: a header in a row with data cells is one of the row",
    "context": "CORE-AAM §5.4: a role without its required context is ignored",
    "row": "WAI-ARIA 1.3: rows are named from content",
    "figure": "HTML-AAM §4.1: figures are named by their captions, and add their content to names around them",
    "submit": "HTML-AAM §4.1: buttons have a default label",
    "generic": "names of generic elements are not shown",
    "input": "HTML-AAM §3.5: `list` makes a combobox of types that take text; what Chromium calls Date or ColorWell is a textbox",
    "table": "HTML-AAM §3.5: a table is a table, where Chromium guesses that it is for layout",
    "math": "HTML-AAM §3.5: math, where Chromium has roles of its own",
    "long": "accname 2F: all of the content names, where Chromium stops after some of much content",
    "switch": "HTML §4.10.5.1.15: the attribute makes a checkbox a switch",
    "img": "HTML-AAM §3.5: an image whose `alt` is empty has no role; a tooltip does not name it",
}
#: Chromium's own roles of tables that it takes for layout, of inputs without a role in ARIA, and of MathML.
LAYOUT_TABLE = ("LayoutTable", "LayoutTableRow", "LayoutTableCell")
OWN_INPUTS = ("Date", "DateTime", "InputTime", "ColorWell")
#: The fewest elements in content of which Chromium left a part out of a name; its tree has some three nodes for each.
FEWEST_IN_LONG_NAMES = 30


def difference(ours: Seen, theirs: Seen) -> str | None:
    """None where both say the same, the key of a declared difference, or "undeclared"."""
    if ours.role != theirs.role:
        if theirs.role in LAYOUT_TABLE or (ours.tag in ("td", "th", "tr", "tbody") and theirs.role == "generic"):
            return "table"
        if theirs.role.startswith("MathML"):
            return "math"
        if ours.tag == "input" and (theirs.role in OWN_INPUTS or theirs.role == "combobox"):
            return "input"
        if ours.tag == "img" and ours.role == "generic":
            return "img"
        if ours.role == "switch" and theirs.role == "checkbox":
            return "switch"
        if ours.tag in ("svg", "form", "li", "th"):
            return ours.tag
        contexts = ("menuitem", "menuitemcheckbox", "menuitemradio", "tab", "gridcell")
        return "context" if ours.role == "generic" and theirs.role in contexts else "undeclared"
    # Chromium names in the case that `text-transform` shows.
    if ours.name.lower() == theirs.name.lower() or ours.name.replace(" ", "") == theirs.name.replace(" ", ""):
        return None
    if ours.role in ("row", "rowgroup"):
        return "row"
    if ours.role in ("generic", "figure", "math"):
        return ours.role
    if set(theirs.name.split()) <= set(ours.name.split()):
        # Whole elements are missing in Chromium's name, nothing is added to it.
        return "long" if ours.descendants >= FEWEST_IN_LONG_NAMES else "undeclared"
    if ours.tag == "input" and not theirs.name and ours.name in ("Submit", "Reset"):
        return "submit"
    return "undeclared"


WORDS = "alpha beta gamma delta epsilon zeta eta theta".split()
WIDGETS = (
    "button link heading checkbox radio switch tooltip cell columnheader rowheader option treeitem listitem".split()
)
STYLE = """<style>.none{display:none}.hidden{visibility:hidden}.block{display:block}.ib{display:inline-block}
.before::before{content:"before"}.after::after{content:"after"}.alt::before{content:"x" / "alternative"}
.quoted::before{content:"a\\"b" "c"}.blocky::before{content:"block";display:block}.gone::after{content:"no";display:none}
</style>"""


class Documents:
    """Documents of controls with all that names are made of, from a seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)  # noqa: S311 - documents, and the same ones each time
        self._ids = 0

    def document(self) -> str:
        return "<!doctype html>" + STYLE + "\n".join(self._root() for _ in range(15))

    def _pick(self, *choices: str) -> str:
        return self._random.choice(choices)

    def _attributes(self) -> str:
        chance, words = self._random.random, self._pick(*WORDS)
        text = ""
        if chance() < 0.25:
            text += f" class={self._pick('none', 'hidden', 'block', 'ib', 'before', 'after', 'alt', 'quoted', 'blocky', 'gone')}"
        if chance() < 0.08:
            text += f' aria-label="{words} label"'
        if chance() < 0.05:
            text += f" aria-hidden={self._pick('true', 'false')}"
        if chance() < 0.3:
            self._ids += 1
            text += f" id=i{self._ids}"
        return text

    def _content(self, depth: int) -> str:
        return "".join(self._node(depth + 1) for _ in range(self._random.choice((0, 1, 1, 2, 3))))

    def _node(self, depth: int) -> str:
        word, attributes = self._pick(*WORDS), self._attributes()
        if depth > 3 or self._random.random() < 0.45:
            return self._pick("", " ", "\n") + word + self._pick("", " ")
        tag = self._pick("span", "span", "div", "b", "em", "p", "i")
        return self._pick(
            f"<{tag}{attributes}>{self._content(depth)}</{tag}>",
            f"<{tag}{attributes}>{self._content(depth)}</{tag}>",
            f'<img{attributes} alt="{word}">',
            f"<svg{attributes} width=9 height=9><title>{word}</title></svg>",
            f"<input{attributes} type={self._pick('text', 'range', 'number', 'email')} value=5>",
            f"<ul{attributes}><li>{self._content(depth)}</li><li>{word}</li></ul>",
            "<br>",
        )

    def _root(self) -> str:
        attributes, tag = self._attributes(), self._pick("button", "a href=#", "h3", "summary", "td", "li", "legend")
        self._ids += 1
        return self._pick(
            f"<{tag}{attributes}>{self._content(0)}</{tag.split()[0]}>",
            f"<div{attributes} role={self._pick(*WIDGETS)}>{self._content(0)}</div>",
            f"<label for=f{self._ids}>{self._content(0)}</label><input id=f{self._ids} type={self._pick('text', 'checkbox')}>",
            f"<fieldset><legend>{self._content(0)}</legend><a href=#>{self._content(0)}</a></fieldset>",
            f"<table><caption>{self._content(0)}</caption><tr><th>a<td>{self._content(0)}</table>",
            f"<svg width=99 height=99><g{attributes}><title>{self._pick(*WORDS)}</title><rect width=9 height=9 /></g></svg>",
        )


def count_differences(page: Page, html: str) -> tuple[Counter[str], list[tuple[Seen, Seen]]]:
    """Shows a document and counts its elements by kind of difference ("same" among them); the undeclared ones with it."""
    page.show(html)
    kinds: Counter[str] = Counter()
    undeclared = []
    for ours, theirs in both_trees(page):
        kind = difference(ours, theirs) or "same"
        kinds[kind] += 1
        if kind == "undeclared":
            undeclared.append((ours, theirs))
    return kinds, undeclared
