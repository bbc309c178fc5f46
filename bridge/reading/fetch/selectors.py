"""Does an element fit a parsed CSS selector? Pure; for many selectors of a style sheet, each tried on few elements."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Any, TypeAlias

from cssselect import parser

from bridge.snapshot.plain_html.parse import Element

# What a person does with the mouse, the keyboard or the address is not true of a document at rest.
_AT_REST = frozenset("hover active focus focus-within focus-visible target visited checked invalid fullscreen".split())
_MOST_DEEP = 40
_MOST_INNER = 500


Known: TypeAlias = dict[tuple[int, Element], bool]


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


def fits(element: Element, tree: Any, known: Known, depth: int = 0) -> bool:
    """True if the element is one that the selector means.

    Args:
        known: For all elements that are tried with one selector: what was found about the elements beside them.

    Raises:
        UnknownSelector: It has a part that is not understood.
    """
    if depth > _MOST_DEEP:
        raise UnknownSelector
    match tree:
        case parser.Element():
            return tree.element is None or tree.element.lower() == element.tag
        case parser.CombinedSelector():
            return fits(element, tree.subselector, known, depth + 1) and _is_beside(element, tree, known, depth + 1)
    if not fits(element, tree.selector, known, depth + 1):
        return False
    match tree:
        case parser.Hash():
            return bool(element.get("id") == tree.id)
        case parser.Class():
            return tree.class_name in (element.get("class") or "").split()
        case parser.Attrib():
            return _has_attribute(element, tree)
        case parser.Negation():
            return not fits(element, tree.subselector, known, depth + 1)
        case parser.Matching() | parser.SpecificityAdjustment():
            return any(fits(element, one, known, depth + 1) for one in tree.selector_list)
        case parser.Relation():
            if any(":has(" in one.canonical() for _, one in tree.arguments):  # Selectors 4 §4.5: never inside itself
                raise UnknownSelector
            inner = [(combinator.value, one.parsed_tree) for combinator, one in tree.arguments]
            return any(_has(element, combinator, one, known, depth + 1) for combinator, one in inner)
        case parser.Pseudo():
            return _is_in_state(element, tree.ident)
        case parser.Function():
            return _is_nth(element, tree)
    raise UnknownSelector


def _is_beside(element: Element, tree: Any, known: Known, depth: int) -> bool:
    match tree.combinator:
        case " ":
            return _is_any(element.getparent, tree, known, depth)
        case ">":
            parent = element.getparent()
            return parent is not None and fits(parent, tree.selector, known, depth)
        case "+":
            before = element.getprevious()
            return before is not None and fits(before, tree.selector, known, depth)
        case "~":
            return _is_any(element.getprevious, tree, known, depth)
    raise UnknownSelector


def _is_any(step: Callable[[], Element | None], tree: Any, known: Known, depth: int) -> bool:
    """True if one of the elements that repeated steps lead to fits; each is tried once."""
    passed: list[Element] = []
    name, found = step.__name__, False
    at = step()
    while at is not None and not found and (id(tree), at) not in known:
        passed.append(at)
        found = fits(at, tree.selector, known, depth)
        at = getattr(at, name)()
    found = found or (at is not None and known[id(tree), at])
    known.update({(id(tree), each): found for each in passed})
    return found


def _has(element: Element, combinator: str | None, tree: Any, known: Known, depth: int) -> bool:
    """CSS Selectors 4 §4.5 `:has()`."""
    match combinator:
        case " ":
            return any(fits(inner, tree, known, depth) for inner in islice(element.iterdescendants("*"), _MOST_INNER))
        case ">":
            return any(fits(child, tree, known, depth) for child in element.iterchildren("*"))
        case "+":
            after = element.getnext()
            return after is not None and fits(after, tree, known, depth)
        case "~":
            return any(fits(after, tree, known, depth) for after in element.itersiblings("*"))
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
    parent = element.getparent()
    if parent is None:
        return False
    at = parent.index(element)
    place = at + 1 if tree.name == "nth-child" else len(parent) - at
    return place == first if step == 0 else (place - first) % step == 0 and (place - first) // step >= 0
