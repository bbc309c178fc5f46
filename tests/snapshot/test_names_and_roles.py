# ruff: noqa: E501 - HTML reads better on one line
"""Rules of HTML-AAM, SVG-AAM, DPUB-AAM, Graphics-AAM and accname, each with a case of its own."""

from __future__ import annotations

import pytest
from browser import Page

from bridge.snapshot.plain_html.names import Names
from bridge.snapshot.plain_html.snapshot import build_document

pytestmark = pytest.mark.browser

ASK = "__agentBrowser.{}Of(document.querySelector('#x'))"

ROLES = [
    # HTML-AAM §3.5: `list` makes a combobox of types that take text.
    ("<input id=x list=l><datalist id=l></datalist>", "combobox"),
    ("<input id=x type=email list=l><datalist id=l></datalist>", "combobox"),
    ("<input id=x list=missing>", "textbox"),
    ("<input id=x type=date list=l><datalist id=l></datalist>", "textbox"),
    ("<input id=x type=color list=l><datalist id=l></datalist>", "textbox"),
    ("<input id=x type=number list=l><datalist id=l></datalist>", "spinbutton"),
    ("<input id=x type=range list=l><datalist id=l></datalist>", "slider"),
    # HTML-AAM §3.5: an item of a list, also through generic elements and slots.
    ("<ul><li id=x>a</ul>", "listitem"),
    ("<ul><div><li id=x>a</div></ul>", "listitem"),
    ("<ul role=none><li id=x>a</ul>", "generic"),
    ("<ul role=menu><li id=x>a</ul>", "generic"),
    ("<div><li id=x>a</div>", "generic"),
    # WAI-ARIA 1.3: synonyms, and what needs an ancestor.
    ("<div id=x role=image></div>", "img"),
    ("<div id=x role=directory></div>", "list"),
    ("<div id=x role=presentation></div>", "none"),
    ("<div role=menubar><div id=x role=menuitemradio>a</div></div>", "menuitemradio"),
    ("<div role=toolbar><div id=x role=menuitem>a</div></div>", "generic"),
    ("<div role=row><div id=x role=gridcell>a</div></div>", "gridcell"),
    ("<button id=x role=gridcell>a</button>", "button"),
    ("<div role=tablist><p><b id=x role=tab>a</b></p></div>", "tab"),
    # An owner is a context as good as an ancestor; items and options belong to the nearest element with a role.
    ("<div role=list aria-owns=x></div><div id=x role=listitem>a</div>", "listitem"),
    ("<div role=listbox><div role=group aria-owns=x></div></div><div id=x role=option>a</div>", "option"),
    ("<div role=tablist aria-owns='y x'></div><div id=x role=tab>a</div>", "tab"),
    ("<ul aria-owns=x></ul><li id=x>a", "listitem"),
    ("<div role=toolbar aria-owns=x></div><div id=x role=menuitem>a</div>", "generic"),
    ("<div role=list><div role=group><div id=x role=listitem>a</div></div></div>", "listitem"),
    ("<div role=list><div role=article><div id=x role=listitem>a</div></div></div>", "generic"),
    ("<div role=listbox><div role=list><div id=x role=option>a</div></div></div>", "generic"),
    # DPUB-ARIA 1.1 has a list of roles; `iframe` is a role of the element only.
    ("<div id=x role=doc-index>a</div>", "doc-index"),
    ("<nav id=x role=doc-unknown>a</nav>", "navigation"),
    ("<nav id=x role='doc-unknown doc-toc'>a</nav>", "doc-toc"),
    ("<div id=x role=iframe>a</div>", "generic"),
    # HTML §4.10.5.1.15: the attribute `switch` of a checkbox.
    ("<input id=x type=checkbox switch>", "switch"),
    ("<input id=x type=radio switch>", "radio"),
    ("<input id=x switch>", "textbox"),
    # WAI-ARIA 1.3 §5.3.3: conflicts of presentational roles.
    ("<h1 id=x role=none aria-live=polite>a</h1>", "heading"),
    ("<h1 id=x role=none aria-description=b>a</h1>", "heading"),
    ("<h1 id=x role=none aria-level=2>a</h1>", "none"),
    ("<button id=x role=none>a</button>", "button"),
    ("<button id=x role=none disabled>a</button>", "none"),
    ("<fieldset disabled><input id=x role=none></fieldset>", "none"),
    ("<section role=none><header id=x>a</header></section>", "banner"),
    # HTML-AAM §3.5: parts of a table that is exposed as one.
    ("<table role=list><tr><td id=x>a</table>", "generic"),
    ("<table role=list><tr id=x><td>a</table>", "generic"),
    ("<table role=treegrid><tr><td id=x>a</table>", "gridcell"),
    # SVG-AAM §5.1.2 and §6
    ("<svg><svg id=x><title>a</title></svg></svg>", "group"),
    ("<svg><svg id=x></svg></svg>", "generic"),
    ("<svg><a id=x><text>a</text></a></svg>", "generic"),
    ("<svg><g id=x><desc>a</desc></g></svg>", "group"),
    ("<svg><foreignObject id=x aria-label=a></foreignObject></svg>", "group"),
    ("<svg><g id=x><title> </title></g></svg>", "generic"),
    ("<svg><foreignObject><p id=x>a</p></foreignObject></svg>", "paragraph"),
    ("<div role=tree><div role=group><div id=x role=treeitem>a</div></div></div>", "treeitem"),
    ("<div role=listbox><div id=x role=option>a</div></div>", "option"),
    # HTML §4.9.12.2
    ("<table><tr><th id=x scope=ROWGROUP>a</table>", "rowheader"),
    ("<table><tr><th id=x scope=col>a<td>b</table>", "columnheader"),
    ("<table><tr><th id=x>a<td>b</table>", "rowheader"),
    ("<table><tr><th id=x>a<th>b</table>", "columnheader"),
]
NAMES = [
    ("<div id=x role=doc-subtitle>Second part</div>", "Second part"),
    ("<div id=x role=graphics-object>Axis</div>", "Axis"),
    # HTML-AAM §4.1: an empty value is a value, and the tooltip is used.
    ("<input id=x type=submit value='' title=Send>", "Send"),
    ("<input id=x type=submit>", "Submit"),
    ("<input id=x type=reset value=''>", ""),
    # Accname 2C: what is chosen in an embedded control, also in what it owns.
    (
        "<label for=x>In <select multiple><option selected>a<option selected>b</select> order</label><input id=x>",
        "In a b order",
    ),
    (
        "<label for=x>In <b role=combobox aria-owns=o></b> days</label><input id=x><ul id=o role=listbox><li role=option>1<li role=option aria-selected=true>2</ul>",
        "In 2 days",
    ),
    # Accname 2F: boxes that are not inline stand apart, also those without words.
    ("<button id=x>One<hr>two</button>", "One two"),
    ("<button id=x>One<div></div>two</button>", "One two"),
    ("<button id=x>One<div hidden></div>two</button>", "Onetwo"),
    ("<h2 id=x>One<input type=checkbox>two</h2>", "One two"),
    ("<button id=x>One<img>two</button>", "One two"),
    ("<button id=x>One <details><summary>more</summary>hidden</details></button>", "One more"),
    # CSS Content 3 §3.2: quotation marks, as deep as they are.
    ("<button id=x>a <q>b <q>c</q></q></button>", "a \u201cb \u2018c\u2019\u201d"),
    # `aria-owns` takes an element from where it stands, and adds it at the end.
    ("<button id=x aria-owns=o>a <i id=o>b</i> c</button>", "a c b"),
    ("<button id=x aria-owns='o p'>a</button><b id=p>p</b><b id=o>o</b>", "a o p"),
    # SVG-AAM §5.1.3
    ("<svg><a id=x href=# xlink:title=t><text>a</text></a></svg>", "t"),
    ("<svg><a id=x href=# xlink:title=t><title>u</title></a></svg>", "u"),
    ("<svg><symbol id=s><title>Menu</title></symbol></svg><button id=x><svg><use href=#s /></svg></button>", "Menu"),
    ("<svg><use id=x href=#x /></svg>", ""),
    # HTML-AAM §4.1
    ("<input id=x type=image value=v>", "v"),
    ("<input id=x type=image value=v alt=a>", "a"),
    ("<fieldset id=x title=t><div><legend>a</legend></div></fieldset>", "t"),
    ("<fieldset id=x><p>z</p><legend>a</legend><legend>b</legend></fieldset>", "a"),
    ("<button id=x>One <figcaption>two</figcaption> three</button>", "One two three"),
    ("<button id=x>One <legend>two</legend></button>", "One two"),
    ("<figure id=x title=t><div><figcaption>a</figcaption></div></figure>", "t"),
    ("<table id=x summary=s title=t><tr><td>a<td>b</table>", "t"),
    ("<table id=x summary=s><caption>c</caption><tr><td>a<td>b</table>", "c"),
    ("<table><tr id=x title=t><td>a<td>b</table>", "t"),
    ("<input id=x type=file>", "Choose File"),
    ("<input id=x type=file title=t>", "t"),
    ("<label>CV <input id=x type=file></label>", "CV"),
    # Accname 2A: opacity and place hide nothing; `inert` and what is not rendered do.
    ("<button id=x>One<b style='opacity:0'>two</b></button>", "Onetwo"),
    ("<button id=x>One<b inert>two</b></button>", "One"),
    # Accname 2B: references take in what names from content leave out.
    ("<button id=x aria-labelledby=r>a</button><div id=r>One <b role=menu>two</b></div>", "One two"),
    ("<button id=x>One <b role=menu>two</b></button>", "One"),
    # A presentational image leaves nothing between words; another one does.
    ("<button id=x>One<img alt=''>two</button>", "Onetwo"),
    ("<button id=x>One<img alt='' tabindex=0>two</button>", "One two"),
    # WAI-ARIA 1.3 §5.4: a group in a tree item holds its children, not its words.
    (
        "<div role=tree><div id=x role=treeitem>Top<div role=group><div role=treeitem>Sub</div></div></div></div>",
        "Top",
    ),
    ("<div role=tree><div id=x role=treeitem><div role=group>Top</div></div></div>", ""),
    ("<h3 id=x>One <b role=group>two</b></h3>", "One two"),
]
DESCRIPTIONS = [
    ("<button id=x aria-description='More words' title=Tip>Go</button>", "More words"),
    ("<p id=d>Other</p><button id=x aria-describedby=d aria-description='More words'>Go</button>", "Other"),
    ("<button id=x aria-describedby=missing aria-description='More words'>Go</button>", "More words"),
    # HTML-AAM §4.2: the first source describes, also where it says what the name says.
    ("<p id=d>Go</p><button id=x aria-describedby=d title=Tip>Go</button>", "Go"),
    ("<button id=x aria-description=Go>Go</button>", "Go"),
    ("<details><summary id=x aria-label=l>Words</summary>a</details>", "Words"),
    ("<details><summary id=x title=t>Words</summary>a</details>", "t"),
    ("<button id=x title=Tip>Go</button>", "Tip"),
    ("<label for=x>Send</label><input id=x type=submit value=Go>", "Go"),
    ("<input id=x type=submit value=Go title=Tip>", "Tip"),
    # SVG-AAM §5.3
    ("<svg id=x><title>t</title><desc>d</desc></svg>", "d"),
    ("<svg id=x aria-label=l><title>t</title><desc>d</desc></svg>", "d"),
    ("<svg id=x aria-label=l><title>t</title></svg>", "t"),
    ("<svg id=x><title>t</title></svg>", ""),
    ("<svg><a id=x href=# xlink:title=t><title>u</title></a></svg>", "t"),
    ("<svg><g id=x xlink:title=t><title>u</title></g></svg>", ""),
]
#: Generated content (accname 2F.ii), which only a browser knows.
GENERATED = [
    ("#x::before{content:open-quote 'a'}#x::after{content:close-quote}", "\u201cac\u201d"),
    ("#x{quotes:'<' '>'}#x::before{content:open-quote}#x::after{content:close-quote}", "<c>"),
    ("#x{quotes:none}#x::before{content:open-quote}", "c"),
    ("#x::before{counter-increment:n;content:'q' / counter(n) '. '}", "1. c"),
    ("body{counter-reset:n 3}#x::before{counter-increment:n 2;content:counter(n) ') '}", "5) c"),
    ("div{counter-increment:n}#x::before{content:counter(n) ' '}", "2 c"),
    ("body,section{counter-reset:n}div{counter-increment:n}#x::before{content:counters(n,'.') ' '}", "1.1 c"),
    ("section{display:none}div{counter-increment:n}#x::after{content:' ' counter(n)}", "c 1"),
    ("#x{content:url(data:,) / 'b'}", "b"),
    ("#x::before{content:'a' / 'b' attr(data-q)}", "bz c"),
]


@pytest.mark.parametrize(("html", "role"), ROLES)
def test_role(tab: Page, html: str, role: str) -> None:
    tab.show(html)
    assert tab.run(ASK.format("role"), world=tab.world()) == role


@pytest.mark.parametrize(("html", "name"), NAMES)
def test_name(tab: Page, html: str, name: str) -> None:
    tab.show(html)
    assert tab.run(ASK.format("name"), world=tab.world()) == name


@pytest.mark.parametrize(("css", "name"), GENERATED)
def test_name_with_generated_content(tab: Page, css: str, name: str) -> None:
    before = "<section><div></div></section>" if "display:none" in css else "<div></div>"
    after = "<section><div></div><button id=x data-q=z>c</button></section>" if "section{counter" in css else ""
    tab.show(f"<style>{css}</style>{before}{after or '<div></div><button id=x data-q=z>c</button>'}")
    assert tab.run(ASK.format("name"), world=tab.world()) == name


@pytest.mark.parametrize("html", [html for html, _ in [*ROLES, *NAMES, *DESCRIPTIONS]])
def test_the_offline_reader_says_the_same(tab: Page, html: str) -> None:
    tab.show(html)
    live = [tab.run(ASK.format(kind), world=tab.world()) for kind in ("role", "name", "description")]
    document = build_document(html)
    names = Names(document)
    element = next(it for it in document.root.iter() if it.get("id") == "x")
    name = names.name_of(element)
    assert [names.role_of(element), name, names.description_of(element, name)] == live


@pytest.mark.parametrize(("html", "description"), DESCRIPTIONS)
def test_description(tab: Page, html: str, description: str) -> None:
    tab.show(html)
    assert tab.run(ASK.format("description"), world=tab.world()) == description
