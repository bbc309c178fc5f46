"""What class names, ids and words say about a part of a page: hints, never verdicts on much text."""

from __future__ import annotations

import re
from functools import lru_cache

_NAMES = re.compile(r"[a-zA-Z]{2,}")
_WORDS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")

# Words of class names and ids, as whole words: `sidebar` and `side-bar`, but not `inside`.
_NOISE = frozenset(
    "ad ads adv advert advertise advertisement advertising adsense adslot adunit dfp banner banners sponsor sponsored "
    "promo promos promotion promoted outbrain taboola zergnet share sharing shares sharedaddy "
    "addthis addtoany sociable "
    "social socials newsletter newsletters subscribe subscription signup optin paywall cookie "
    "cookies consent gdpr popup "
    "modal lightbox overlay breadcrumb breadcrumbs crumb crumbs menu menus navbar nav navigation navi sidebar sidebars "
    "related relatedposts relatedarticles recirc recirculation recommended recommendation recommendations trending "
    "popular mostread readmore footer masthead toolbar pagination pager paging tags taglist tagcloud widget widgets "
    "skip sr screenreader offscreen comment comments commentlist disqus respond livefyre replies rating ratings votes "
    "jp gallery galleries slideshow slider copyright disclaimer legal donate donation tooltip login "
    "register account search follow followus "
    "prevnext postnav nextprev upsell teaser teasers carousel ticker print printfriendly authorbox bio".split()
)
_MEDIA = frozenset("video videos player embed embeds embedded media podcast audio playlist".split())
_JOINED = re.compile(
    r"share-?(?:bar|buttons?|tools?|links?)|social-?(?:media|links?|icons?|buttons?|bar)|side-?bar|most-?(?:read|popular)|"
    r"read-?(?:more|next)|related-?(?:posts?|articles?|stor(?:y|ies)|content|links?|news|topics?)|more-?(?:from|stories|news)|"
    r"you-?may|also-?like|next-?(?:post|article|story|up)|prev(?:ious)?-?(?:post|article|story)|"
    r"author-?(?:box|bio|info|card)|about-?(?:the-?)?author|post-?(?:meta|tags|nav|footer|share)|entry-?(?:meta|footer)|"
    r"article-?(?:meta|tags|footer|tools|share)|news-?letter|sign-?up|site-?(?:header|footer|nav)|"
    r"page-?(?:header|footer|nav)|global-?(?:header|footer|nav)|video-?playlist|photo-?credit|wp-?polls?|sr-?only|"
    r"visually-?hidden|screen-?reader|back-?to-?top|edit-?section|table-?of-?contents|jump-?link|nomobile|no-?print",
    re.IGNORECASE,
)
_BYLINE = frozenset(
    "byline bylines author authors dateline date datetime time timestamp published pubdate updated meta metadata "
    "info credit credits kicker eyebrow category categories caption-credit posted postmeta contributor contributors "
    "reading readtime label labels topics topic source section".split()
)
_COMMENTS = frozenset("comment comments commentlist disqus respond livefyre replies".split())
_COMMENTS_JOINED = re.compile(
    r"comments?-?(?:area|section|list|thread|wrap|block|container)|disqus|coral|livefyre", re.IGNORECASE
)
_BODY = re.compile(
    r"article-?(?:body|content|text|copy|inner)|story-?(?:body|content|text|copy)|post-?(?:body|content|text|copy|entry)|"
    r"entry-?(?:content|body|text)|news-?(?:body|content|text)|content-?(?:body|article|text)|body-?(?:copy|text|content)|"
    r"rich-?text|markdown-?body|main-?content|page-?content|blog-?(?:content|body|text)|mw-parser-output|articlebody|"
    r"single-?content|text-?content|the-?content|td-post-content|prose",
    re.IGNORECASE,
)


@lru_cache(maxsize=20_000)
def words_of(names: str) -> frozenset[str]:
    """`shareBar post_meta2` as {"share", "bar", "post", "meta"}."""
    words: set[str] = set()
    for name in _NAMES.findall(names[:300]):
        parts = _WORDS.findall(name)
        # `bOfvBYad` is the hash of a style, not words.
        if all(len(part) > 2 for part in parts):
            words.update(part.lower() for part in parts)
        words.add(name.lower())
    return frozenset(words)


@lru_cache(maxsize=20_000)
def is_noise_name(names: str) -> bool:
    return not words_of(names).isdisjoint(_NOISE) or _JOINED.search(names[:300]) is not None


@lru_cache(maxsize=20_000)
def is_media_name(names: str) -> bool:
    return not words_of(names).isdisjoint(_MEDIA)


@lru_cache(maxsize=20_000)
def is_byline_name(names: str) -> bool:
    return not words_of(names).isdisjoint(_BYLINE)


@lru_cache(maxsize=20_000)
def is_comments_name(names: str) -> bool:
    return not words_of(names).isdisjoint(_COMMENTS) or _COMMENTS_JOINED.search(names[:300]) is not None


@lru_cache(maxsize=20_000)
def is_body_name(names: str) -> bool:
    return _BODY.search(names[:300]) is not None
