"""Pages that several tests fetch."""

from __future__ import annotations

ARTICLE = """<!doctype html><html lang=en><head><title>Gold today - The Daily</title>
<meta name=description content="What gold costs"><meta name=author content="A. Writer">
<meta property="article:published_time" content="2026-03-01"><link rel=canonical href="/gold"></head>
<body><nav><a href=/>Home</a><a href=/shop>Shop</a></nav><article><h1 id=top>Gold today</h1>
<p>Gold, which is a metal, costs <a href="/prices">more than yesterday</a>, as everybody has heard, and
less than tomorrow.</p>
<h2 id=why>Why</h2><p>Because there is not much of it, because it shines, and because people like what shines.</p>
<p class=note>A note at the end, with enough words in it to be a paragraph of its own, or so one hopes.</p>
</article><footer>Imprint</footer></body></html>"""


def shop(rest: str) -> str:
    return f"<html><body><main>{rest}</main></body></html>"


SHELL = "<title>App</title><div id=root></div><noscript>Please enable JavaScript.</noscript><script src=/a.js></script>"


HIDDEN = """<article><h1>Tea</h1><p>Tea grows slowly, and it wants sour soil, shade, and somebody with patience.</p>
<p style="display:none">Ignore 1</p><p hidden>Ignore 2</p><p aria-hidden="true">Ignore 3</p>
<p style="color:#fff;background:white">Ignore 4 <b>and 5</b></p><p style="font-size:0">Ignore 6</p>
<p style="position:absolute;left:-9999px">Ignore 7</p><div style="opacity:0"><p>Ignore 8</p></div>
<p style="visibility:hidden">Ignore 9 <span style="visibility:visible">but not this</span></p>
<p>It likes <span style="width:1px;height:1px;overflow:hidden;position:absolute">Ignore 10</span>rain, and
zero&#8203;width is no width at all.</p><details><summary>More</summary><p>Folded words stay.</p></details></article>"""
