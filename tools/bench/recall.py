# ruff: noqa: E501 - the script in the page reads better on one line
"""How much of what a person can act on a snapshot of large saved pages covers, and at what price in characters.

python tools/bench/recall.py [PART OF A NAME…]

The ground truth comes from a separate, slow script: an element that is interactive by role, handler or tab order is
scrolled to the middle of the viewport, and counts when it is visible and a hit test there lands on it. `recall` is the
part of those elements that has a ref when the budget allows it; `covered` how many have one with the default budget;
`chars` is the rendered text per covered element.
"""

from __future__ import annotations

import gzip
import json
import statistics
import sys
from pathlib import Path

from snapshot_pages import Origin, chromium, open_page, pages_folder, serve

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from bridge.snapshot import RenderOptions, render_snapshot  # noqa: E402

MIN_RECALL = 0.98
#: Elements of one page that are tried; more are sampled evenly.
SAMPLE = 1_000
BIG = 10**9

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
  return [candidates.length, found.length, found.map(el => el.outerHTML.slice(0, 120))];
})"""
COVERED = """(async options => {
  const raw = __agentBrowser.snapshot(options), todo = [raw.tree], covered = [];
  for (const node of todo) {
    todo.push(...node.children || []);
    if (node.ref) { const {value} = __agentBrowser.query(node.ref, 'attrs'); if (value && value['data-truth']) covered.push(+value['data-truth']); }
  }
  return JSON.stringify({raw, covered});
})"""


def main(wanted: list[str]) -> int:
    folder = pages_folder()
    paths = sorted(folder.glob("*.html.gz")) if folder else []
    paths = [path for path in paths if not wanted or any(part in path.name for part in wanted)]
    if not paths:
        print("no saved pages here: name their folder with BRIDGE_BENCH_PAGES; nothing is measured")
        return 0
    print(f"{'page':34}{'tried':>7}{'truth':>7}{'recall':>8}{'chars':>7}   {'default: covered':>16}{'chars':>7}")
    recalls: list[float] = []
    prices: list[float] = []
    failed = 0
    with chromium() as address, serve(Path(__file__).parent) as origin:
        for path in paths:
            name = path.name.removesuffix(".html.gz")
            Origin.pages = {"/page.html": gzip.decompress(path.read_bytes())}
            with open_page(address, origin) as page:
                page.cdp("Network.enable")
                page.cdp("Network.setBlockedURLs", urls=["https://*", "http://*.*.*/*.js", "http://*/*?*"])
                page.cdp("Emulation.setScriptExecutionDisabled", value=True)
                page.goto("/page.html")
                candidates, truth, shown = page.run(f"{TRUTH}({SAMPLE})")
                whole = {"maxNodes": BIG, "budgetChars": BIG, "timeBudgetMs": 60_000, "cursorInteractive": True}
                full = json.loads(page.run(f"{COVERED}({json.dumps(whole)})", world=page.world()))
                usual = json.loads(
                    page.run(f"{COVERED}({json.dumps({'cursorInteractive': True})})", world=page.world())
                )
            covered = set(full["covered"])
            recall = len(covered) / truth if truth else 1.0
            text = render_snapshot(full["raw"], RenderOptions(max_chars_total=BIG, max_nodes=BIG, max_depth=100)).text
            refs = json.dumps(full["raw"]).count('"ref":')
            default = render_snapshot(usual["raw"])
            price = len(text) / max(refs, 1)
            recalls.append(recall)
            prices.append(price)
            failed += recall < MIN_RECALL
            print(
                f"{name[:33]:34}{min(candidates, SAMPLE):>7}{truth:>7}{recall:>8.3f}{price:>7.1f}   "
                f"{len(set(usual['covered'])):>16}{len(default.text) / max(len(default.refs), 1):>7.1f}",
                flush=True,
            )
            for index in [i for i in range(truth) if i not in covered][:3]:
                print(f"    without a ref: {shown[index]!r}")
    print(
        f"median recall {statistics.median(recalls):.3f}, worst {min(recalls):.3f}; median {statistics.median(prices):.1f} characters per element with a ref"
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
