"""Roles, names and descriptions of elements in a tree without a browser. Pure.

The same rules as in `injected_js/src/roles.js` and `names.js`, step letters of accname-1.2 §4.3 included; rules
that need computed style or layout use the tag and the inline style instead.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from bridge.snapshot.plain_html.dom import (
    HtmlDocument,
    fold,
    input_type,
    is_first_summary,
    kids_of,
    text_of,
)
from bridge.snapshot.plain_html.parse import Element
from bridge.snapshot.plain_html.roles import FOCUSABLE_TAGS, SKIPPED_TAGS, VOID_TAGS
from bridge.snapshot.plain_html.values import is_disabled, is_multiple, number_of, selected_options, value_of
from bridge.snapshot.role_table import (
    INTERACTIVE,
    NAME_FROM_CONTENT,
    NEEDS_NAME,
    OMITTED_FROM_NAMES,
    REQUIRED_PARENTS,
    ROLE_TRAITS,
    SECTIONING,
    SYNONYMS,
    TABLE_PART,
    TAG_ROLES,
)

#: How a node was reached.
_ITSELF, _CHILD, _REFERENCE, _LABEL = range(4)
#: Elements looked at for names in one snapshot; a page in which every name is the text of half the page has more.
MAX_STEPS = 150_000
_NAME_DEPTH = 99
_NAME_CHARS = 2_000

# Global states and properties (WAI-ARIA 1.3 §6.4) but for names and those whose global use is deprecated.
_GLOBAL_ARIA = re.compile(r"aria-(at|b|con|cu|de|f|k|li|ow|rel|rol)")
_SECTIONING = " ".join(role for role, traits in ROLE_TRAITS.items() if traits & SECTIONING)
#: Children that name their parent, by its tag; in SVG it is `title`.
_NAMING_PARTS = {"fieldset": "legend", "figure": "figcaption", "table": "caption"}
#: Types of inputs that `list` makes combo boxes (HTML-AAM §3.5).
_TEXT_TYPES = frozenset(("text", "search", "url", "tel", "email"))
#: Quotation marks of a `q` and of one in it.
_QUOTES = (("\u201c", "\u201d"), ("\u2018", "\u2019"))
#: Between an item and its list, or an option and its list box.
_BETWEEN = frozenset(("generic", "none", "group"))
_BUTTON_WORDS = {"submit": "Submit", "reset": "Reset", "button": "", "image": "Submit"}
_ALT_ATTR = {
    "a": "xlink:title",
    "area": "alt",
    "img": "alt",
    "math": "alttext",
    "optgroup": "label",
    "option": "label",
    "tr": "title",
}


@dataclass(frozen=True, slots=True)
class _Walk:
    """Whose name it is, what has been in it, and under which rules; `known` 1 or 2: as snapshots name it."""

    root: Element
    seen: set[Element]
    referenced: bool = False
    hidden: bool = False
    known: int = 0


class Names:
    """Roles and names of one document.

    Attributes:
        removed: Texts left out because they are invisible.
        exhausted: `MAX_STEPS` did not suffice; names that came later may be shorter than they are.
    """

    def __init__(self, document: HtmlDocument) -> None:
        self.document = document
        self.removed = 0
        self._roles: dict[Element, str] = {}
        self._fitting: dict[tuple[str, str], Callable[[Element], bool]] = {}
        self._steps = MAX_STEPS

    @property
    def exhausted(self) -> bool:
        return self._steps <= 0

    def role_of(self, element: Element) -> str:
        role = self._roles.get(element)
        if role is not None:
            return role
        # Ancestors first: their roles may be asked for, and a page may be deep.
        chain = [element]
        while (above := chain[-1].getparent()) is not None and above not in self._roles:
            chain.append(above)
        for one in reversed(chain):
            if one not in self._roles:
                self._roles[one] = "generic"  # a name may ask for the role it is computed for
                self._roles[one] = self._explicit_role(one) or self._implicit_role(one) or "generic"
        return self._roles[element]

    def name_of(self, element: Element, known: int = 0) -> str:
        """The accessible name; with `known`, as a snapshot shows it: content names only what is interactive."""
        return fold(self._compute(element, _Walk(element, set(), known=known), _ITSELF, 0))

    def description_of(self, element: Element, name: str) -> str:
        said = self._referenced(element, "aria-describedby") or fold(element.get("aria-description") or "")
        native = said or self._native_description(element, name) or fold(element.get("title") or "")
        return said or ("" if native == name else native)

    def _native_description(self, element: Element, name: str) -> str:
        """SVG-AAM §5.3: `desc`, else what else describes; HTML-AAM §4.2: a button's value, a summary's text."""
        if element.tag == "svg" or self._is_in_svg(element):
            parts = [text_of(child) for tag in ("desc", "title") for child in element.iterchildren(tag)]
            words = map(fold, (*parts, (element.get("xlink:title") or "") if element.tag == "a" else ""))
            return next((said for said in words if said and said != name), "")
        if element.tag == "summary" and self.author_name(element, title=False):
            return fold(text_of(element))
        value = fold(element.get("value") or "") if input_type(element) in _BUTTON_WORDS else ""
        return "" if value == name else value

    def author_name(self, element: Element, *, title: bool = True) -> str:
        """The name that the author wrote on the element itself."""
        return (
            self._referenced(element, "aria-labelledby")
            or fold(element.get("aria-label") or "")
            or (fold(element.get("title") or "") if title else "")
        )

    def _explicit_role(self, element: Element) -> str:
        said = element.get("role")
        if not said:
            return ""
        for token in said.lower().split()[:20]:
            role = SYNONYMS.get(token, token)
            if self._is_allowed(element, role):
                return role
        return ""

    def _is_allowed(self, element: Element, role: str) -> bool:
        if role == "none":
            return not self._is_exposed(element)
        if ROLE_TRAITS.get(role, 0) & NEEDS_NAME:
            return bool(self.author_name(element))
        return role in ROLE_TRAITS and role != "iframe" and self._is_in_context(element, role)

    def _is_exposed(self, element: Element) -> bool:
        """Conflicts of presentational roles (WAI-ARIA 1.3 §5.3.3), and what includes SVG elements (SVG-AAM §5.1.2)."""
        return (
            is_focusable(element)
            or any(_GLOBAL_ARIA.match(key) for key in element.keys())  # noqa: SIM118 - an element is not a mapping
            or bool(self.author_name(element, title=False))
        )

    def _is_in_context(self, element: Element, role: str) -> bool:
        """A role whose required context is missing is ignored (CORE-AAM §5.4)."""
        parents = REQUIRED_PARENTS.get(role[:8])
        if parents is None:
            return True
        is_near = parents.startswith("list")
        return self._is_in(element, "-", parents, is_near=is_near) or any(
            self.role_of(owner) in parents.split() or self._is_in(owner, "-", parents, is_near=is_near)
            for owner in self.document.owners(element)
        )

    def _is_in(self, element: Element, tag: str, roles: str, *, is_near: bool = False) -> bool:
        """Is it in something with one of these roles, or whose tag has this part?

        `is_near`: with nothing between that has a role of its own, but for groups.
        """
        wanted = frozenset(roles.split())
        fits = self._fitting.get((tag, roles))
        if fits is None:

            def fits(above: Element) -> bool:
                role = self.role_of(above)
                is_wanted = role in wanted or (tag in str(above.tag) and role != "none")
                return is_wanted or (is_near and role not in _BETWEEN)

            self._fitting[tag, roles] = fits
        found = self.document.closest_above(element, fits)
        return found is not None and (not is_near or tag in str(found.tag) or self.role_of(found) in wanted)

    def _implicit_role(self, element: Element) -> str:
        tag = str(element.tag)
        # The HTML parser here leaves no capitals in SVG's names.
        role = TAG_ROLES.get("foreignObject" if tag == "foreignobject" else tag, "")
        if not role:
            return ""
        if tag != "image" and self._is_in_svg(element) and not (tag == "a" and has_link(element)):
            own = "group" if tag in ("a", "svg") else role
            return own if self._is_exposed(element) or has_svg_text(element) else ""
        traits, table_role = ROLE_TRAITS[role], ""
        if traits & TABLE_PART:
            table = self.document.closest_above(element, _is_table)
            table_role = self.role_of(table) if table is not None else ""
            if not re.search("grid|table", table_role):
                return ""
        match tag:
            case "a" | "area":
                return role if has_link(element) else ""
            case "summary":
                return role if is_first_summary(element) else ""
            case "aside":
                return role if not self._is_in(element, "section", _SECTIONING) or self.author_name(element) else ""
            case "header" | "footer":
                inside = self._is_in(element, "section", f"{_SECTIONING} main")
                return f"section{tag}" if inside else role
            case "img":
                return "none" if element.get("alt") == "" and not self._is_exposed(element) else role
            case "input":
                kind = input_type(element)
                if kind == "checkbox" and element.get("switch") is not None:
                    return "switch"
                role = TAG_ROLES.get(f"@{kind}", role)
                has_list = any(target.tag == "datalist" for target in self.document.idrefs(element, "list"))
                return "combobox" if has_list and kind in _TEXT_TYPES else role
            case "select":
                return "listbox" if is_multiple(element) else role
            case "li":
                return role if self._is_in_context(element, role) else ""
            case "td":
                return "gridcell" if "grid" in table_role else role
            case "th":
                scope = (element.get("scope") or "").lower()
                parent = element.getparent()
                beside_cells = not scope.startswith("col") and parent is not None and parent.find(".//td") is not None
                return "rowheader" if scope.startswith("row") or beside_cells else role
        return role if not traits & NEEDS_NAME or self.author_name(element) else ""

    def _is_in_svg(self, element: Element) -> bool:
        found = self.document.closest_above(element, _is_svg_or_html)
        return found is not None and bool(found.tag == "svg")

    def _referenced(self, element: Element, attribute: str, root: Element | None = None) -> str:
        targets = self.document.idrefs(element, attribute)
        if not targets:
            return ""
        walk = _Walk(element if root is None else root, set(), referenced=True)
        return self._from(targets, walk, _REFERENCE)

    def _from(self, elements: list[Element], walk: _Walk, how: int) -> str:
        words = [
            self._compute(element, replace(walk, hidden=self.document.is_hidden(element)), how, 1)
            for element in elements
        ]
        return fold(" ".join(words))

    def _embedded_value(self, element: Element, role: str) -> str | None:
        """2C: a control inside another element's label counts with its value; None if it is not such a control."""
        native = value_of(element) or "" if element.tag in ("input", "textarea") else None
        if role in ("textbox", "searchbox"):
            return text_of(element) if native is None else native
        if role in ("combobox", "listbox"):
            if element.tag == "select":
                chosen = selected_options(element)
            else:
                boxes = (element, *self.document.idrefs(element, "aria-owns"))
                descendants = (el for box in boxes for el in box.iterdescendants())
                chosen = [el for el in descendants if el.get("aria-selected") == "true"][:50]
            words = " ".join(map(text_of, chosen))
            return words or native or (text_of(element) if role == "combobox" else "")
        if role in ("slider", "spinbutton", "scrollbar", "progressbar", "meter"):
            return element.get("aria-valuetext") or element.get("aria-valuenow") or number_of(element)
        return None

    def _native_name(self, element: Element, walk: _Walk, how: int) -> str:
        """2E: what HTML and SVG give."""
        tag = str(element.tag)
        is_svg = tag == "svg" or self._is_in_svg(element)
        found = next(element.iterchildren("title" if is_svg else _NAMING_PARTS.get(tag, "-")), None)
        if found is not None:
            return text_of(found) if is_svg else self._compute(found, walk, _LABEL, 1)
        labels = self.document.labels.get(element)
        if labels and how != _CHILD:
            words = self._from(labels, walk, _LABEL)
            if words:
                return words
        if tag == "input":
            kind = input_type(element)
            if kind not in _BUTTON_WORDS:
                return ""
            said = (element.get("alt") or element.get("title") or "") if kind == "image" else ""
            return said or element.get("value", _BUTTON_WORDS[kind])
        if tag == "use":
            shown = self.document.ids.get((element.get("href") or element.get("xlink:href") or "")[1:])
            return self._compute(shown, replace(walk, hidden=True), _CHILD, 1) if shown is not None else ""
        attribute = _ALT_ATTR.get(tag)
        return (element.get(attribute) or "") if attribute else ""

    def _compute(self, element: Element, walk: _Walk, how: int, depth: int) -> str:
        self._steps -= 1
        nested = how == _CHILD
        if depth > _NAME_DEPTH or self._steps < 0 or (nested and element in walk.seen):
            return " " if element is walk.root else ""
        document = self.document
        tag, role = str(element.tag), self.role_of(element)
        flags = ROLE_TRAITS.get(role, 0)
        walk.seen.add(element)
        # 2A
        if nested and not walk.hidden and document.is_gone(element):
            return ""
        visible = walk.hidden or document.is_visible(element)
        sight = visible and walk.known and not ROLE_TRAITS.get(self.role_of(walk.root), 0) & INTERACTIVE
        if visible or not nested:
            if sight and nested and document.is_unseen(element):
                self.removed += 1
                return ""
            # 2B to 2E
            if not walk.referenced:
                said = self._referenced(element, "aria-labelledby", walk.root)
                if said:
                    return _apart(said)
            if how and element is not walk.root:
                value = self._embedded_value(element, role)
                if value or (nested and value == ""):
                    return _apart(value)
            label = element.get("aria-label")
            said = fold(label) if label and tag != "slot" else ""
            if not said and tag != "slot" and role != "none":
                said = fold(self._native_name(element, walk, how))
            if said:
                return _apart(said)
        # 2F to 2H
        if how:
            is_subtree = role == "group" and self.role_of(walk.root) == "treeitem"
            from_content = not nested or walk.referenced or not (flags & OMITTED_FROM_NAMES or is_subtree)
        elif walk.known:
            from_content = (
                bool(flags & NAME_FROM_CONTENT) if flags & INTERACTIVE else role == "heading" or walk.known == 2
            )
        else:
            from_content = bool(flags & NAME_FROM_CONTENT)
        said = ""
        if from_content and tag not in VOID_TAGS and tag not in SKIPPED_TAGS and tag != "select":
            said = self._content(element, walk, depth, visible=visible, sight=bool(sight))
            if said.strip():
                return said
        # 2I
        if visible and role != "none" and element.get("title"):
            return _apart(element.get("title") or "")
        if nested:
            return " " if tag == "img" and role != "none" else said
        own = element.get("placeholder") or element.get("aria-placeholder")
        own = own or ("Choose File" if input_type(element) == "file" else "")
        return (own if visible else "") or said

    def _content(self, element: Element, walk: _Walk, depth: int, *, visible: bool, sight: bool) -> str:
        document = self.document
        closed = element.tag == "details" and element.get("open") is None
        ink = visible and not closed and not (sight and document.is_inkless(element))
        opening, closing = _quotes_of(element) if element.tag == "q" and visible else ("", "")
        said = [opening]
        length = 0
        owned = document.idrefs(element, "aria-owns")
        for kid in (*(kid for kid in kids_of(element) if isinstance(kid, str) or kid not in owned), *owned):
            if length > _NAME_CHARS:
                break
            if isinstance(kid, str):
                words = kid[:_NAME_CHARS] if ink else ""
                if not ink and visible and kid.strip():
                    self.removed += 1
            else:
                words = " " if kid.tag == "br" else self._compute(kid, walk, _CHILD, depth + 1)
                is_gone = not walk.hidden and document.is_gone(kid)
                if kid in owned or not (is_gone or document.is_inline(kid)):
                    words = f" {words} "
            said.append(words)
            length += len(words)
        return "".join((*said, closing))


def is_focusable(element: Element) -> bool:
    """`tabIndex` ≥ 0 and not disabled, or an attribute of that name."""
    tag = element.tag
    if element.get("tabindex") is not None or is_editable(element):
        return True
    if tag in FOCUSABLE_TAGS:
        return not is_disabled(element)
    return (tag in ("a", "area") and element.get("href") is not None) or is_first_summary(element)


def is_editable(element: Element) -> bool:
    said = element.get("contenteditable")
    return said is not None and said.lower() != "false"


def has_link(element: Element) -> bool:
    return element.get("href") is not None or element.get("xlink:href") is not None


def has_svg_text(element: Element) -> bool:
    return any(child.tag in ("title", "desc") and text_of(child).strip() for child in element.iterchildren())


def _apart(words: str) -> str:
    """Words that are not the element's own text stand apart from what is around it."""
    return f" {words} "


def _quotes_of(element: Element) -> tuple[str, str]:
    """The marks around a `q`: of the depth that the quotations around it make."""
    depth = sum(1 for _ in element.iterancestors("q"))
    return _QUOTES[min(depth, len(_QUOTES) - 1)]


def _is_svg_or_html(element: Element) -> bool:
    """True for elements that start SVG content or end it: `svg` and `foreignObject`."""
    return str(element.tag).lower() in ("svg", "foreignobject")


def _is_table(element: Element) -> bool:
    return bool(element.tag == "table")
