"""What class names and ids say about an element: evidence that is weighed, never a verdict.

Names are read as whole words, `shareBar post_meta2` as share, bar, post, meta: `side-bar` counts, `inside` does not.
"""

from __future__ import annotations

import re
from enum import IntFlag, auto
from functools import lru_cache

from lxml import etree


class Name(IntFlag):
    """What an element's names claim that it is."""

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
    Name.TEASER: "teaser teasers card cards carousel ticker tile tiles slide slider slideshow gallery galleries promo",
    Name.NAVIGATION: "breadcrumb breadcrumbs crumb crumbs menu menus navbar nav navigation navi toolbar pagination pager "
    "paging skip tab tabs dropdown submenu subnav sitemap",
    Name.SIDEBAR: "sidebar sidebars widget widgets aside rail secondary complementary marginal",
    Name.FOOTER: "footer copyright disclaimer legal imprint colophon bottom foot",
    Name.COMMENTS: "comment comments commentlist disqus respond livefyre replies reply pingback trackback pinglist "
    "kommentar kommentare commentaires comentarios",
    Name.META: "byline bylines dateline date datetime time timestamp published pubdate updated meta metadata postmeta "
    "posted readtime kicker eyebrow source credits",
    Name.AUTHOR: "author authors authorbox bio contributor contributors autor auteur vcard profile",
    Name.SIGN_UP: "newsletter newsletters subscribe subscription signup optin paywall login register account search alert "
    "notice",
    Name.OVERLAY: "cookie cookies consent gdpr popup modal lightbox overlay tooltip",
    Name.MEDIA: "video videos player embed embeds embedded media podcast audio playlist image images picture photo "
    "figure thumbnail thumb",
    Name.CAPTION: "caption captions legend credit bildunterschrift copyright photographer wp-caption",
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
_JOINED: dict[Name, str] = {
    Name.SHARE: r"share-?(?:bar|buttons?|tools?|links?)|social-?(?:media|links?|icons?|buttons?|bar)|"
    r"(?:post|article)-?share",
    Name.RELATED: r"most-?(?:read|popular)|read-?(?:more|next)|also-?like|you-?may|"
    r"related-?(?:posts?|articles?|stor(?:y|ies)|content|links?|news|topics?)|more-?(?:from|stories|news)|"
    r"(?:next|prev(?:ious)?)-?(?:post|article|story|up)",
    Name.SIDEBAR: r"side-?bar",
    Name.AUTHOR: r"author-?(?:box|bio|info|card)|about-?(?:the-?)?author",
    Name.META: r"(?:post|article|entry)-?(?:meta|footer|tools|nav)",
    Name.TAGS: r"(?:post|article|entry)-?tags",
    Name.FOOTER: r"(?:site|page|global)-?footer|back-?to-?top",
    Name.HEADER: r"(?:site|page|global)-?header",
    Name.SIGN_UP: r"news-?letter|sign-?up|wp-?polls?",
    Name.CAPTION: r"photo-?credit",
    Name.UNSEEN: r"sr-?only|visually-?hidden|screen-?reader|no-?print|edit-?section|jump-?link",
    Name.CONTENTS: r"table-?of-?contents",
    Name.COMMENTS: r"comments?-?(?:area|section|list|thread|wrap|block|container)|disqus|coral|livefyre",
    Name.BODY: r"(?:article|story|post|entry|news|blog|single)-?(?:body|content|text|copy|inner)|"
    r"content-?(?:article|text)|body-?(?:copy|text)|rich-?text|markdown-?body|mw-parser-output|"
    r"articlebody|the-?content",
    Name.PAGE: r"(?:text|page|main)-?(?:body|content|text|copy|inner)|(?:content|body)-?(?:body|content)",
}
_NAMES = re.compile(r"[a-zA-Z]{2,}")
_PARTS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")
_BY_WORD: dict[str, Name] = {}
for _name, _words in _WORDS.items():
    for _word in _words.split():
        _BY_WORD[_word] = _BY_WORD.get(_word, Name(0)) | _name
_BY_PATTERN = [(name, re.compile(pattern, re.IGNORECASE)) for name, pattern in _JOINED.items()]
_ATTRIBUTES = ("class", "id", "itemprop", "role")
_MOST_CHARS = 300


def names_of(element: etree._Element) -> str:
    """The names that an author gave an element, as one text."""
    found = [value for name in _ATTRIBUTES if (value := element.get(name))]
    return " ".join(found)[:_MOST_CHARS]


@lru_cache(maxsize=20_000)
def claims(names: str) -> int:
    """The `Name` bits of a text of class names and ids."""
    words: set[str] = set()
    for name in _NAMES.findall(names):
        parts = _PARTS.findall(name)
        # `bOfvBYad` is the hash of a style and holds no words.
        if all(len(part) > 2 for part in parts):
            words.update(part.lower() for part in parts)
        words.add(name.lower())
    found = 0
    for word in words:
        found |= _BY_WORD.get(word, 0)
    for name, pattern in _BY_PATTERN:
        if pattern.search(names):
            found |= name
    return int(found)
