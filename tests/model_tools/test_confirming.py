"""A person who is asked about a call is told what it is about: a ref means nothing to them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bridge.model_tools import ClientContext, ServerContext, Toolbox, tool_set
from bridge.ops import ActionPolicy
from tests.conftest import LocalServer

pytestmark = [pytest.mark.browser, pytest.mark.timeout(180)]


class _Person:
    def __init__(self) -> None:
        self.questions: list[str] = []

    async def confirm(self, question: str) -> bool:
        self.questions.append(question)
        return False


async def test_the_question_names_the_element_and_where_it_is(
    server_context: ServerContext, local_server: LocalServer
) -> None:
    client, person = (
        ClientContext(replace(server_context, action_policy=ActionPolicy(confirm=frozenset({"act"})))),
        _Person(),
    )
    web, ops = Toolbox(tool_set("web")), Toolbox(tool_set("ops"))
    url = local_server.url("tasks/enter-text.html")
    opened = await web.call("web_open", {"url": url}, client, person)
    ref = opened.text.split('textbox "Field"')[1].split("[ref=")[1].split("]")[0]
    refused = await web.call("web_fill", {"ref": ref, "value": "x"}, client, person)
    assert "it was not confirmed" in refused.text
    assert person.questions[-1].endswith(f' on textbox "Field", {local_server.url("")[:-1]}, tab t1?')
    other = ClientContext(client.server)
    await ops.call("browser_op", {"kind": "navigate", "url": url}, other, person)
    await ops.call("browser_op", {"kind": "snapshot"}, other, person)
    await ops.call("browser_op", {"kind": "click", "ref": "e1"}, other, person)
    assert f"{local_server.url('')[:-1]}, tab t2?" in person.questions[-1]
