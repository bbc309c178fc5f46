"""A parsed document with what roles, names and sight are asked from: ids, labels, numbers, inline styles. Pure.

Style sheets are not applied: an element's style is its tag's default and its own `style` attribute.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from bridge.snapshot.plain_html.parse import Element
from bridge.snapshot.plain_html.roles import BLOCK_TAGS, INPUT_TYPES, LABELABLE_TAGS, REF_TAGS, UNRENDERED_TAGS

#: More elements of a document are not looked at.
MAX_ELEMENTS = 200_000
_NO_STYLE: dict[str, str] = {}
_STYLE_CHARS = 2_000
_ATTRS_FOR_A_REF = frozenset(("role", "tabindex", "onclick", "contenteditable"))
_ZERO_WIDTH = re.compile(
    "[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e0fff]"
    "|[\u200c\u200d](?![^\x00-\u02ff\u2000-\u206f])"
)
_PIXELS = re.compile(r"(-?(?:\d+(?:\.\d+)?|\.\d+))(px|em|rem)?")
_EM_PX = 16
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_NUMBER = re.compile(r"([\d.]+)(%?)")
_CLIPPED = re.compile(r"inset\(([5-9]\d|100)[.\d]*%|circle\(0|polygon\((nonzero|evenodd|0(px|%)?|[, ])*\)")
_FILTERED = re.compile(r"opacity\(\s*([\d.]+%?)\s*\)")
_FLAT = re.compile(r"(?:scale(?:[xy]|3d)?|matrix(?:3d)?)\(\s*0*(\.0\d*)?\s*[,)]|rotate[xy]\(\s*-?90deg")
_FLAT_ROTATION = re.compile(r"[xy]\s+-?90deg|-?90deg\s+[xy]")
_MOVED = re.compile(r"translate(?:[xy]|3d)?\(\s*(-\d+(?:\.\d+)?)px(?:\s*,\s*(-\d+(?:\.\d+)?)px)?")
_LEAST_OPACITY = 0.05
_LEAST_SCALE = 0.1
_CLIP_RECT = re.compile(r"rect\((?:[01](?:px)?[, )]+){4}")
_CLEAR = re.compile(r"transparent|[a-z]+\(.*[,/]\s*0*(\.0\d*)?%?\s*\)|#[0-9a-f]{3}0|#[0-9a-f]{6}0[0-9a-f]")
_RGB = re.compile(r"rgba?\(\s*(\d+)[\s,]+(\d+)[\s,]+(\d+)\s*(?:[,/]\s*(?:1|100%)\s*)?\)")
_COLOURS = {"white": "#ffffff", "black": "#000000"}
#: Of 255: what differs by less in each channel looks the same.
_LEAST_DIFFERENCE = 8
#: An element further outside the page than this is hidden on purpose.
_FAR_PX = -900.0
_INK_LEVELS = 50
_INKLESS = ("color", "-webkit-text-fill-color", "font-size", "text-indent")


def strip(text: str) -> str:
    """Without characters that take no room; joiners stay where scripts and emoji need them."""
    return text if text.isascii() else _ZERO_WIDTH.sub("", text)


def fold(text: str) -> str:
    return " ".join(strip(text).split())


def text_of(element: Element, limit_chars: int = 5_000) -> str:
    """`textContent`, or its beginning."""
    pieces: list[str] = []
    length = 0
    for piece in element.itertext():
        pieces.append(piece)
        length += len(piece)
        if length > limit_chars:
            break
    return "".join(pieces)[:limit_chars]


@dataclass(eq=False)
class HtmlDocument:
    """A document, and the ref of every element that can have one.

    An element's ref depends on the document alone, not on how it is shown, so that `e12` is the same element in every
    snapshot and query of it. The elements of the snapshot with default options come first, so that it has no gaps;
    the others follow in document order.

    Attributes:
        numbers: Each element that can have a ref, with its place among them in document order, from 1.
        numbered: These elements in document order.
        labels: The `label` elements of a control, and `controls` the other way round.
        count: Elements in all.
        chars: The length of the HTML text, 0 where it is not known.
        has_more: The document is larger than what is looked at.
    """

    root: Element
    numbers: dict[Element, int] = field(default_factory=dict, repr=False)
    numbered: list[Element] = field(default_factory=list, repr=False)
    ids: dict[str, Element] = field(default_factory=dict, repr=False)
    labels: dict[Element, list[Element]] = field(default_factory=dict, repr=False)
    controls: dict[Element, Element] = field(default_factory=dict, repr=False)
    count: int = 0
    chars: int = 0
    has_more: bool = False
    _refs: dict[int, int] | None = field(default=None, repr=False)
    _by_ref: list[int] = field(default_factory=list, repr=False)
    _owners: dict[str, list[Element]] | None = field(default=None, repr=False)
    _styled: set[str] = field(default_factory=set, repr=False)
    _styles: dict[Element, dict[str, str]] = field(default_factory=dict, repr=False)
    _visible: dict[Element, bool] = field(default_factory=dict, repr=False)
    _absent: dict[Element, bool] = field(default_factory=dict, repr=False)
    _closest: dict[Callable[[Element], bool], dict[Element, Element | None]] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, root: Element) -> HtmlDocument:
        document = cls(root)
        labels: list[Element] = []
        for element in root.iter():
            if document.count >= MAX_ELEMENTS:
                document.has_more = True
                break
            document.count += 1
            document._index(element, labels)
        for label in labels:
            document._connect(label)
        return document

    def read_styles(self) -> list[Element]:
        """Looks at the `style` attributes alone, for who only asks what is seen; the elements that have one."""
        styled: list[Element] = self.root.xpath("//*[@style]")
        for element in styled:
            self._styled.update(self._read_style(element, element.get("style") or ""))
        return styled

    def _index(self, element: Element, labels: list[Element]) -> None:
        tag = element.tag
        can_have_ref = tag in REF_TAGS
        if element.attrib:
            found = element.get("id")
            if found is not None:
                self.ids.setdefault(found, element)
            style = element.get("style")
            if style:
                self._styled.update(self._read_style(element, style))
            can_have_ref = can_have_ref or not _ATTRS_FOR_A_REF.isdisjoint(element.keys())
            can_have_ref = can_have_ref or bool(style and self.style(element).get("cursor") == "pointer")
        if tag == "label":
            labels.append(element)
        if can_have_ref:
            self.numbered.append(element)
            self.numbers[element] = len(self.numbered)

    def _connect(self, label: Element) -> None:
        """HTML §4.10.4: the control of a label is what `for` names, else the first that can have one inside it."""
        target = label.get("for")
        if target is not None:
            control = self.ids.get(target)
        else:
            control = next((el for el in label.iterdescendants() if el.tag in LABELABLE_TAGS), None)
        if control is not None and control.tag in LABELABLE_TAGS and input_type(control) != "hidden":
            self.labels.setdefault(control, []).append(label)
            self.controls[label] = control

    @property
    def has_refs(self) -> bool:
        return self._refs is not None

    def give_refs(self, first: Iterable[int]) -> None:
        """Number the elements with these places first, then the others."""
        order = dict.fromkeys(first)
        order.update(dict.fromkeys(range(1, len(self.numbered) + 1)))
        self._by_ref = list(order)
        self._refs = {place: number for number, place in enumerate(self._by_ref, 1)}

    def ref_at(self, place: int) -> str:
        """The ref of the element with this place; `give_refs` comes before."""
        assert self._refs is not None
        return f"e{self._refs[place]}"

    def element_of(self, ref: str) -> Element | None:
        """The element of `e12`, `@e12` or `12`; `give_refs` comes before."""
        found = re.fullmatch(r"@?e?([1-9][0-9]{0,8})", ref, re.ASCII)
        index = int(found[1]) if found else 0
        return self.numbered[self._by_ref[index - 1] - 1] if 1 <= index <= len(self._by_ref) else None

    def idrefs(self, element: Element, name: str) -> list[Element]:
        value = element.get(name)
        if not value:
            return []
        return [self.ids[word] for word in value.split()[:100] if word in self.ids]

    def owners(self, element: Element) -> list[Element]:
        """The elements that claim this one with `aria-owns`."""
        found = element.get("id")
        if not found:
            return []
        if self._owners is None:
            self._owners = {}
            for owner in self.root.xpath("//*[@aria-owns]"):
                for word in owner.get("aria-owns").split()[:100]:
                    self._owners.setdefault(word, []).append(owner)
        return self._owners.get(found, [])

    def closest_above(self, element: Element, fits: Callable[[Element], bool]) -> Element | None:
        """The nearest ancestor that fits, itself not counted."""
        known = self._closest.setdefault(fits, {})
        passed: list[Element] = []
        at = element.getparent()
        found: Element | None = None
        while at is not None:
            if at in known:
                found = known[at]
                break
            if fits(at):
                found = known[at] = at
                break
            passed.append(at)
            at = at.getparent()
        for above in passed:
            known[above] = found
        return found

    def style(self, element: Element) -> dict[str, str]:
        """The declarations of the `style` attribute."""
        return self._styles.get(element, _NO_STYLE)

    def _read_style(self, element: Element, text: str) -> dict[str, str]:
        style: dict[str, str] = {}
        for declaration in _COMMENT.sub("", text[:_STYLE_CHARS]).lower().split(";"):
            name, colon, value = declaration.partition(":")
            if colon:
                style[name.strip()] = value.removesuffix("!important").strip()
        self._styles[element] = style
        return style

    def is_inline(self, element: Element) -> bool:
        style = self._styles.get(element)
        if style:
            display = style.get("display")
            if style.get("float") in ("left", "right") or style.get("position") in ("absolute", "fixed"):
                return False
            if display:
                return display in ("inline", "contents")
        if element.tag in BLOCK_TAGS:
            return False
        if "display" in self._styled:
            parent = element.getparent()
            return parent is None or not self.style(parent).get("display", "").endswith(("flex", "grid"))
        return True

    def styled_by(self, *names: str) -> bool:
        """Does any inline style say something of these?"""
        return not self._styled.isdisjoint(names)

    def is_visible(self, element: Element) -> bool:
        """CSS `visibility`, which children inherit and may undo."""
        if "visibility" not in self._styled:
            return True
        known = self._visible
        passed: list[Element] = []
        at: Element | None = element
        visible = True
        while at is not None:
            if at in known:
                visible = known[at]
                break
            passed.append(at)
            said = self.style(at).get("visibility")
            if said and said != "inherit":
                visible = said == "visible"
                break
            at = at.getparent()
        known.update(dict.fromkeys(passed, visible))
        return visible

    def is_gone(self, element: Element) -> bool:
        """Neither rendered nor exposed, the element and all below."""
        return element.get("aria-hidden") == "true" or self.is_absent(element)

    def is_absent(self, element: Element) -> bool:
        """Not rendered, the element and all below."""
        absent = self._absent.get(element)
        if absent is None:
            absent = self._absent[element] = self._is_absent(element)
        return absent

    def _is_absent(self, element: Element) -> bool:
        tag = element.tag
        parent = element.getparent()
        if (
            parent is not None
            and parent.tag == "details"
            and parent.get("open") is None
            and not is_first_summary(element)
        ):
            return True
        if not element.attrib:
            return tag in UNRENDERED_TAGS or tag in ("dialog", "audio")
        style = self.style(element)
        display = style.get("display", "")
        if display == "none" or style.get("content-visibility") == "hidden":
            return True
        if element.get("inert") is not None:
            return True
        hidden = element.get("hidden")
        if hidden is not None and hidden.lower() == "until-found":
            return True
        if display:
            return False
        return (
            hidden is not None
            or tag in UNRENDERED_TAGS
            or element.get("popover") is not None
            or (tag == "dialog" and element.get("open") is None)
            or (tag == "audio" and element.get("controls") is None)
            or (tag == "input" and input_type(element) == "hidden")
        )

    def is_hidden(self, element: Element) -> bool:
        """Is it, or an ancestor, hidden for everybody?"""
        if not self.is_visible(element):
            return True
        at: Element | None = element
        while at is not None:
            if self.is_gone(at):
                return True
            at = at.getparent()
        return False

    def is_unseen(self, element: Element) -> bool:
        """The tricks of an inline style that take a rendered element from sight."""
        style = self._styles.get(element)
        if not style:
            return False
        if _share(style.get("opacity", "")) < _LEAST_OPACITY or _share(style.get("zoom", "")) < _LEAST_SCALE:
            return True
        if any(_share(found[1]) < _LEAST_OPACITY for found in _FILTERED.finditer(style.get("filter", ""))):
            return True
        if _FLAT.search(style.get("transform", "")) or _share(style.get("scale", "")) < _LEAST_SCALE:
            return True
        if _FLAT_ROTATION.fullmatch(style.get("rotate", "")):
            return True
        if style.get("overflow", "visible") not in ("visible", "") and not self.is_inline(element):
            sides = [_pixels(style.get(name)) for name in ("width", "height", "max-width", "max-height")]
            if any(side is not None and side < 2 for side in sides):
                return True
        placed = style.get("position") in ("absolute", "fixed")
        if _CLIPPED.search(style.get("clip-path", "")) or (placed and _CLIP_RECT.search(style.get("clip", ""))):
            return True
        moved = _MOVED.search(style.get("transform", ""))
        if moved and any(float(side) < _FAR_PX for side in moved.groups() if side):
            return True
        if any((side := _pixels(part)) is not None and side < _FAR_PX for part in style.get("translate", "").split()):
            return True
        if placed or style.get("position") == "relative":
            inset = style.get("inset", "").split()
            # The four sides as CSS Box 4 §4.2 repeats them: top, right, bottom, left.
            given = [style.get("top"), *inset[:1], style.get("left"), *(inset[3:] or inset[1:2] or inset[:1])]
            return any((side := _pixels(text)) is not None and side < _FAR_PX for text in given)
        return False

    def is_inkless(self, element: Element) -> bool:
        """Are its own words of no size, no ink, indented away, or of the colour of the ground they stand on?"""
        if self._styled.isdisjoint(_INKLESS):
            return False
        at: Element | None = element
        colour = size = indent = None
        for _ in range(_INK_LEVELS):
            if at is None:
                return _is_like(colour, "#ffffff")
            style = self._styles.get(at)
            if style:
                size = _pixels(style.get("font-size"), em_px=None) if size is None else size
                indent = _pixels(style.get("text-indent")) if indent is None else indent
                if (size is not None and size < 2) or (indent is not None and indent < -99):
                    return True
                colour = colour or style.get("-webkit-text-fill-color") or style.get("color")
                if colour and _is_clear(colour):
                    return "background-clip" not in style and "-webkit-background-clip" not in style
                ground = style.get("background-color") or style.get("background", "")
                if "url(" in ground or "gradient" in ground or "background-image" in style:
                    return False
                if ground and not _is_clear(ground):
                    return _is_like(colour, ground)
                if style.get("position", "static") != "static":
                    return False
            at = at.getparent()
        return False


def input_type(element: Element) -> str:
    """The type of an `input` as a browser knows it, "" for other elements."""
    if element.tag != "input":
        return ""
    said = (element.get("type") or "").lower()
    return said if said in INPUT_TYPES else "text"


def is_first_summary(element: Element) -> bool:
    """Is it what opens and closes its `details`?"""
    parent = element.getparent()
    if element.tag != "summary" or parent is None or parent.tag != "details":
        return False
    return next(element.itersiblings("summary", preceding=True), None) is None


def kids_of(element: Element) -> Iterator[str | Element]:
    """Child nodes in order: texts and elements."""
    if element.text:
        yield element.text
    for child in element:
        yield child
        if child.tail:
            yield child.tail


def _pixels(value: str | None, *, em_px: float | None = _EM_PX) -> float | None:
    """A length in CSS pixels; None for other units. Without `em_px` relative ones count as other units."""
    found = _PIXELS.fullmatch(value) if value else None
    if found is None:
        return None
    number, unit = float(found[1]), found[2]
    if unit in ("em", "rem"):
        return number * em_px if em_px is not None else None
    return number if unit or number == 0 else None


def _share(value: str) -> float:
    """`.5` or `50%` as 0.5; 1 for anything else."""
    found = _NUMBER.fullmatch(value)
    try:
        return float(found[1]) / (100 if found[2] else 1) if found else 1.0
    except ValueError:
        return 1.0


def _is_clear(colour: str) -> bool:
    return _CLEAR.fullmatch(colour) is not None


def _is_like(colour: str | None, ground: str) -> bool:
    """Do the two look the same? Where their spelling is not understood, only if it is the same."""
    if not colour:
        return False
    ink, under = _channels(colour), _channels(ground)
    if ink is None or under is None:
        return colour.replace(" ", "") == ground.replace(" ", "")
    return all(abs(one - other) < _LEAST_DIFFERENCE for one, other in zip(ink, under, strict=True))


def _channels(value: str) -> tuple[int, ...] | None:
    value = _COLOURS.get(value, value)
    if found := _RGB.fullmatch(value):
        return tuple(int(part) for part in found.groups())
    digits = value.removeprefix("#")
    if digits == value or len(digits) not in (3, 6) or not set(digits) <= set("0123456789abcdef"):
        return None
    wide = "".join(digit * 2 for digit in digits) if len(digits) == 3 else digits
    return tuple(int(wide[at : at + 2], 16) for at in (0, 2, 4))
