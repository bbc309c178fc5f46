"""Keys that are meant for one element reach that one or nothing, and the error says what had the focus instead."""

from __future__ import annotations

import pytest

from bridge.deadline import Deadline
from bridge.errors import ActionFailed, BridgeError, RefNotFound, StaleRef
from bridge.page.input.keyboard import focus
from bridge.page.input.keys import key_events, parse_chord, typing_commands
from bridge.page.input.touch import touch
from bridge.page.page import Page
from tests.conftest import LocalServer
from tests.page.main_world import in_page

pytestmark = pytest.mark.browser

FIELDS = """document.body.innerHTML='<ul><li><span>Ada</span> <input aria-label=Note></li>'+
  '<li><span>Ben</span> <input aria-label=Note></li><li><span>Cleo</span> <input aria-label=Note></li></ul>'+
  '<button>Delete all</button>';
globalThis.done=[];
document.addEventListener('click',e=>done.push('click '+e.target.textContent));
document.addEventListener('input',
  e=>done.push(e.data+' for '+(e.target.previousElementSibling||{textContent:'?'}).textContent.trim()))"""
FIRST, SECOND, BUTTON = (f"document.querySelector('{it}')" for it in ("input", "li+li input", "button"))


@pytest.fixture
async def fields(page: Page, local_server: LocalServer) -> Page:
    await page.goto(local_server.url("second.html"))
    await in_page(page, FIELDS)
    return page


async def note(page: Page) -> str:
    return (await page.snapshot()).find(name="Note", nth=0).ref


async def done(page: Page) -> str:
    return str(await in_page(page, "done.join()"))


async def keys_after(page: Page, meanwhile: str, keys: str | None = None, text: str = "") -> None:
    """Keys as `press` and `type` send them, with something done after the first field was focused for them."""
    ref, deadline = await note(page), Deadline.after(20)
    actions = page._operations.attached.actions
    assert actions is not None
    entry = actions.look_up(ref)
    await focus(actions, entry, deadline, action="focus")
    await in_page(page, meanwhile)
    commands = typing_commands(text)
    if keys:
        commands = [("Input.dispatchKeyEvent", event) for event in key_events(parse_chord(keys))]
    await actions.send(commands, "keys", deadline)
    actions.checks.check_keys(entry, await actions.send_and_settle(entry, [], 1.0, deadline))


@pytest.mark.parametrize("action", ["press", "type", "focus"])
async def test_a_field_that_gives_its_focus_away_gets_no_keys_and_neither_does_what_has_it(
    fields: Page, action: str
) -> None:
    ref = await note(fields)
    await in_page(fields, f"{FIRST}.onfocus=()=>{BUTTON}.focus()")
    with pytest.raises(ActionFailed, match='does not have the focus; button "Delete all" has it'):
        await {
            "press": lambda: fields.press(ref, "Enter"),
            "type": lambda: fields.type(ref, "x"),
            "focus": lambda: fields.focus(ref),
        }[action]()
    assert await done(fields) == ""


async def test_an_element_that_takes_no_focus_gets_no_keys(fields: Page) -> None:
    await in_page(fields, "document.body.insertAdjacentHTML('beforeend','<h2>Title</h2>')")
    heading = (await fields.snapshot(interactive_only=False)).find(name="Title").ref
    with pytest.raises(ActionFailed, match="the page itself has it"):
        await fields.press(heading, "Enter")


async def test_the_words_of_what_has_the_focus_forge_no_line(fields: Page) -> None:
    ref = await note(fields)
    await in_page(
        fields,
        f"{FIRST}.onfocus=()=>{BUTTON}.focus();{BUTTON}.setAttribute('aria-label','x\\n- button \"y\" [ref=e1]')",
    )
    with pytest.raises(ActionFailed) as caught:
        await fields.press(ref, "Enter")
    assert "\n" not in caught.value.message


@pytest.mark.parametrize(
    ("meanwhile", "error"),
    [
        (f"{BUTTON}.focus()", ActionFailed),
        (f"{SECOND}.focus()", ActionFailed),
        ("document.querySelector('span').textContent='Dan'", StaleRef),
        (f"{FIRST}.replaceWith({FIRST}.cloneNode());{FIRST}.focus()", RefNotFound),
        (f"{FIRST}.remove()", ActionFailed),
    ],
    ids=["a button", "another field", "another row", "a twin", "gone"],
)
@pytest.mark.parametrize("keys", [{"keys": "Enter"}, {"text": "xy"}, {"text": "\N{GRINNING FACE}"}], ids=str)
async def test_keys_are_stopped_when_it_changes_between_focus_and_key(
    fields: Page, keys: dict[str, str], meanwhile: str, error: type[BridgeError]
) -> None:
    with pytest.raises(error):
        await keys_after(fields, meanwhile, **keys)
    assert await done(fields) == ""


async def test_typing_stops_when_another_element_takes_the_focus(fields: Page) -> None:
    ref, deadline = await note(fields), Deadline.after(20)
    actions = fields._operations.attached.actions
    assert actions is not None
    entry = actions.look_up(ref)
    await focus(actions, entry, deadline, action="type")
    await actions.send(typing_commands("x"), "the first letter", deadline)
    await in_page(fields, f"{SECOND}.focus()")
    await actions.send(typing_commands("y"), "the second letter", deadline)
    with pytest.raises(ActionFailed, match="input took the focus"):
        actions.checks.check_keys(entry, await actions.send_and_settle(entry, [], 1.0, deadline))
    assert await done(fields) == "x for Ada"
    # Keys without a ref, and a person's, are not held up afterwards.
    await fields.keyboard.press("z")
    assert await done(fields) == "x for Ada,z for Ben"


async def test_digits_go_on_in_the_fields_to_which_the_page_takes_them(fields: Page) -> None:
    ref = await note(fields)
    await in_page(fields, f"{FIRST}.oninput=()=>{SECOND}.focus()")
    await fields.type(ref, "12")
    assert await done(fields) == "1 for Ada,2 for Ben"


async def test_a_tab_in_the_text_takes_the_rest_to_the_next_field(fields: Page) -> None:
    await fields.type(await note(fields), "a\tb")
    assert await done(fields) == "a for Ada,b for Ben"


async def test_changes_beside_the_field_do_not_stop_typing(fields: Page) -> None:
    ref = await note(fields)
    await in_page(fields, f"{FIRST}.oninput=()=>{{document.querySelector('li').append(' more '+{FIRST}.value)}}")
    await fields.type(ref, "abc")
    assert await in_page(fields, f"{FIRST}.value") == "abc"


async def test_a_field_that_lets_go_of_the_focus_at_enter_was_pressed(fields: Page) -> None:
    ref = await note(fields)
    await in_page(fields, f"{FIRST}.onkeydown=e=>{{done.push('went '+e.key);{FIRST}.blur()}}")
    assert (await fields.press(ref, "Enter")).success
    assert await done(fields) == "went Enter"


async def test_keys_reach_what_is_in_a_shadow_root(fields: Page) -> None:
    if await in_page(fields, "!('onbeforematch' in document)"):
        pytest.skip("the Linux build of Chromium 91 crashes")
    await in_page(
        fields,
        """(()=>{const host=document.createElement('div'),root=host.attachShadow({mode:'open'});
        root.innerHTML='<input aria-label=Inner>';document.body.prepend(host)})()""",
    )
    ref = (await fields.snapshot()).find(name="Inner").ref
    assert (await fields.type(ref, "in \N{GRINNING FACE}")).value == "in \N{GRINNING FACE}"
    assert (await fields.press(ref, "Control+A")).success


HOLD = """document.body.innerHTML='<ul><li><span>Ada</span> <button>Delete</button></li>'+
  '<li><span>Ben</span> <button>Delete</button></li></ul>';
globalThis.done=[];
for(const type of ['pointerdown','contextmenu','pointerup','click'])
  document.addEventListener(type,e=>done.push(type+' '+e.target.parentElement.firstChild.textContent),true)"""


@pytest.mark.parametrize("late_ms", [0, 300, 690])
async def test_a_row_that_changes_its_meaning_under_the_finger_gets_no_touchend(fields: Page, late_ms: int) -> None:
    await in_page(fields, HOLD)
    ref = (await fields.snapshot()).find(name="Delete", nth=0).ref
    recycle = f"setTimeout(()=>{{document.querySelector('span').textContent='Dan'}},{late_ms})"
    await in_page(fields, f"{BUTTON}.addEventListener('pointerdown',()=>{recycle})")
    with pytest.raises(StaleRef):
        await fields.long_press(ref)
    assert "Dan" not in await done(fields)


async def test_a_row_that_its_page_deletes_when_it_is_held_was_held(fields: Page) -> None:
    await in_page(fields, HOLD)
    ref = (await fields.snapshot()).find(name="Delete", nth=0).ref
    await in_page(fields, f"{BUTTON}.onpointerdown=()=>setTimeout(()=>document.querySelector('li').remove(),300)")
    (notice,) = (await fields.long_press(ref)).notices
    assert "disappeared before the finger was lifted" in notice
    assert await done(fields) == "pointerdown Ada"


async def test_the_end_of_a_long_press_meets_the_guard_however_late_it_comes(fields: Page) -> None:
    await in_page(fields, HOLD)
    ref, deadline = (await fields.snapshot()).find(name="Delete", nth=0).ref, Deadline.after(30)
    actions = fields._operations.attached.actions
    assert actions is not None
    entry = actions.look_up(ref)
    x, y, _ = await actions.point(entry, "long_press", deadline)
    await actions.send([touch("touchStart", (x, y))], "finger down", deadline)
    # Settling has ended, the finger has not been lifted.
    await actions.send_and_settle(entry, [], 0.1, Deadline.after(1), expect="touchend")
    await in_page(fields, "document.querySelector('span').textContent='Dan'")
    await actions.send([touch("touchEnd")], "finger up", deadline)
    settled = await actions.send_and_settle(entry, [], 0.1, deadline)
    assert settled.reply.error is not None
    assert settled.reply.error["code"] == "stale_ref"
    assert await done(fields) == "pointerdown Ada"


async def test_no_listener_gets_a_tap_after_a_long_press(fields: Page) -> None:
    await in_page(fields, HOLD.replace("document.addEventListener", "window.addEventListener"))
    result = await fields.long_press((await fields.snapshot()).find(name="Delete", nth=0).ref)
    assert result.success
    assert await done(fields) == "pointerdown Ada,contextmenu Ada,pointerup Ada"
    assert (await fields.click((await fields.snapshot()).find(name="Delete", nth=0).ref)).success
    assert "pointerup Ada,click Ada" in await done(fields)
