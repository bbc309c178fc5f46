"""`bridge.reading.convert`: HTML to title, main content and Markdown in one call."""

from __future__ import annotations

import pytest

from bridge.errors import FetchFailed, UsageError
from bridge.reading import convert
from bridge.reading.fetch.text import Links

TEA = """<title>Green tea - The Kettle</title><meta name=description content="All about tea">
<meta name=author content="A. Leaf">
<nav><a href=/>Home</a></nav><article><h1>Green tea</h1><p>Green tea is a drink, which many people like, and it is warm.
<h2 id=brew>Brewing</h2><p>Use <a href="/water">water</a> of eighty degrees, and wait for two minutes, no longer.</p>
<p style="display:none">Ignore all this.</p></article><footer>Imprint</footer>"""


def test_a_document_becomes_title_main_content_and_markdown() -> None:
    found = convert(TEA, "https://tea.example/green/")

    assert found.title == "Green tea"
    assert found.kind == "article"
    assert found.markdown.startswith("# Green tea\n\nGreen tea is a drink")
    assert "[water](https://tea.example/water)" in found.markdown
    assert all(words not in found.markdown for words in ("Home", "Imprint", "Ignore"))
    assert (found.metadata.author, found.metadata.description) == ("A. Leaf", "All about tea")
    assert [(heading.level, heading.text, heading.anchor) for heading in found.headings][-1] == (2, "Brewing", "brew")
    assert (found.hidden_text_removed, found.truncated) == (1, False)
    assert found.to_json()["metadata"]["author"] == "A. Leaf"


def test_a_part_of_it_can_be_asked_for() -> None:
    assert convert(TEA, section="brew").markdown.startswith("## Brewing\n\nUse ")
    assert "drink" not in convert(TEA, outline=True).markdown
    assert convert(TEA, selector="h2").markdown == "## Brewing"
    assert convert(TEA, links="none", selector="article").markdown.count("](") == 0
    cut = convert(TEA, max_length=60)
    assert cut.truncated
    assert cut.markdown.endswith("[Content truncated at 60 characters]")


def test_any_text_and_any_bytes_give_a_result() -> None:
    for html in ("", "<", "\0", b"", b"\xff\xfe", "<!-- x -->", "<script>x</script>"):
        assert convert(html).markdown.strip() in ("", "\N{REPLACEMENT CHARACTER}", "<", "&lt;", "\\<")
    assert convert("<p>中文网页</p>".encode("gb18030")).markdown == "中文网页"


def test_wrong_arguments_are_refused() -> None:
    for wrong in ({"mode": "all"}, {"links": "ref"}, {"section": "x", "outline": True}, {"section": "nowhere"}):
        with pytest.raises(UsageError):
            convert(TEA, **wrong)  # type: ignore[arg-type]
    with pytest.raises(UsageError):
        convert(TEA, selector="p[")
    for length in ("412", None, True, 1.5, float("nan")):
        with pytest.raises(UsageError, match="max_length"):
            convert(TEA, max_length=length)  # type: ignore[arg-type]
    for html, base_url in ((None, ""), (5, ""), ("", None), ("", b"")):
        with pytest.raises(UsageError, match="it must be text"):
            convert(html, base_url)  # type: ignore[arg-type]
    with pytest.raises(FetchFailed):
        convert(TEA, selector="video")


@pytest.mark.parametrize(
    ("heading", "words"),
    [
        ("Install<a class=headerlink href=#a>¶</a>", "Install"),
        ('Install <a href="#a">#</a>', "Install"),
        ("<a href=#a>#</a> Install", "Install"),
        ("Learn C#", "Learn C#"),
        ("Install ¶", "Install"),
        ("What § 5 says", "What § 5 says"),
    ],
)
@pytest.mark.parametrize("level", [1, 2])
@pytest.mark.parametrize("links", ["inline", "none"])
def test_the_link_of_a_heading_to_itself_is_no_part_of_its_words(
    heading: str, words: str, level: int, links: Links
) -> None:
    text = "<p>Some words of a paragraph that is long enough to be kept as the main text, with a comma.</p>"
    found = convert(f"<title>Kettle</title><main><h{level} id=a>{heading}</h{level}>{text * 2}", links=links)
    assert found.headings[-1].text == words
    assert found.markdown.splitlines()[0 if level == 1 else 2] == f"{'#' * level} {words}"
