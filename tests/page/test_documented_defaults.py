"""What actions and queries promise in their small print."""

from __future__ import annotations

from pathlib import Path

import pytest

from bridge import Session
from bridge.errors import ElementDisabled
from bridge.page.page import Page

pytestmark = pytest.mark.browser

FORM = """<!doctype html><title>Form</title><meta name=viewport content="width=device-width">
<button>Press</button> <input type=file aria-label=Off> <p id=said></p>
<article aria-label=Long tabindex=0>LONG</article><div style="height:3000px"></div>
<script>
  // Before Chromium 92 a click has no pointerType.
  const kind = (e) => e.pointerType === undefined ? 'touch' : e.pointerType;
  const tell = (e) => { said.textContent = e.isTrusted + ' ' + kind(e); };
  document.querySelector('button').onclick = tell;
</script>"""


@pytest.fixture
async def form(page: Page) -> Page:
    await show(page, FORM.replace("LONG", "word " * 1_000))
    return page


async def show(page: Page, html: str) -> None:
    attachment = await page.attached()
    assert attachment.state.main is not None
    shown = {"frameId": attachment.state.main.frame_id, "html": html}
    await attachment.call("Page.setDocumentContent", shown, timeout_s=20)


async def test_click_by_script_is_untrusted_and_by_touch_trusted(form: Page) -> None:
    press = (await form.snapshot()).find(role="button", name="Press").ref
    assert "false" in (await form.click(press, input="script")).changes.text
    assert "true touch" in (await form.click(press)).changes.text


async def test_action_result_has_action_changes_and_cost(form: Page) -> None:
    press = (await form.snapshot()).find(role="button", name="Press").ref
    told = (await form.click(press)).to_json()
    assert (told["success"], told["action"], told["ref"]) == (True, "click", press)
    assert {"ms", "round_trips", "bytes_sent", "bytes_received"} <= told["cost"].keys()
    assert told["cost"]["round_trips"] == 2
    assert "true touch" in str(told["changes"])


async def test_query_limits_styles_and_text(form: Page) -> None:
    shot = await form.snapshot(interactive_only=False)
    styles = (await form.query(shot.find(name="Press").ref, "styles")).value
    assert styles.keys() == {"display", "color", "fontSize", "backgroundColor", "visibility"}
    text = await form.query(shot.find(role="article", name="Long").ref, "text")
    assert text.truncated
    assert text.value.endswith("...[truncated]")
    assert len(text.value) == 2_000 + len("...[truncated]")


async def test_scroll_moves_300_pixels_by_default(form: Page) -> None:
    await form.scroll("down")
    main = (await form.attached()).state.main
    assert main is not None
    assert await (await form.attached()).evaluate(main.frame_id, "scrollY", timeout_s=20) == 300


async def test_upload_to_a_disabled_file_input_names_the_reason(webview_device: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("alpha")
    async with Session.open(webview_device, uploads_root=tmp_path) as session:
        page = await session.new_page()
        await show(page, FORM)
        off = (await page.snapshot()).find(name="Off").ref
        attachment = await page.attached()
        disable = {"expression": "document.querySelector('input').disabled=true"}
        await attachment.call("Runtime.evaluate", disable, timeout_s=20)
        with pytest.raises(ElementDisabled, match=off):
            await page.set_input_files(off, "a.txt")


async def test_est_tokens_is_a_quarter_of_the_characters(form: Page) -> None:
    shot = await form.snapshot()
    texts = {
        "snapshot": (shot.text, shot.cost),
        "read": ((found := await form.read(mode="raw")).markdown, found.cost),
        "query": ((asked := await form.query(shot.find(name="Press").ref, "text")).value, asked.cost),
        "click": ((done := await form.click(shot.find(name="Press").ref)).changes.text, done.cost),
    }
    for name, (text, cost) in texts.items():
        assert cost is not None, name
        assert 0 < len(text) <= 4 * cost.est_tokens < len(text) + 4, name
