"""Main content from plain HTML, and parsing what strangers write."""

from __future__ import annotations

import time

import pytest

from bridge.errors import UsageError
from bridge.reading.charset import decode_text
from bridge.reading.main_content import main_content
from bridge.reading.markdown import to_markdown
from bridge.reading.parsing import parse_html

_PROSE = "The river rose in the night, as it does in spring, and by morning the meadow was a lake; nobody minded much."
_PAGE = """<html><head><title>The river - Valley News</title><meta property="og:site_name" content="Valley News"></head>
<body><header><a href="/">Valley News</a></header><nav><ul><li><a href="/a">Weather</a></li></ul></nav>
<div class="layout"><div class="story"><h1>The river</h1><p class="byline">By A. Writer, 4 May 2024</p>{body}
<div class="share-buttons"><a href="/s">Share this</a></div></div>
<div class="sidebar"><h3>Popular</h3><p>{prose}</p></div></div>
<div id="comments"><p>First comment, which is quite long and says what its writer thinks.</p></div>
<footer>© Valley News</footer></body></html>"""


def _page(body: str) -> str:
    return _PAGE.format(body=body, prose=_PROSE)


def _read(html: str, **options: object) -> str:
    return to_markdown(main_content(parse_html(html), **options).tree)  # type: ignore[arg-type]


def test_the_article_is_found_and_what_surrounds_it_is_not() -> None:
    found = main_content(parse_html(_page(f"<p>{_PROSE}</p>" * 4)))
    text = to_markdown(found.tree)
    assert (found.kind, found.title) == ("article", "The river")
    assert text == "\n\n".join([_PROSE] * 4)


def test_what_belongs_to_an_article_stays() -> None:
    kept = (
        "<h2>Levels</h2><table><tr><th>Day</th><th>m</th></tr><tr><td>1</td><td>3</td></tr></table>"
        "<pre>level(1)</pre><figure><img src='i.png' alt='i'><figcaption>The meadow</figcaption></figure>"
        "<blockquote>It was wet.</blockquote><ul><li>One</li><li>Two</li></ul>"
    )
    text = _read(_page(f"<p>{_PROSE}</p>" * 3 + kept + f"<p>{_PROSE}</p>"))
    for part in ("## Levels", "| 1 | 3 |", "level(1)", '![i](i.png "The meadow")', "> It was wet.", "- One\n- Two"):
        assert part in text


def test_a_split_article_is_joined() -> None:
    halves = f"<div class='part'><p>{_PROSE}</p><p>1</p></div>" + "<div class='ad'>Buy</div>"
    text = _read(_page(halves.replace("1", "First half.") + halves.replace("1", "Second half.")))
    assert "First half." in text
    assert "Second half." in text
    assert "Buy" not in text


def test_comments_are_kept_where_they_are_asked_for() -> None:
    html = _page(f"<p>{_PROSE}</p>" * 4)
    assert main_content(parse_html(html)).comments is None
    found = main_content(parse_html(html), comments=True).comments
    assert found is not None
    assert to_markdown(found).startswith("First comment")


def test_raw_is_the_whole_body() -> None:
    assert "Weather" in _read(_page(f"<p>{_PROSE}</p>"), mode="raw")


def test_a_mode_that_is_none_is_refused() -> None:
    with pytest.raises(UsageError, match="mode"):
        _read("<p>a</p>", mode="best")


def test_a_page_of_cards_is_a_list_unless_an_article_is_wanted() -> None:
    card = "<div class=card><h3><a href=/{0}>Story number {0}</a></h3><p>What happened, in a few words.</p></div>"
    html = "<body>" + "".join(card.format(n) for n in range(8)) + "</body>"
    found = main_content(parse_html(html))
    assert found.kind == "list"
    assert to_markdown(found.tree).split("\n")[0] == "- [Story number 0](/0) — What happened, in a few words."
    assert main_content(parse_html(html), mode="article").kind != "list"


def test_the_last_card_keeps_its_heading_though_its_text_is_in_no_paragraph() -> None:
    card = "<li class=card><h3>{}</h3><span><span class=price>€7</span> <span>3 left</span></span></li>".format
    text = _read(f"<main><p>3 products</p><ul>{card('Ring')}{card('Necklace')}{card('Bracelet')}</ul></main>")
    assert text.endswith("- ### Bracelet\n\n  €7 3 left")
    assert _read(f"<article>{f'<p>{_PROSE}</p>' * 3}<h2>See also</h2><div> </div></article>").endswith(_PROSE)


def test_text_that_is_hidden_in_the_markup_is_left_out() -> None:
    hidden = "<p style='display:none'>secret</p><p hidden>secret</p><p aria-hidden='true'>secret</p>"
    assert "secret" not in _read(_page(f"<p>{_PROSE}</p>" * 3 + hidden))


@pytest.mark.parametrize("html", ["", " ", "<!-- -->", "<html></html>", "<body>", "\0", "<frameset></frameset>", "<p"])
def test_a_page_of_nothing_reads_as_nothing(html: str) -> None:
    assert _read(html).strip("\ufffd") == ""


@pytest.mark.parametrize(
    ("body", "charset", "text"),
    [
        (b"\xef\xbb\xbfgr\xc3\xbcn", "latin-1", "grün"),
        ("grün".encode("utf-16"), None, "grün"),
        (b"gr\xfcn", "iso-8859-1", "grün"),
        (b"<meta charset=iso-8859-1>\x80", None, "<meta charset=iso-8859-1>€"),
        (b"gr\xc3\xbcn", None, "grün"),
        (b"gr\xfcn", None, "grün"),
        (b"gr\xfcn", "no-such-charset", "grün"),
        ("日本".encode("shift_jis"), "shift_jis", "日本"),
        (b"<meta charset=utf-16>gr\xc3\xbcn", None, "<meta charset=utf-16>grün"),
        (b"gr\xc3\xbcn" * 40 + b"\xc3", None, "grün" * 40 + "\ufffd"),
    ],
)
def test_bytes_are_decoded_as_browsers_do(body: bytes, charset: str | None, text: str) -> None:
    assert decode_text(body, header=charset or "", markup=True).text == text


@pytest.mark.parametrize("tag", ["div", "ul><li", "blockquote", "b", "table><tr><td", "span", "h1", "pre", "dl><dd"])
def test_ten_thousand_levels_lose_nothing(tag: str) -> None:
    html = f"<body>{f'<{tag}>' * 10_000}deep{'</div>' * 10_000}<p>after"
    text = to_markdown(html)
    assert "deep" in text
    assert "after" in text
    main_content(parse_html(html))


@pytest.mark.parametrize(
    "unit",
    [
        "<p>x",
        "<br>x",
        "<a href=x>y</a> ",
        "<nav>x</nav>y",
        "<table><tr><td>",
        "<li>x",
        "`",
        "[",
        "<td colspan=1000 rowspan=9>x",
    ],
)
def test_time_grows_with_the_size_and_not_with_its_square(unit: str) -> None:
    def cpu_s(size: int) -> float:
        html = "<body><p>a</p>" + unit * (size // len(unit))
        started = time.process_time()
        to_markdown(main_content(parse_html(html)).tree, max_length=50_000)
        return time.process_time() - started

    cpu_s(20_000)
    small, large = (min(cpu_s(size) for _ in range(2)) for size in (100_000, 400_000))
    assert large < 10 * small + 0.5
