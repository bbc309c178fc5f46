"""Small tasks, solved as a model would: the snapshot's text is all that is read, refs are all that is used."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable

import pytest

from bridge.errors import Covered, DeadlineExceeded, RefNotFound
from bridge.page.page import Page
from tests.conftest import PAGES, LocalServer

pytestmark = pytest.mark.browser


class User:
    """Somebody who sees only text."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.text = ""

    async def look(self) -> str:
        self.text = (await self.page.snapshot(interactive_only=False)).text
        return self.text

    async def wanted(self) -> list[str]:
        """The quoted words of the task."""
        await self.look()
        line = next(line for line in self.text.splitlines() if "Task:" in line)
        return re.findall(r'\\"(.*?)\\"', line)

    async def ref(self, role: str, name: str, *, after: str = "") -> str:
        """The ref of the first line with that role and name, below the first line that holds `after`."""
        for _ in range(50):
            lines = self.text.splitlines()
            start = next((i for i, line in enumerate(lines) if after in line and "Task:" not in line), None)
            for line in lines[start or 0 :] if start is not None else []:
                if found := re.match(rf' *- {role} "{re.escape(name)}".*\[ref=(e\d+)\]', line):
                    return found.group(1)
            more = re.search(r"more=(e\d+)", self.text)
            try:
                self.text = (await self.page.snapshot(interactive_only=False, more=more and more.group(1))).text
            except RefNotFound:  # the page went on meanwhile
                await self.look()
        raise AssertionError(f"no {role} {name!r} in\n{self.text}")

    async def click(self, role: str, name: str, *, after: str = "") -> None:
        await self.page.click(await self.ref(role, name, after=after))
        await self.look()

    async def submit(self, name: str = "Submit") -> None:
        await self.click("button", name)


Solution = Callable[[User, list[str]], Awaitable[None]]
SOLUTIONS: dict[str, Solution] = {}


def solves(name: str) -> Callable[[Solution], Solution]:
    def keep(solution: Solution) -> Solution:
        SOLUTIONS[name] = solution
        return solution

    return keep


@solves("click-button")
@solves("long-list")
async def press_it(user: User, words: list[str]) -> None:
    await user.click("button", words[0])


@solves("click-link")
async def follow(user: User, words: list[str]) -> None:
    await user.click("link", words[0])


@solves("click-checkboxes")
async def check_several(user: User, words: list[str]) -> None:
    for word in words[:-1]:
        await user.page.check(await user.ref("checkbox", word))
    await user.submit()


@solves("uncheck-boxes")
async def uncheck_one(user: User, words: list[str]) -> None:
    await user.page.uncheck(await user.ref("checkbox", words[0]))
    await user.submit()


@solves("click-radio")
async def choose_radio(user: User, words: list[str]) -> None:
    await user.page.check(await user.ref("radio", words[0]))
    await user.submit()


@solves("enter-text")
@solves("shadow-form")
@solves("frame-form")
async def write(user: User, words: list[str]) -> None:
    await user.page.fill(await user.ref("textbox", "Field"), words[0])
    await user.submit()


@solves("enter-password")
async def enter_twice(user: User, words: list[str]) -> None:
    await user.page.type(await user.ref("textbox", "Password"), words[0])
    await user.page.fill(await user.ref("textbox", "Again"), words[0])
    await user.submit()


@solves("enter-date")
async def enter_date(user: User, words: list[str]) -> None:
    await user.page.fill(await user.ref(r"\w+", "Date"), words[0])
    await user.submit()


@solves("enter-time")
async def enter_time(user: User, words: list[str]) -> None:
    await user.page.fill(await user.ref(r"\w+", "Time"), words[0])
    await user.submit()


@solves("choose-option")
async def choose_option(user: User, words: list[str]) -> None:
    await user.page.select_option(await user.ref("combobox", "List"), words[0])
    await user.submit()


@solves("choose-several")
async def choose_several(user: User, words: list[str]) -> None:
    await user.page.select_option(await user.ref("listbox", "List"), words[:2])
    await user.submit()


@solves("switch-tab")
async def try_tabs(user: User, words: list[str]) -> None:
    for number in (1, 2, 3):
        await user.click("tab", f"Tab {number}")
        if f'button "{words[0]}"' in user.text:
            await user.click("button", words[0])
            return


@solves("close-dialog")
async def close_dialog(user: User, words: list[str]) -> None:
    await user.click("button", "Close")
    await user.click("button", words[0])


@solves("login")
async def sign_in(user: User, words: list[str]) -> None:
    await user.page.fill(await user.ref("textbox", "User"), words[0])
    password = await user.ref("textbox", "Password")
    await user.page.fill(password, words[1])
    await user.page.press(password, "Enter")


@solves("search-pages")
async def search(user: User, words: list[str]) -> None:
    await user.page.fill(await user.ref("searchbox", "Query"), words[0])
    await user.submit("Search")
    await user.page.wait_for(role="link", name=words[0], timeout_s=20)
    number = int(words[1]) - 1
    for _ in range(number // 3):
        await user.submit("Next")
    links = re.findall(r"- link .*\[ref=(e\d+)\]", await user.look())
    await user.page.click(links[number % 3])


@solves("expand-section")
async def open_sections(user: User, words: list[str]) -> None:
    for number in range(10):
        await user.click(r"\w+", f"Section {number}")
        if f'button "{words[0]}"' in user.text:
            await user.click("button", words[0])
            return


@solves("use-slider")
async def slide(user: User, words: list[str]) -> None:
    await user.page.fill(await user.ref("slider", "Slider"), words[0])
    await user.submit()


@solves("use-spinner")
async def spin(user: User, words: list[str]) -> None:
    for _ in range(abs(int(words[0]))):
        await user.click("button", "Up" if int(words[0]) > 0 else "Down")
    await user.submit()


@solves("count-items")
async def count(user: User, words: list[str]) -> None:
    # A word that is alone in its line is an item; the script may tell alike ones as a pattern with a number.
    repeated = re.search(rf'(\d+) (?:more )?.*alike.*"{words[0]}"', user.text)
    number = user.text.count(f'listitem "{words[0]}"')
    await user.click("button", repeated.group(1) if repeated and not number else str(number))


@solves("copy-text")
async def copy(user: User, words: list[str]) -> None:
    source = await user.page.query(await user.ref("textbox", "Source"), "value")
    await user.page.fill(await user.ref("textbox", "Copy"), source.value)
    await user.submit()


@solves("nested-menu")
async def walk_menu(user: User, words: list[str]) -> None:
    await user.click("menuitem", words[0])
    await user.click("menuitem", words[1])


@solves("walk-tree")
async def walk_tree(user: User, words: list[str]) -> None:
    await user.click("treeitem", f"Branch {words[0][5]}")
    await user.click("button", words[0])


@solves("row-action")
async def row_action(user: User, words: list[str]) -> None:
    await user.click("button", words[0], after=words[1])


@solves("delete-mail")
async def delete_mail(user: User, words: list[str]) -> None:
    await user.click("button", "Delete", after=f"Mail from {words[0]}")
    await user.click("button", "Yes")


@solves("wizard")
async def wizard(user: User, words: list[str]) -> None:
    await user.page.fill(await user.ref("textbox", "Name"), words[0])
    await user.submit("Next")
    await user.page.select_option(await user.ref("combobox", "Colour"), words[1])
    await user.submit("Next")
    await user.page.check(await user.ref("radio", words[2]))
    await user.submit("Finish")


@solves("sort-by-finger")
async def sort_items(user: User, words: list[str]) -> None:
    def order() -> list[str]:
        return [name for name in re.findall(r'- button "(\w+)"', user.text) if name != "Submit"]

    for place in range(3):
        names = order()
        right = sorted(names)[place]
        if names[place] != right:
            await user.page.drag_and_drop(await user.ref("button", right), await user.ref("button", names[place]))
            await user.look()
    await user.submit()


@solves("drop-in-bin")
async def drop(user: User, words: list[str]) -> None:
    await user.page.drag_and_drop(await user.ref("button", words[0]), await user.ref("button", words[1]))


@solves("hold-down")
async def hold(user: User, words: list[str]) -> None:
    await user.page.long_press(await user.ref("button", words[0]))
    await user.look()
    await user.click("menuitem", words[1])


@solves("double-click")
async def double(user: User, words: list[str]) -> None:
    await user.page.dblclick(await user.ref("button", words[0]))


@solves("hover-menu")
async def hover(user: User, words: list[str]) -> None:
    await user.page.hover(await user.ref("button", words[0]))
    await user.look()
    await user.click("button", words[1])


@solves("autocomplete")
async def complete(user: User, words: list[str]) -> None:
    await user.page.type(await user.ref("combobox", "Word"), words[0][:2])
    await user.look()
    try:
        await user.click("option", words[0])
    except RefNotFound:  # each letter offers a list of its own, some time after it: look again, as the error says
        await user.look()
        await user.click("option", words[0])


@solves("do-a-sum")
async def add(user: User, words: list[str]) -> None:
    found = re.search(r"what is (\d+) \+ (\d+)", user.text)
    assert found
    await user.page.fill(await user.ref("spinbutton", "Answer"), str(int(found.group(1)) + int(found.group(2))))
    await user.submit()


@solves("look-up-table")
async def look_up(user: User, words: list[str]) -> None:
    found = re.search(rf'cell "{words[0]}"[^\n]*\n *- cell "(\w+)"', user.text)
    assert found, user.text
    await user.page.fill(await user.ref("textbox", "Field"), found.group(1))
    await user.submit()


@solves("flip-switches")
async def flip(user: User, words: list[str]) -> None:
    for name in re.findall(r'- switch "(\w+)"', user.text):
        ref = await user.ref("switch", name)
        await (user.page.check(ref) if name in words[:-1] else user.page.uncheck(ref))
    await user.submit()


@solves("edit-rich-text")
async def edit(user: User, words: list[str]) -> None:
    await user.page.fill(await user.ref("textbox", words[0]), words[1])
    await user.submit()


@solves("press-keys")
async def press_keys(user: User, words: list[str]) -> None:
    pad = await user.ref("textbox", words[0])
    for key in ("Enter", "ArrowLeft", "Escape"):
        await user.page.press(pad, key)


@solves("moving-list")
async def moving(user: User, words: list[str]) -> None:
    await user.click("button", words[0])
    await user.page.wait_for(role="button", name="Refreshed", timeout_s=20)
    await user.look()
    await user.click("button", words[1], after=words[2])


@solves("cookie-banner")
async def out_of_the_way(user: User, words: list[str]) -> None:
    ref = await user.ref("button", words[0])
    with pytest.raises((Covered, DeadlineExceeded), match="covered"):
        await user.page.click(ref, timeout_s=0.3)
    await user.click("button", "Refuse all")
    await user.page.click(ref)


def test_every_task_has_a_solution_and_there_are_thirty() -> None:
    assert {path.stem for path in (PAGES / "tasks").glob("*.html")} == SOLUTIONS.keys()
    assert len(SOLUTIONS) >= 30


async def test_every_task_is_solved_through_refs_only(page: Page, local_server: LocalServer) -> None:
    unsolved: dict[str, str] = {}
    for name, solve in sorted(SOLUTIONS.items()):
        for seed in (3, 11):
            await page.goto(local_server.url(f"tasks/{name}.html?seed={seed}"))
            user = User(page)
            try:
                await solve(user, await user.wanted())
                outcome = await user.look()
            except Exception as error:
                outcome = f"{type(error).__name__}: {error}"
            if '"solved"' not in outcome and "status: solved" not in outcome:
                unsolved[f"{name}?seed={seed}"] = outcome[-600:]
    assert not unsolved, "\n\n".join(f"{name}: {outcome}" for name, outcome in unsolved.items())
