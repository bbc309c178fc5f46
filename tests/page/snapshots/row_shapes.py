# ruff: noqa: E501 - HTML and scripts read better on one line
"""A grammar of pages with rows: markup, what tells one row from another, what ticks in it, and what is recycled.

A page shows things in slots. `mutate` shows other things in slots that are there already, as virtual lists and
frameworks with keys by index do, or changes only what ticks. The page notes what each click meant when it came, so a
test needs nothing of the code under test to judge it.
"""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

ROWS = 4
_VERBS = ("Edit", "Delete")

Row = tuple[str, str]
"""What a row says, and its controls."""


def _each(form: str) -> Callable[[list[Row]], str]:
    return lambda rows: "".join(form.replace("$S", says).replace("$C", controls) for says, controls in rows)


def _in(form: str, row: str) -> Callable[[list[Row]], str]:
    return lambda rows: form.replace("$R", _each(row)(rows))


def _columns(rows: list[Row]) -> str:
    left, right = ("".join(f"<div class=cell>{row[side]}</div>" for row in rows) for side in (0, 1))
    return f"<div class=columns><div>{left}</div><div>{right}</div></div>"


def _headed_columns(rows: list[Row]) -> str:
    left, right = ("".join(f"<div class=cell>{row[side]}</div>" for row in rows) for side in (0, 1))
    head = "<div class=cell><b>%s</b></div>"
    return f"<div class=columns><div>{head % 'Name'}{left}</div><div>{head % 'What to do'}{right}</div></div>"


def _nested_sections(rows: list[Row]) -> str:
    parts = [
        "".join(f"<div class=line><p>{says}</p>{controls}</div>" for says, controls in rows[at::2]) for at in (0, 1)
    ]
    return "".join(
        f"<section><h2>{name}</h2>{part}</section>" for name, part in zip(("Today", "Later"), parts, strict=True)
    )


def _shadow(rows: list[Row]) -> str:
    return "".join(f"<x-row><template>{says}<div>{controls}</div></template></x-row>" for says, controls in rows)


def _half_shadow(rows: list[Row]) -> str:
    return "".join(
        f"<x-row><template><div><slot></slot></div><div><slot name=end></slot></div></template><div>{says}</div><div slot=end>{controls}</div></x-row>"
        for says, controls in rows
    )


MARKUPS: dict[str, Callable[[list[Row]], str]] = {
    "list": _in("<ul>$R</ul>", "<li>$S $C</li>"),
    "ordered list": _in("<ol>$R</ol>", "<li><div>$S</div><div>$C</div></li>"),
    "table": _in("<table><tbody>$R</tbody></table>", "<tr><td>$S</td><td>$C</td></tr>"),
    "table with heads": _in("<table><tr><th>Name<th>Do</tr>$R</table>", "<tr><th scope=row>$S</th><td>$C</td></tr>"),
    "divs with a class": _in("<div class=list>$R</div>", "<div class=row>$S $C</div>"),
    "divs without a class": _in("<div>$R</div>", "<div><div>$S</div><div>$C</div></div>"),
    "same class on every level": _in("<div class=v>$R</div>", "<div class=v><div class=v><div class=v>$S</div></div><div class=v>$C</div></div>"),
    "wrapped rows": _in("<div>$R</div>", "<div class=w><div class=w2><div class=line>$S $C</div></div></div>"),
    "bootstrap columns": _in("<div class=container>$R</div>", "<div class=row><div class=col>$S</div><div class=col>$C</div></div>"),
    "bootstrap with unlike rows": lambda rows: "<div>" + "".join(f"<div class='row n{at}'><div class='col-{at}'>{says}</div><div class=col>{controls}</div></div>" for at, (says, controls) in enumerate(rows)) + "</div>",
    "rows of two tags": lambda rows: "<div>" + "".join(f"<{tag}>{says} {controls}</{tag}>" for tag, (says, controls) in zip(itertools.cycle(("div", "section")), rows, strict=False)) + "</div>",
    "flat grid": _in("<div class=grid>$R</div>", "<div>$S</div><div>$C</div>"),
    "flat grid of spans": _in("<div class=grid>$R</div>", "<span>$S</span><span>$C</span>"),
    "flat headings": _in("<div>$R</div>", "<h3>$S</h3><div>$C</div>"),
    "flat lines": _in("<div>$R</div>", "$S $C<br>"),
    "definition list": _in("<dl>$R</dl>", "<dt>$S</dt><dd>$C</dd>"),
    "parallel columns": _columns,
    "parallel columns with heads": _headed_columns,
    "sections": _nested_sections,
    "articles": _in("<main>$R</main>", "<article><header>$S</header><footer>$C</footer></article>"),
    "cards": _in("<div class=cards>$R</div>", "<div class=card><div class=body>$S</div><div class=actions>$C</div></div>"),
    "forms": _in("<div>$R</div>", "<div><p>$S</p><form onsubmit='return false'>$C</form></div>"),
    "fieldsets": _in("<div>$R</div>", "<fieldset><legend>$S</legend>$C</fieldset>"),
    "aria list": _in("<div role=list>$R</div>", "<div role=listitem><div>$S</div>$C</div>"),
    "aria grid": _in("<div role=grid>$R</div>", "<div role=row><div role=gridcell>$S</div><div role=gridcell>$C</div></div>"),
    "disclosures": _in("<div>$R</div>", "<details open><summary>More</summary><div>$S</div>$C</details>"),
    "shadow roots": _shadow,
    "slots": _half_shadow,
    "separated rows": _in("<div>$R</div>", "<div>$S <i>$C</i></div><hr>"),
    "items around a menu": _in("<ul>$R</ul>", "<li>$S<ul><li>$C</li><li><a href=#share>Share</a></li></ul></li>"),
    "paragraphs": _in("<div>$R</div>", "<p class=row>$S $C</p>"),
    "labels": _in("<div>$R</div>", "<div><label><input type=checkbox>$S</label> $C</div>"),
    "one at a time": lambda rows: f"<div class=app><nav><a href=#1>List</a><a href=#2>Map</a></nav><div class=detail><div class=title>{rows[0][0]}</div><p>All about it.</p>{rows[0][1]}</div></div>",
    "master and detail": lambda rows: "<div class=app><ul>" + "".join(f"<li><a href=#x>Stop {at}</a></li>" for at in range(3)) + f"</ul><div class=detail><div>{rows[0][0]}</div><div>{rows[0][1]}</div></div></div>",
    "a dialog": lambda rows: f"<p>A page below.</p><div role=dialog aria-label=Confirm><div>{rows[0][0]}</div><div>{rows[0][1]}</div></div>",
}  # fmt: skip

# What tells rows apart: markup with %s where JavaScript writes, by the kind that data-say names.
SAYINGS: dict[str, str] = {
    "words": "<span data-say=name></span>",
    "bare words": "<b data-say=name></b>",
    "deep words": "<div class=a><div class=b><div data-say=name></div></div></div>",
    "words after a constant": "<span>Customer:</span> <em data-say=name></em>",
    "words beside a state": "<span data-say=name></span> <small>active</small>",
    "a link": "<a href=#there data-say=name></a>",
    "a number": "<span data-say=order></span>",
    "a pure number": "<span data-say=number></span>",
    "a number behind a word": "<span data-say=tour></span>",
    "a count": "<span data-say=count></span>",
    "an image": "<img width=9 height=9 data-say=alt src=data:,>",
    "a named icon": "<svg width=9 height=9 role=img data-say=label></svg>",
    "a label on a box": "<div role=group data-say=label><i>~</i></div>",
    "a label on the row": "<i class=dot data-say=rowlabel>~</i>",
    "a text field": "<input data-say=value aria-label=Name>",
    "a select": "<select data-say=choice aria-label=Size><option>Small</option><option>Medium</option><option>Large</option><option>Huge</option><option>Tiny</option><option>Wide</option><option>Long</option><option>Flat</option></select>",
    "a tooltip": "<span data-say=title>i</span>",
    "the control's description": "<span hidden data-say=described></span><span>item</span>",
    "the control's title": "<span data-say=controltitle>item</span>",
    "another button": "<button type=button data-say=name></button>",
}  # fmt: skip
NUMBERS = frozenset({"a number", "a pure number", "a number behind a word", "a count"})

TICKS: dict[str, str] = {
    "nothing": "",
    "a price": " <span data-tick=price></span>",
    "an age": " <small data-tick=age></small>",
    "a counter": " <span>Views</span> <span data-tick=counter></span>",
    "a countdown": " <time data-tick=clock></time>",
    "a bar": " <progress max=100 data-tick=bar></progress>",
    "a stock": " <span data-tick=stock></span>",
    "a change": " <span data-tick=change></span>",
}

CONTROLS: dict[str, Callable[[int], str]] = {
    "a button": lambda at: f"<button type=button data-row={at} data-verb=Delete>Delete</button>",
    "two buttons": lambda at: "".join(f"<button type=button data-row={at} data-verb={verb}>{verb}</button>" for verb in _VERBS),
    "wrapped buttons": lambda at: "".join(f"<span class=x><button type=button data-row={at} data-verb={verb}>{verb}</button></span>" for verb in _VERBS),
    "links": lambda at: "".join(f"<a href=#do data-row={at} data-verb={verb}>{verb}</a> " for verb in _VERBS),
    "an icon": lambda at: f"<button type=button aria-label=Delete data-row={at} data-verb=Delete><svg width=12 height=12></svg></button>",
    "a div": lambda at: f"<div role=button tabindex=0 data-row={at} data-verb=Delete>Delete</div>",
    "a clickable": lambda at: f"<span style=cursor:pointer data-row={at} data-verb=Delete>Delete</span>",
    "a list of actions": lambda at: "<ul>" + "".join(f"<li><button type=button data-row={at} data-verb={verb}>{verb}</button></li>" for verb in _VERBS) + "</ul>",
    "a checkbox": lambda at: f"<input type=checkbox aria-label=Done data-row={at} data-verb=Done>",
    "a switch": lambda at: f"<div><div role=switch tabindex=0 aria-checked=false aria-label=On data-row={at} data-verb=On>o</div></div>",
}  # fmt: skip

# What becomes of the chosen row. After the first group its controls mean something else; after the second they do not.
RECYCLED = ("this", "all shifted", "swapped", "this redrawn", "all redrawn", "this and the next")
KEPT = ("nothing", "other row", "ticked", "all ticked", "row added", "row removed", "elsewhere")


@dataclass(frozen=True)
class Shape:
    """One page of rows."""

    markup: str
    saying: str
    tick: str
    control: str
    controls_first: bool

    def html(self) -> str:
        rows: list[Row] = []
        for at in range(ROWS):
            says = f"{SAYINGS[self.saying]}{TICKS[self.tick]}".replace("data-say", f"data-row={at} data-say")
            says = says.replace("data-tick", f"data-row={at} data-tick")
            controls = CONTROLS[self.control](at)
            if self.controls_first and self.markup not in _KEEPS_ORDER:
                rows.append((controls, says))
            else:
                rows.append((says, controls))
        body = MARKUPS[self.markup](rows)
        return f"<header><h1>Things</h1><p>As of <span id=clock>12:00</span></p></header>{body}<footer><p id=foot>The end</p></footer>"

    @property
    def makes_sense(self) -> bool:
        """Whether a person could tell the rows apart, and could tell what is shown from what was typed or pressed."""
        if self.markup in _WITHOUT_ROWS | _ALONE and self.saying == "a label on the row":
            return False
        return not (self.markup in _ALONE and self.saying in _SAID_BY_CONTROLS)

    @property
    def ticks_do_not_matter(self) -> bool:
        """Whether the rest of the words tells the rows apart, so that a change of numbers alone leaves refs alive."""
        return self.saying not in NUMBERS

    def script(self) -> str:
        return f"show({json.dumps(self.html())},{json.dumps(self.saying)})"


# Columns, summaries and legends say first.
_KEEPS_ORDER = frozenset(
    {
        "parallel columns",
        "parallel columns with heads",
        "table with heads",
        "disclosures",
        "fieldsets",
        "labels",
        "articles",
        "definition list",
        "forms",
        "items around a menu",
        "flat headings",
    }
)


# Rows that no element holds together.
_WITHOUT_ROWS = frozenset(
    {
        "flat grid",
        "flat grid of spans",
        "flat headings",
        "flat lines",
        "definition list",
        "parallel columns",
        "parallel columns with heads",
    }
)
# One item at a time: what a field holds, or another button says, is as likely the person's doing.
_ALONE = frozenset({"one at a time", "master and detail", "a dialog"})
_SAID_BY_CONTROLS = frozenset({"a text field", "a select", "another button"})


def all_shapes() -> list[Shape]:
    """Every combination that makes sense."""
    parts = itertools.product(MARKUPS, SAYINGS, TICKS, CONTROLS, (False, True))
    return [shape for shape in (Shape(*it) for it in parts) if shape.makes_sense]


def sampled(seed: int) -> Iterator[tuple[Shape, str]]:
    """Shapes and what becomes of a row in each, for ever."""
    choose = random.Random(seed)  # noqa: S311 - a repeatable page, not a secret
    while True:
        shape = Shape(
            choose.choice([*MARKUPS]),
            choose.choice([*SAYINGS]),
            choose.choice([*TICKS]),
            choose.choice([*CONTROLS]),
            choose.random() < 0.3,
        )
        if not shape.makes_sense:
            continue
        yield shape, choose.choice(RECYCLED if choose.random() < 0.5 else KEPT)


SCRIPT = r"""
const NAMES=['Ada','Ben','Cleo','Dora','Emil','Finn','Gero','Hanna'];
let clicks=[],thing=[],ticks=[],saying='';
const every=(selector,root=document,found=[])=>{for(const el of root.querySelectorAll('*')){if(el.matches(selector))found.push(el);if(el.shadowRoot)every(selector,el.shadowRoot,found)}return found};
const rowBox=(el)=>{let at=el;for(;;){const up=at.parentElement||(at.parentNode&&at.parentNode.host);if(!up||up.id=='stage'||new Set(every('[data-row]',up).map((it)=>it.dataset.row)).size>1||up==document.body)return at;at=up}};
const write=(el,words)=>{if(el.textContent!=words)el.textContent=words};
const SAY={
  name:(el,id)=>write(el,NAMES[id]),
  order:(el,id)=>write(el,'Order '+(1003+4*id)),
  number:(el,id)=>write(el,String(70412+13*id)),
  tour:(el,id)=>write(el,'Tour '+(id+1)),
  count:(el,id)=>write(el,'Invoice ('+(id+2)+')'),
  alt:(el,id)=>el.alt=NAMES[id],
  label:(el,id)=>el.setAttribute('aria-label',NAMES[id]),
  rowlabel:(el,id)=>{const box=rowBox(el);box.setAttribute('aria-label',NAMES[id])},
  value:(el,id)=>el.value=NAMES[id],
  choice:(el,id)=>el.selectedIndex=id,
  title:(el,id)=>el.title=NAMES[id],
  described:(el,id)=>{el.id='d'+el.dataset.row;write(el,'of '+NAMES[id]);for(const it of every('[data-verb]'))if(it.dataset.row==el.dataset.row)it.setAttribute('aria-describedby',el.id)},
  controltitle:(el,id)=>{for(const it of every('[data-verb]'))if(it.dataset.row==el.dataset.row)it.title=it.dataset.verb+' '+NAMES[id]},
};
const TICK={
  price:(el,n)=>write(el,(12.34+n*1.07).toFixed(2)),
  age:(el,n)=>write(el,(3+n)+' min ago'),
  counter:(el,n)=>write(el,String(100+n*7)),
  clock:(el,n)=>write(el,'00:'+String(59-n%50).padStart(2,'0')),
  bar:(el,n)=>el.value=(n*7)%100,
  stock:(el,n)=>write(el,(40-n%30)+' left'),
  change:(el,n)=>write(el,(n%2?'+':'-')+(n%9+1)/10+'%'),
};
const paint=(row)=>{
  for(const el of every('[data-say]'))if(el.dataset.row==row)SAY[el.dataset.say](el,thing[row]);
  for(const el of every('[data-tick]'))if(el.dataset.row==row)TICK[el.dataset.tick](el,ticks[row]);
};
const rows=()=>[...new Set(every('[data-verb]').map((it)=>+it.dataset.row))];
const show=(html,how)=>{
  saying=how;clicks=[];
  document.body.innerHTML='<div id=stage>'+html+'</div>';
  for(const el of every('x-row'))if(!el.shadowRoot){el.attachShadow({mode:'open'}).append(el.querySelector('template').content);el.querySelector('template').remove()}
  thing=[0,1,2,3];ticks=[1,2,3,4];
  for(const row of rows())paint(row);
};
const redraw=(row)=>{for(const el of every('[data-say],[data-tick]'))if(el.dataset.row==row)el.replaceWith(el.cloneNode(true))};
const next=()=>NAMES.findIndex((_,id)=>!thing.includes(id));
const mutate=(kind,row)=>{
  const all=rows(),other=all.find((it)=>it!=row);
  const give=(at,id)=>{thing[at]=id};
  if(/^this/.test(kind))give(row,next());
  if(kind=='this and the next'&&other!=null)give(other,next());
  if(kind=='swapped'){if(other==null)give(row,next());else[thing[row],thing[other]]=[thing[other],thing[row]]}
  if(/^all (shifted|redrawn)/.test(kind))for(const at of all)give(at,(thing[at]+1)%NAMES.length);
  if(/redrawn/.test(kind))for(const at of all)if(kind[0]=='a'||at==row)redraw(at);
  if(kind=='other row'&&other!=null)give(other,next());
  if(kind=='ticked')ticks[row]+=3;
  if(kind=='all ticked')for(const at of all)ticks[at]+=3+at;
  if(kind=='elsewhere'){document.getElementById('clock').textContent='12:01';document.getElementById('foot').textContent='The very end'}
  if(/row (added|removed)/.test(kind)&&other!=null){
    // Columns and flat rows have no box of their own; there it is one of the others that changes.
    const box=rowBox(every('[data-verb]').find((it)=>it.dataset.row==other)),whole=every('[data-say]',box).length||(box.shadowRoot&&every('[data-say]',box.shadowRoot).length);
    if(!whole)give(other,next());
    else if(kind=='row removed')box.remove();
    else if(!every('x-row').length){const copy=box.cloneNode(true);for(const el of[copy,...every('[data-row]',copy)])if(el.dataset.row)el.dataset.row=9;thing[9]=7;ticks[9]=5;box.before(copy);paint(9)}
  }
  for(const at of all)paint(at);
};
const mutateAt=(phase,isLate,kind,row)=>{
  const change=()=>mutate(kind,row);
  document.getElementById('stage').addEventListener(phase,()=>isLate?Promise.resolve().then(change):change(),{capture:true,once:true});
};
addEventListener('click',(event)=>{
  const el=event.composedPath().find((it)=>it.dataset&&it.dataset.verb);
  if(el)clicks.push([thing[el.dataset.row],el.dataset.verb]);
},true);
"""
STYLE = ".grid{display:grid;grid-template-columns:1fr 1fr}.columns{display:flex}.cell{height:110px;width:150px;overflow:hidden}button,a,input,[role=button],[role=switch]{font:13px sans-serif;min-height:20px;min-width:24px}x-row{display:block}[role=switch]{width:30px;background:#ccc}"
