"""Class names and ids as evidence about an element, weighed with other evidence and never decisive alone.

Names are read as whole words, `shareBar post_meta2` as share, bar, post, meta: `side-bar` counts, `inside` does not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import IntFlag, auto
from functools import lru_cache

from lxml import etree


class Name(IntFlag):
    """The kind of element that its names suggest."""

    AD = auto()
    SHARE = auto()
    RELATED = auto()
    TEASER = auto()
    NAVIGATION = auto()
    SIDEBAR = auto()
    FOOTER = auto()
    COMMENTS = auto()
    META = auto()
    AUTHOR = auto()
    SIGN_UP = auto()
    MEDIA = auto()
    CAPTION = auto()
    UNSEEN = auto()
    CONTENTS = auto()
    BODY = auto()
    LEAD = auto()
    TITLE = auto()
    TAGS = auto()
    HEADER = auto()
    INFO = auto()
    PAGE = auto()
    OVERLAY = auto()


_WORDS: dict[Name, str] = {
    Name.AD: "ad ads adv advert advertise advertisement advertising adsense adslot adunit dfp banner banners sponsor "
    "sponsored promo promos promotion promoted outbrain taboola zergnet affiliate cta donate donation commercial "
    "werbung anzeige publicidad pub",
    Name.SHARE: "share sharing shares sharedaddy addthis addtoany sociable social socials follow followus print "
    "printfriendly tweet facebook twitter pinterest whatsapp like likes rating ratings votes vote",
    Name.RELATED: "related relatedposts relatedarticles recirc recirculation recommended recommendation "
    "recommendations trending popular mostread readmore prevnext postnav nextprev upsell next prev previous more "
    "yarpp crosslink",
    Name.TEASER: "teaser teasers card cards carousel ticker tile tiles slide slider slideshow gallery galleries",
    Name.NAVIGATION: "breadcrumb breadcrumbs crumb crumbs menu menus navbar nav navigation navi toolbar pagination "
    "pager paging skip tab tabs dropdown submenu subnav sitemap",
    Name.SIDEBAR: "sidebar sidebars widget widgets aside rail secondary complementary marginal",
    Name.FOOTER: "footer copyright disclaimer legal imprint colophon bottom foot",
    Name.COMMENTS: "comment comments commentlist disqus respond livefyre replies reply pingback trackback pinglist "
    "kommentar kommentare commentaires comentarios",
    Name.META: "byline bylines dateline date datetime time timestamp published pubdate updated meta metadata postmeta "
    "posted readtime kicker eyebrow source credits",
    Name.AUTHOR: "author authors authorbox bio contributor contributors autor auteur vcard profile",
    Name.SIGN_UP: "newsletter newsletters subscribe subscription signup optin paywall login register account search "
    "alert notice",
    Name.OVERLAY: "cookie cookies consent gdpr popup modal lightbox overlay tooltip",
    Name.MEDIA: "video videos player embed embeds embedded media podcast audio playlist image images picture photo "
    "figure thumbnail thumb",
    Name.CAPTION: "caption captions legend credit bildunterschrift copyright photographer",
    Name.UNSEEN: "sr screenreader offscreen visuallyhidden noprint nomobile hidden hide invisible collapse",
    Name.CONTENTS: "toc tableofcontents outline anchors",
    Name.BODY: "articlebody prose entry hentry",
    Name.LEAD: "lead leadin lede lede intro introduction standfirst subtitle subhead subheadline excerpt summary "
    "abstract deck dek vorspann chapo chapeau entradilla bajada perex preamble ingress strapline",
    Name.TITLE: "title headline heading headlines titel titulo titre",
    Name.TAGS: "tags tag taglist tagcloud topics topic category categories label labels keywords hashtags",
    Name.HEADER: "header head masthead top logo brand topbar hero",
    Name.INFO: "info infobox box factbox sidebox facts details data table specs",
}
#: Two words side by side, or written as one: `post-meta`, `postMeta`, `postmeta`.
_PAIRS: dict[Name, tuple[tuple[str, str], ...]] = {
    Name.SHARE: (
        ("share", "bar button buttons tool tools link links icons"),
        ("social", "media link links icon icons button buttons bar"),
        ("post article entry", "share sharing"),
    ),
    Name.RELATED: (
        ("most", "read popular viewed"),
        ("read", "more next also"),
        ("also", "like read"),
        ("you", "may might"),
        ("related", "post posts article articles story stories content link links news topic topics"),
        ("more", "from stories news articles"),
        ("next prev previous", "post article story up"),
    ),
    Name.SIDEBAR: (("side", "bar"),),
    Name.AUTHOR: (("author", "box bio info card"), ("about", "author")),
    Name.META: (("post article entry", "meta footer tools nav info"),),
    Name.TAGS: (("post article entry", "tags categories"),),
    Name.FOOTER: (("site page global", "footer"),),
    Name.HEADER: (("site page global", "header"),),
    Name.SIGN_UP: (("news", "letter"), ("sign", "up in"), ("wp", "polls poll")),
    Name.CAPTION: (("photo image", "credit caption"),),
    Name.UNSEEN: (("sr", "only"), ("visually", "hidden"), ("screen", "reader"), ("no", "print"), ("edit", "section")),
    Name.CONTENTS: (("table", "of"),),
    Name.COMMENTS: (("comment comments", "area section list thread wrap wrapper block container body"),),
    Name.BODY: (
        ("article story post entry news blog single", "body content text copy inner"),
        ("content", "article text"),
        ("body", "copy text"),
        ("rich", "text"),
        ("markdown", "body"),
        ("parser", "output"),
        ("the", "content"),
    ),
    Name.PAGE: (("text page main", "body content text copy inner"), ("content body", "body content")),
}
_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")
_RUN = re.compile(r"[a-zA-Z]{2,}")
_BY_WORD: dict[str, int] = {}
_BY_PAIR: dict[tuple[str, str], int] = {}
for _name, _words in _WORDS.items():
    for _word in _words.split():
        _BY_WORD[_word] = _BY_WORD.get(_word, 0) | _name.value
for _name, _pairs in _PAIRS.items():
    for _firsts, _seconds in _pairs:
        for _first in _firsts.split():
            for _second in _seconds.split():
                _BY_PAIR[_first, _second] = _BY_PAIR.get((_first, _second), 0) | _name.value
                _BY_WORD[_first + _second] = _BY_WORD.get(_first + _second, 0) | _name.value
_ATTRIBUTES = ("class", "id", "itemprop", "role")
_MOST_CHARS = 300
#: Shorter parts of a name are mostly those of a hash.
_SHORTEST_WORD = 3


def bits(*names: Name) -> int:
    """The names as one number, as `claims` gives it: operations on plain numbers are ten times as fast."""
    found = 0
    for name in names:
        found |= name.value
    return found


def names_of(element: etree._Element) -> str:
    """The names that an author gave an element, as one text."""
    get = element.attrib.get
    return " ".join([value for name in _ATTRIBUTES if (value := get(name))])[:_MOST_CHARS]


@lru_cache(maxsize=20_000)
def claims(names: str) -> int:
    """The `Name` bits of a text of class names and ids."""
    found = 0
    for run, words in _split(names):
        found |= _BY_WORD.get(run, 0)
        before = ""
        for word in words:
            found |= _BY_WORD.get(word, 0) | _BY_PAIR.get((before, word), 0)
            before = word
    return found


@lru_cache(maxsize=20_000)
def words_in(names: str) -> frozenset[str]:
    """The words of a text of class names and ids, and what it writes as one: `post`, `meta` and `postmeta`."""
    found = {word for run, words in _split(names) for word in (run, *words)}
    return frozenset(word for word in found if len(word) >= _SHORTEST_WORD)


def _split(names: str) -> Iterator[tuple[str, list[str]]]:
    """The runs of letters in each name: a run, and its words after the one before it in that name."""
    for name in names.split():
        words: list[str] = []
        for run in _RUN.findall(name):
            own = [run.lower()] if run.islower() else [word.lower() for word in _WORD.findall(run)]
            # `bOfvBYad` is the hash of a style and holds no words.
            if len(own) > 1 and min(map(len, own)) < _SHORTEST_WORD:
                own = []
            yield run.lower(), [*words[-1:], *own]
            words += own
