"""Short phrases found around articles, in the most common languages of the web.

The lists cover English, German, French, Spanish, Portuguese, Italian, Dutch, Polish, Czech, Russian, Ukrainian,
Turkish, Swedish, Danish, Norwegian, Finnish, Hungarian, Romanian, Greek, Indonesian, Vietnamese, Arabic, Hindi,
Chinese, Japanese and Korean.
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
        "ayrıca okuyun",  # noqa: RUF001
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
    r"\b(?:newsletter|subscri(?:be|ption|ber)|sign(?:ed)? ?up\b|log ?in\b|donat(?:e|ion)|leave a (?:comment|reply)|"
    r"write a comment|abonn|abbonati|abone ol|s'inscrire|inscrivez|suscr[ií]b|assin(?:e|ante|atura)\b|iscriviti|"
    r"anmeld(?:en|ung)\b|spenden?\b|prenumer|berlangganan|подпи[сш]|підпи[сш])|订阅|訂閱|登録|メルマガ|구독",
    re.IGNORECASE,
)
#: Networks and services where pages ask to be shared or followed.
NETWORKS = re.compile(
    r"\b(?:twitter|facebook|instagram|telegram|whats ?app|youtube|pinterest|linkedin|tiktok|reddit|tumblr|flipboard|"
    r"google (?:news|\+|plus|play)|apple podcasts|spotify|xing|threads|mastodon|bluesky|vk|weibo|wechat|app store)\b",
    re.IGNORECASE,
)
#: Who owns, took, wrote, sponsored or dated something.
CREDITS = re.compile(
    r"©|\b(?:copyright\b|all rights reserved|alle rechte|tous droits|todos (?:los derechos|os direitos)|getty\b|"
    r"shutterstock\b|pixabay\b|unsplash\b|reuters/|dpa\b|afp\b|affiliate\b|sponsored\b|"
    r"(?:photos?|fotos?|photograph|bild(?:quelle)?|abbildung|symbolbild|image|imagen|imagem|zdj|фото|figure)\b.{0,40}[:/©(])|"
    r"^(?:(?:photo|foto|bild|quelle|source|fuente|fonte|źródło|источник|bron|kilde|källa|credit|image)s?\b|"
    r"(?:last |zuletzt )?(?:updated|modified|published|posted|aktualisiert|veröffentlicht|publié|publicado|actualizado|"
    r"opublikowano|aggiornato|pubblicato)|"
    r"advertisement|anzeige|werbung|publicité|publicidad|reklama|реклама|reklam|广告|広告|광고)",
    re.IGNORECASE,
)
