"""Controls whose popup is a dialog of the system's: nothing that opens one is sent."""

from __future__ import annotations

import pytest

from bridge.errors import NotEditable, Unsupported
from bridge.page.page import Page
from tests.conftest import LocalServer
from tests.page.main_world import in_page

pytestmark = pytest.mark.browser

FORMS = {
    "date": "YYYY-MM-DD",
    "datetime-local": "YYYY-MM-DDTHH:MM",
    "month": "YYYY-MM",
    "week": "YYYY-Www",
    "time": "HH:MM",
    "color": "#rrggbb",
}
CONTROLS = """document.body.innerHTML='<label id=said>Size<select><option>Small<option>Large</select></label>'+
  '<label>List<select multiple size=3><option>Ham<option>Corn</select></label>'+
  '<div role=group tabindex=0 aria-label=Around><select style="width:100%;height:40px"></select></div>'+
  ['date','datetime-local','month','week','time','color'].map(t=>`<label role=button tabindex=0>Label of ${t}
    <input type=${t} aria-label=${t}></label>`).join('')+
  '<input type=date readonly aria-label=Fixed><button>After</button>';
globalThis.heard=[];
for(const type of ['pointerdown','mousedown','keydown','click'])
  document.addEventListener(type,e=>heard.push(type+' '+e.target.localName),true)"""


@pytest.fixture
async def controls(page: Page, local_server: LocalServer) -> Page:
    await page.goto(local_server.url("second.html"))
    await in_page(page, CONTROLS)
    return page


async def refused(page: Page, ref: str, action: str) -> str:
    """The hint, when the refusal came at once and nothing of the action reached the page."""
    with pytest.raises(Unsupported) as caught:
        # Waiting for the control to become another would take all of this.
        await getattr(page, action)(ref, timeout_s=600)
    assert "opens a system dialog" in caught.value.message
    assert await in_page(page, "heard.join()") == ""
    return caught.value.hint


@pytest.mark.parametrize("action", ["click", "dblclick", "long_press"])
@pytest.mark.parametrize("name", ["Size", "List"])
async def test_no_finger_comes_to_a_select(controls: Page, name: str, action: str) -> None:
    ref = (await controls.snapshot()).find(name=name, role="combobox" if name == "Size" else "listbox").ref
    assert f'select_option({ref}, "…")' in await refused(controls, ref, action)


@pytest.mark.parametrize("kind", FORMS)
async def test_no_finger_comes_to_what_opens_a_picker_and_none_to_its_label(controls: Page, kind: str) -> None:
    shown = await controls.snapshot()
    ref = next(ref for ref, node in shown.refs.items() if node.tag == "input" and node.name == kind)
    assert f'fill({ref}, "{FORMS[kind]}")' in await refused(controls, ref, "click")
    label = next(ref for ref, node in shown.refs.items() if node.tag == "label" and kind in node.name.split())
    assert f'fill({ref}, "{FORMS[kind]}")' in await refused(controls, label, "click")


async def test_an_element_with_a_select_in_its_middle_is_not_tapped(controls: Page) -> None:
    shown = await controls.snapshot(interactive_only=False)
    ref = next(ref for ref, node in shown.refs.items() if node.name == "Around")
    assert "select_option(" in await refused(controls, ref, "click")


async def test_a_locator_is_refused_like_a_ref(controls: Page) -> None:
    with pytest.raises(Unsupported, match="an <input type=date> opens a system dialog"):
        await controls.get_by_label("date", exact=True).click(timeout_s=600)
    assert await in_page(controls, "heard.join()") == ""


@pytest.mark.parametrize("key", ["Enter", "Space", "F4", "Alt+ArrowDown"])
async def test_no_key_opens_a_select(controls: Page, key: str) -> None:
    ref = (await controls.snapshot()).find(name="Size", role="combobox").ref
    with pytest.raises(Unsupported, match="opens a system dialog"):
        await controls.press(ref, key, timeout_s=600)
    assert await in_page(controls, "heard.join()") == ""


async def test_a_select_takes_the_keys_that_open_nothing(controls: Page) -> None:
    ref = (await controls.snapshot()).find(name="Size", role="combobox").ref
    await controls.press(ref, "Tab")
    assert await in_page(controls, "heard.join()") == "keydown select"


async def test_the_label_of_a_select_only_focuses_it_and_may_be_tapped(controls: Page) -> None:
    await in_page(
        controls, "said.setAttribute('role','button');said.tabIndex=0;said.style.cssText='display:block;height:90px'"
    )
    shown = await controls.snapshot()
    label = next(ref for ref, node in shown.refs.items() if node.tag == "label" and "Size" in node.name)
    await controls.click(label)
    assert await in_page(controls, "heard.join()") == "pointerdown label,mousedown label,click label,click select"


async def test_what_a_hidden_option_is_chosen_with_is_said_at_once(controls: Page) -> None:
    shown = await controls.snapshot()
    option = next(ref for ref, node in shown.refs.items() if node.tag == "option" and node.name == "Large")
    list_ref = shown.find(name="Size", role="combobox").ref
    assert f"select_option({list_ref}, " in await refused(controls, option, "click")


async def test_a_picker_that_is_read_only_opens_nothing_and_is_tapped(controls: Page) -> None:
    await controls.click((await controls.snapshot()).find(name="Fixed").ref)
    assert "click input" in await in_page(controls, "heard.join()")


async def test_a_date_is_filled_and_a_select_chosen_as_the_hints_say(controls: Page) -> None:
    shown = await controls.snapshot()
    day = next(ref for ref, node in shown.refs.items() if node.name == "date" and node.tag == "input")
    assert (await controls.fill(day, "2026-02-28")).value == "2026-02-28"
    assert (await controls.select_option(shown.find(name="Size", role="combobox").ref, "Large")).values == ("Large",)


@pytest.mark.parametrize(
    ("html", "hint"),
    [
        ("<input type=checkbox aria-label=It>", "check("),
        ("<input type=file aria-label=It>", "set_input_files("),
        ("<input type=submit value=It>", "click("),
        ("<button>It</button>", "click("),
        ("<select aria-label=It></select>", "select_option("),
    ],
)
async def test_what_takes_no_text_ever_says_at_once_what_it_takes(controls: Page, html: str, hint: str) -> None:
    await in_page(controls, f"document.body.innerHTML={html!r}")
    ref = (await controls.snapshot()).find(name="It").ref
    with pytest.raises(NotEditable) as caught:
        await controls.fill(ref, "x", timeout_s=600)
    assert hint + ref in caught.value.hint
