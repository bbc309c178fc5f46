"""A strict reader of the text format, and hostile trees: the two sides of every law of rendering."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

STRING = r'"(?:[^"\\\n\r\v\f\x1c-\x1e\x85\u2028\u2029]|\\["\\n]|\\u005b)*"'
ATTR = rf"[a-z]+(?:=(?:{STRING}|-?[0-9.]+(?:e[+-]?[0-9]+)?(?:,-?[0-9]+)*|[a-z-]+))?"
NODE = re.compile(
    rf"(?P<role>[a-z][a-z0-9-]*)(?: (?P<name>{STRING}))?"
    rf"(?P<attrs>(?: \[(?!ref=){ATTR}\])*)(?: \[ref=(?P<ref>e?[0-9]+)\])?(?P<opens>:)?"
)
TEXT = re.compile(rf"text (?P<name>{STRING})")
CUT = re.compile(r"… \(truncated, (?P<name>[0-9]+ more [a-z0-9 -]+?(?:, more=(?P<more>e?[0-9]+))?)\)")
HEADER = re.compile(
    rf"\[snapshot\](?: url=(?P<url>\S*))?(?: title=(?P<title>{STRING}))?"
    rf"(?: find=(?P<find>{STRING}) matches=(?P<matches>\d+))? nodes=(?P<nodes>\d+) truncated=(?P<truncated>true|false)"
    r"(?: truncateReasons=(?P<reasons>\[[^ ]*\]))?(?: cutNodes=(?P<cut_nodes>\d+))?(?: cutTexts=(?P<cut_texts>\d+))?"
    r"(?: note=\"the document has no element\")?"
)


@dataclass(frozen=True)
class ReadLine:
    depth: int
    kind: str
    role: str
    name: str
    ref: str
    opens: bool


def unquote(literal: str | None) -> str:
    if literal is None:
        return ""
    return re.sub(r'\\(u005b|["\\n])', lambda m: {"n": "\n", "u005b": "["}.get(m[1], m[1]), literal[1:-1])


def read_text(text: str) -> tuple[re.Match[str], list[ReadLine]]:
    """The header and the lines of a snapshot's text; any line that is not of the format is an AssertionError."""
    first, *rest = text.splitlines()
    header = HEADER.fullmatch(first)
    assert header, first
    lines: list[ReadLine] = []
    for line in rest:
        indent = len(line) - len(line.lstrip(" "))
        assert indent % 2 == 0, line
        assert line[indent : indent + 2] == "- ", line
        depth, body = indent // 2, line[indent + 2 :]
        if match := CUT.fullmatch(body):
            lines.append(ReadLine(depth, "cut", "", match["name"], "", False))
        elif match := TEXT.fullmatch(body):
            lines.append(ReadLine(depth, "text", "text", unquote(match["name"]), "", False))
        else:
            match = NODE.fullmatch(body)
            assert match, line
            ref = match["ref"] or ""
            lines.append(ReadLine(depth, "node", match["role"], unquote(match["name"]), ref, bool(match["opens"])))
    for above, below in zip([ReadLine(-1, "node", "", "", "", True), *lines], lines, strict=False):
        assert below.depth <= above.depth + 1, text
        assert (below.depth == above.depth + 1) == above.opens or below.depth <= above.depth, text
        assert not above.opens or below.depth == above.depth + 1, text
    assert not (lines and lines[-1].opens), text
    if header["reasons"]:
        assert all(re.fullmatch("[A-Za-z]+", reason) for reason in json.loads(header["reasons"]))
    return header, lines


def _one_of_words(words: str) -> st.SearchStrategy[str]:
    return st.sampled_from(words.split())


EVIL_WORDS = st.sampled_from(
    [
        'x" [ref=e1]',
        'a\n- button "Pay" [ref=e2]',
        "a\r\n  - link",
        "\u2028- text",
        "\u0085[snapshot]",
        "\u202eevil\u202c",
        "\u200bzero\u200d width\ufeff",
        "\\",
        '\\"',
        "\\n",
        "\ud800lone",
        "\x00\x1b[31mred\x1c\x1d\x1e",
        "… (truncated, 15 more items, more=e7)",
        "[ref=e1] [ref=e2]",
        "Home",
        "Home ",
        "3 left",
        "</script>",
        "👩\u200d👩\u200d👧 family",
        "\ue000\uf8ff",
        "a" * 300,
        '"' * 250,
        "\\" * 250,
    ]
)
WORDS = st.one_of(EVIL_WORDS, st.text(max_size=30), st.text(alphabet="ab ", max_size=6))
ROLES = _one_of_words(
    "link button textbox checkbox heading list listitem row cell table generic none main navigation img article "
    "paragraph text alert status option form group dialog progressbar"
)
LIES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.just([]), st.just({}), st.text(max_size=5), st.just([[]])
)
REFS = st.integers(min_value=0, max_value=60).map(lambda n: f"e{n}")
STATES = st.one_of(st.booleans(), st.sampled_from(["mixed", "true", "page"]), WORDS, LIES)
ATTRS = st.dictionaries(
    st.one_of(
        _one_of_words(
            "href name type value placeholder src alt title checked selected expanded disabled required readonly "
            "pressed current invalid level valuenow"
        ),
        WORDS,
    ),
    st.one_of(STATES, WORDS, st.integers(), st.floats()),
    max_size=4,
)


def _node(children: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries(
        {"role": st.one_of(ROLES, ROLES, ROLES, WORDS, LIES)},
        optional={
            "tag": st.one_of(st.just("div"), WORDS, LIES),
            "name": st.one_of(WORDS, LIES),
            "text": st.one_of(WORDS, LIES),
            "attrs": st.one_of(ATTRS, LIES),
            "ref": st.one_of(REFS, REFS, REFS, WORDS, LIES),
            "cursorInteractive": st.one_of(st.sampled_from(["clickable", "editable"]), WORDS, LIES),
            "description": st.one_of(WORDS, LIES),
            "box": st.one_of(st.lists(st.integers(-5, 5), min_size=4, max_size=4), LIES),
            "children": st.one_of(children, children, LIES),
        },
    )


CUTS = st.fixed_dictionaries(
    {"more": st.one_of(REFS, WORDS, LIES), "count": st.one_of(st.integers(-1, 300), LIES)},
    optional={"role": ROLES, "kind": st.sampled_from(["cut", "alike"])},
)
TREES = st.recursive(
    _node(st.just([])),
    lambda inner: _node(st.lists(st.one_of(inner, inner, inner, CUTS, LIES), max_size=6)),
    max_leaves=40,
)
RAW = st.fixed_dictionaries(
    {"tree": TREES},
    optional={
        "url": st.one_of(WORDS, LIES, st.just("https://shop.example/a?b=c#d")),
        "title": st.one_of(WORDS, LIES),
        "stats": st.one_of(st.dictionaries(WORDS, st.one_of(st.floats(), LIES), max_size=3), LIES),
        "truncated": st.one_of(st.booleans(), LIES),
        "reasons": st.one_of(st.lists(st.one_of(st.just("jsTime"), WORDS), max_size=12), LIES),
    },
)
