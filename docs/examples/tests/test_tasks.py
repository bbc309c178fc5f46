"""Tests of the page in pages/tasks.html: `pytest --webview-device=auto docs/examples/tests`."""

import pytest

from bridge.surfaces.local_server import LocalServer
from bridge.sync import Page, expect


@pytest.fixture
def tasks(page: Page, local_server: LocalServer) -> Page:
    """The page of the tasks, with no tasks: cookies and storage are new for each test."""
    page.goto(local_server.url("tasks.html"))
    return page


def add(page: Page, text: str, priority: str = "Normal") -> None:
    page.get_by_label("New task").fill(text)
    page.get_by_label("Priority").select_option(priority)
    page.get_by_role("button", name="Add").click()


def test_starts_without_tasks(tasks: Page) -> None:
    expect(tasks).to_have_title("Tasks")
    expect(tasks.get_by_role("status")).to_have_text("0 tasks left")


def test_adds_a_task(tasks: Page) -> None:
    add(tasks, "Buy milk")
    expect(tasks.get_by_role("listitem")).to_have_text(["Buy milk"])


def test_empties_the_field_after_adding(tasks: Page) -> None:
    add(tasks, "Buy milk")
    expect(tasks.get_by_label("New task")).to_have_value("")


@pytest.mark.parametrize(("priority", "text"), [("Normal", "Water the plants"), ("High", "Water the plants (high)")])
def test_shows_the_priority(tasks: Page, priority: str, text: str) -> None:
    add(tasks, "Water the plants", priority)
    expect(tasks.get_by_role("checkbox", name=text, exact=True)).not_to_be_checked()


def test_counts_what_is_left(tasks: Page) -> None:
    add(tasks, "Buy milk")
    add(tasks, "Water the plants")
    tasks.get_by_role("checkbox", name="Buy milk").check()
    expect(tasks.get_by_role("status")).to_have_text("1 task left")


def test_refuses_a_task_without_text(tasks: Page) -> None:
    tasks.get_by_role("button", name="Add").click()
    expect(tasks.get_by_role("listitem")).to_have_count(0)


def test_keeps_the_tasks_after_a_reload(tasks: Page) -> None:
    add(tasks, "Buy milk")
    tasks.reload()
    expect(tasks.get_by_role("listitem")).to_have_count(1)


def test_clears_the_list_when_the_dialog_is_accepted(tasks: Page) -> None:
    add(tasks, "Buy milk")
    tasks.once("dialog", lambda dialog: dialog.accept())
    tasks.get_by_role("button", name="Clear all").click()
    expect(tasks.get_by_role("listitem")).to_have_count(0)


def test_keeps_the_list_when_the_dialog_is_dismissed(tasks: Page) -> None:
    add(tasks, "Buy milk")
    tasks.once("dialog", lambda dialog: dialog.dismiss())
    tasks.get_by_role("button", name="Clear all").click()
    expect(tasks.get_by_role("listitem")).to_have_count(1)


def test_reports_what_an_action_changed(tasks: Page) -> None:
    tasks.get_by_label("New task").fill("Buy milk")
    result = tasks.get_by_role("button", name="Add").click()
    assert 'checkbox "Buy milk"' in result.changes.text
