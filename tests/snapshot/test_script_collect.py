# ruff: noqa: E501 - HTML reads better on one line
"""What the injected script collects: roles, names, what a person sees, and how it spends its budget."""

from __future__ import annotations

import json

import pytest
from browser import Page
from raw_tree import brief, find, nodes, refs, words

from bridge.snapshot.parse import RawNode, parse_snapshot

pytestmark = pytest.mark.browser


def every(root: RawNode) -> list[RawNode]:
    """The node and all below, as Python reads them."""
    found = [root]
    for node in found:
        found += node.children
    return found


# The role of the element with id=x, or of each .x.
ROLES = {
    "<a id=x href=/>a</a>": "link",
    "<a id=x>a</a>": "generic",
    "<button id=x>b</button>": "button",
    "<details open><summary id=x>s</summary></details>": "button",
    "<details id=x open><summary>s</summary></details>": "group",
    **{f"<input id=x type={kind}>": "textbox" for kind in ("text", "email", "tel", "url", "password", "nonsense")},
    "<input id=x>": "textbox",
    "<input id=x type=search>": "searchbox",
    "<input id=x type=number>": "spinbutton",
    "<input id=x type=checkbox>": "checkbox",
    "<input id=x type=radio>": "radio",
    "<input id=x type=range>": "slider",
    **{f"<input id=x type={kind}>": "button" for kind in ("submit", "reset", "button", "image")},
    **{
        f"<input id=x type={kind} list=l><datalist id=l></datalist>": "combobox"
        for kind in ("text", "search", "email", "tel", "url")
    },
    "<input id=x type=number list=l><datalist id=l></datalist>": "spinbutton",
    "<textarea id=x></textarea>": "textbox",
    "<select id=x><option>o</select>": "combobox",
    "<select id=x size=1><option>o</select>": "combobox",
    "<select id=x size=4><option>o</select>": "listbox",
    "<select id=x multiple><option>o</select>": "listbox",
    "<select><option id=x>o</select>": "option",
    "<h1 id=x>h</h1>": "heading",
    "<h6 id=x>h</h6>": "heading",
    "<ul id=x><li>i</ul>": "list",
    "<menu id=x><li>i</menu>": "list",
    "<ol><li id=x>i</ol>": "listitem",
    "<ul role=none><li id=x>i</ul>": "generic",
    "<dl><dt id=x>t</dl>": "term",
    "<dl><dd id=x>t</dl>": "definition",
    "<nav id=x>n</nav>": "navigation",
    "<main id=x>n</main>": "main",
    "<aside id=x>n</aside>": "complementary",
    "<header id=x>h</header>": "banner",
    "<footer id=x>f</footer>": "contentinfo",
    "<article><header id=x>h</header></article>": "sectionheader",
    "<section><footer id=x>h</footer></section>": "sectionfooter",
    "<section id=x>s</section>": "generic",
    "<section id=x aria-label=S>s</section>": "region",
    "<section id=x aria-label=' '>s</section>": "generic",
    "<form id=x></form>": "generic",
    "<form id=x aria-label=F></form>": "form",
    "<div id=x role=form>f</div>": "generic",
    "<div id=x role=form aria-label=F>f</div>": "form",
    "<search id=x>s</search>": "search",
    "<table><tr><th id=x>a<th>b</table>": "columnheader",
    "<table><tr><th id=x scope=col>a<td>b</table>": "columnheader",
    "<table><tr><th id=x scope=row>a<td>b</table>": "rowheader",
    "<table><tr><th id=x>a<td>b</table>": "rowheader",
    "<table><tr><td id=x>a</table>": "cell",
    "<table role=grid><tr><td id=x>a</table>": "gridcell",
    "<table role=presentation><tr><td id=x>a</table>": "generic",
    "<table><tbody id=x><tr><td>a</table>": "rowgroup",
    "<img id=x alt=i>": "img",
    "<img id=x>": "img",
    "<img id=x alt=''>": "none",
    "<figure id=x>f</figure>": "figure",
    "<article id=x>f</article>": "article",
    "<dialog id=x open>d</dialog>": "dialog",
    "<fieldset id=x>d</fieldset>": "group",
    "<progress id=x></progress>": "progressbar",
    "<meter id=x></meter>": "meter",
    "<output id=x>o</output>": "status",
    "<hr id=x>": "separator",
    "<math id=x></math>": "math",
    "<time id=x>t</time>": "time",
    "<code id=x>t</code>": "code",
    "<div id=x role='nonsense link'>t</div>": "link",
    "<div id=x role='LINK'>t</div>": "link",
    "<button id=x role=none>t</button>": "button",
    "<h2 id=x role=presentation>t</h2>": "none",
    "<ul role=tablist><li id=x role=tab>t</ul>": "tab",
}
ROLE_ALIASES = {"presentation": "none", "image": "img"}


def test_every_kind_of_element_has_the_role_of_the_standards(tab: Page) -> None:
    tab.show("")
    ask = """(htmls => htmls.map(html => {
      document.body.innerHTML = html;
      return __agentBrowser.roleOf(document.getElementById('x'));
    }))"""
    answers = tab.run(f"{ask}({json.dumps(list(ROLES))})", world=tab.world())
    wrong = {
        html: f"{got}, expected {wanted}"
        for (html, wanted), got in zip(ROLES.items(), answers, strict=True)
        if ROLE_ALIASES.get(got, got) != wanted
    }
    assert not wrong


NAMES = {
    "<label>Mail <input id=x></label>": "Mail",
    "<label for=x>A</label><label for=x>B</label><input id=x>": "A B",
    "<input id=x placeholder=P>": "P",
    "<input id=x placeholder=P title=T>": "T",
    "<input id=x aria-label=L placeholder=P>": "L",
    "<span id=a>one</span><span id=b hidden>two</span><input id=x aria-labelledby='a b'>": "one two",
    "<button id=x aria-labelledby=x aria-label=self>t</button>": "self",
    "<input id=x type=submit value=Go>": "Go",
    "<input id=x type=submit>": "Submit",
    "<input id=x type=image alt=Find>": "Find",
    "<button id=x><img alt=Cart> <b>2</b></button>": "Cart 2",
    "<button id=x>a<div>b</div>c</button>": "a b c",
    "<button id=x>a<span>b</span>c</button>": "abc",
    "<fieldset id=x><legend>L</legend></fieldset>": "L",
    "<figure id=x><figcaption>C</figcaption></figure>": "C",
    "<table id=x><caption>C</caption><tr><td>1</table>": "C",
    "<a id=x href=/><svg><title>Home</title></svg></a>": "Home",
    "<style>#x::before{content:'★ '}</style><button id=x>Star</button>": "★ Star",
    "<style>#x::before{content:'and / or '}</style><button id=x>More</button>": "and / or More",
    "<style>#x::before{content:'→' / 'Next: '}</style><button id=x>More</button>": "Next: More",
    "<input type=checkbox id=x><label for=x>Flash <input value=3 aria-label=n> times</label>": "Flash 3 times",
    "<button id=x><span aria-hidden=true>×</span> Close</button>": "Close",
    "<button id=x><span style='display:none'>no</span>yes</button>": "yes",
}  # fmt: skip


def test_names_come_from_where_the_standards_say(tab: Page) -> None:
    tab.show("")
    ask = """(htmls => htmls.map(html => {
      document.body.innerHTML = html;
      return __agentBrowser.nameOf(document.getElementById('x'));
    }))"""
    answers = tab.run(f"{ask}({json.dumps(list(NAMES))})", world=tab.world())
    assert dict(zip(NAMES, answers, strict=True)) == NAMES


def test_plain_words_in_any_ordinary_colour_are_read(tab: Page) -> None:
    colours = [
        "black",
        "#000",
        "rgb(255 0 0)",
        "#ff0",
        "#0f0",
        "#123400",
        "navy",
        "rgba(0,0,0,.6)",
        "#333",
        "hsl(120 90% 30%)",
    ]
    tab.show("".join(f"<p style='color:{colour}'>word{i}</p>" for i, colour in enumerate(colours)) + "<p>default</p>")
    text = words(tab.snapshot()).split()
    assert [*(f"word{i}" for i in range(len(colours))), "default"] == text


UNSEEN = {
    "display": "<p style='display:none'>SECRET</p>",
    "visibility": "<p style='visibility:hidden'>SECRET</p>",
    "collapse": "<p style='visibility:collapse'>SECRET</p>",
    "content-visibility": "<div style='content-visibility:hidden'><p>SECRET</p></div>",
    "closed details": "<details><summary>s</summary><p>SECRET</p></details>",
    "bare text of closed details": "<details><summary>s</summary>SECRET</details>",
    "hidden": "<p hidden>SECRET</p>",
    "inert": "<p inert>SECRET</p>",
    "aria-hidden": "<p aria-hidden=true>SECRET</p>",
    "opacity": "<div style='opacity:0'><p>SECRET</p></div>",
    "no size": "<div style='height:0;overflow:hidden'><p>SECRET</p></div>",
    "off-screen left": "<p style='position:absolute;left:-9999px'>SECRET</p>",
    "off-screen top": "<p style='position:absolute;top:-9999px'>SECRET</p>",
    "moved off": "<p style='transform:translateX(-9999px)'>SECRET</p>",
    "one pixel": "<p style='position:absolute;width:1px;height:1px;overflow:hidden'>SECRET</p>",
    "clip": "<p style='position:absolute;clip:rect(0,0,0,0)'>SECRET</p>",
    "clip-path inset": "<p style='clip-path:inset(50%)'>SECRET</p>",
    "clip-path circle": "<p style='clip-path:circle(0)'>SECRET</p>",
    "text-indent": "<p style='text-indent:-9999px;overflow:hidden'>SECRET</p>",
    "font size": "<p style='font-size:0'>SECRET</p>",
    "one-pixel font": "<p style='font-size:1px'>SECRET</p>",
    "colour of the ground": "<div style='background:#123'><p style='color:#123'>SECRET</p></div>",
    "white on the page's white": "<p style='color:#fff'>SECRET</p>",
    "transparent": "<p style='color:transparent'>SECRET</p>",
    "hidden in a heading": "<h2>shown <span style='position:absolute;left:-9999px'>SECRET</span></h2>",
    "hidden in a list item's name": "<ul><li>shown <span style='font-size:0'>SECRET</span></li></ul>",
}


@pytest.mark.parametrize("case", UNSEEN)
def test_what_a_person_cannot_see_is_not_read(tab: Page, case: str) -> None:
    tab.show(f"<p style='color:#222'>public</p>{UNSEEN[case]}")
    raw = tab.snapshot()
    assert "SECRET" not in json.dumps(raw)
    assert "public" in words(raw)
    assert raw["stats"]["skippedHidden"] + raw["stats"]["hiddenTextRemoved"] > 0


def test_zero_width_characters_are_taken_out_and_counted(tab: Page) -> None:
    tab.show("<p style='color:#222'>pub\u200blic\u2060 wo\u00adrds</p>")
    read = parse_snapshot(tab.snapshot())
    assert [node.text for node in every(read.root) if node.text] == ["public words"]
    assert read.js_stats["hiddenTextRemoved"] == 1


SEEN = {
    "below the fold": "<div style='height:3000px'></div><p class=w>SHOWN</p>",
    "to be scrolled to": "<div style='height:50px;overflow:auto'><div style='height:900px'></div><p class=w>SHOWN</p></div>",
    "further along": "<div style='overflow-x:auto;white-space:nowrap'><div style='width:2000px;display:inline-block'>a</div>"
    "<p class=w style='display:inline-block'>SHOWN</p></div>",
    "display contents": "<div style='display:contents'><p class=w>SHOWN</p></div>",
    "visible in the invisible": "<div style='visibility:hidden'><p class=w style='visibility:visible'>SHOWN</p></div>",
    "white on a picture": "<div style='background:linear-gradient(#000,#222)'><p style='color:#fff'>SHOWN</p></div>",
    "white on dark": "<div style='background:#000'><p style='color:#fff'>SHOWN</p></div>",
    "flat but overflowing": "<div style='height:0'><p class=w>SHOWN</p></div>",
    "slightly faded": "<p class=w style='opacity:.5'>SHOWN</p>",
    "summary": "<details><summary class=w>SHOWN</summary><p>x</p></details>",
}


@pytest.mark.parametrize("case", SEEN)
def test_what_a_person_can_see_or_scroll_to_is_read(tab: Page, case: str) -> None:
    tab.show("<style>.w{color:#222}</style>" + SEEN[case])
    assert "SHOWN" in words(tab.snapshot())


SR_ONLY = "position:absolute;width:1px;height:1px;overflow:hidden;clip:rect(0,0,0,0)"


@pytest.mark.parametrize(
    ("html", "role"),
    [
        (f"<button>★<span style='{SR_ONLY}'> Save</span></button>", "button"),
        (f"<a href=/><i>x</i><span style='{SR_ONLY}'>Save</span></a>", "link"),
        (f"<label style='{SR_ONLY}' for=i>Save</label><input id=i>", "textbox"),
        ("<label><input type=checkbox style='opacity:0;position:absolute'>Save</label>", "checkbox"),
        (f"<input type=radio id=i style='{SR_ONLY}'><label for=i>Save</label>", "radio"),
    ],
)
def test_controls_keep_names_that_only_screen_readers_get(tab: Page, html: str, role: str) -> None:
    tab.show(html)
    assert "Save" in find(tab.snapshot(), role)["name"]


def test_invisible_controls_are_not_offered(tab: Page) -> None:
    tab.show(
        f"<button style='{SR_ONLY}'>a</button><button style='position:absolute;left:-999px'>b</button>"
        "<a href=/ style='opacity:0'>c</a><div hidden><button>d</button></div><input type=hidden value=e><button>f</button>"
    )
    assert [node["name"] for node in refs(tab.snapshot()).values()] == ["f"]


def test_a_password_never_leaves_the_page(tab: Page) -> None:
    tab.show("<label>Pass <input type=password value=hunter2></label>")
    raw = tab.snapshot()
    assert "hunter2" not in json.dumps(raw)
    ref = find(raw, "textbox")["ref"]
    for kind in ("value", "attrs", "text", "html"):
        assert "hunter2" not in json.dumps(tab.call("query", ref, kind)), kind


def test_states_are_reported(tab: Page) -> None:
    tab.show(
        "<input type=checkbox checked aria-label=a><input type=checkbox id=m aria-label=m><button disabled>b</button>"
        "<fieldset disabled><input aria-label=c></fieldset><input required aria-label=d><input readonly aria-label=e>"
        "<details open><summary>f</summary></details><button aria-pressed=false>g</button><h3>h</h3>"
        "<input type=range value=30 aria-label=i><button aria-expanded=false>j</button><a href=/ aria-current=page>k</a>"
        "<input aria-invalid=true aria-label=l><h2 aria-level=5>n</h2>"
    )
    tab.run("void (m.indeterminate = true)")
    states = {node.name: node.attrs for node in every(parse_snapshot(tab.snapshot()).root)}
    wanted = {
        "a": ("checked", True), "m": ("checked", "mixed"), "b": ("disabled", True), "c": ("disabled", True),
        "d": ("required", True), "e": ("readonly", True), "f": ("expanded", True), "g": ("pressed", False),
        "h": ("level", 3), "i": ("valuenow", 30), "j": ("expanded", False), "k": ("current", "page"),
        "l": ("invalid", True), "n": ("level", 5),
    }  # fmt: skip
    assert {name: (key, states.get(name, {}).get(key)) for name, (key, _) in wanted.items()} == wanted


def test_what_only_looks_clickable_gets_a_ref_and_says_so(tab: Page) -> None:
    tab.show(
        "<div style='cursor:pointer'>hand <b>inner</b></div><div onclick='1'>handler</div><p tabindex=0>tabbed</p>"
        "<div contenteditable>typed</div><div tabindex=-1>neither</div><button style='cursor:pointer'><i>real</i></button>"
    )
    marks = {
        node.get("name") or node.get("text"): node["cursorInteractive"]
        for node in nodes(tab.snapshot(cursorInteractive=True))
        if "cursorInteractive" in node
    }
    assert marks == {"hand inner": "clickable", "handler": "clickable", "tabbed": "focusable", "typed": "editable"}
    assert [brief(node) for node in refs(tab.snapshot()).values()] == ["button real"]


def test_open_shadow_roots_and_slots_are_walked_in_the_order_of_the_eye(tab: Page) -> None:
    tab.show("<style>*{color:#222}</style><div id=h><button slot=s>slotted</button><p>never assigned</p></div>")
    tab.run("""h.attachShadow({mode: 'open'}).innerHTML =
      "<button>first</button><slot name=s></slot><slot name=t><button>fallback</button></slot><div id=n></div>";
      h.shadowRoot.getElementById('n').attachShadow({mode: 'open'}).innerHTML = '<button>nested</button>'; 0""")
    raw = tab.snapshot()
    assert [node["name"] for node in refs(raw).values()] == ["first", "slotted", "fallback", "nested"]
    assert "never" not in words(raw)
    for ref in refs(raw):
        assert tab.call("prepare", ref, "click", {"timeoutMs": 10_000})["ok"], ref


def rows(count: int, more: str = "") -> str:
    return (
        "<ul>"
        + "".join(f"<li class=row style='color:#222'>Row {i} <button>Open {i}</button></li>" for i in range(count))
        + f"</ul>{more}"
    )


def test_two_hundred_alike_rows_become_a_few_a_count_and_more(tab: Page) -> None:
    tab.show(rows(200, "<button>after</button>"))
    raw = tab.snapshot(maxNodes=180)
    cuts = [node for node in nodes(raw) if "more" in node]
    assert raw["truncated"]
    assert 3 <= len([node for node in refs(raw).values() if "Open" in node.get("name", "")]) <= 180
    assert find(raw, "button", "after"), "what stands behind the rows is not lost to them"
    assert [node["role"] for node in cuts] == ["listitem"] * len(cuts)
    shown = sum(node.get("role") == "listitem" and "more" not in node for node in nodes(raw))
    assert shown + sum(node["count"] for node in cuts) == 200


def test_paging_by_more_reaches_every_row_once(tab: Page) -> None:
    tab.show(rows(200))
    seen: list[str] = []
    todo = [tab.snapshot(maxNodes=30)]
    for raw in todo:
        seen += [node["name"] for node in nodes(raw) if node.get("role") == "button"]
        todo += [tab.snapshot(maxNodes=30, scope=node["more"]) for node in nodes(raw) if "more" in node]
        assert len(todo) < 100
    assert sorted(seen) == sorted(f"Open {i}" for i in range(200))


@pytest.mark.parametrize("budget", [2_000, 10_000, 40_000])
def test_the_wire_carries_no_more_than_the_budget(tab: Page, budget: int) -> None:
    tab.show(
        "".join(
            f"<p style='color:#222'>{'Ω words ' * 40}<a href='/{i}'>Link {i} {'x' * 50}</a></p>" for i in range(2000)
        )
    )
    raw = tab.snapshot(budgetChars=budget)
    assert raw["truncated"]
    assert raw["reasons"]
    assert len(json.dumps(raw, ensure_ascii=False).encode()) < budget * 1.5 + 2_000


def test_long_texts_and_attributes_are_cut(tab: Page) -> None:
    tab.show(f"<p style='color:#222'>{'w ' * 500}</p><a href='/{'u' * 500}'>{'n ' * 500}</a>")
    raw = tab.snapshot(maxTextPerNode=60, maxAttrValueLen=40)
    assert all(len(node.get(key, "")) <= 60 for node in nodes(raw) for key in ("name", "text"))
    assert len(find(raw, "link")["attrs"]["href"]) <= 40
    assert "maxTextPerNode" in raw["reasons"]


def test_a_scope_is_a_selector_or_a_ref(tab: Page) -> None:
    tab.show("<nav><a href=/>a</a></nav><main aria-label=M><button>b</button></main>")
    assert [node["name"] for node in refs(tab.snapshot(scope="nav")).values()] == ["a"]
    ref = find(tab.snapshot(), "main")["ref"]
    assert [node["name"] for node in refs(tab.snapshot(scope=ref)).values()] == ["M", "b"]
    assert tab.snapshot(scope="#nothing")["error"]["code"] == "ref_not_found"
