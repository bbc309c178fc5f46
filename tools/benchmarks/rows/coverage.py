# ruff: noqa: E501 - the script in the page reads better on one line
"""How much of what a person can act on a snapshot covers, and at what price in characters, beside agent-browser.

The truth comes from a separate, slow script: an element that is interactive by role, handler or tab order is scrolled to
the middle of the viewport, and counts when it is visible and a hit test there lands on it. It is marked with an
attribute, and each tool is asked, ref by ref, which of the marked elements its snapshot has.

agent-browser's `snapshot -i` shows what can be acted on, and headings and cells with a name. Beside it stands our form
with the controls alone; the usual one, with as much of the rest of the page as its budget allows, is reported. Sizes
are compared at the smallest budget with which ours covers as much. Refs are counted as on the first page of a session,
in both, wherever in the run a page comes: `e1` and on.
"""

from __future__ import annotations

import json
import re
import statistics
from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import Any

from bridge.page.page import Page
from bridge.page.snapshots.take import SnapshotRequest
from bridge.snapshot import SnapshotResult, render_snapshot
from bridge.snapshot.model import MIN_CHARS_TOTAL
from tools.benchmarks.bench import Bench, opened
from tools.benchmarks.measuring import Aborted, Finding, at_least, at_most, spread
from tools.benchmarks.pages import large_pages, served
from tools.benchmarks.peers import LIMIT_S, AgentBrowser, PeerMissing, agent_browser
from tools.benchmarks.rows.snapshots import UNBOUNDED

#: Elements of one page that are tried, and refs of agent-browser that are asked for; of more, an even sample.
TRIED = 1_000
ASKED = 1_000
_QUICK = ("floki-medium", "traf-nymag", "rdb-nytimes", "rdb-youth", "generated-600")

_THEIR_REF = re.compile(r"\bref=e(\d+)\b")

TRUTH = """(limit => {
  const ROLES = 'button link textbox checkbox radio combobox listbox menuitem menuitemcheckbox menuitemradio searchbox slider spinbutton switch tab treeitem'.split(' ');
  const all = [], roots = [document];
  for (const root of roots) for (const el of root.querySelectorAll('*')) { all.push(el); if (el.shadowRoot) roots.push(el.shadowRoot); }
  const acts = el => el.matches('a[href],area[href],button,input:not([type=hidden]),select,textarea,details>summary:first-of-type,[onclick],[contenteditable=""],[contenteditable=true]')
    || ROLES.includes((el.getAttribute('role') || '').split(' ')[0]) || (el.tabIndex >= 0 && el.hasAttribute('tabindex'));
  const candidates = all.filter(acts).filter(el => !el.closest('[inert],[aria-hidden=true]') && el.localName != 'option');
  const step = Math.max(1, candidates.length / limit), found = [];
  for (let at = 0; at < candidates.length; at += step) {
    const el = candidates[Math.floor(at)];
    if (!el.checkVisibility({opacityProperty: true, visibilityProperty: true, contentVisibilityAuto: true})) continue;
    el.scrollIntoView({block: 'center', inline: 'center', behavior: 'instant'});
    const hit = [...el.getClientRects()].some(({left, top, width, height}) => {
      if (width < 2 || height < 2) return false;
      let at = document.elementFromPoint(left + width / 2, top + height / 2);
      while (at && at.shadowRoot && at.shadowRoot.elementFromPoint) { const inner = at.shadowRoot.elementFromPoint(left + width / 2, top + height / 2); if (!inner || inner == at) break; at = inner; }
      return at && (el.contains(at) || (at.closest('label') && at.closest('label').control == el));
    });
    if (hit) found.push(el);
  }
  found.forEach((el, i) => el.setAttribute('data-truth', i));
  scrollTo(0, 0);
  return found.length;
})"""
COVERED = """(async options => {
  const raw = __agentBrowser.snapshot(options), todo = [raw.tree], marks = {};
  for (const node of todo) {
    todo.push(...node.children || []);
    if (node.more) node.more = 'e' + node.more;
    if (!node.ref) continue;
    const {value} = __agentBrowser.query(node.ref, 'attrs');
    node.ref = 'e' + node.ref;
    if (value && value['data-truth']) marks[node.ref] = +value['data-truth'];
  }
  return {raw, marks};
})"""


async def coverage(bench: Bench) -> Sequence[Finding]:
    pages = large_pages()
    if bench.quick:
        pages = {name: html for name, html in pages.items() if name.startswith(_QUICK)}
    facts: dict[str, dict[str, Any]] = {}
    without_peer = ""
    with served(pages) as site:
        async with opened([site.grant]) as (_, session, page):
            await page.goto(site.url(next(iter(pages))), timeout_s=LIMIT_S)
            async with AsyncExitStack() as stack:
                try:
                    port = await stack.enter_async_context(session.forward())
                    agent = await stack.enter_async_context(agent_browser(port))
                except (PeerMissing, Aborted) as error:
                    agent, without_peer = None, str(error)
                for name in pages:
                    await page.goto(site.url(name), timeout_s=LIMIT_S)
                    facts[name] = await _of_page(page, agent)
                    print(f"    {name[:28]:29}{facts[name]}", flush=True)
    recalls = {name: one["ours"]["covered"] / one["truth"] for name, one in facts.items() if one["truth"]}
    worst = min(recalls, key=lambda name: recalls[name])
    return [
        Finding(
            "recall of visible interactive elements when the budget allows, worst page", recalls[worst], "",
            at_least(0.98), note=f"{worst}; median {statistics.median(recalls.values()):.3f} of {len(recalls)} pages",
            facts=facts,
        ),
        _size(facts, without_peer),
    ]  # fmt: skip


def _size(facts: dict[str, dict[str, Any]], without_peer: str) -> Finding:
    what = "characters for agent-browser's interactive coverage: ours / agent-browser, median page"
    pairs = [one for one in facts.values() if one.get("as much", {}).get("chars")]
    if not pairs or without_peer:
        return Finding(what, None, "×", at_most(0.7), note=without_peer or "agent-browser covered nothing")
    ratios = [one["as much"]["chars"] / one["agent-browser"]["chars"] for one in pairs]
    recalls = [one["agent-browser"]["covered"] / one["truth"] for one in pairs]
    each = [
        statistics.median(one[who]["chars"] / max(1, one[who]["covered"]) for one in pairs)
        for who in ("as much", "agent-browser")
    ]
    with_words = statistics.median(one["as much, with words"]["chars"] / one["agent-browser"]["chars"] for one in pairs)
    aborted = [name for name, one in facts.items() if "agent-browser aborted" in one]
    note = (
        f"per covered element {each[0]:.0f} and {each[1]:.0f} characters, {len(pairs)} pages; controls only beside `-i`, "
        f"ours with texts and structure {with_words:.2f} ×; agent-browser's median "
        f"recall is {statistics.median(recalls):.3f}{'; left out, as it gave up: ' if aborted else ''}{', '.join(aborted)}"
    )
    return Finding(what, statistics.median(ratios), "×", at_most(0.7), spread(ratios), note)


async def _of_page(page: Page, agent: AgentBrowser | None) -> dict[str, Any]:
    truth = int(await _evaluated(page, f"{TRUTH}({TRIED})"))
    raw, whole = await _ours(page, UNBOUNDED)
    found: dict[str, Any] = {
        "truth": truth,
        "ours": {"covered": len(set(raw["marks"].values())), "chars": len(whole.text)},
    }
    if agent is None:
        return found
    try:
        found["agent-browser"] = theirs = await _theirs(agent, truth)
    except Aborted as error:
        return {**found, "agent-browser aborted": str(error)}
    wanted = min(theirs["covered"], found["ours"]["covered"])
    for what, controls_only in (("as much", True), ("as much, with words", False)):
        found[what] = {"covered": wanted, "chars": await _least(page, wanted, controls_only=controls_only)}
    return found


async def _least(page: Page, wanted: int, *, controls_only: bool) -> int:
    """Characters of the smallest snapshot that has so many marked elements."""
    _, whole = await _ours(page, UNBOUNDED, controls_only=controls_only)
    low, least = MIN_CHARS_TOTAL, len(whole.text)
    while wanted and least - low > max(50, least // 50):
        middle = (low + least) // 2
        raw, shot = await _ours(page, middle, controls_only=controls_only)
        if len({raw["marks"][ref] for ref in shot.refs if ref in raw["marks"]}) >= wanted:
            least = min(middle, len(shot.text))
        else:
            low = middle
    return least


async def _ours(page: Page, max_chars: int, *, controls_only: bool = False) -> tuple[dict[str, Any], SnapshotResult]:
    """The script's tree with the marks of its refs, and the text of a snapshot with that budget."""
    request = SnapshotRequest(max_chars=max_chars, max_nodes=1_000_000, max_depth=100, controls_only=controls_only)
    options = {**request.script_options(None), "timeBudgetMs": 60_000}
    found = await _evaluated(page, f"{COVERED}({json.dumps(options)})")
    return found, render_snapshot(found["raw"], request.render_options())


async def _evaluated(page: Page, expression: str) -> Any:
    attachment = await page.attached()
    assert attachment.state.main is not None
    return await attachment.evaluate(attachment.state.main.frame_id, expression, timeout_s=LIMIT_S)


async def _theirs(agent: AgentBrowser, truth: int) -> dict[str, Any]:
    """How many marked elements its refs lead to: asked of an even sample where there are many refs."""
    _, text = await agent.run("snapshot", "-i")
    refs = [f"e{number}" for number in _THEIR_REF.findall(text)]
    asked = refs if len(refs) <= ASKED else [refs[at * len(refs) // ASKED] for at in range(ASKED)]
    batch = json.dumps([["get", "attr", f"@{ref}", "data-truth"] for ref in asked])
    _, said = await agent.run("batch", "--json", stdin=batch.encode())
    marked = sum(_is_marked(one) for one in json.loads(said))
    covered = min(truth, round(marked * len(refs) / max(1, len(asked))))
    return {"covered": covered, "chars": len(_from_e1(text)), "refs": len(refs)}


def _from_e1(text: str) -> str:
    """The text as it would be on the first page of a session: agent-browser counts on from page to page."""
    before = min((int(number) for number in _THEIR_REF.findall(text)), default=1) - 1
    return _THEIR_REF.sub(lambda ref: f"ref=e{int(ref[1]) - before}", text)


def _is_marked(answer: Any) -> bool:
    found = answer.get("result", answer.get("data")) if isinstance(answer, dict) else None
    value = found.get("value") if isinstance(found, dict) else found
    return bool(answer.get("success", True)) and value is not None and str(value) != ""
