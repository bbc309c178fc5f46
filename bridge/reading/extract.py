"""The main content of a page, from its HTML alone: what a reader came for, without what surrounds it.

Three steps: leave out what is noise by its role, its name or its links; go down from `body` as long as one part holds
nearly all the prose; clean what was found. Class names only ever decide about little text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from lxml import etree

from bridge.errors import UsageError
from bridge.reading.listing import find_listing
from bridge.reading.measure import Masses, measure
from bridge.reading.metadata import heading_of, title_of
from bridge.reading.pruning import clean, prune, take_comments
from bridge.reading.signals import is_body_name
from bridge.reading.tables import is_layout

Mode = Literal["main_content", "article", "raw"]
Kind = Literal["article", "list", "page"]

# Scores below this are a few lines: no part of them is left out for being smaller than the rest.
_LITTLE = 30
_CONTENT_TAGS = frozenset(
    ["p", "ul", "ol", "dl", "pre", "blockquote", "table", "h1", "h2", "h3", "h4", "h5", "figure", "details"]
)


@dataclass(frozen=True, slots=True, eq=False)
class Extracted:
    """What was found: `tree` is an element of the page that was given.

    Attributes:
        kind: `article` for one text, `list` for a page of cards or links, `page` where neither stands out.
        title: The title without the site's name, where the page tells it.
        comments: The readers' comments, where they were asked for and the page has some.
    """

    tree: etree._Element
    kind: Kind
    title: str = ""
    comments: etree._Element | None = None


def main_content(tree: etree._Element, *, mode: Mode = "main_content", comments: bool = False) -> Extracted:
    """The part of a document that is worth reading. The document is taken apart: keep a copy where it is needed.

    Args:
        mode: `main_content` leaves out what is noise, `article` also takes a list page for an article, `raw` is the
            whole body.
        comments: Keep the readers' comments.
    """
    if mode not in ("main_content", "article", "raw"):
        raise UsageError(f"mode={mode!r}", hint='It is "main_content", "article" or "raw".')
    body = tree if tree.tag == "body" else tree.find(".//body")
    if body is None:
        body = tree
    title = title_of(tree)
    if mode == "raw":
        return Extracted(body, "page", title)
    found_comments = take_comments(body) if comments else None
    prune(body, measure(body))
    masses = measure(body)
    if mode == "main_content" and (listing := find_listing(body, masses)) is not None:
        return Extracted(listing, "list", title, found_comments)
    heading = heading_of(body, title)
    content = _descend(body, masses, heading)
    is_article = masses[content].prose > 0
    title = clean(content, masses, title)
    return Extracted(content, "article" if is_article else "page", title, found_comments)


def _descend(body: etree._Element, masses: Masses, heading: etree._Element | None) -> etree._Element:
    """The smallest element that still holds nearly all the prose, or of several articles the one with the title."""
    at = body
    titled = set(heading.iterancestors()) if heading is not None else set()
    while True:
        children = [child for child in at if child in masses and masses[child].weighted > 0]
        if not children:
            return at
        best = max(children, key=lambda child: masses[child].weighted)
        if best.tag in _CONTENT_TAGS and not (best.tag == "table" and is_layout(best)):
            return at
        named = next((child for child in children if child in titled), None)
        if named is not None and named is not best and _are_twins(named, children):
            at = named
            continue
        whole, part = masses[at].weighted, masses[best].weighted
        if part < _enough(best) * whole and not _others_are_noise(best, children, masses):
            # One of several articles: the one that the page is called after.
            if best is named and _are_twins(named, children):
                at = named
                continue
            return at
        if masses[at].prose < _LITTLE and masses[best].prose < 0.7 * masses[at].prose:
            return at
        at = best


def _are_twins(part: etree._Element, children: list[etree._Element]) -> bool:
    """Is it one `article` among others?"""
    return part.tag == "article" and sum(1 for child in children if child.tag == "article") > 1


def _enough(part: etree._Element) -> float:
    names = f"{part.get('class') or ''} {part.get('id') or ''}"
    if part.get("itemprop") == "articleBody" or is_body_name(names):
        return 0.5
    if part.tag in ("article", "main") or part.get("role") in ("main", "article"):
        return 0.6
    return 0.85


def _others_are_noise(best: etree._Element, children: list[etree._Element], masses: Masses) -> bool:
    """Is what stands beside the best part of another kind: not prose, not its twin?"""
    prose = masses[best].weighted
    kind = (best.tag, best.get("class"))
    for child in children:
        if child is best:
            continue
        mass = masses[child]
        if child.tag in _CONTENT_TAGS and mass.weighted > 0.03 * prose:
            return False
        if (child.tag, child.get("class")) == kind and mass.weighted > 0.1 * prose:
            return False
        if mass.weighted > 0.3 * prose and mass.link_density < 0.3:
            return False
    return True
