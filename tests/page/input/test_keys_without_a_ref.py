"""Keys without a ref go to what has the focus, in whatever frame, and open no dialog of the system's there."""

from __future__ import annotations

import html

import pytest

from bridge.deadline import Deadline
from bridge.errors import ActionFailed, Unsupported
from bridge.page.input.keyboard import focus, focused_frame
from bridge.page.input.keys import key_events, parse_chord
from bridge.page.page import Page
from tests.conftest import LocalServer
from tests.page.main_world import in_page

pytestmark = pytest.mark.browser

FORM = """<select aria-label=Size><option>Ham<option>Large<option>Small</select><input type=date aria-label=Day>
<input aria-label=Note><button>After</button><script>
globalThis.heard=[];
for(const type of ['keydown','keypress','input'])addEventListener(type,e=>heard.push(type+' '+e.target.localName));
addEventListener('message',({data})=>{
  if(data.at===undefined||data.heard!==undefined)return;
  if(data.at)document.querySelector(data.at).focus();
  top.postMessage({at:document.activeElement.localName,heard:heard.join(),value:document.querySelector('select').value},'*')
})</script>"""


def framed(text: str, attributes: str) -> str:
    return f'<iframe {attributes} srcdoc="{html.escape(text)}"></iframe>'


PLACES = {
    "the page": FORM,
    "a frame": framed(FORM, ""),
    "a frame of another origin": framed(FORM, "sandbox=allow-scripts"),
    "a frame in a frame": framed(f"<p>Between</p>{framed(FORM, '')}", "sandbox=allow-scripts"),
}


async def told(page: Page, at: str = "") -> dict[str, str]:
    """What the innermost document has heard, once it has put the focus on what the selector finds."""
    answer: dict[str, str] = await in_page(
        page,
        "new Promise(done=>{addEventListener('message',({data})=>data.heard===undefined||done(data));"
        f"let it=window;while(it.length)it=it[0];it.postMessage({{at:{at!r}}},'*')}})",
    )
    return answer


async def show(page: Page, place: str) -> None:
    written = f"document.open();document.write({PLACES[place]!r});document.close()"
    await in_page(page, written)
    await page.wait_for(role="button", name="After")


@pytest.fixture(params=PLACES)
async def form(page: Page, local_server: LocalServer, request: pytest.FixtureRequest) -> Page:
    await page.goto(local_server.url("second.html"))
    await show(page, request.param)
    return page


async def test_no_key_opens_what_has_the_focus_and_the_hint_has_its_ref(form: Page) -> None:
    select = (await form.snapshot()).find(name="Size").ref
    assert (await told(form, "select"))["at"] == "select"
    for key in ("Enter", "Space", "F4", "Alt+ArrowDown"):
        with pytest.raises(Unsupported, match="tapping a <select> opens a system dialog") as caught:
            await form.keyboard.press(key, timeout_s=600)
        assert f"select_option({select}, " in caught.value.hint
    with pytest.raises(Unsupported):
        await form.keyboard.type("a small\n", timeout_s=600)
    assert (await told(form))["heard"] == ""
    # Where it stands on something else, the same keys are pressed.
    await told(form, "input:not([type])")
    assert (await form.keyboard.press("Enter")).cost.round_trips == 2
    await form.keyboard.type("a b")
    assert "input input" in (await told(form))["heard"]


async def test_letters_find_the_option_of_a_select_and_arrows_go_through_them(form: Page) -> None:
    await told(form, "select")
    await form.keyboard.type("sm")
    assert (await told(form))["value"] == "Small"
    await form.keyboard.press("ArrowUp")
    assert (await told(form))["value"] == "Large"


@pytest.fixture
async def flat(page: Page, local_server: LocalServer) -> Page:
    await page.goto(local_server.url("second.html"))
    await show(page, "the page")
    return page


async def test_a_date_is_not_opened_by_space_either(flat: Page) -> None:
    await told(flat, "input")
    with pytest.raises(Unsupported, match="<input type=date> opens a system dialog"):
        await flat.keyboard.press("Space", timeout_s=600)


async def test_a_picker_that_gets_the_focus_between_check_and_key_is_not_opened(flat: Page) -> None:
    actions, deadline = flat._operations.attached.actions, Deadline.after(30)
    assert actions is not None
    at = await focused_frame(actions, "press Enter", deadline)
    await told(flat, "select")
    keys = [("Input.dispatchKeyEvent", event) for event in key_events(parse_chord("Enter"))]
    settled = await actions.send_and_settle(None, keys, 1.0, deadline, expect="keydown", frame_id=at)
    with pytest.raises(Unsupported, match="a <select> opens a system dialog"):
        actions.checks.check_no_picker("press Enter", settled)
    assert (await told(flat))["heard"] == ""


@pytest.mark.parametrize("by_ref", [True, False])
async def test_typing_that_tabs_into_a_picker_stops_at_the_key_that_would_open_it(flat: Page, by_ref: bool) -> None:
    await in_page(
        flat, "document.body.append(document.querySelector('input:not([type])'),document.querySelector('select'))"
    )
    note = (await flat.snapshot()).find(name="Note").ref
    await told(flat, "input:not([type])")
    with pytest.raises(Unsupported, match="a <select> opens a system dialog"):
        await (flat.type(note, "b\ts ham") if by_ref else flat.keyboard.type("b\ts ham"))
    last = await told(flat)
    assert (last["at"], last["value"]) == ("select", "Small")
    # The guard is gone with it.
    await flat.keyboard.press("ArrowUp")
    assert (await told(flat))["value"] == "Large"


@pytest.mark.parametrize("keys", ["Enter", "x"])
async def test_a_frame_that_steals_the_focus_gets_no_key_of_an_element(
    page: Page, local_server: LocalServer, keys: str
) -> None:
    await page.goto(local_server.url("second.html"))
    await show(page, "a frame of another origin")
    await in_page(page, "document.body.insertAdjacentHTML('beforeend','<input aria-label=Mine>')")
    actions, deadline = page._operations.attached.actions, Deadline.after(30)
    ref = (await page.snapshot()).find(name="Mine").ref
    assert actions is not None
    entry = actions.look_up(ref)
    await focus(actions, entry, deadline, action="focus")
    await told(page, "button")
    commands = [("Input.dispatchKeyEvent", event) for event in key_events(parse_chord(keys))]
    await actions.send(commands, "keys", deadline)
    settled = await actions.send_and_settle(entry, [], 1.0, deadline)
    with pytest.raises(ActionFailed, match="button in another frame took the focus; it received no key"):
        actions.checks.check_keys(entry, settled)
    assert (await told(page))["heard"] == ""
    await page.keyboard.press("y")
    assert "keydown button" in (await told(page))["heard"]
