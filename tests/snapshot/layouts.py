"""Documents of boxes of every kind, and which of their words a pointer can reach."""

from __future__ import annotations

import random

CONTENTS = 24
MOST_DEPTH = 4
#: For each kind, styles of which a box has one or none. None of them is meant to hide anything.
STYLES: dict[str, tuple[str, ...]] = {
    "display": (
        "display:block",
        "display:inline",
        "display:inline-block",
        "display:flex",
        "display:inline-flex",
        "display:flex;flex-wrap:wrap",
        "display:flex;flex-direction:column-reverse",
        "display:grid",
        "display:inline-grid",
        "display:grid;grid-template-columns:1fr 1fr",
        "display:table",
        "display:inline-table",
        "display:table-row",
        "display:table-cell",
        "display:table-row-group",
        "display:table-caption",
        "display:contents",
        "display:flow-root",
        "display:list-item",
    ),
    "position": (
        "position:relative",
        "position:relative;left:9px;top:-3px",
        "position:absolute",
        "position:absolute;top:40px;right:10px",
        "position:sticky;top:0",
        "position:sticky;bottom:0",
        "position:fixed;bottom:5px;left:5px",
        "float:left",
        "float:right",
    ),
    "overflow": (
        "overflow:hidden",
        "overflow:auto;height:60px",
        "overflow:scroll;width:120px;height:50px",
        "overflow:clip",
        "overflow-x:auto;white-space:nowrap",
        "overflow:hidden;height:0",
        "overflow:visible;height:0",
        "overflow:visible;width:0;height:0",
        "overflow:visible;height:1px",
        "height:0;line-height:0",
        "width:1px",
    ),
    "transform": (
        "transform:translateX(20px)",
        "transform:rotate(90deg)",
        "transform:rotate(3deg)",
        "transform:scale(.6)",
        "transform:scaleX(-1)",
        "transform:translateZ(0)",
        "transform:rotate(180deg)",
        "zoom:.7",
        "zoom:1.5",
        "scale:.8",
        "translate:10px",
        "perspective:100px",
        "will-change:transform",
        "filter:blur(0px)",
        "contain:paint",
        "contain:layout",
        "content-visibility:auto",
        "clip-path:inset(0)",
    ),
    "text": (
        "font-size:0",
        "font-size:30px",
        "writing-mode:vertical-rl",
        "writing-mode:vertical-lr",
        "writing-mode:vertical-rl;text-orientation:upright",
        "direction:rtl",
        "columns:2",
        "columns:3 80px;height:90px",
        "text-indent:20px",
        "line-height:0",
        "letter-spacing:3px",
        "white-space:pre",
        "text-align:right",
        "white-space:nowrap;text-overflow:ellipsis",
    ),
    "size": (
        "margin-left:-5px",
        "margin-top:-10px",
        "margin:900px 0 0",
        "padding:8px",
        "width:50%",
        "width:200vw",
        "min-height:100px",
        "max-width:max-content",
        "margin:0 auto",
        "margin-left:60vw",
        "opacity:.5",
        "background:#fff",
        "z-index:-1",
        "isolation:isolate",
    ),
}
CONTAINERS = "div div div span span section main article ul li p b nav app-root table td form fieldset header".split()

#: Each word that a pointer can reach after scrolling there. A person does not scroll what `overflow: hidden` cuts off.
REACHABLE = """(() => {
  const words = [];
  for (const el of document.querySelectorAll('[data-word]')) {
    el.scrollIntoView({ block: 'center', inline: 'center' });
    for (let at = el.parentElement; at && at != document.body; at = at.parentElement)
      if (/hidden|clip/.test(getComputedStyle(at).overflow)) at.scrollLeft = at.scrollTop = 0;
    const range = document.createRange();
    range.selectNodeContents(el);
    const isHit = ({ left, top, width, height }) =>
      width >= 4 && height >= 4 && document.elementsFromPoint(left + width / 2, top + height / 2).includes(el);
    if ([...range.getClientRects()].some(isHit)) words.push(el.dataset.word);
  }
  for (const el of document.querySelectorAll('*')) el.scrollLeft = el.scrollTop = 0;
  scrollTo(0, 0);
  return words;
})()"""


class Layouts:
    """Documents from a seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)  # noqa: S311 - documents, and the same ones each time
        self._words = 0

    def document(self) -> str:
        body = ""
        while self._words < CONTENTS:
            body += self._box(0)
        return f"<!doctype html><body style='font:16px sans-serif'>{body}"

    def _style(self) -> str:
        chosen = [self._random.choice(styles) for styles in STYLES.values() if self._random.random() < 0.3]
        return f' style="{";".join(chosen)}"' if chosen else ""

    def _content(self) -> str:
        self._words += 1
        word = f"word{self._words}x"
        tag = self._random.choice(("button", "a href=#", "span", "p", "div tabindex=0", "h3", "summary"))
        return f'<{tag} data-word={word} style="font-size:16px;line-height:20px">{word}</{tag.split()[0]}>'

    def _box(self, depth: int) -> str:
        tag = self._random.choice(CONTAINERS)
        inside = ""
        for _ in range(self._random.choice((1, 1, 2, 3))):
            inside += self._content() if depth >= MOST_DEPTH or self._random.random() < 0.4 else self._box(depth + 1)
        return f"<{tag}{self._style()}>{inside}</{tag}>"
