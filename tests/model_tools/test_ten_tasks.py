"""Tasks finished by somebody who has nothing but the tools of the set `web` and what they answer."""

from __future__ import annotations

import re
import statistics
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest

from bridge.model_tools import MAX_RESULT_CHARS, ClientContext, NoElicitation, ServerContext, Toolbox, tool_set
from bridge.surfaces.demo.server import serve_demo_pages
from tests.conftest import LocalServer

pytestmark = pytest.mark.browser

MEDIAN_CHARS = 2_500


class Agent:
    """Calls tools and remembers what they said; refs are read out of the newest answer that shows them."""

    def __init__(self, client: ClientContext) -> None:
        self._client = client
        self._toolbox = Toolbox(tool_set("web"))
        self.answers: list[str] = []

    async def call(self, tool: str, **arguments: Any) -> str:
        shown = await self._toolbox.call(tool, arguments, self._client, NoElicitation())
        self.answers.append(shown.text)
        return shown.text

    def ref(self, role: str, name: str, *, after: str = "") -> str:
        for answer in reversed(self.answers):
            shown = "\n".join(line for line in answer.splitlines() if "Task:" not in line)
            if found := re.search(rf'{role} "{name}[^\n]*\[ref=(e\d+)\]', shown[max(shown.find(after), 0) :]):
                return found.group(1)
        raise AssertionError(f"no {role} {name!r} in\n{self.answers[-1]}")

    async def click(self, role: str, name: str, **more: str) -> str:
        return await self.call("web_click", ref=self.ref(role, name, **more))

    async def fill(self, role: str, name: str, value: str) -> str:
        return await self.call("web_fill", ref=self.ref(role, name), value=value)

    def words(self) -> list[str]:
        """The quoted words of the task."""
        task = next(
            line
            for answer in reversed(self.answers)
            for line in answer.splitlines()
            if "- " in line[:20] and "Task:" in line
        )
        return re.findall(r'\\"(.*?)\\"', task)


Solution = Callable[[Agent, list[str]], Awaitable[None]]


async def login(agent: Agent, words: list[str]) -> None:
    await agent.fill("textbox", "User", words[0])
    await agent.fill("textbox", "Password", words[1])
    await agent.call("web_press_key", key="Enter", ref=agent.ref("textbox", "Password"))


async def wizard(agent: Agent, words: list[str]) -> None:
    await agent.fill("textbox", "Name", words[0])
    await agent.click("button", "Next")
    await agent.call("web_wait", role="combobox")
    await agent.call("web_select", ref=agent.ref("combobox", "Colour"), values=[words[1]])
    await agent.click("button", "Next")
    await agent.call("web_wait", role="radio")
    await agent.call("web_check", ref=agent.ref("radio", words[2]))
    await agent.click("button", "Finish")


async def look_up_table(agent: Agent, words: list[str]) -> None:
    read = await agent.call("web_read", mode="raw")
    found = re.search(rf"\| {words[0]} \| (\w+) \|", read)
    assert found, read
    await agent.fill("textbox", "Field", found.group(1))
    await agent.click("button", "Submit")


async def delete_mail(agent: Agent, words: list[str]) -> None:
    await agent.call("web_snapshot", interactive_only=False)
    await agent.click("button", "Delete", after=f"Mail from {words[0]}")
    await agent.click("button", "Yes")


async def autocomplete(agent: Agent, words: list[str]) -> None:
    box = agent.ref("combobox", "Word")
    for key in words[0][:2]:
        await agent.call("web_press_key", key=key, ref=box)
    await agent.call("web_wait", role="option", name=words[0])
    if "failed" in await agent.click("option", words[0]):  # the list was drawn anew meanwhile
        await agent.call("web_snapshot")
        await agent.click("option", words[0])


async def search_pages(agent: Agent, words: list[str]) -> None:
    await agent.fill("searchbox", "Query", words[0])
    await agent.click("button", "Search")
    await agent.call("web_wait", role="link", name=words[0])
    number = int(words[1]) - 1
    for _ in range(number // 3):
        await agent.click("button", "Next")
    snapshot = await agent.call("web_snapshot")
    links = re.findall(r"- link .*\[ref=(e\d+)\]", snapshot)
    await agent.call("web_click", ref=links[number % 3])


async def moving_list(agent: Agent, words: list[str]) -> None:
    await agent.click("button", words[0])
    await agent.call("web_wait", role="button", name="Refreshed")
    await agent.call("web_snapshot", interactive_only=False)
    await agent.click("button", words[1], after=words[2])


async def write(agent: Agent, words: list[str]) -> None:
    await agent.fill("textbox", "Field", words[0])
    await agent.click("button", "Submit")


async def cookie_banner(agent: Agent, words: list[str]) -> None:
    wanted = agent.ref("button", words[0])
    refused = await agent.call("web_click", ref=wanted)
    assert "covered" in refused
    await agent.call("web_snapshot")
    await agent.click("button", "Refuse all")
    await agent.call("web_click", ref=wanted)


TASKS: dict[str, Solution] = {
    "login": login,
    "wizard": wizard,
    "look-up-table": look_up_table,
    "delete-mail": delete_mail,
    "autocomplete": autocomplete,
    "search-pages": search_pages,
    "moving-list": moving_list,
    "shadow-form": write,
    "frame-form": write,
    "cookie-banner": cookie_banner,
}


async def buy_what_is_cheapest_in_gold(agent: Agent, demo: LocalServer) -> None:
    await agent.call("web_open", url=demo.url("shop.html"))
    await agent.call("web_select", ref=agent.ref("combobox", "Metal"), values=["Gold"])
    await agent.call("web_check", ref=agent.ref("checkbox", "Only what is in stock"))
    await agent.click("button", "Search")
    read = await agent.call("web_read")
    prices = {name: int(price) for name, price in re.findall(r"### (Gold \w+)\n\n\s*€(\d+)", read)}
    cheapest = min(prices, key=lambda name: prices[name])
    await agent.call("web_snapshot")
    await agent.click("button", "Add to cart", after=cheapest)
    await agent.click("button", "Cart 1")
    assert f"1 × {cheapest}" in await agent.call("web_read", mode="raw")


async def sign_in_after_a_mistake(agent: Agent, demo: LocalServer) -> None:
    await agent.call("web_open", url=demo.url("login.html"))
    await agent.fill("textbox", "E-mail", "ada")
    assert "not an e-mail address" in await agent.click("button", "Sign in")
    await agent.fill("textbox", "E-mail", "ada@example.com")
    await agent.fill("textbox", "Password", "a long password")
    assert "Signed in" in await agent.click("button", "Sign in") + await agent.call("web_wait", text="Signed in")


@pytest.fixture
def demo(server_context: ServerContext) -> Iterator[LocalServer]:
    with serve_demo_pages() as server:
        server_context.egress.grants = (*server_context.egress.grants, server.grant)
        yield server


async def test_tasks_are_finished_through_the_tools_alone_and_answers_stay_short(
    demo: LocalServer, client: ClientContext, local_server: LocalServer
) -> None:
    unsolved: dict[str, str] = {}
    chars: list[int] = []
    for name, solve in TASKS.items():
        agent = Agent(client)
        try:
            await agent.call("web_open", url=local_server.url(f"tasks/{name}.html?seed=7"))
            await agent.call("web_find", text="Task:")
            await solve(agent, agent.words())
            if not re.search(r'status[: ]+"?solved', await agent.call("web_find", text="solved")):
                unsolved[name] = agent.answers[-2]
        except AssertionError as error:
            unsolved[name] = str(error)
        chars += map(len, agent.answers)
        print(f"{name}: {len(agent.answers)} answers, {sum(map(len, agent.answers))} characters")
    for story in (buy_what_is_cheapest_in_gold, sign_in_after_a_mistake):
        agent = Agent(client)
        await story(agent, demo)
        chars += map(len, agent.answers)
        print(f"{story.__name__}: {len(agent.answers)} answers, {sum(map(len, agent.answers))} characters")
    print(f"{len(chars)} answers: median {statistics.median(chars):.0f}, longest {max(chars)} characters")
    assert not unsolved, "\n\n".join(f"{name}: {said}" for name, said in unsolved.items())
    assert statistics.median(chars) < MEDIAN_CHARS
    assert max(chars) <= MAX_RESULT_CHARS
