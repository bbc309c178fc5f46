"""A secret that a page shows is not in the pictures that a model gets."""

from __future__ import annotations

import io
import re
from typing import Any

import pytest
from PIL import Image

from bridge.model_tools import ClientContext, NoElicitation, Toolbox, tool_set
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
async def test_a_picture_of_the_view_has_a_box_where_a_secret_is(
    client: ClientContext, local_server: LocalServer, annotate: bool
) -> None:
    pictures = []
    for words in (SECRET, OTHER):
        client.server.secrets = type(client.server.secrets)({"PASSWORD": words})
        await page_that_says(client, local_server, words)
        pictures.append(grey(await called(client, "web", "web_screenshot", annotate=annotate)))
        assert len(set(pictures[-1])) > 10
    differing = sum(one != two for one, two in zip(*pictures, strict=True))
    # The boxes are as wide as the letters that they cover, in a page whose letters are not all of one width.
    assert differing < len(pictures[0]) / 50
    client.server.secrets = type(client.server.secrets)({})
    assert grey(await called(client, "web", "web_screenshot", annotate=annotate)) != pictures[1]


def in_pieces(words: str) -> str:
    letters = "".join(f"<i style='display:inline-block;white-space:pre'>{letter}</i>" for letter in words)
    return f"""<div style="font:14px monospace;white-space:pre">You said {words[:5]}<b>{words[5:9]}</b>{words[9:]}.
<p>{letters}</p><p>First {words[:8]}<span hidden>x</span><b>{words[8:]}</b></p>
<p style="position:absolute;left:-4ch;top:20em"><b>{words[:6]}</b>{words[6:]}</p><p>Kept</p></div>
<input style="font:14px monospace" value="{words[:9]}"> <input style="font:14px monospace" value="{words[9:]}">"""


async def test_a_secret_is_covered_that_is_written_in_pieces(client: ClientContext, local_server: LocalServer) -> None:
    await called(client, "web", "web_open", url=local_server.url("second.html"))
    pictures = []
    for words in (SECRET, re.sub(r"\w", "w", SECRET)):
        client.server.secrets = type(client.server.secrets)({"PASSWORD": words})
        await show(client, in_pieces(words))
        pictures.append(grey(await called(client, "web", "web_screenshot")))
        assert len(set(pictures[-1])) > 10
    assert pictures[0] == pictures[1]
    ref = (await (await client.page()).snapshot()).find(role="textbox", nth=0).ref
    assert "shows a secret" in (await called(client, "web", "web_screenshot", ref=ref)).text


async def test_a_picture_of_more_than_the_view_is_refused_where_a_secret_is_shown(
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
