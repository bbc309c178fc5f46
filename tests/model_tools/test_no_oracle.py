"""No argument that takes words tells what a secret is made of: a right guess is answered as a wrong one is."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from temp_clients import temp_client

from bridge.errors import PolicyRefused
from bridge.model_tools import ClientContext, NoElicitation, Toolbox, tool_set
from bridge.model_tools.sets import SET_NAMES
from bridge.ops import Secret, Secrets
from bridge.ops.selectors import check_selector, compared_attributes
from bridge.surfaces.local_server import LocalServer, QuietHandler, listening

pytestmark = [pytest.mark.timeout(180)]

VALUE = "hunter2secretvalue"
RIGHT, WRONG = "hunt", "hunx"
# A page that has the secret wherever words can be looked for, and words that are nobody's secret beside it.
PAGE = f"""<!doctype html><title>Mail of {VALUE}</title><main><h1 id="{VALUE}">Key {VALUE}</h1><h2>Known things</h2>
<p data-token="{VALUE}" class=known>Your word is {VALUE}, and Known words stand beside it for whoever wants to read.</p>
<a href="/next?pw={VALUE}">Next</a> <button aria-label="Use {VALUE}">Use</button><button>Known use</button>
<input aria-label=Word value="{VALUE}"></main>
<script>console.log("said {VALUE}"); console.log("said Known");
fetch("/log?said={VALUE}"); fetch("/log?said=Known")</script>
"""


@dataclass(frozen=True)
class Search:
    """How an argument looks for words: `words` with `{}` for the guess, and two answers that must differ."""

    words: str = "{}"
    given: dict[str, Any] = field(default_factory=dict)
    known: str = "Known"
    unknown: str = "Unknown"
    whole: bool = False  # the known and unknown are whole arguments


SHORT = {"timeout_seconds": 0.4}
SEARCHES: dict[tuple[str, str], list[Search]] = {
    ("web_snapshot", "scope"): [
        Search('[data-token^="{}"]', known=".known", unknown=".unknown", whole=True),
        Search("input[value*={}]", known=".known", unknown=".unknown", whole=True),
        Search('a[href$="{}2secretvalue"]', known=".known", unknown=".unknown", whole=True),
    ],
    ("web_find", "text"): [Search(), Search("word is {}", whole=True), Search("{}ER2", whole=True)],
    ("web_click", "text"): [Search(), Search("Use {}", whole=True)],
    ("web_network", "url"): [Search(known="said=Known", unknown="said=Unknown", words="said={}", whole=True)],
    ("web_wait", "text"): [Search(given=SHORT), Search("Your word is {}", SHORT, whole=True)],
    ("web_wait", "name"): [Search(given={**SHORT, "role": "button"})],
    ("web_wait", "gone"): [Search("p:not([data-token^={}])", SHORT, known=".unknown", unknown=".known", whole=True)],
    ("web_wait", "url"): [Search("**pw={}*", SHORT, known="**/page?*", unknown="**/elsewhere?*", whole=True)],
    ("web_read", "section"): [Search(), Search("Key {}", whole=True), Search("#{}", whole=True)],
    ("browser_op", "scope"): [
        Search('[data-token^="{}"]', {"kind": "snapshot"}, known=".known", unknown=".unknown", whole=True)
    ],
    ("browser_op", "selector"): [
        Search(
            "[data-token*={}]",
            {"kind": "wait_for", "timeout_ms": 400},
            known=".known",
            unknown=".unknown",
            whole=True,
        )
    ],
    ("browser_op", "filter"): [Search(given={"kind": "console"}), Search("said={}", {"kind": "network_log"})],
}
# What takes words and looks for none of a page's.
_REF = "a ref of ours"
_OPENED = "an address to open"
_FILE = "a name of the operator's folder"
_WRITTEN = "is written into the page"
_WHOLE = "compared with whole options"
NO_SEARCH = {
    ("web_open", "url"): _OPENED,
    ("web_snapshot", "more"): _REF,
    ("web_click", "ref"): _REF,
    ("web_type", "ref"): _REF,
    ("web_type", "text"): _WRITTEN,
    ("web_hover", "ref"): _REF,
    ("web_drag", "ref"): _REF,
    ("web_drag", "to"): _REF,
    ("web_fill_form", "fields"): _WRITTEN,
    ("web_dialog", "text"): _WRITTEN,
    ("web_ask_person", "message"): "is shown to the person",
    ("web_fill", "ref"): _REF,
    ("web_fill", "value"): _WRITTEN,
    ("web_select", "ref"): _REF,
    ("web_select", "values"): _WHOLE,
    ("web_check", "ref"): _REF,
    ("web_uncheck", "ref"): _REF,
    ("web_scroll", "ref"): _REF,
    ("web_press_key", "key"): _WRITTEN,
    ("web_press_key", "ref"): _REF,
    ("web_get_text", "ref"): _REF,
    ("web_get_value", "ref"): _REF,
    ("web_screenshot", "ref"): _REF,
    ("web_wait", "role"): "a word of ARIA",
    ("web_tabs", "tab"): "a tab of ours",
    ("web_upload", "ref"): _REF,
    ("web_upload", "paths"): _FILE,
    ("web_download", "dest_path"): _FILE,
    ("web_download", "url"): _OPENED,
    ("web_download", "ref"): _REF,
    ("browser", "url"): _OPENED,
    ("browser", "javascript"): "there only where the operator lets a model run anything",
    ("webfetch", "url"): _OPENED,
    ("webfetch", "selector"): "compares only what authors write, as every selector beside secrets",
    ("webfetch", "section"): "secrets are removed before the search",
    ("browser_op", "tab"): "is the id of a tab of the client's own, or all",
    ("browser_op", "url"): _OPENED,
    ("browser_op", "ref"): _REF,
    ("browser_op", "value"): _WRITTEN,
    ("browser_op", "values"): _WHOLE,
    ("browser_op", "key"): _WRITTEN,
    ("browser_op", "paths"): _FILE,
    ("browser_op", "dest_path"): _FILE,
    ("browser_op", "role"): "a word of ARIA",
}


def takes_words(schema: dict[str, Any]) -> bool:
    if "enum" in schema:
        return False
    kinds = schema.get("type")
    if "string" in (kinds if isinstance(kinds, list) else [kinds]):
        return True
    inner = [*schema.get("anyOf", ()), *([schema["items"]] if "items" in schema else [])]
    return any(takes_words(each) for each in inner)


def test_every_argument_that_takes_words_is_either_tried_or_no_search() -> None:
    taken = {
        (tool.name, name)
        for tools in SET_NAMES
        for tool in tool_set(tools, allow_javascript=tools == "simple")
        for name, schema in tool.parameters.items()
        if takes_words(schema)
    }
    assert taken == SEARCHES.keys() | NO_SEARCH.keys()
    assert not SEARCHES.keys() & NO_SEARCH.keys()


class _Mail(QuietHandler):
    def do_GET(self) -> None:
        self.respond(PAGE.encode())


@pytest.fixture(scope="module")
def mail() -> Iterator[LocalServer]:
    with listening(_Mail) as server:
        yield server


@pytest.fixture
async def client(webview_device: str, mail: LocalServer, tmp_path: Path) -> AsyncIterator[ClientContext]:
    async with temp_client(webview_device, [mail.grant], tmp_path, secrets=Secrets({"PW": Secret(VALUE)})) as client:
        yield client


async def said(client: ClientContext, tool: str, **given: Any) -> str:
    tools = "ops" if tool == "browser_op" else "web,extra"
    return (await Toolbox(tool_set(tools)).call(tool, given, client, NoElicitation())).text


@pytest.mark.browser
@pytest.mark.parametrize("way", SEARCHES, ids="-".join)
async def test_a_right_guess_is_answered_as_a_wrong_one_is(
    client: ClientContext, mail: LocalServer, way: tuple[str, str]
) -> None:
    tool, argument = way
    page = mail.url(f"page?pw={VALUE}")
    if tool == "browser_op":
        await said(client, tool, kind="navigate", url=page)
    else:
        await said(client, "web_open", url=page)

    async def answer(search: Search, words: str) -> str:
        text = await said(client, tool, **{argument: words}, **search.given)
        # What was asked for, and how long it took, is no answer.
        return re.sub(
            r"\b[0-9.]+ (ms|s)\b", "TIME", text.replace(words, "WORDS").replace(words.replace('"', '\\"'), "WORDS")
        )

    for search in SEARCHES[way]:
        right, wrong = [await answer(search, search.words.format(guess)) for guess in (RIGHT, WRONG)]
        assert right == wrong
        known, unknown = [
            await answer(search, search.words.format(words) if not search.whole else words)
            for words in (search.known, search.unknown)
        ]
        assert known != unknown, known
        for text in (right, wrong, known, unknown):
            assert RIGHT not in text.lower(), text


@pytest.mark.parametrize(
    ("selector", "names"),
    [
        ("input", []),
        ("#a.b > p:has(> [hidden])", []),
        ('[type="text"][ NAME = x i ]', ["type", "name"]),
        ("[value^=h]", ["value"]),
        ("[value^=h", ["value"]),
        ('[value="h', ["value"]),
        ('[title="]"][value*=h]', ["title", "value"]),
        ("[/*]*/value/* = */^=h]", ["value"]),
        (":is(p, :not([data-x|=h]))", ["data-x"]),
        (r"[v\61lue~=h]", [r"v\61lue"]),
        ("[*|value$=h]", ["*|value"]),
        ('p:not([title="a\\"b"]) [value=x]', ["title", "value"]),
        ("a[class=x]/* unclosed [value=h]", ["class"]),
        ("p[id='a\n][value^=h]", ["id", "value"]),
        ("", []),
    ],
)
def test_compared_attributes_are_those_that_css_compares(selector: str, names: list[str]) -> None:
    assert list(compared_attributes(selector)) == names


def test_without_secrets_every_selector_may_be_asked_for() -> None:
    assert Secrets().checked_selector("[value^=h]") == "[value^=h]"
    with pytest.raises(PolicyRefused, match="compares the value"):
        check_selector("[value^=h]")
    check_selector("form#a [type=submit]:not([disabled])")
