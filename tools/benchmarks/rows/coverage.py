# ruff: noqa: E501 - the script in the page reads better on one line
"""How much of what a person can act on a snapshot covers, and at what price in characters, beside agent-browser.

The truth comes from a separate, slow script: an element that is interactive by role, handler or tab order is scrolled to
the middle of the viewport, and counts when it is visible and a hit test there lands on it. It is marked with an
attribute, and each tool is asked, ref by ref, which of the marked elements its snapshot has.
"""

from __future__ import annotations

import json
import re
import statistics
from collections.abc import Sequence
from typing import Any

from bridge.page.page import Page
from tools.benchmarks.bench import Bench, opened
from tools.benchmarks.measuring import Aborted, Finding, at_least, at_most, spread
from tools.benchmarks.pages import large_pages, served
from tools.benchmarks.peers import LIMIT_S, AgentBrowser, PeerMissing, agent_browser
from tools.benchmarks.rows.snapshots import UNBOUNDED

#: Elements of one page that are tried, and refs of agent-browser that are asked for; of more, an even sample.
TRIED = 1_000
ASKED = 300
_QUICK = ("floki-medium", "contents", "traf-nymag", "rdb-", "generated-600")

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
  const raw = __agentBrowser.snapshot(options), todo = [raw.tree], covered = [];
  for (const node of todo) {
    todo.push(...node.children || []);
    if (node.ref) { const {value} = __agentBrowser.query(node.ref, 'attrs'); if (value && value['data-truth']) covered.push(+value['data-truth']); }
  }
  return covered;
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
            for name in pages:
                await page.goto(site.url(name), timeout_s=LIMIT_S)
                facts[name] = await _ours(page)
            try:
                async with session.forward() as port, agent_browser(port) as agent:
                    for name in pages:
                        await page.goto(site.url(name), timeout_s=LIMIT_S)
                        await _mark(page)
                        facts[name]["agent-browser"] = await _theirs(agent)
            except (PeerMissing, Aborted) as error:
                without_peer = str(error)
    recalls = {name: one["covered"] / one["truth"] for name, one in facts.items() if one["truth"]}
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
    what = "characters per covered element: ours / agent-browser, median page"
    pairs = [
        (one["chars"] / one["covered"], one["agent-browser"]["chars"] / one["agent-browser"]["covered"])
        for one in facts.values()
        if one["covered"] and one.get("agent-browser", {}).get("covered")
    ]
    if not pairs or without_peer:
        return Finding(what, None, "×", at_most(0.7), note=without_peer or "agent-browser covered nothing")
    ratios = [ours / theirs for ours, theirs in pairs]
    ours, theirs = (statistics.median(side) for side in zip(*pairs, strict=True))
    covered = [one["agent-browser"]["covered"] / one["truth"] for one in facts.values() if one["truth"]]
    note = f"ours {ours:.0f}, agent-browser {theirs:.0f}, whose median recall is {statistics.median(covered):.3f}"
    return Finding(what, statistics.median(ratios), "×", at_most(0.7), spread(ratios), note)


async def _mark(page: Page) -> int:
    """The number of true elements, which are marked from now on."""
    attachment = await page.attached()
    assert attachment.state.main is not None
    return int(await attachment.evaluate(attachment.state.main.frame_id, f"{TRUTH}({TRIED})", timeout_s=LIMIT_S))


async def _ours(page: Page) -> dict[str, Any]:
    truth = await _mark(page)
    attachment = await page.attached()
    assert attachment.state.main is not None
    wanted = {"maxNodes": 10**9, "budgetChars": 10**9, "timeBudgetMs": 60_000, "cursorInteractive": True}
    covered = await attachment.evaluate(
        attachment.state.main.frame_id, f"{COVERED}({json.dumps(wanted)})", timeout_s=LIMIT_S
    )
    shot = await page.snapshot(max_chars=UNBOUNDED, max_nodes=1_000_000, max_depth=100, timeout_s=LIMIT_S)
    return {"truth": truth, "covered": len(set(covered)), "chars": len(shot.text), "refs": len(shot.refs)}


async def _theirs(agent: AgentBrowser) -> dict[str, Any]:
    """How many marked elements its refs lead to: asked of an even sample where there are many refs."""
    _, text = await agent.run("snapshot", "-i")
    refs = re.findall(r"\bref=(e\d+)\b", text)
    asked = refs if len(refs) <= ASKED else [refs[at * len(refs) // ASKED] for at in range(ASKED)]
    batch = json.dumps([["get", "attr", f"@{ref}", "data-truth"] for ref in asked])
    _, said = await agent.run("batch", "--json", stdin=batch.encode())
    marked = sum(_is_marked(one) for one in json.loads(said))
    return {"covered": round(marked * len(refs) / max(1, len(asked))), "chars": len(text), "refs": len(refs)}


def _is_marked(answer: Any) -> bool:
    found = answer.get("result", answer.get("data")) if isinstance(answer, dict) else None
    value = found.get("value") if isinstance(found, dict) else found
    return bool(answer.get("success", True)) and value is not None and str(value) != ""
