"""Elements that only a page's script makes clickable have refs where they are asked for."""

from __future__ import annotations

import pytest

from bridge import Session
from tests.temp_sites import own_site

pytestmark = pytest.mark.browser

PAGE = """<!doctype html><meta name=viewport content="width=device-width"><title>Handlers</title>
<div id=root style="min-height: 2000px"><div id=menu>Menu</div><p id=card>Card</p><p>Text</p><div id=host></div>
<iframe srcdoc="<p id=inner>Inner</p><script>inner.onclick = () => { inner.textContent = 'Tapped' }</script>"></iframe>
</div>
<script>
root.addEventListener('click', () => 0);
document.addEventListener('click', () => 0);
menu.onclick = () => { menu.textContent = 'Open' };
card.addEventListener('pointerdown', () => 0);
card.addEventListener('mouseover', () => 0);
host.attachShadow({mode: 'open'}).innerHTML = '<p id=shade>Shade</p>';
host.shadowRoot.querySelector('p').onclick = () => 0;
</script>"""


async def test_handlers_set_by_scripts_count_where_they_are_asked_for(webview_device: str) -> None:
    with own_site({"/": PAGE}) as site:
        async with Session.open(webview_device, grants=[site.grant]) as session:
            page = await session.new_page(site.url())
            await page.wait_for(text="Menu")
            assert not (await page.snapshot()).refs
            shot = await page.snapshot(click_handlers=True)
            assert [node.name for node in shot.refs.values()] == ["Menu", "Card", "Shade", "Inner"]
            by_name = {node.name: ref for ref, node in shot.refs.items()}
            assert "Open" in (await page.click(by_name["Menu"])).changes.text
            assert "Tapped" in (await page.click(by_name["Inner"])).changes.text
            scoped = await page.snapshot(click_handlers=True, scope="#card")
            assert [node.name for node in scoped.refs.values()] == ["Card"]
            await page.evaluate("menu.onclick = null")
            names = [node.name for node in (await page.snapshot(click_handlers=True)).refs.values()]
            assert "Open" not in names
            assert not (await page.snapshot()).refs
            await page.goto(site.url("nothing"))
            await page.snapshot(click_handlers=True)


async def test_a_page_cannot_see_that_it_is_asked(webview_device: str) -> None:
    page_html = """<div id=a>Menu</div><script>
      a.onclick = () => 0;
      const seen = [], keys = () => [Object.keys(a), Object.getOwnPropertyNames(self)].join(), before = keys();
      new MutationObserver((list) => seen.push(...list)).observe(a, {attributes: true, subtree: true});
      </script>"""
    with own_site({"/": page_html}) as site:
        async with Session.open(webview_device, grants=[site.grant]) as session:
            page = await session.new_page(site.url())
            assert (await page.snapshot(click_handlers=True)).refs
            assert await page.evaluate("[seen.length, keys() == before]") == [0, True]
