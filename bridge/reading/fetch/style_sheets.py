"""The rules of a page's own style sheets that decide what is seen, as inline styles of the elements they fit. Pure.

The cascade is a browser's (css-cascade-5 §6: importance, layers, specificity, order). Style sheets in other files are
not fetched; where a page has any, only what they seldom undo is taken from its own. Selectors and conditions that
depend on more than the document are not true of it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias
from urllib.parse import unquote

from cssselect import SelectorError, parse
from cssselect.parser import Selector
from lxml import etree

from bridge.reading.fetch.selectors import UnknownSelector, fits, key_of
from bridge.snapshot.plain_html.parse import Element

_MOST_CHARS = 1_000_000
_MOST_RULES = 4_000
_MOST_TESTS = 200_000
_LEAST_CHARS = 500
_SCREEN_PX = 412  # the width of the browser's tabs
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)|<!--|-->", re.DOTALL)
_TOKEN = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|\\.|[{};]", re.DOTALL)
_IMPORTANT = re.compile(r"\s*!\s*important$")
_VARIABLE = re.compile(r"var\(\s*(--[\w-]+)\s*(?:,[^()]*)?\)")
# What each element that fits a selector, or one around it, has; not what stands in brackets.
_NAMES = re.compile(r"[.#]-?[a-zA-Z_][\w-]*")
_BRACKETS = re.compile(r"\[[^\]]*\]|\([^()]*\)")
_MEDIA = re.compile(r"(?:only\s+)?(?:(all|screen)\b\s*)?(?:and\s*)?((?:\([^()]*\)\s*(?:and\s*)?)*)")
_FEATURE = re.compile(r"\(\s*(min|max)-width\s*:\s*([\d.]+)(px|em|rem)\s*\)")
_LENGTH = re.compile(r"-?[\d.]+(px|em|%)?")
_SEEN_TEXT = etree.XPath("//body//text()[not(parent::script or parent::style or parent::noscript)]")

_CLEAR = r"transparent|#[0-9a-f]{3}0|#[0-9a-f]{6}00|(rgba|hsla)\(.*[,/]\s*0?\.?0*%?\s*\)|.*/\s*0%?\s*\)"
_SMALL = r"[01]?\.?\d?(px)?"
_FAR = r".*-\d{3,}.*"
# The values that can take text from sight, alone or with others of the same rule.
_HIDING = {
    name: re.compile(value)
    for names, value in (
        ("display", "none"),
        ("visibility", "hidden|collapse"),
        ("content-visibility", "hidden"),
        ("opacity", r"0?\.?0\d*%?"),
        ("font-size", _SMALL),
        ("text-indent", _FAR),
        ("color -webkit-text-fill-color", _CLEAR),
        ("clip clip-path", r"(rect|inset|circle|ellipse|polygon|path)\(.*"),
        ("transform", r".*(scale|matrix|translate|rotate).*"),
        ("left top inset", _FAR),
        ("width height max-width max-height", _SMALL),
    )
    for name in names.split()
}
_TEXT = frozenset(("opacity", "font-size", "text-indent", "color", "-webkit-text-fill-color"))
_NAMES_OF_STYLES = frozenset((*_HIDING, "position", "overflow"))
_INHERITED = frozenset(("visibility", "font-size", "text-indent", "color", "-webkit-text-fill-color"))
_COLOURS = ("color", "-webkit-text-fill-color")

_Rank: TypeAlias = tuple[bool, int, tuple[int, int, int], int]


@dataclass(frozen=True, slots=True)
class _Rule:
    """`order` is its place in the sheets, `layer` 0 in a cascade layer and 1 outside of any."""

    prelude: str
    declarations: dict[str, tuple[str, bool]]
    layer: int
    order: int

    @property
    def is_hiding(self) -> bool:
        return any(name in _HIDING and _HIDING[name].fullmatch(value) for name, (value, _) in self.declarations.items())


def apply_style_sheets(root: Element) -> None:
    """Adds what the page's own style sheets say about visibility to the `style` attributes of its elements.

    Nothing is added to what holds most of the text: such a page shows itself when its scripts are ready.
    """
    css = "\n".join(_sheets(root))[:_MOST_CHARS]
    if not css:
        return
    is_linked = any(not _href(link).startswith("data:") for link in _links(root))
    rules = _rules(css, _NAMES_OF_STYLES - _TEXT if is_linked else _NAMES_OF_STYLES)
    hiding = [rule for rule in rules if rule.is_hiding]
    if not hiding:
        return
    document = _Document(root)
    hidden = document.cascaded(hiding, None)
    if not hidden:
        return
    names = {name for styles in hidden.values() for name in styles}
    scope = set(hidden)
    if not names.isdisjoint(_INHERITED):
        scope.update(inner for element in hidden for inner in element.iterdescendants())
    said = document.cascaded(rules, scope)
    most_chars = max(len("".join(_SEEN_TEXT(root))) // 2, _LEAST_CHARS)
    _keep_clear_colours(said)
    for element, styles in said.items():
        if element not in hidden or len("".join(element.itertext())) <= most_chars:
            _add(element, styles)


def _sheets(root: Element) -> Iterator[str]:
    for element in [*_links(root), *root.iter("style")]:
        around = {above.tag for above in element.iterancestors()}
        if around.isdisjoint(("noscript", "template", "svg")) and _is_true((element.get("media") or "").lower()):
            href = _href(element)
            text = unquote(href.partition(",")[2]) if href.startswith("data:text/css,") else element.text or ""
            yield _COMMENT.sub(" ", text)


def _links(root: Element) -> list[Element]:
    return [link for link in root.iter("link") if "stylesheet" in (link.get("rel") or "").lower().split()]


def _href(element: Element) -> str:
    return (element.get("href") or "").strip()


def _rules(css: str, names: frozenset[str]) -> list[_Rule]:
    """The rules that say something about these properties, in their order."""
    found: list[_Rule] = []
    variables: dict[str, str] = {}
    for layer, prelude, body in _blocks(css, 1):
        declarations: dict[str, tuple[str, bool]] = {}
        for part in body.split(";"):
            name, colon, value = part.partition(":")
            name, value = name.strip().lower(), value.strip().lower()
            if name.startswith("--"):
                variables.setdefault(name, value)
            elif colon and name in names:
                declarations[name] = (_value(name, _IMPORTANT.sub("", value), variables), "!" in value)
        if declarations and len(found) < _MOST_RULES:
            found.append(_Rule(prelude, declarations, layer, len(found)))
    return found


def _value(name: str, value: str, variables: dict[str, str]) -> str:
    """The value with custom properties filled in; a size that does not depend on what is around it is a usual one."""
    if "var(" in value:
        value = _VARIABLE.sub(lambda found: variables.get(found[1], found[0]), value)
    return "16px" if name == "font-size" and not _LENGTH.fullmatch(value) else value


def _blocks(css: str, layer: int) -> Iterator[tuple[int, str, str]]:
    """Layer, selector and declarations of each style rule whose conditions are true."""
    at = start = 0
    while (token := _TOKEN.search(css, at)) is not None:
        at = token.end()
        if token[0] in ";}":
            start = at
        elif token[0] == "{":
            prelude, begin = css[start : token.start()].strip(), at
            at = start = _end_of_block(css, at)
            body = css[begin : at - 1]
            if not prelude.startswith("@"):
                yield layer, prelude, body.partition("{")[0].rpartition(";")[0] if "{" in body else body
                continue
            name, _, condition = prelude.lower().replace("(", " (", 1).partition(" ")
            if name == "@layer":
                yield from _blocks(body, 0)
            elif (name == "@media" and _is_true(condition)) or (name == "@supports" and "not" not in condition):
                yield from _blocks(body, layer)


def _end_of_block(css: str, at: int) -> int:
    depth = 1
    for token in _TOKEN.finditer(css, at):
        depth += {"{": 1, "}": -1}.get(token[0], 0)
        if depth == 0:
            return token.end()
    return len(css) + 1


def _is_true(media: str) -> bool:
    """True if a media query fits a narrow screen; features other than its width are not known."""
    if not media.strip():
        return True
    for query in media.split(","):
        features = _FEATURE.findall(query)
        if not _MEDIA.fullmatch(query.strip()) or len(features) != query.count("("):
            continue
        if all(
            (float(size) * (1 if unit == "px" else 16) <= _SCREEN_PX) == (bound == "min")
            for bound, size, unit in features
        ):
            return True
    return False


class _Document:
    """The elements of a page by what selectors name."""

    def __init__(self, root: Element) -> None:
        self._by_key: dict[str, list[Element]] = defaultdict(list)
        self._names: set[str] = set()
        self._parsed: dict[str, list[Selector]] = {}
        for element in root.iter("*"):
            names = ["." + name for name in dict.fromkeys((element.get("class") or "").split())]
            if (found := element.get("id")) is not None:
                names.append("#" + found)
            self._names.update(names)
            if (tag := str(element.tag)) not in ("html", "head", "body"):
                for key in ("*", tag, *names):
                    self._by_key[key].append(element)

    def cascaded(self, rules: list[_Rule], scope: set[Element] | None) -> dict[Element, dict[str, tuple[str, bool]]]:
        """The winning value of each property and whether it is important, of all elements or those in `scope`.

        Empty if that takes too much work.
        """
        said: dict[Element, dict[str, tuple[str, bool]]] = {}
        ranks: dict[tuple[Element, str], _Rank] = {}
        tests = 0
        for rule in rules:
            for selector in self._selectors(rule.prelude):
                tree = selector.parsed_tree
                candidates = self._by_key.get(key_of(tree), [])
                if scope is not None:
                    candidates = [element for element in candidates if element in scope]
                if (tests := tests + len(candidates)) > _MOST_TESTS:
                    return {}
                try:
                    matching = [element for element in candidates if fits(element, tree)]
                except UnknownSelector:
                    continue
                weight = (rule.layer, selector.specificity(), rule.order)
                for element in matching:
                    for name, (value, important) in rule.declarations.items():
                        rank = (important, *weight)
                        if rank >= ranks.get((element, name), rank):
                            ranks[element, name] = rank
                            said.setdefault(element, {})[name] = (value, important)
        return said

    def _selectors(self, prelude: str) -> list[Selector]:
        """The selectors of a rule that can fit something here."""
        if (known := self._parsed.get(prelude)) is None:
            parts = [prelude] if "(" in prelude or "[" in prelude else prelude.split(",")
            here = ",".join(part for part in parts if "," in part or self._names.issuperset(_names_in(part)))
            try:
                known = [each for each in parse(here) if each.pseudo_element is None] if here else []
            except SelectorError:
                known = []
            self._parsed[prelude] = known
        return known


def _names_in(selector: str) -> list[str]:
    while "(" in selector or "[" in selector:
        selector, count = _BRACKETS.subn("", selector)
        if not count:
            return []
    return _NAMES.findall(selector)


def _keep_clear_colours(said: dict[Element, dict[str, tuple[str, bool]]]) -> None:
    """Drops colours but for transparent ones with nothing coloured inside: grounds may be drawn by other files."""
    coloured = {
        element
        for element, styles in said.items()
        if any(name in styles and not _HIDING[name].fullmatch(styles[name][0]) for name in _COLOURS)
    }
    around = {above for element in coloured for above in element.iterancestors()}
    for element, styles in said.items():
        if element in coloured or element in around:
            for name in _COLOURS:
                styles.pop(name, None)


def _add(element: Element, styles: dict[str, tuple[str, bool]]) -> None:
    """Inline styles win over those of sheets, and important ones over both (css-cascade-5 §6.1)."""
    own = element.get("style") or ""
    names = {part.partition(":")[0].strip().lower(): "!" in part for part in own.split(";")}
    before = [f"{name}:{value}" for name, (value, important) in styles.items() if not important and name not in names]
    after = [f"{name}:{value}" for name, (value, important) in styles.items() if important and not names.get(name)]
    if parts := [*before, *([own] if own.strip() else []), *after]:
        element.set("style", ";".join(parts))
