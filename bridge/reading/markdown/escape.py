"""Escapes text for Markdown (CommonMark 0.31 §2.4), and URLs and code inside their delimiters."""

from __future__ import annotations

import re

from bridge.reading.words import WHITE

_NOT_ONE_SPACE = re.compile(rf"[{WHITE}]{{2,}}|[{WHITE[1:]}]")

_SPECIAL = re.compile(r"[\\`*_~<&\[\]]")
_ESCAPES = re.compile(
    r"(?P<keep>(?<=[^\W_])_+(?=[^\W_])|(?<= )[*_~]+(?= )|&(?!#?\w{1,31};)|<(?![a-zA-Z/!?]|\Z)|(?<!~)(?<!\S)~(?!~)"
    r"|\\(?![!-/:-@\[-`{-~]|\Z))|(?P<bracket>\](?=[(\[:]))|(?P<plain>[\[\]])|(?P<mark>[\\`*_~<&])"
)
_LINE_START = re.compile(
    r"^(?:(?=#{1,6}(?:\s|$))|(?=[-+](?:\s|$))|(?=>)|(?=={1,}\s*$)|(?=[-:|][-:| ]*$)|(?=~~~)|(?=\[[ xX]\](?:\s|$)))(?=.)"
    r"|^(\d{1,9})(?=[.)](?:\s|$))",
    re.MULTILINE,
)
_BEGINS_A_BLOCK = frozenset("#-+>=:|~[0123456789")
_CLOSING_HASHES = re.compile(r"(?<=\s)(#+)$")
_BACKTICKS = re.compile(r"`+")
_URL_UNSAFE = re.compile(r"[\x00-\x20<>()\\\x7f]")
_LANGUAGE = re.compile(
    r"(?:^|\s)(?:language-|lang-|highlight-source-|highlight-text-|brush:\s*|sourceCode\s+)([\w+#][\w+#.-]*)",
    re.IGNORECASE,
)
_NO_LANGUAGE = frozenset("none plain plaintext text txt default html-basic highlight wrap numbersource".split())


def escape_text(text: str, *, in_link: bool = False) -> str:
    """The characters of a text node that could mean something inside a line, escaped; others left readable."""
    if not _SPECIAL.search(text):
        return text

    def escaped(found: re.Match[str]) -> str:
        kind = found.lastgroup
        if kind == "keep" or (kind == "plain" and not in_link):
            return found[0]
        return f"\\{found[0]}"

    return _ESCAPES.sub(escaped, text)


def folded(text: str) -> str:
    """White space as one space each; most texts of a page have no other."""
    # Of all white space only U+0020 is printable.
    return text if text.isprintable() and "  " not in text else _NOT_ONE_SPACE.sub(" ", text)


def escape_leaf(text: str) -> str:
    """The paragraph that a text node is where nothing else stands in it."""
    return escape_line_starts(escape_text(folded(text).strip(" ")))


def escape_line_starts(text: str) -> str:
    """The text of a paragraph, so that no line of it begins a block of another kind."""
    if "\n" not in text and text[:1] not in _BEGINS_A_BLOCK:
        return text
    return _LINE_START.sub(lambda found: f"{found[1]}\\" if found[1] else "\\", text)


def escape_heading_end(text: str) -> str:
    return _CLOSING_HASHES.sub(r"\\\1", text) if "#" in text else text


def code_span(code: str) -> str:
    """Inline code; the fence is as long as needed (§6.1)."""
    if "`" not in code:
        return f"`{code}`"
    runs = set(map(len, _BACKTICKS.findall(code)))
    length = next(n for n in range(1, max(runs) + 2) if n not in runs)
    pad = " " if code[0] == "`" or code[-1] == "`" else ""
    return f"{'`' * length}{pad}{code}{pad}{'`' * length}"


def fence_for(code: str) -> str:
    """A fence longer than any run of backticks in the code (§4.5)."""
    return "`" * max(3, max(map(len, _BACKTICKS.findall(code))) + 1) if "`" in code else "```"


def url_destination(url: str) -> str:
    """The URL as a link destination that needs no angle brackets (§6.3)."""
    if not _URL_UNSAFE.search(url):
        return url
    return _URL_UNSAFE.sub(lambda found: f"%{ord(found[0]):02X}", url)


def language_of(classes: str) -> str:
    """`python` for `language-python`, `lang-py hl`, `highlight-source-python`; "" where a class names none."""
    found = _LANGUAGE.search(classes)
    language = found[1].lower() if found else ""
    return "" if language in _NO_LANGUAGE else language
