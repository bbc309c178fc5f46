"""Does an element fit a parsed CSS selector? Pure; for many selectors of a style sheet, each tried on few elements."""

from __future__ import annotations

from itertools import islice
from typing import Any

from cssselect import parser

from bridge.snapshot.plain_html.parse import Element

# What a person does with the mouse, the keyboard or the address is not true of a document at rest.
_AT_REST = frozenset("hover active focus focus-within focus-visible target visited checked invalid fullscreen".split())
_MOST_DEEP = 40
_MOST_INNER = 500


class UnknownSelector(Exception):
    """The selector has a part that is not understood."""


def key_of(tree: Any) -> str:
    """`#id`, `.class` or a tag that each element has that can fit; `*` if there is none."""
    if isinstance(tree, parser.CombinedSelector):
        return key_of(tree.subselector)
    if isinstance(tree, parser.Hash):
        return "#" + tree.id
    if isinstance(tree, parser.Class):
        return "." + tree.class_name
    if isinstance(tree, parser.Element):
        return (tree.element or "*").lower()
    return key_of(tree.selector)


def fits(element: Element, tree: Any, depth: int = 0) -> bool:
    """True if the element is one that the selector means.

    Raises:
        UnknownSelector: It has a part that is not understood.
    """
    if depth > _MOST_DEEP:
        raise UnknownSelector
    match tree:
        case parser.Element():
            return tree.element is None or tree.element.lower() == element.tag
        case parser.CombinedSelector():
            return fits(element, tree.subselector, depth + 1) and _is_beside(element, tree, depth + 1)
    if not fits(element, tree.selector, depth + 1):
        return False
    match tree:
        case parser.Hash():
            return bool(element.get("id") == tree.id)
        case parser.Class():
            return tree.class_name in (element.get("class") or "").split()
        case parser.Attrib():
            return _has_attribute(element, tree)
        case parser.Negation():
            return not fits(element, tree.subselector, depth + 1)
        case parser.Matching() | parser.SpecificityAdjustment():
            return any(fits(element, one, depth + 1) for one in tree.selector_list)
        case parser.Relation():
            inner = [(combinator.value, one.parsed_tree) for combinator, one in tree.arguments]
            return any(_has(element, combinator, one, depth + 1) for combinator, one in inner)
        case parser.Pseudo():
            return _is_in_state(element, tree.ident)
        case parser.Function():
            return _is_nth(element, tree)
    raise UnknownSelector


def _is_beside(element: Element, tree: Any, depth: int) -> bool:
    match tree.combinator:
        case " ":
            return any(fits(above, tree.selector, depth) for above in element.iterancestors())
        case ">":
            parent = element.getparent()
            return parent is not None and fits(parent, tree.selector, depth)
        case "+":
            before = element.getprevious()
            return before is not None and fits(before, tree.selector, depth)
        case "~":
            return any(fits(before, tree.selector, depth) for before in element.itersiblings(preceding=True))
    raise UnknownSelector


def _has(element: Element, combinator: str | None, tree: Any, depth: int) -> bool:
    """CSS Selectors 4 §4.5 `:has()`."""
    match combinator:
        case " ":
            return any(fits(inner, tree, depth) for inner in islice(element.iterdescendants("*"), _MOST_INNER))
        case ">":
            return any(fits(child, tree, depth) for child in element.iterchildren("*"))
        case "+":
            after = element.getnext()
            return after is not None and fits(after, tree, depth)
        case "~":
            return any(fits(after, tree, depth) for after in element.itersiblings("*"))
    raise UnknownSelector


def _has_attribute(element: Element, tree: Any) -> bool:
    value = element.get(tree.attrib.lower())
    if value is None or tree.operator == "exists":
        return value is not None
    wanted = tree.value.value
    match tree.operator:
        case "=":
            return bool(value == wanted)
        case "~=":
            return wanted in value.split()
        case "|=":
            return bool(value == wanted or value.startswith(wanted + "-"))
        case "^=":
            return bool(wanted) and value.startswith(wanted)
        case "$=":
            return bool(wanted) and value.endswith(wanted)
        case "*=":
            return bool(wanted) and wanted in value
    raise UnknownSelector


def _is_in_state(element: Element, name: str) -> bool:
    match name:
        case "first-child":
            return element.getprevious() is None
        case "last-child":
            return element.getnext() is None
        case "only-child":
            return element.getprevious() is None and element.getnext() is None
        case "empty":
            return len(element) == 0 and not element.text
        case "root":
            return element.getparent() is None
        case "link" | "any-link":
            return element.tag in ("a", "area") and element.get("href") is not None
    if name in _AT_REST:
        return False
    raise UnknownSelector


def _is_nth(element: Element, tree: Any) -> bool:
    if tree.name not in ("nth-child", "nth-last-child"):
        raise UnknownSelector
    try:
        step, first = parser.parse_series(tree.arguments)
    except ValueError as error:
        raise UnknownSelector from error
    place = 1 + sum(1 for _ in element.itersiblings(preceding=tree.name == "nth-child"))
    return place == first if step == 0 else (place - first) % step == 0 and (place - first) // step >= 0
