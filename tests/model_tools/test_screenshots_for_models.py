# ruff: noqa: E501 - HTML reads better on one line
"""A secret that a page shows is not in the screenshots that a model gets."""

from __future__ import annotations

import io
import os
import re
from typing import Any

import pytest
from PIL import Image

from bridge.model_tools import ClientContext, NoElicitation, Toolbox, tool_set
from bridge.model_tools.pictures import picture_for_model
from bridge.model_tools.toolbox import RenderedResult
from tests.conftest import LocalServer
from tests.model_tools.conftest import SECRET

pytestmark = [pytest.mark.browser, pytest.mark.timeout(180)]

OTHER = "w" * len(SECRET)


async def called(client: ClientContext, tools: str, tool: str, **given: Any) -> RenderedResult:
    return await Toolbox(tool_set(tools)).call(tool, given, client, NoElicitation())


async def page_that_says(client: ClientContext, local: LocalServer, words: str, *, far: bool = False) -> str:
    """The ref of its field."""
    opened = await called(client, "web", "web_open", url=local.url("tasks/enter-text.html"))
    page = await client.page()
    place = "margin-top:3000px" if far else ""
    html = f"<label>Field <input value='{words}'></label><p style='{place}'>You said {words}.</p><p>Kept</p>"
    await show(client, html)
    assert not opened.is_error
    return (await page.snapshot()).find(role="textbox").ref


async def show(client: ClientContext, html: str) -> None:
    attachment = await (await client.page()).attached()
    await attachment.evaluate_raw({"expression": f"document.body.innerHTML = {html!r}"}, timeout_s=20)


def grey(shown: RenderedResult) -> bytes:
    assert shown.image is not None, shown.text
    return Image.open(io.BytesIO(shown.image.image_bytes)).convert("L").tobytes()


@pytest.mark.parametrize("annotate", [False, True])
async def test_a_screenshot_of_the_view_has_a_box_over_a_secret(
    client: ClientContext, local_server: LocalServer, annotate: bool
) -> None:
    shots = []
    for words in (SECRET, OTHER):
        client.server.secrets = type(client.server.secrets)({"PASSWORD": words})
        await page_that_says(client, local_server, words)
        shots.append(grey(await called(client, "web", "web_screenshot", annotate=annotate)))
        assert len(set(shots[-1])) > 10
    differing = sum(one != two for one, two in zip(*shots, strict=True))
    # The boxes are as wide as the letters that they cover, in a page whose letters are not all of one width.
    assert differing < len(shots[0]) / 50
    client.server.secrets = type(client.server.secrets)({})
    assert grey(await called(client, "web", "web_screenshot", annotate=annotate)) != shots[1]


def in_pieces(words: str) -> str:
    letters = "".join(f"<i style='display:inline-block;white-space:pre'>{letter}</i>" for letter in words)
    return f"""<div style="font:14px monospace;white-space:pre">You said {words[:5]}<b>{words[5:9]}</b>{words[9:]}.
<p>{letters}</p><p>First {words[:8]}<span hidden>x</span><b>{words[8:]}</b></p>
<p style="position:absolute;left:-4ch;top:20em"><b>{words[:6]}</b>{words[6:]}</p><p>Kept</p></div>
<input style="font:14px monospace" value="{words[:9]}"> <input style="font:14px monospace" value="{words[9:]}">"""


async def test_a_secret_is_covered_that_is_written_in_pieces(client: ClientContext, local_server: LocalServer) -> None:
    await called(client, "web", "web_open", url=local_server.url("second.html"))
    shots = []
    for words in (SECRET, re.sub(r"\w", "w", SECRET)):
        client.server.secrets = type(client.server.secrets)({"PASSWORD": words})
        await show(client, in_pieces(words))
        shots.append(grey(await called(client, "web", "web_screenshot")))
        assert len(set(shots[-1])) > 10
    assert shots[0] == shots[1]
    ref = (await (await client.page()).snapshot()).find(role="textbox", nth=0).ref
    assert "shows a secret" in (await called(client, "web", "web_screenshot", ref=ref)).text


async def test_a_screenshot_beyond_the_view_is_refused_if_the_page_shows_a_secret(
    client: ClientContext, local_server: LocalServer
) -> None:
    ref = await page_that_says(client, local_server, SECRET, far=True)
    for given in ({"full_page": True}, {"ref": ref}):
        shown = await called(client, "web", "web_screenshot", **given)
        assert shown.image is None
        assert "the page shows a secret" in shown.text
        assert "Take a screenshot of the view" in shown.text
    await page_that_says(client, local_server, "nobody's words", far=True)
    assert (await called(client, "web", "web_screenshot", full_page=True)).image is not None


STYLED = "font: 16px monospace; white-space: pre;"
WAYS = {
    "placeholder": '<input style="{font}" placeholder="{words}">',
    "placeholder of an area": '<textarea style="{font}" placeholder="{words}"></textarea>',
    "generated before": '<style>.w::before {{ content: attr(data-w) }}</style><p class=w data-w="{words}">Kept</p>',
    "generated after": "<style>.w::after {{ content: 'is {words}' }}</style><p>Kept <b class=w>this</b></p>",
    "half generated": '<style>.w::before {{ content: "{first}" }}</style><p class=w>{second}</p>',
    "alternative": '<img alt="{words}" src="/missing.png" width=400 height=60>',
    "option of a list": "<select size=3 style='{font}'><option>Kept<option>{words}</select>",
    "label of an option": "<select size=3 style='{font}'><option>Kept<option label='{words}'>Else</select>",
    "label of a group": "<select size=3 style='{font}'><optgroup label='{words}'><option>Kept</select>",
    "chosen option": "<select style='{font}'><option>Kept<option label='{words}' selected>Else</select>",
    "button": "<input type=button value='{words}' style='{font}'>",
    "SVG": "<svg width=400 height=60><text x=9 y=30>{first}<tspan dy=9 rotate=40>{second}</tspan></text></svg>",
    "used in SVG": "<svg width=400 height=99><defs><g id=g><text y=30>{words}</text></g></defs><use href='#g' y=30 /></svg>",
    "letters": "<p>{letters}</p>",
    "large italics": "<p style='font: italic 40px/0.4 monospace; margin: 1em'><span>{words}</span></p>",
    "shadow": "<p style='text-shadow: 0 3em red; height: 4em'>{words}</p>",
    "shadow by a filter": "<div style='filter: drop-shadow(0 60px red); height: 90px'><p>{words}</p></div>",
    "stroke": "<p style='-webkit-text-stroke: 8px red; margin: 1em'>{words}</p>",
    "turned": "<p style='transform: rotate(20deg); width: 15em; margin: 6em'>{words}</p>",
    "grouped": "<p>{grouped}</p>",
    "upper-case": "<p>{upper}</p>",
    "quotes": """<style>.w::before {{ content: open-quote; quotes: '{words}' '' }}</style><p class=w>Kept</p>""",
    "cells": "<table><tr><td>{first}<td>{second}</table>",
}
PLACELESS = {
    "marker": '<style>.w::marker {{ content: "{words}" }}</style><ul style="margin-left:20em"><li class=w>Kept</ul>',
    "marker of a string": """<ul style="margin-left:20em; list-style-type:'{words}'"><li>Kept</ul>""",
    "marker of a style": """<style>@media all {{ @counter-style w {{ system: cyclic; symbols: '{words}' }} }}</style><ul style="margin-left:20em; list-style-type:w"><li>Kept</ul>""",
    "counter": """<style>@counter-style w {{ system: cyclic; symbols: '{words}' }} .w::before {{ content: counter(n, w) }}</style><p class=w>Kept</p>""",
    "hyphen": """<p style="width:8ch; white-space:normal; hyphens:manual; hyphenate-character:'{words}'">Kept&shy;words&shy;here</p>""",
    "reflected": "<p style='-webkit-box-reflect: below 90px'>{words}</p>",
    "generated elsewhere": '<style>.w::before {{ content: attr(data-w); position: fixed; top: 9em }}</style><p class=w data-w="{words}">Kept</p>',
    "filtered": "<svg width=0 height=0><filter id=f><feOffset dx=99 /></filter></svg><p style='filter: url(#f)'>{words}</p>",
}


def shown_by(html: str, words: str) -> str:
    return f"<div style='{STYLED}'><p>Kept words.</p>" + html.format(
        font=STYLED,
        words=words,
        first=words[:7],
        second=words[7:],
        grouped="-".join(words),
        upper=words.upper(),
        letters="".join(f"<span style='letter-spacing:3px'>{letter}</span>" for letter in words),
    )


async def test_a_secret_is_covered_however_a_page_draws_it(client: ClientContext, local_server: LocalServer) -> None:
    await called(client, "web", "web_open", url=local_server.url("second.html"))
    for way, html in WAYS.items():
        shots = []
        for words in (SECRET, re.sub(r"\w", "w", SECRET)):
            client.server.secrets = type(client.server.secrets)({"PASSWORD": words})
            await show(client, shown_by(html, words))
            shots.append(grey(await called(client, "web", "web_screenshot")))
            assert len(set(shots[-1])) > 1, way
        assert shots[0] == shots[1], way


@pytest.mark.parametrize("way", PLACELESS)
async def test_no_screenshot_is_given_where_a_secret_cannot_be_covered(
    client: ClientContext, local_server: LocalServer, way: str
) -> None:
    await called(client, "web", "web_open", url=local_server.url("second.html"))
    await show(client, shown_by(PLACELESS[way], SECRET))
    refused = await called(client, "web", "web_screenshot")
    assert refused.image is None
    assert "an unknown position" in refused.text
    await show(client, shown_by(PLACELESS[way], OTHER))
    assert (await called(client, "web", "web_screenshot")).image is not None


async def test_a_click_on_a_point_of_an_annotated_picture_taps_the_box_there(
    client: ClientContext, local_server: LocalServer
) -> None:
    await called(client, "web", "web_open", url=local_server.url("shop.html"))
    too_early = await called(client, "web", "web_click", x=5, y=5)
    assert "annotated" in too_early.text
    page = await client.page()
    ref = (await page.snapshot()).find(role="button", name="Alert me").ref
    await called(client, "web", "web_screenshot", annotate=True)
    shot = await page.screenshot(annotate=True)
    box = next(box for box in shot.legend if box.ref == ref)
    x, y = box.x_px + box.width_px / 2, box.y_px + box.height_px / 2
    clicked = await called(client, "web", "web_click", x=x, y=y)
    assert 'alert "Hello"' in clicked.text
    outside = await called(client, "web", "web_click", x=410, y=900)
    assert "no box" in outside.text


def noise(width: int, height: int) -> bytes:
    out = io.BytesIO()
    Image.frombytes("RGB", (width, height), os.urandom(3 * width * height)).save(out, "PNG")
    return out.getvalue()


@pytest.mark.parametrize("size", [(412, 915), (412, 10_000), (9_000, 300), (3_000, 3_000)])
def test_a_picture_for_a_model_is_within_its_limits(size: tuple[int, int]) -> None:
    picture = picture_for_model(noise(*size), "png")
    image = Image.open(io.BytesIO(picture.image.image_bytes))
    assert image.size == (picture.width_px, picture.height_px)
    assert max(image.size) <= 8_000
    assert len(picture.image.image_bytes) <= 750_000
    assert picture.image.mime == f"image/{(image.format or '').lower()}"
    assert bool(picture.notes) is (max(size) > 8_000 or image.format == "JPEG")


def test_a_small_picture_stays_as_it_is() -> None:
    plain = io.BytesIO()
    Image.new("RGB", (412, 915), "white").save(plain, "PNG")
    picture = picture_for_model(plain.getvalue(), "png")
    assert (picture.image.image_bytes, picture.notes, picture.factor) == (plain.getvalue(), (), 1.0)
