"""Bytes of a document as text. Pure.

The order is that of the Encoding Standard (§6.1 "decode") and HTML §13.2.3.2: a byte order mark, what the transport
says, what the document says in its first 1,024 bytes, and what the bytes look like. Where the declared encoding cannot
be true of the bytes, the next one is tried: a browser would show replacement characters there, a reader has no use
for them.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

_PRESCAN_BYTES = 1024
_DETECT_BYTES = 64 * 1024
_BYTE_ORDER_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16le"), (codecs.BOM_UTF16_BE, "utf-16be"))
# HTML §13.2.3.3 "prescan": both ways to write it, and the XML declaration.
_META = re.compile(rb"<meta[^>]{0,300}?charset\s*=\s*[\"']?\s*([a-zA-Z0-9_:.+-]{1,40})", re.IGNORECASE)
_XML = re.compile(rb"^\s*<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([a-zA-Z0-9_:.+-]{1,40})[\"']")

# Encoding Standard §4.2: the labels whose encoding is not what Python takes them for; Python names on the right.
_BROWSER_CODECS = {
    "ascii": "cp1252",
    "us-ascii": "cp1252",
    "ansi_x3.4-1968": "cp1252",
    "iso-8859-1": "cp1252",
    "iso8859-1": "cp1252",
    "iso_8859-1": "cp1252",
    "latin1": "cp1252",
    "l1": "cp1252",
    "iso-8859-9": "cp1254",
    "latin5": "cp1254",
    "iso-8859-11": "cp874",
    "tis-620": "cp874",
    "windows-874": "cp874",
    "gb2312": "gb18030",
    "gb_2312-80": "gb18030",
    "gbk": "gb18030",
    "x-gbk": "gb18030",
    "chinese": "gb18030",
    "big5": "big5hkscs",
    "big5-hkscs": "big5hkscs",
    "cn-big5": "big5hkscs",
    "shift_jis": "cp932",
    "shift-jis": "cp932",
    "sjis": "cp932",
    "x-sjis": "cp932",
    "windows-31j": "cp932",
    "ms_kanji": "cp932",
    "x-euc-jp": "euc_jp",
    "euc-kr": "cp949",
    "ks_c_5601-1987": "cp949",
    "ksc5601": "cp949",
    "korean": "cp949",
    "windows-949": "cp949",
    "utf-16": "utf-16le",
    "unicode": "utf-16le",
    "unicode-1-1-utf-8": "utf-8",
    "x-cp1250": "cp1250",
    "x-cp1251": "cp1251",
    "x-cp1252": "cp1252",
    "x-mac-roman": "mac_roman",
    "macintosh": "mac_roman",
    "x-mac-cyrillic": "mac_cyrillic",
}
# Python has codecs that are not character encodings (zlib, rot13), and some that browsers refuse (UTF-7, UTF-32).
_KNOWN = re.compile(
    r"utf-8|utf-16-[lb]e|cp(125[0-8]|866|874|932|949)|iso8859-(2|3|4|5|6|7|8|10|13|14|15|16)|koi8-[ru]|gb18030"
    r"|big5hkscs|euc_jp|iso2022_jp|mac-roman|mac-cyrillic"
)
_LATIN = frozenset(("cp1252", "cp1254", "iso8859-15"))
# Text in other scripts has most of its letters above ASCII, text in Latin letters some.
_OTHER_SCRIPTS = ["cp1251", "koi8_r", "cp932", "euc_jp", "gb18030", "cp949", "big5hkscs", "cp1253", "cp1255", "cp1256"]
# Letters of windows-1250 that windows-1252 has signs for (ą ł ż ľ ť), where no sign stands: inside of words.
_SIGN_IN_WORD = re.compile(r"[a-z][\xb9\xb3\xbf\xbe\xa5\xa3\xaf\x9d\u009d][a-z ,.]")
_ASCII = bytes(range(0x80))
_NO_LETTERS = bytes(byte for byte in _ASCII if not chr(byte).isalpha())
_SHORT_BYTES = 400
# ASCII, and pairs of the East Asian sets that are spread over the same bytes: GB 2312, KS X 1001, JIS X 0208.
_PAIRS = re.compile(rb"(?:[\x00-\x7f]|[\xa1-\xfe]{2})*+[\x80-\xff]?")
# Kana in EUC-JP; in the other two sets these rows hold what is rare.
_KANA = re.compile(rb"\xa4[\xa1-\xf3]|\xa5[\xa1-\xf6]")
_LAST_COMMON_ROW = 0xD7  # of GB 2312, whose first level is sorted by sound and has the characters in daily use
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
_ALPHABETS = ("koi8_r", "cp1251", "cp1253", "cp1255", "cp1256")
# The commonest characters of modern Chinese, which make up half of any text.
_FREQUENT_HANZI = frozenset(
    "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种事成"
    "方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心本前开但因只从想实日军者意无力它与长把机十民第公此已工使"
    "情明性知全三又关点正业外将两高间由问很最重并物手应战向头文体政美相见被利什二等产或新己制身果加西斯月话合回特代内信表化"
    "老给世位次度门任常先海通教儿原东声提立及比员解水名真论处走义各入几口认条平系气题活尔更别打女变四神总何电数安少报才结反"
    "受目太量再感建务做接必场件计管期市直德资命山金指克许统区保至队形社便空决治展马科司五基眼书非则听白却界达光放强即像难且"
    "权思王象完设式色路记南品住告类求据程北边死张该交规万取拉格望觉术领共确传师观清今切院让识候带导争运网页欢迎你好产价格"
)
# The commonest syllables of Korean, more than half of any text.
_FREQUENT_HANGUL = frozenset(
    "이다는에의을가하고지를은한로사기도인자대리어서시아정나그라들스해수일보주원만있제부전으장것여상적구면성경과동내국위안조연비게신선와"
    "관유미무공오단화산개모방민계세거간치생물당용발문분교년트소실등요반마체입식니없될됩합까된못말때더우각건중명월작강르저드습행진재금품합"
)
#: With fewer foreign bytes a guess is a coin toss.
_ENOUGH_BYTES = 12
#: More broken places than this share of the text, and the declaration is taken for a mistake.
_BROKEN_SHARE = 0.002


@dataclass(frozen=True)
class Decoded:
    """`charset` is the encoding that was used, `source` why: bom, header, meta, detected."""

    text: str
    charset: str
    source: str


def codec_for(label: str) -> str | None:
    """Python's name of the encoding that browsers use for a label; None for what they do not know."""
    label = label.strip().strip("\"'").lower()
    try:
        name = codecs.lookup(_BROWSER_CODECS.get(label, label)).name
    except (LookupError, ValueError):  # ValueError: a NUL in the label
        return None
    return name if _KNOWN.fullmatch(name) else None


def decode_text(body: bytes, *, header: str = "", markup: bool = False) -> Decoded:
    """The text of a body; never fails.

    Args:
        header: The `charset` parameter of Content-Type.
        markup: It is HTML or XML, which may say its own encoding.
    """
    for mark, encoding in _BYTE_ORDER_MARKS:
        if body.startswith(mark):
            return Decoded(body[len(mark) :].decode(encoding, "replace"), encoding, "bom")
    claims = [("header", codec_for(header) if header else None)]
    if markup:
        said = _META.search(body, 0, _PRESCAN_BYTES) or _XML.match(body)
        claimed = codec_for(said[1].decode("ascii")) if said else None
        # §13.2.3.3: bytes in which this can be read are not UTF-16.
        claims.append(("meta", "utf-8" if claimed and claimed.startswith("utf-16") else claimed))
    utf8 = _as_utf8(body)
    for source, name in claims:
        if name is None:
            continue
        if utf8 is not None and (name == "utf-8" or (name in _LATIN and not body.isascii())):
            # Text in a Latin code page is as good as never sound UTF-8 by chance.
            return Decoded(utf8, "utf-8", source if name == "utf-8" else "detected")
        text = body.decode(name, "replace")
        if text.count("\N{REPLACEMENT CHARACTER}") <= max(1, len(text) * _BROKEN_SHARE):
            return Decoded(text, name, source)
    if utf8 is not None:
        return Decoded(utf8, "utf-8", "detected")
    guess = _detect(body[:_DETECT_BYTES]) or next((claim for _, claim in claims if claim), None) or "cp1252"
    return Decoded(body.decode(guess, "replace"), guess, "detected")


def _as_utf8(body: bytes) -> str | None:
    """The text if the bytes are valid UTF-8; a character cut off at the end is not an error."""
    try:
        text, used = codecs.utf_8_decode(body, "strict", False)
    except UnicodeDecodeError:
        return None
    return text if used == len(body) else text + "\N{REPLACEMENT CHARACTER}"


def _detect_pairs(words: bytes) -> str | None:
    """The East Asian encoding of a text whose foreign bytes are all pairs; None where that is not clear.

    The same pairs are characters in all three, so what counts is in which of them they are the frequent ones. A general
    model of frequencies needs more text.
    """
    sample = words[:_SHORT_BYTES]
    if not _PAIRS.fullmatch(sample):
        return None
    pairs = [pair for run in re.findall(rb"[\xa1-\xfe]{2,}", sample) for pair in _twos(run)]
    kana = sum(bool(_KANA.fullmatch(pair)) for pair in pairs)
    characters = [pair for pair in pairs if pair[0] >= 0xB0]
    if kana >= 2 and kana * 4 >= kana + len(characters):
        return "euc_jp"
    hanzi = sum(pair.decode("gb18030", "replace") in _FREQUENT_HANZI for pair in characters)
    hangul = sum(pair.decode("cp949", "replace") in _FREQUENT_HANGUL for pair in characters)
    common = sum(pair[0] <= _LAST_COMMON_ROW for pair in characters)
    if not characters or common * 4 < len(characters) * 3 or any(_reads_as(sample, codec) for codec in _ALPHABETS):
        return None
    if hanzi * 2 >= len(characters) and hanzi > hangul:
        return "gb18030"
    if len(characters) < 4:
        return None
    return "gb18030" if hanzi >= hangul else "cp949" if hangul * 3 >= len(characters) else None


def _twos(run: bytes) -> list[bytes]:
    return [run[at : at + 2] for at in range(0, len(run) - 1, 2)]


def _reads_as(words: bytes, codec: str) -> bool:
    """True if the foreign bytes are words of letters whose case is that of words."""
    found = _NOT_ASCII.findall(words.decode(codec, "replace"))
    return all(word.isalpha() and (word in (word.lower(), word.upper(), word.title())) for word in found)


def _detect(sample: bytes) -> str | None:
    """The likeliest legacy encoding of the web, None if the text is too short to decide."""
    head = sample[:2000]
    if head.count(0) > len(head) // 5:
        return "utf-16-be" if head[::2].count(0) > head[1::2].count(0) else "utf-16-le"
    # Tags are ASCII in all of these and only blur the picture.
    # A sample may end in the middle of a character, but not in front of a tag or at the end of a line.
    end = max(sample.rfind(b"<"), sample.rfind(b"\n"))
    words = re.sub(rb"<[^>]*>", b" ", sample[:end] if end > len(sample) // 2 else sample)
    foreign = len(words.translate(None, _ASCII))
    if (east_asian := _detect_pairs(words)) is not None:
        return east_asian
    if foreign < _ENOUGH_BYTES:
        return None
    letters = len(words.translate(None, _NO_LETTERS))
    if foreign < letters // 2:
        signs = len(_SIGN_IN_WORD.findall(words.decode("cp1252", "replace")))
        return "cp1250" if signs > foreign // 20 else "cp1252"
    from charset_normalizer import from_bytes

    best = from_bytes(words, chunk_size=2048, steps=5, cp_isolation=_OTHER_SCRIPTS).best()
    return codecs.lookup(best.encoding).name if best is not None else None
