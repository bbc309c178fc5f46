"""Laws of the converter: what a CommonMark parser reads back is what the tree held; no cut breaks anything."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable
from html import escape as html_escape

from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree
from markdown_it import MarkdownIt
from markdown_it.token import Token

from bridge.reading.markdown import to_blocks, to_markdown
from bridge.reading.markdown.document import truncated
from bridge.reading.markdown.write_blocks import code_of
from bridge.reading.parsing import parse_html

_PARSER = MarkdownIt("commonmark", {"maxNesting": 200}).enable("table").enable("strikethrough")


_LETTERS = "abc xyz*_`[]()<>&#!|~\\+-=1.0:中文ש🙂\"'"


class _Author:
    """Writes documents at random: quicker by far than drawing every tag from a strategy."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)  # noqa: S311

    def document(self) -> str:
        return self._many(4, lambda: self._block(3))

    def _many(self, most: int, write: Callable[[], str], least: int = 0) -> str:
        return "".join(write() for _ in range(self._random.randint(least, most)))

    def _words(self) -> str:
        return html_escape("".join(self._random.choices(_LETTERS, k=self._random.randint(1, 12))), quote=False)

    def _inline(self, depth: int) -> str:
        kind = self._random.choice(["words", "words", "words", "link", "code", "b", "i", "del", "span"])
        if kind == "words" or depth == 0:
            return self._words()
        if kind == "link":
            path = "".join(self._random.choices("abc09_()%*~-", k=self._random.randint(0, 8)))
            return f'<a href="http://{self._random.choice("abc")}.com/{path}">x{self._words()}</a>'
        if kind == "code":
            return f"<code>c{self._words()}</code>"
        return f"<{kind}>{self._many(3, lambda: self._inline(depth - 1))}</{kind}>"

    def _line(self) -> str:
        return self._many(4, lambda: self._inline(2), least=1)

    def _block(self, depth: int) -> str:
        kind = self._random.choice(["p", "p", "h", "pre", "table", "hr", "quote", "ul", "ol"])
        if kind == "h":
            level = self._random.randint(1, 6)
            return f"<h{level}>h{self._line()}</h{level}>"
        if kind == "pre":
            language = self._random.choice(["", "language-", "language-python", "lang-c++"])
            code = "\n".join(self._words() for _ in range(self._random.randint(1, 4)))
            return f'<pre><code class="{language}">c{code}</code></pre>'
        if kind == "table":
            row = "<tr>{}</tr>".format
            cells = self._many(3, lambda: row("".join(f"<td>{self._line()}</td>" for _ in range(2))), least=1)
            return f"<table><tr><th>t1</th><th>t2</th></tr>{cells}</table>"
        if kind == "hr":
            return "<hr>"
        if depth and kind == "quote":
            return f"<blockquote>{self._many(3, lambda: self._block(depth - 1))}</blockquote>"
        if depth and kind in ("ul", "ol"):
            items = self._many(3, lambda: f"<li>{self._many(2, lambda: self._block(depth - 1), least=1)}</li>")
            return f"<{kind}>{items}</{kind}>"
        return f"<p>{self._line()}</p>"


_document = st.integers(0, 2**48).map(lambda seed: _Author(seed).document())


def _flat(tokens: list[Token]) -> list[Token]:
    return [inner for token in tokens for inner in (token, *(token.children or ()))]


def _bare(text: str) -> str:
    return re.sub(r"\s+", "", text)


@given(_document)
@settings(max_examples=300)
def test_a_parser_reads_the_same_headings_code_tables_and_links_back(html: str) -> None:
    tree = parse_html(html)
    tokens = _PARSER.parse(to_markdown(html))
    flat = _flat(tokens)

    wanted = [(int(str(h.tag)[1]), _bare("".join(h.itertext()))) for h in tree.iter("h1", "h2", "h3", "h4", "h5", "h6")]
    found = [
        (int(token.tag[1]), tokens[at + 1].children or [])
        for at, token in enumerate(tokens)
        if token.type == "heading_open"
    ]
    assert [level for level, _ in found] == [level for level, _ in wanted]

    code = [code_of(pre) for pre in tree.iter("pre")]
    assert [(token.info, token.content.rstrip("\n")) for token in flat if token.type == "fence"] == code

    tables = [len(list(table.iter("tr"))) for table in tree.iter("table")]
    rows = [token.type for token in flat if token.type in ("table_open", "tr_open")]
    assert rows.count("table_open") == len(tables)
    assert rows.count("tr_open") == sum(
        1 for row in tree.iter("tr") if any(_bare("".join(cell.itertext())) for cell in row)
    )

    addresses = {link.get("href") for link in tree.iter("a") if _bare("".join(link.itertext()))}
    read = {str(token.attrs["href"]) for token in flat if token.type == "link_open"}
    assert {_plain(address) for address in read} == {_plain(address or "") for address in addresses}


def _plain(address: str) -> str:
    return re.sub(r"%[0-9A-Fa-f]{2}", lambda found: chr(int(found[0][1:], 16)), address)


@given(_document)
@settings(max_examples=200)
def test_no_letter_of_the_text_is_lost_or_added(html: str) -> None:
    tree = parse_html(html)
    text = "".join(
        token.content
        for token in _flat(_PARSER.parse(to_markdown(html)))
        if token.type in ("text", "code_inline", "fence") and not token.children
    )
    wanted = Counter(_bare("".join(tree.itertext())))
    found = Counter(_bare(text))
    letters = [char for char in wanted | found if char.isalnum()]
    assert {char: found[char] for char in letters} == {char: wanted[char] for char in letters}


@given(_document, st.integers(1, 400))
@settings(max_examples=300)
def test_a_cut_keeps_to_its_limit_and_breaks_nothing(html: str, limit: int) -> None:
    blocks = to_blocks(html)
    whole, _ = truncated(blocks, 0)
    text, is_cut = truncated(blocks, limit)
    assert is_cut == (len(whole) > limit)
    if not is_cut:
        assert text == whole
        return
    notice = f"[Content truncated at {limit} characters]"
    assert text.endswith(notice)
    kept = text.removesuffix(notice).rstrip()
    assert len(kept) <= limit
    before, after = _flat(_PARSER.parse(whole)), _flat(_PARSER.parse(kept))

    def all_of(tokens: list[Token], kind: str) -> list[str]:
        return [str(token.attrs.get("href", "")) for token in tokens if token.type == kind]

    assert all_of(after, "link_open") == all_of(before, "link_open")[: len(all_of(after, "link_open"))]
    fences = [line for line in kept.split("\n") if re.match(r"[>\s\d.)*-]*`{3,}[\w+]*$", line)]
    assert len(fences) % 2 == 0
    cells = [after[at + 1].content for at, token in enumerate(after) if token.type == "td_open"]
    assert cells == [before[at + 1].content for at, token in enumerate(before) if token.type == "td_open"][: len(cells)]


@given(_document)
@settings(max_examples=200)
def test_white_space_between_tags_changes_nothing(html: str) -> None:
    spaced = re.sub(r"(</?(?:p|h[1-6]|ul|ol|li|blockquote|table|tr|td|th|hr)>)", r"\n  \1\n  ", html)
    assert to_markdown(spaced) == to_markdown(html)


@given(_document)
@settings(max_examples=200)
def test_there_is_never_more_than_one_blank_line_outside_of_code(html: str) -> None:
    without_code = re.sub(r"<pre>.*?</pre>", "", html, flags=re.DOTALL)
    assert not re.search(r"\n[>\s]*\n[>\s]*\n", to_markdown(without_code))


@given(st.text(max_size=200))
@settings(max_examples=300)
def test_any_text_at_all_is_converted(html: str) -> None:
    to_markdown(html, max_length=50)


@given(st.binary(max_size=200))
@settings(max_examples=300)
def test_any_bytes_at_all_are_parsed(body: bytes) -> None:
    tree = parse_html(body)
    assert tree.tag == "html"
    assert isinstance(tree, etree._Element)
    to_markdown(tree)
