"""What short texts around an article say, in the languages that most of the web is written in.

The lists cover English, German, French, Spanish, Portuguese, Italian, Dutch, Polish, Czech, Russian, Ukrainian, Turkish,
Swedish, Danish, Norwegian, Finnish, Hungarian, Romanian, Greek, Indonesian, Vietnamese, Arabic, Hindi, Chinese, Japanese
and Korean.
"""

from __future__ import annotations

import re


def _any_of(*phrases: str) -> str:
    return "|".join(phrases)


#: Leads to another page: counts at the start of a text.
RELATED = re.compile(
    _any_of(
        "read (?:also|more|next|this|full)",
        "(?:see|read|watch) also",
        "also (?:on|read|see)",
        "more (?:from|on|stories|news|about)",
        "related",
        "recommended",
        "you (?:may|might) (?:also )?",
        "most (?:read|popular|viewed)",
        "trending",
        "(?:don.?t )?miss",
        "up next",
        "click here",
        "(?:next|previous) (?:post|article|story|page)",
        "continue reading",
        "further (?:reading|information)",
        "lesen sie",
        "auch interessant",
        "mehr (?:zum|zu|von|über|dazu|lesen|infos?|informationen)",
        "zum weiterlesen",
        "weiterlesen",
        "weitere ",
        "schon gelesen",
        "siehe auch",
        "passend dazu",
        "das könnte",
        "meistgelesen",
        "lire aussi",
        "à lire",
        "voir aussi",
        "sur le même",
        "en savoir plus",
        "(?:lea|leer|lee|ver|vea|mire) (?:también|más|además)",
        "te puede",
        "le puede",
        "notas? relacionadas?",
        "más (?:noticias|información|sobre)",
        "relacionad[oa]s?",
        "leia (?:mais|também|ainda)",
        "veja (?:mais|também)",
        "saiba mais",
        "leggi anche",
        "potrebbe interessarti",
        "per approfondire",
        "lees (?:ook|meer|verder)",
        "czytaj (?:też|także|więcej|również)",
        "zobacz (?:też|także|również)",
        "przeczytaj",
        "čtěte (?:také|více)",
        "přečtěte si",
        "читайте",
        "смотрите также",
        "по теме",
        "читайте також",
        "ayrıca okuyun",
        "ilgili",
        "läs (?:också|även|mer)",
        "læs også",
        "les også",
        "lue (?:myös|lisää)",
        "olvassa el",
        "citește și",
        "διαβάστε",
        "baca (?:juga|selengkapnya)",
        "xem thêm",
        "đọc thêm",
        "اقرأ أيضا",
        "यह भी पढ़ें",
        "相关|延伸阅读|推荐阅读|更多",
        "関連|あわせて読みたい|もっと見る",
        "관련",
    ),
    re.IGNORECASE,
)
#: Asks the reader for something: a subscription, an address, money, a vote, a comment.
ASKS = re.compile(
    _any_of(
        r"newsletter",
        r"\bsubscri(?:be|ption|ber)",
        r"\bsign(?:ed)? ?up\b",
        r"\blog ?in\b",
        r"\bdonat(?:e|ion)",
        r"\babonn",
        r"\bs'inscrire|inscrivez",
        r"\bsuscr[ií]b",
        r"\bassin(?:e|ante|atura)\b",
        r"\biscriviti|abbonati",
        r"\banmeld(?:en|ung)\b",
        r"\bspenden?\b",
        r"\bprenumer",
        r"\bподпи[сш]",
        r"\bпідпи[сш]",
        r"\babone ol",
        r"\bberlangganan",
        r"订阅|訂閱|登録|メルマガ|구독",
        r"\bleave a (?:comment|reply)",
        r"\bwrite a comment",
    ),
    re.IGNORECASE,
)
#: Networks and services where pages ask to be shared or followed.
NETWORKS = re.compile(
    r"\b(?:twitter|facebook|instagram|telegram|whats ?app|youtube|pinterest|linkedin|tiktok|reddit|tumblr|flipboard|"
    r"google (?:news|\+|plus)|apple podcasts|spotify|xing|threads|mastodon|bluesky|vk|weibo|wechat|app store|google play)\b",
    re.IGNORECASE,
)
#: Who owns, took, wrote, sponsored or dated something.
CREDITS = re.compile(
    _any_of(
        r"©",
        r"\bcopyright\b",
        r"\ball rights reserved",
        r"\balle rechte",
        r"\btous droits",
        r"\btodos los derechos|\btodos os direitos",
        r"\b(?:photos?|fotos?|photograph|bild(?:quelle)?|abbildung|symbolbild|image|imagen|imagem|zdj|фото|foto:|figure)\b.{0,40}[:/©(]",
        r"^(?:photo|foto|bild|quelle|source|fuente|fonte|źródło|источник|bron|kilde|källa|credit|image)s?\b",
        r"\bgetty\b|\bshutterstock\b|\bpixabay\b|\bunsplash\b|\breuters/|\bdpa\b|\bafp\b",
        r"^(?:last |zuletzt )?(?:updated|modified|published|posted|aktualisiert|veröffentlicht|publié|publicado|"
        r"actualizado|opublikowano|aggiornato|pubblicato)",
        r"\baffiliate\b|\bsponsored\b|^(?:advertisement|anzeige|werbung|publicité|publicidad|reklama|реклама|reklam|广告|広告|광고)",
    ),
    re.IGNORECASE,
)
