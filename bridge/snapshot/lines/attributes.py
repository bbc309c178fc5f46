"""Attributes in brackets after a name: states first, then a control's value, each only where it adds something."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

from bridge.snapshot.escape import cut, cut_middle, quote
from bridge.snapshot.model import RenderOptions
from bridge.snapshot.parse import STATE_ATTRS, RawNode
from bridge.snapshot.roles import INTERACTIVE_ROLES, VALUE_ROLES

_STATES = (
    "checked",
    "selected",
    "expanded",
    "disabled",
    "required",
    "readonly",
    "pressed",
    "current",
    "invalid",
    "aria-hidden",
)
# Where "false" is news: a disclosure that can be opened, a button that is a toggle.
_FALSE_SAYS_SOMETHING = frozenset(("expanded", "pressed"))
# Input types that the role does not show and that decide what `fill` accepts.
_TELLING_TYPES = frozenset(
    ("password", "email", "tel", "url", "date", "time", "datetime-local", "month", "week", "color", "file")
)
# The address distinguishes a link without a name from the next one: the host it begins with, the article it ends in.
_IDENTITY_CHARS = 60
_BARE_WORD = re.compile(r"[a-z][a-z-]{0,19}")

Attr = tuple[str, Any]


def shown_attrs(node: RawNode, name: str, options: RenderOptions, page_url: str) -> list[Attr]:
    """The attributes of one line in the order of the text format; `name` is what the line shows as its name."""
    raw = node.attrs
    if not (raw or node.cursor or node.description or node.box):
        return []
    limit = options.max_attr_value_len
    out: list[Attr] = []
    if raw:
        if "level" in raw:
            out.append(("level", raw["level"]))
        if not STATE_ATTRS.isdisjoint(raw):
            out += [
                (state, raw[state])
                for state in _STATES
                if state in raw and (raw[state] is not False or state in _FALSE_SAYS_SOMETHING)
            ]
    if node.cursor:
        out.append((node.cursor, True))
    if raw:
        if raw.get("type") in _TELLING_TYPES:
            out.append(("type", raw["type"]))
        value = raw.get("value", "") if node.role in VALUE_ROLES else ""
        if value and value != name:
            out.append(("value", cut(value, limit)))
        if "valuenow" in raw and f"{raw['valuenow']:g}" != value:
            out.append(("valuenow", raw["valuenow"]))
        if "placeholder" in raw and not value and raw["placeholder"] != name:
            out.append(("placeholder", cut(raw["placeholder"], limit)))
    if _description_adds(node, name, options):
        out.append(("description", cut(node.description, limit)))
    if raw:
        if "href" in raw and (options.include_urls or (node.role == "link" and not name)):
            url = _short_url(raw["href"], page_url)
            out.append(("href", cut(url, limit) if options.include_urls else cut_middle(url, _IDENTITY_CHARS)))
        if "name" in raw and not name and node.role in INTERACTIVE_ROLES:
            out.append(("name", cut(raw["name"], limit)))
    if options.boxes and node.box:
        out.append(("box", list(node.box)))
    return out


def _description_adds(node: RawNode, name: str, options: RenderOptions) -> bool:
    """True if the description is worth its characters.

    A link's is mostly its tooltip and repeats where the link goes in other words (a quarter of the text of a Wikipedia
    article), so it is shown only for links named by a sign such as `¶` or `»`.
    """
    if not node.description or node.description.casefold() in name.casefold():
        return False
    return node.role != "link" or not options.compact or not any(map(str.isalnum, name))


def attr_word(attr: Attr) -> str:
    """One attribute as the text format writes it: `checked`, `level=1`, `current=page`, `value="12 g"`."""
    key, value = attr
    if value is True:
        return key
    if value is False:
        return f"{key}=false"
    if isinstance(value, str):
        bare = key in _STATES or key == "type"
        return f"{key}={value}" if bare and _BARE_WORD.fullmatch(value) else f"{key}={quote(value)}"
    if isinstance(value, list):
        return f"{key}={','.join(map(str, value))}"
    return f"{key}={value:g}" if isinstance(value, float) else f"{key}={value}"


def _short_url(url: str, page_url: str) -> str:
    """The URL without the origin when it is the page's own."""
    try:
        page = urlsplit(page_url)
    except ValueError:
        return url
    origin = f"{page.scheme}://{page.netloc}"
    return url[len(origin) :] if page.netloc and url.startswith(f"{origin}/") else url
