"""The answer to an action comes when what it shows has come: fades, slides, and those of shadow roots."""

from __future__ import annotations

import pytest

from bridge.page.page import Page

pytestmark = pytest.mark.browser

_LIST = "<ul role=listbox aria-label=City><li role=option>Rome</li><li role=option>Oslo</li></ul>"


async def opened(page: Page, style: str, script: str, body: str = "<button>Open</button>", **options: float) -> str:
    """What the first answer to a tap on the button says; `script` runs at its click."""
    html = f"<style>{style}</style>{body}<div id=at></div><script>document.querySelector('button').onclick = () => "
    await page.set_content(html + "{ " + script + " }</script>")
    ref = (await page.snapshot()).find(role="button").ref
    result = await page.click(ref, **options)
    return f"{result.changes.settled}\n{result.changes.text}"


async def test_options_that_fade_in_by_a_transition_are_in_the_answer(page: Page) -> None:
    style = "ul { opacity: 0; transition: opacity .3s } ul.in { opacity: 1 }"
    script = f"at.innerHTML = `{_LIST}`; at.offsetWidth; at.firstChild.className = 'in'"
    said = await opened(page, style, script)
    assert "Rome" in said
    assert "Oslo" in said
    assert said.startswith("quiet")


async def test_what_is_unseen_until_its_keyframes_end_is_in_the_answer(page: Page) -> None:
    style = "@keyframes in { 0%, 99% { opacity: 0 } 100% { opacity: 1 } } ul { animation: in .4s both }"
    assert 'option "Rome"' in await opened(page, style, f"at.innerHTML = `{_LIST}`")


async def test_a_list_that_was_there_and_is_shown_by_a_class_of_the_body_is_in_the_answer(page: Page) -> None:
    style = (
        "ul { visibility: hidden; opacity: 0; transition: opacity .3s, visibility 0s .3s }"
        " body.open ul { visibility: visible; opacity: 1; transition: opacity .3s .1s, visibility 0s .1s }"
    )
    assert "Rome" in await opened(page, style, "document.body.className = 'open'", f"<button>Open</button>{_LIST}")


async def test_what_is_added_transparent_and_fades_in_later_is_in_the_answer(page: Page) -> None:
    style = "ul { opacity: 0; transition: opacity .2s } ul.in { opacity: 1 }"
    script = f"at.innerHTML = `<div>{_LIST}</div>`; setTimeout(() => at.querySelector('ul').className = 'in', 150)"
    assert "Rome" in await opened(page, style, script)


async def test_an_animation_in_a_shadow_root_is_waited_for(page: Page) -> None:
    script = (
        "const host = document.createElement('x-menu'); host.innerHTML = `" + _LIST + "`; at.append(host);"
        " const root = host.attachShadow({ mode: 'open' }); root.innerHTML = '<div><slot></slot></div>';"
        " root.firstChild.animate([{ opacity: 0 }, { opacity: 0, offset: .99 }, { opacity: 1 }], 400)"
    )
    assert "Rome" in await opened(page, "", script)


async def test_what_leaves_is_gone_in_the_answer(page: Page) -> None:
    style = "ul { transition: opacity .3s } ul.out { opacity: 0 }"
    script = (
        "const list = document.querySelector('ul'); list.ontransitionend = () => list.remove(); list.className = 'out'"
    )
    said = await opened(page, style, script, f"<button>Close</button>{_LIST}")
    assert "Rome" in said.partition("removed")[2] or "- " in said
    assert not (await page.get_by_role("listbox").count())


async def test_a_fade_that_is_longer_than_settling_is_named(page: Page) -> None:
    style = "@keyframes in { 0%, 99% { opacity: 0 } 100% { opacity: 1 } } ul { animation: in 30s both }"
    said = await opened(page, style, f"at.innerHTML = `{_LIST}`", settle_s=0.5)
    assert said.startswith('deadline: still appearing: listbox "City"')
    assert '! still appearing: listbox "City"' in said


@pytest.mark.parametrize(
    ("style", "script"),
    [
        (
            "i { animation: turn 1s infinite } @keyframes turn { to { transform: rotate(1turn) } }",
            "at.innerHTML = '<i>o</i>'",
        ),
        ("b { animation: out 20s } @keyframes out { to { opacity: 0; scale: 3 } }", "at.innerHTML = '<b></b>'"),
        (
            "p { transition: color 20s } p.on { color: red }",
            "at.innerHTML = '<p>x</p>'; at.offsetWidth; at.firstChild.className = 'on'",
        ),
        (
            "button { transition: transform 20s } button.down { transform: scale(.9) }",
            "document.querySelector('button').className = 'down'",
        ),
    ],
    ids=["spinner", "ripple", "colour", "press"],
)
async def test_what_brings_nothing_to_read_is_not_waited_for(page: Page, style: str, script: str) -> None:
    assert (await opened(page, style, script, settle_s=5)).startswith("quiet")


async def test_an_animation_that_ran_before_the_action_is_not_waited_for(page: Page) -> None:
    body = "<button>Open</button><p>Sale</p>"
    style = "@keyframes move { to { transform: translateX(9px) } } p { animation: move 60s }"
    assert (await opened(page, style, "at.textContent = 'done'", body, settle_s=5)).startswith("quiet")
