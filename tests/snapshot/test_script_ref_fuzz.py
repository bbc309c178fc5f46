# ruff: noqa: E501 - scripts read better on one line
"""The law of refs: between a snapshot and an action anything may happen to the page, and nothing wrong is acted on.

The page marks its elements by itself and hears every click in its own world, so what a ref was and what an action
reached are judged without the script under test.
"""

from __future__ import annotations

import collections
import random
from typing import Any

import pytest
from browser import Page

pytestmark = pytest.mark.browser

PAGE = """<style>*{color:#222;font:11px monospace}li,tr,.card{height:16px}button,[role]{padding:0}</style>
<div id=bar><div id=x role=button tabindex=0>Go</div><button class=b>Inbox (2)</button><a href=#a class=b>Next</a></div>
<ul id=list></ul><table><tbody id=rows></tbody></table><div id=cards></div>
<script>
  const NAMES = ['Ann', 'Bo', 'Cy', 'Di', 'Eve', 'Flo', 'Gus'];
  const cells = who => `<b>${who}</b> <button>Delete</button> <button>Open</button>`;
  list.innerHTML = NAMES.map(who => `<li>${cells(who)}</li>`).join('');
  rows.innerHTML = NAMES.map(who => `<tr><td><b>${who}</b><td><button>Delete</button><td><a href=#e>Edit</a></tr>`).join('');
  cards.innerHTML = NAMES.map(who => `<div class=card>${cells(who)}</div>`).join('');

  let last = 0, clicks = [], was = {};
  const marks = new WeakMap(), targets = () => [...document.querySelectorAll('button,a,#x')];
  const steady = text => text.toLowerCase().replace(/\\(\\d+\\)|\\d+(?= left)/g, '#').replace(/\\s+/g, ' ').trim();
  // What an element is, by the page's own eyes: role, name, and the words of the row or card that it stands in.
  const identity = el => {
    const item = el.closest('li,tr,.card');
    return [el.getAttribute('role') || el.localName, steady(el.getAttribute('aria-label') || el.textContent), item ? steady(item.textContent) : ''].join('|');
  };
  const mark = () => { for (const el of targets()) { if (!marks.has(el)) marks.set(el, ++last); el.setAttribute('data-mark', marks.get(el)); } };
  addEventListener('click', event => {
    const el = event.target.closest('button,a,#x');
    event.preventDefault();
    clicks.push({mark: el && marks.get(el), now: el && identity(el)});
  }, true);

  const edit = (seed, times) => {
    let state = seed;
    const dice = n => (state = (state * 1103515245 + 12345) & 0x7fffffff) % n, pick = all => all[dice(all.length)];
    const who = item => item.querySelector('b'), inner = item => item.querySelector('td:last-child') || item;
    while (times--) {
      const home = pick([list, rows, cards]), items = [...home.children], item = pick(items), other = pick(items), target = pick([...item.querySelectorAll('button,a')]);
      switch (dice(15)) {
        case 0: who(item).textContent = pick(NAMES) + ' ' + dice(50); break;
        case 1: { const words = who(item).textContent; who(item).textContent = who(other).textContent; who(other).textContent = words; break; }
        case 2: home.append(items[0]); who(items[0]).textContent = pick(NAMES) + ' ' + dice(50); break;
        case 3: if (items.length > 4) item.remove(); break;
        case 4: if (items.length < 10) home.insertBefore(item.cloneNode(true), other); break;
        case 5: target.textContent = pick(['Delete', 'Open', 'Edit', 'Keep (' + dice(9) + ')']); break;
        case 6: item.innerHTML = item.innerHTML; break;
        case 7: home.insertBefore(item, other); break;
        case 8: x.setAttribute('role', pick(['button', 'link', 'tab'])); x.textContent = pick(['Go', 'Stay']); break;
        case 9: target.replaceWith(target.cloneNode(true)); break;
        case 10: target.setAttribute('aria-label', pick(['Delete', 'Undo'])); break;
        case 11: inner(other).append(target); if (!item.querySelector('button,a')) inner(item).insertAdjacentHTML('beforeend', '<button>Open</button>'); break;
        case 12: item.querySelectorAll('button,a').forEach(el => { el.style.visibility = pick(['', '', 'hidden']); }); break;
        case 13: document.querySelector('.b').textContent = 'Inbox (' + dice(99) + ')'; break;
        case 14: if (items.length > 4) home.innerHTML = items.map(it => it.outerHTML).reverse().join(''); break;
      }
    }
  };
  const shown = (pairs, seed, times) => {
    const byMark = new Map(targets().map(el => [marks.get(el), el]));
    was = {};
    for (const [, mark] of pairs) was[mark] = {el: byMark.get(+mark), as: identity(byMark.get(+mark))};
    edit(seed, times);
    clicks = [];
    return Object.values(was).map(it => ({as: it.as, now: it.el.isConnected ? identity(it.el) : 'gone'}));
  };
</script>"""

LOOK = """(async () => {
  const todo = [__agentBrowser.snapshot({cursorInteractive: true, timeBudgetMs: 20000}).tree], pairs = [];
  for (const node of todo) {
    todo.push(...node.children || []);
    if (node.ref) { const {value} = __agentBrowser.query(node.ref, 'attrs'); if (value['data-mark']) pairs.push([node.ref, value['data-mark']]); }
  }
  return pairs;
})()"""
ACT = "Promise.all({refs}.map(ref => __agentBrowser.action(ref, 'click', {{timeoutMs: 60}})))"
REFUSALS = {"stale_ref", "ref_not_found", "not_visible", "timeout", "covered"}


def round_of_edits(tab: Page, seed: int, times: int, told: collections.Counter[str]) -> list[str]:
    """One snapshot, `times` random edits, one click on every ref; what went wrong."""
    tab.run("mark()")
    pairs: list[list[str]] = tab.run(LOOK, world=tab.world())
    assert len(pairs) > 5
    fates: list[dict[str, Any]] = tab.run(f"shown({pairs}, {seed}, {times})")
    # Integer keys come out of an object in ascending order.
    fate = dict(zip(sorted(int(mark) for _, mark in pairs), fates, strict=True))
    answers = tab.run(ACT.format(refs=[ref for ref, _ in pairs]), world=tab.world())
    clicks = tab.run("clicks")
    wrong = [
        f"seed {seed}: {click} was {fate.get(click['mark'])}"
        for click in clicks
        if click["mark"] not in fate or click["now"] != fate[click["mark"]]["as"]
    ]
    for (ref, mark), answer in zip(pairs, answers, strict=True):
        mine = fate[int(mark)]
        same = mine["now"] == mine["as"]
        told["acted" if answer["success"] else answer["error"]["code"]] += 1
        if answer["success"]:
            if not any(click["mark"] == int(mark) for click in clicks):
                wrong.append(f"seed {seed}: {ref} says success, but nothing was clicked")
            continue
        error = answer["error"]
        if error["code"] not in REFUSALS:
            wrong.append(f"seed {seed}: {ref} was refused with {error}")
        elif mine["now"] == "gone":
            if error["code"] != "ref_not_found":
                wrong.append(f"seed {seed}: {ref} is gone, and is refused with {error}")
        elif not same:
            told["changed"] += 1
            if error["code"] == "stale_ref" and not error.get("now"):
                wrong.append(f"seed {seed}: {ref} became {mine}, and {error} does not say so")
        elif error["code"] in ("stale_ref", "ref_not_found"):
            told["refused although the same"] += 1
    if len(clicks) != sum(answer["success"] for answer in answers):
        wrong.append(f"seed {seed}: {len(clicks)} clicks for other successes")
    return wrong


def fuzz(tab: Page, edits: int, per_round: int, seed: int) -> None:
    dice = random.Random(seed)  # noqa: S311 - repeatable on purpose
    told: collections.Counter[str] = collections.Counter()
    wrong: list[str] = []
    done = rounds = 0
    while done < edits:
        if rounds % 10 == 0:
            tab.show(PAGE)
        wrong += round_of_edits(tab, dice.randrange(1 << 30), per_round, told)
        done += per_round
        rounds += 1
    print(f"{done} edits in {rounds} rounds; {dict(told)}; {len(wrong)} wrong")
    assert not wrong, "\n".join(wrong[:10])
    assert told["acted"] > rounds
    assert told["stale_ref"]
    assert told["ref_not_found"]


def test_no_action_reaches_a_wrong_element(tab: Page) -> None:
    fuzz(tab, edits=120, per_round=4, seed=20_260_101)


@pytest.mark.slow
@pytest.mark.timeout(3_000)
def test_no_action_reaches_a_wrong_element_in_ten_thousand_edits(tab: Page) -> None:
    fuzz(tab, edits=10_000, per_round=8, seed=7)
