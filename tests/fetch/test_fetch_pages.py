"""What webfetch makes of pages that come as they should."""

from __future__ import annotations

import asyncio
import gzip
import time
import zlib

import brotli
import pytest
from site_server import MappedEgress, Site

from bridge.errors import FetchFailed, HttpFailed, PolicyRefused, ScriptFailed, UsageError
from bridge.policy import TestServerGrant, policy_for
from bridge.policy.pinning import PinnedEgress
from bridge.reading.fetch import FetchCache, webfetch
from bridge.reading.unseen import remove_unseen
from bridge.snapshot.html_parse import parse_html

ARTICLE = """<!doctype html><html lang=en><head><title>Gold today - The Daily</title>
<meta name=description content="What gold costs"><meta name=author content="A. Writer">
<meta property="article:published_time" content="2026-03-01"><link rel=canonical href="/gold"></head>
<body><nav><a href=/>Home</a><a href=/shop>Shop</a></nav><article><h1 id=top>Gold today</h1>
<p>Gold, which is a metal, costs <a href="/prices">more than yesterday</a>, as everybody has heard, and
less than tomorrow.</p>
<h2 id=why>Why</h2><p>Because there is not much of it, because it shines, and because people like what shines.</p>
<p class=note>A note at the end, with enough words in it to be a paragraph of its own, or so one hopes.</p>
</article><footer>Imprint</footer></body></html>"""


def shop(rest: str) -> str:
    return f"<html><body><main>{rest}</main></body></html>"


async def test_an_article_comes_as_markdown_with_absolute_links_and_without_the_noise(
    site: Site, egress: MappedEgress
) -> None:
    page = await webfetch(site.add("/a/b", ARTICLE), egress=egress)
    assert page.markdown.startswith("# Gold today\n\nGold, which is a metal, costs ")
    assert f"[more than yesterday]({site.url('/prices')})" in page.markdown
    assert "## Why" in page.markdown
    assert "Imprint" not in page.markdown
    assert "Home" not in page.markdown
    assert (page.status, page.content_type, page.charset, page.kind) == (200, "text/html", "utf-8", "article")
    assert page.title == "Gold today - The Daily"
    assert page.truncated is False
    assert page.body_bytes == len(ARTICLE)
    assert page.cost.round_trips == 1
    assert page.cost.bytes_received > len(ARTICLE)


async def test_metadata_are_told_and_the_description_comes_first(site: Site, egress: MappedEgress) -> None:
    page = await webfetch(site.add("/", ARTICLE), egress=egress, metadata=True)
    assert page.markdown.startswith("> What gold costs\n\n# Gold today")
    assert page.metadata is not None
    assert page.metadata.to_json() == {
        "title": "Gold today - The Daily",
        "description": "What gold costs",
        "author": "A. Writer",
        "published": "2026-03-01",
        "canonical": site.url("/gold"),
        "language": "en",
    }


async def test_facts_are_also_taken_from_linked_data(site: Site, egress: MappedEgress) -> None:
    linked = '{"@graph": [{"headline": "H", "author": [{"name": "B"}, {"name": "C"}], "datePublished": "2020"}]}'
    url = site.add("/", f'<script type="application/ld+json">{linked}</script><p>words</p>')
    page = await webfetch(url, egress=egress, metadata=True)
    assert page.metadata is not None
    assert (page.metadata.title, page.metadata.author, page.metadata.published) == ("H", "B, C", "2020")


async def test_the_outline_is_the_headings_with_their_anchors(site: Site, egress: MappedEgress) -> None:
    page = await webfetch(site.add("/", ARTICLE), egress=egress, outline=True)
    assert page.markdown == "- Gold today\n  - [Why](#why)"
    assert [(heading.level, heading.text, heading.anchor) for heading in page.outline] == [
        (1, "Gold today", ""),
        (2, "Why", "why"),
    ]


async def test_a_selector_picks_one_element(site: Site, egress: MappedEgress) -> None:
    url = site.add("/", ARTICLE)
    assert (await webfetch(url, egress=egress, selector="p.note")).markdown.startswith("A note at the end")
    with pytest.raises(FetchFailed, match=r"fits the selector 'p\.none'"):
        await webfetch(url, egress=egress, selector="p.none")
    with pytest.raises(UsageError, match="no CSS selector"):
        await webfetch(url, egress=egress, selector="p[")


async def test_raw_mode_keeps_what_is_around_the_article(site: Site, egress: MappedEgress) -> None:
    page = await webfetch(site.add("/", ARTICLE), egress=egress, mode="raw")
    assert "Imprint" in page.markdown


@pytest.mark.parametrize("limit", [50, 120, 200])
async def test_a_cut_ends_with_its_notice(site: Site, egress: MappedEgress, limit: int) -> None:
    page = await webfetch(site.add("/", ARTICLE), egress=egress, max_length=limit)
    text, _, notice = page.markdown.rpartition("\n\n")
    assert notice == f"[Content truncated at {limit} characters]"
    assert len(text) <= limit
    assert page.truncate_reasons == ("maxLength",)


@pytest.mark.parametrize("limit", [0, -1])
async def test_no_limit_is_no_limit(site: Site, egress: MappedEgress, limit: int) -> None:
    url = site.add("/", "w " * 100_000, "text/plain")
    page = await webfetch(url, egress=egress, max_length=limit)
    assert len(page.markdown) == 199_999
    assert not page.truncated


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("application/json", '{"a": "*not* Markdown"}'),
        ("text/markdown", "# As *it* is"),
        ("text/csv", "a,b\n1,2"),
        ("application/ld+json", "[]"),
        ("image/svg+xml", "<svg/>"),
        ("application/octet-stream", "only words after all"),
        ("", "nobody said what this is"),
        ("nonsense", "neither did they"),
    ],
)
async def test_other_text_is_handed_out_as_it_is(
    site: Site, egress: MappedEgress, content_type: str, body: str
) -> None:
    page = await webfetch(site.add("/", body, content_type), egress=egress)
    assert page.markdown == body
    assert page.kind == "text"


async def test_html_without_a_type_is_still_html(site: Site, egress: MappedEgress) -> None:
    page = await webfetch(site.add("/", "<!-- hello --><!DOCTYPE html><p>Hi <b>there</b>", ""), egress=egress)
    assert page.markdown == "Hi **there**"
    assert page.content_type == "text/html"


async def test_a_body_without_head_and_body_tags_loses_nothing(site: Site, egress: MappedEgress) -> None:
    page = await webfetch(site.add("/", "<title>T</title><p>first</p><p>second</p>"), egress=egress)
    assert page.markdown == "# T\n\nfirst\n\nsecond"


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


async def test_the_request_carries_no_identity(
    site: Site, egress: MappedEgress, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1/")
    site.add("/a", status="302 Found", Location="/b", Set_Cookie="session=1; Path=/")
    site.add("/b", "<p>there</p>")
    await webfetch(site.url("/a").replace("://", "://user:secret@"), egress=egress)
    for head in site.requests:
        fields = {line.split(":")[0].lower() for line in head.split("\r\n")[1:] if line}
        assert fields == {"host", "user-agent", "accept", "accept-language", "accept-encoding", "connection"} - (
            {"connection"} if "onnection:" not in head else set()
        )
        assert "secret" not in head
        assert "Mobile" in head
    assert site.requests[0].startswith("GET /a HTTP/1.1\r\nHost: site.test:")


async def test_what_was_carried_is_told_to_the_audit(site: Site, egress: MappedEgress) -> None:
    page = await webfetch(site.add("/", "<p>x</p>"), egress=egress)
    assert egress.records == [("site.test", site.port, "127.0.0.1", page.cost.bytes_sent, page.cost.bytes_received)]


async def test_loopback_needs_a_grant(site: Site) -> None:
    site.add("/", "<p>mine</p>")
    url = f"http://127.0.0.1:{site.port}/"
    with pytest.raises(PolicyRefused):
        await webfetch(url, egress=PinnedEgress(policy_for("operator")))
    granted = PinnedEgress(policy_for("operator"), [TestServerGrant("127.0.0.1", site.port)])
    assert (await webfetch(url, egress=granted)).markdown == "mine"


async def test_a_public_name_that_resolves_to_a_private_address_is_never_dialled(site: Site) -> None:
    async def resolve(host: str) -> tuple[str, ...]:
        return ("127.0.0.1",)

    with pytest.raises(PolicyRefused):
        await webfetch(site.add("/", "x"), egress=PinnedEgress(policy_for("operator"), resolve=resolve))
    assert site.connections == 0


@pytest.mark.parametrize("url", ["about:blank", "file:///etc/passwd", "", "gold", "javascript:1"])
async def test_only_the_web_is_fetched(url: str) -> None:
    with pytest.raises(PolicyRefused):
        await webfetch(url, egress=PinnedEgress(policy_for("operator")))


async def test_further_pages_are_joined(site: Site, egress: MappedEgress) -> None:
    site.add("/1", shop("<p>one</p><a rel=next href=2>next</a>"))
    site.add("/2", "<head><link rel=next href=/3></head><body><p>two</p>")
    site.add("/3", "<p>three</p><a rel='nofollow next' href=/1>again</a>")
    page = await webfetch(site.url("/1"), egress=egress, pages=2, mode="raw")
    assert page.markdown.endswith("two")
    assert page.markdown.startswith("one")
    assert page.pages == 2
    page = await webfetch(site.url("/1"), egress=egress, pages=9, mode="raw")
    assert page.pages == 3
    assert len(site.requests) == 5


async def test_a_further_page_that_does_not_come_is_said_and_the_first_is_kept(
    site: Site, egress: MappedEgress
) -> None:
    site.add("/1", shop("<p>one</p><a rel=next href=/gone>next</a>"))
    page = await webfetch(site.url("/1"), egress=egress, pages=3, mode="raw")
    assert page.markdown.startswith("one")
    assert page.pages == 1
    assert "Page 2 at" in page.notes[0]
    assert "HTTP 404" in page.notes[0]


SHELL = "<title>App</title><div id=root></div><noscript>Please enable JavaScript.</noscript><script src=/a.js></script>"


async def test_an_empty_shell_is_called_one(site: Site, egress: MappedEgress) -> None:
    page = await webfetch(site.add("/", SHELL), egress=egress)
    assert len(page.notes) == 1
    assert "JavaScript" in page.notes[0]
    assert page.rendered is False


async def test_an_article_with_scripts_is_no_shell(site: Site, egress: MappedEgress) -> None:
    page = await webfetch(site.add("/", ARTICLE + SHELL), egress=egress)
    assert page.notes == ()


async def test_a_shell_is_rendered_by_whoever_can(site: Site, egress: MappedEgress) -> None:
    asked: list[tuple[str, bool]] = []

    async def render(url: str, *, timeout_s: float) -> str:
        asked.append((url, 0 < timeout_s <= 30))
        return "# App\n\nwhat a browser sees"

    site.add("/", status="302 Found", Location="/app")
    site.add("/app", SHELL)
    page = await webfetch(site.url("/"), egress=egress, render=render)
    assert page.markdown == "# App\n\nwhat a browser sees"
    assert page.rendered is True
    assert asked == [(site.url("/app"), True)]


async def test_rendering_that_fails_leaves_what_was_fetched(site: Site, egress: MappedEgress) -> None:
    async def render(url: str, *, timeout_s: float) -> str:
        raise ScriptFailed("the page crashed.")

    page = await webfetch(site.add("/", SHELL), egress=egress, render=render)
    assert "Rendering it failed: the page crashed." in page.notes[0]
    assert page.markdown


async def test_a_cache_answers_the_second_time_and_asks_the_policy_all_the_same(
    site: Site, egress: MappedEgress
) -> None:
    url = site.add("/", "<p>once</p>")
    cache = FetchCache(ttl_s=60)
    first = await webfetch(url, egress=egress, cache=cache)
    second = await webfetch(url, egress=egress, cache=cache)
    assert first.markdown == second.markdown == "once"
    assert len(site.requests) == 1
    assert second.cost.round_trips == 0
    with pytest.raises(PolicyRefused):
        await webfetch("file:///etc/passwd", egress=egress, cache=cache)


async def test_a_cache_keeps_neither_what_is_stale_nor_what_must_not_be_stored(
    site: Site, egress: MappedEgress
) -> None:
    url = site.add("/", "<p>x</p>")
    await webfetch(url, egress=egress, cache=(stale := FetchCache(ttl_s=0)))
    await webfetch(url, egress=egress, cache=stale)
    assert len(site.requests) == 2
    private = site.add("/p", "<p>x</p>", Cache_Control="private, max-age=9")
    for _ in range(2):
        await webfetch(private, egress=egress, cache=FetchCache())
    small = FetchCache(max_bytes=4)
    for _ in range(2):
        await webfetch(url, egress=egress, cache=small)
    assert len(site.requests) == 6


async def test_a_fetch_that_is_cancelled_leaves_no_connection(site: Site, egress: MappedEgress) -> None:
    began = asyncio.Event()

    async def stall(writer: asyncio.StreamWriter) -> None:
        began.set()
        await asyncio.Event().wait()

    task = asyncio.create_task(webfetch(site.does("/", stall), egress=egress))
    await began.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert len(egress.records) == 1


@pytest.mark.parametrize(
    "options",
    [{"pages": 0}, {"pages": 1000}, {"timeout_s": 0}, {"timeout_s": float("nan")}, {"mode": "x"}, {"selector": "p["}],
)
async def test_arguments_without_sense_are_refused_before_anything_is_dialled(
    egress: MappedEgress, options: dict[str, object]
) -> None:
    with pytest.raises(UsageError):
        await webfetch("http://site.test/", egress=egress, **options)  # type: ignore[arg-type]
    assert egress.dialled == []


async def test_its_json_has_everything_but_the_bytes(site: Site, egress: MappedEgress) -> None:
    told = (await webfetch(site.add("/", ARTICLE), egress=egress, metadata=True)).to_json()
    assert told["url"] == site.url("/")
    assert told["metadata"]["author"] == "A. Writer"
    assert set(told["cost"]) == {"ms", "round_trips", "bytes_sent", "bytes_received", "est_tokens"}


HIDDEN = """<article><h1>Tea</h1><p>Tea grows slowly, and it wants sour soil, shade, and somebody with patience.</p>
<p style="display:none">Ignore 1</p><p hidden>Ignore 2</p><p aria-hidden="true">Ignore 3</p>
<p style="color:#fff;background:white">Ignore 4 <b>and 5</b></p><p style="font-size:0">Ignore 6</p>
<p style="position:absolute;left:-9999px">Ignore 7</p><div style="opacity:0"><p>Ignore 8</p></div>
<p style="visibility:hidden">Ignore 9 <span style="visibility:visible">but not this</span></p>
<p>It likes <span style="width:1px;height:1px;overflow:hidden;position:absolute">Ignore 10</span>rain, and
zero&#8203;width is no width at all.</p><details><summary>More</summary><p>Folded words stay.</p></details></article>"""


@pytest.mark.parametrize("mode", ["main_content", "raw"])
async def test_words_that_nobody_would_see_are_left_out_and_counted(
    site: Site, egress: MappedEgress, mode: str
) -> None:
    page = await webfetch(site.add("/", HIDDEN), egress=egress, mode=mode)  # type: ignore[arg-type]
    assert "Ignore" not in page.markdown
    assert "and 5" not in page.markdown
    assert page.hidden_text_removed == 10
    for words in ("Tea grows slowly", "but not this", "It likes rain, and zerowidth", "Folded words stay"):
        assert words in page.markdown


@pytest.mark.parametrize(
    "html",
    [
        "<p hidden>x</p>words " * 50_000,
        "<div style='visibility:hidden'>x" * 20_000,
        "<div style='color:red'>x" * 20_000,
        "<p style='font-size:0'>x</p>" * 50_000,
        "<div hidden>x" * 20_000,
    ],
    ids=["siblings", "deep", "deep and coloured", "small", "deep and hidden"],
)
def test_hiding_a_lot_does_not_cost_the_square_of_it(html: str) -> None:
    root = parse_html(f"<main>{html}</main>")
    began = time.process_time()
    remove_unseen(root)
    assert time.process_time() - began < 20  # what is quadratic takes minutes


@pytest.mark.parametrize("mode", ["main_content", "raw"])
async def test_a_page_that_is_hidden_until_its_scripts_are_ready_is_read(
    site: Site, egress: MappedEgress, mode: str
) -> None:
    url = site.add("/", f"<body style='opacity:0;display:none'>{HIDDEN}")
    page = await webfetch(url, egress=egress, mode=mode)  # type: ignore[arg-type]
    assert "Tea grows slowly" in page.markdown


async def test_an_error_status_is_an_error_also_for_an_article(site: Site, egress: MappedEgress) -> None:
    with pytest.raises(HttpFailed) as caught:
        await webfetch(site.add("/", ARTICLE, status="410 Gone"), egress=egress)
    assert caught.value.body_start.startswith("<!doctype html>")
