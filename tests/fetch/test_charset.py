"""Which encoding a body is read as when nobody says, or when what is said is untrue."""

# ruff: noqa: RUF001  (the sentences are in other scripts)

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.reading.charset import codec_for, decode_text

SENTENCES = {
    "cp1251": "Золото сегодня стоит дороже, чем вчера, и об этом говорят все газеты страны. ",
    "koi8_r": "Золото сегодня стоит дороже, чем вчера, и об этом говорят все газеты страны. ",
    "shift_jis": "今日の金の価格は昨日より高くなりましたが、明日はどうなるかわかりません。",
    "euc_jp": "今日の金の価格は昨日より高くなりましたが、明日はどうなるかわかりません。",
    "gb18030": "今天的黄金价格比昨天高，但是没有人知道明天会怎么样。",
    "big5": "今天的黃金價格比昨天高，但是沒有人知道明天會怎麼樣。",
    "euc_kr": "오늘 금값은 어제보다 비싸지만 내일은 어떻게 될지 아무도 모릅니다. ",
    "cp1252": "L'été dernier, la société a été créée à côté de l'hôtel où j'étais allé. ",
    "cp1250": "Zażółć gęślą jaźń, a potem źdźbło trawy i świerszcze w łąkach. ",
    "cp1253": "Ο χρυσός κοστίζει σήμερα περισσότερο από χθες. ",
    "utf-8": "Grüße aus Köln, 今日の金, и так далее. ",
}


@pytest.mark.parametrize(
    ("encoding", "words"),
    [
        *(("gb18030", words) for words in ("你好", "欢迎光临", "今天天气很好", "我们的产品质量好，价格低")),
        *(
            ("gb18030", words)
            for words in ("绿茶和红茶，喝茶有益健康。", "词条页悬浮", "全球华语歌曲排行", "蔡健雅演唱会")
        ),
        *(("cp949", words) for words in ("한국어 웹페이지", "무단전재 및 재배포금지", "오늘의 날씨")),
        *(("euc_jp", words) for words in ("さいきん", "現在のトップからの位置", "フッターの高さ")),
    ],
)
def test_short_east_asian_text_needs_no_declaration(encoding: str, words: str) -> None:
    page = f"<title>{words}</title><p>{words}"
    assert decode_text(page.encode(encoding), markup=True).text == page


@pytest.mark.parametrize(
    ("words", "encoding"),
    [("ÀÉÎÕÜ café", "cp1252"), ("Главная страница", "cp1251")],
)
def test_other_short_texts_are_not_taken_for_east_asian(words: str, encoding: str) -> None:
    assert decode_text(words.encode(encoding)).text == words


@pytest.mark.parametrize("times", [2, 2_000])
@pytest.mark.parametrize("encoding", SENTENCES)
def test_the_encodings_of_the_web_are_detected_from_their_bytes(encoding: str, times: int) -> None:
    words = SENTENCES[encoding]
    body = ("<html><body><p>" + "</p>\n<p class=x>".join([words] * times)).encode(encoding)
    decoded = decode_text(body, markup=True)
    assert words.strip() in decoded.text
    assert decoded.source == "detected"


def test_a_few_foreign_bytes_are_windows_1252() -> None:
    assert decode_text("<p>Grüße".encode("cp1252"), markup=True).text == "<p>Grüße"


def test_one_broken_character_does_not_change_the_encoding() -> None:
    body = ("words " * 200 + "größer ").encode() + b"\xff" + " und mehr Wörter".encode()
    decoded = decode_text(body, header="utf-8")
    assert (decoded.charset, decoded.source) == ("utf-8", "header")
    assert decoded.text.count("\ufffd") == 1


def test_a_character_cut_at_the_end_does_not_change_the_encoding() -> None:
    decoded = decode_text("größer ü".encode()[:-1])
    assert decoded.text == "größer \ufffd"


@pytest.mark.parametrize(
    ("label", "codec"),
    [
        ("ISO-8859-1", "cp1252"),
        (" 'utf8' ", "utf-8"),
        ("x-sjis", "cp932"),
        ("gbk", "gb18030"),
        ("utf-7", None),
        ("rot13", None),
        ("zlib", None),
        ("idna", None),
        ("unicode_escape", None),
        ("mbcs\0", None),
        ("", None),
    ],
)
def test_encoding_labels_mean_what_they_mean_in_browsers(label: str, codec: str | None) -> None:
    assert codec_for(label) == codec


@given(body=st.binary(max_size=400), header=st.text(max_size=20), markup=st.booleans())
def test_any_bytes_make_text_that_can_be_written_again(body: bytes, header: str, markup: bool) -> None:
    decode_text(body, header=header, markup=markup).text.encode()
