"""Content codings and character encodings of what is fetched."""

from __future__ import annotations

import gzip
import zlib

import brotli
import pytest
from site_server import MappedEgress, Site

from bridge.reading.fetch import webfetch


@pytest.mark.parametrize(
    ("coding", "packed"),
    [
        ("gzip", gzip.compress(b"<p>packed words</p>", mtime=0)),
        ("x-gzip", gzip.compress(b"<p>packed ", mtime=0) + gzip.compress(b"words</p>", mtime=0) + b"\0\0\0"),
        ("deflate", zlib.compress(b"<p>packed words</p>")),
        ("deflate", zlib.compress(b"<p>packed words</p>")[2:-4]),
        ("br", brotli.compress(b"<p>packed words</p>")),
        ("br, gzip", gzip.compress(brotli.compress(b"<p>packed words</p>"), mtime=0)),
        ("identity", b"<p>packed words</p>"),
    ],
)
async def test_content_codings_are_undone(site: Site, egress: MappedEgress, coding: str, packed: bytes) -> None:
    page = await webfetch(site.add("/", packed, Content_Encoding=coding), egress=egress)
    assert page.markdown == "packed words"


WORDS = "Grüße aus Köln, größer als sonst und mit süßen Früchten"


RUSSIAN = "Золото сегодня стоит дороже, чем вчера, и об этом говорят все газеты страны"  # noqa: RUF001


JAPANESE = "今日の金の価格は昨日より高くなりましたが、明日はどうなるかわかりません。"


@pytest.mark.parametrize(
    ("header", "meta", "encoding", "words", "why"),
    [
        ("utf-8", "", "utf-8", WORDS, "header"),
        ("iso-8859-1", "", "cp1252", WORDS + " für 5 €", "header"),
        ("", "windows-1252", "cp1252", WORDS, "meta"),
        ("", "shift_jis", "shift_jis", JAPANESE, "meta"),
        ("euc-jp", "", "euc_jp", JAPANESE, "header"),
        ("gb2312", "", "gb18030", "今天的黄金价格比昨天高", "header"),
        ("", "", "utf-8", JAPANESE, "detected"),
        ("", "", "utf-8-sig", WORDS, "bom"),
        ("", "", "utf-16", JAPANESE, "bom"),
        ("iso-8859-1", "", "utf-8-sig", WORDS, "bom"),
        # The declaration is untrue:
        ("iso-8859-1", "", "utf-8", WORDS, "detected"),
        ("utf-8", "windows-1251", "cp1251", RUSSIAN * 3, "meta"),
        ("utf-8", "", "cp1251", RUSSIAN * 5, "detected"),
        ("no-such-charset", "", "utf-8", WORDS, "detected"),
        ("zlib_codec", "", "utf-8", WORDS, "detected"),
        ("utf-7", "", "utf-8", WORDS, "detected"),
        ("", "utf-16", "utf-8", WORDS, "meta"),
    ],
)
async def test_the_encoding_is_the_one_that_is_true(
    site: Site, egress: MappedEgress, header: str, meta: str, encoding: str, words: str, why: str
) -> None:
    tag = f"<meta charset={meta}>" if meta else ""
    body = f"<!doctype html>{tag}<p>{words}</p>".encode(encoding)
    content_type = f"text/html; charset={header}" if header else "text/html"
    page = await webfetch(site.add("/", body, content_type), egress=egress)
    assert page.markdown == words
    assert page.charset_source == why
