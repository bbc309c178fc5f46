"""Sixty tests as one writes them for pytest-playwright. They run unchanged on a WebView and with Playwright."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

Within = Callable[[float], dict[str, float]]


@pytest.fixture
def form(page: Any, site: str) -> Any:
    page.goto(f"{site}/form.html")
    return page


@pytest.fixture
def second(page: Any, site: str) -> Any:
    page.goto(f"{site}/second.html")
    return page


def test_goto_has_a_status(page: Any, site: str) -> None:
    assert page.goto(f"{site}/form.html").status == 200


def test_title_and_url(form: Any, site: str) -> None:
    assert (form.title(), form.url) == ("Order", f"{site}/form.html")


def test_expect_title_and_url(form: Any, expect: Any) -> None:
    expect(form).to_have_title("Order")
    expect(form).to_have_url(re.compile("form"))
    expect(form).not_to_have_title("Second")


def test_history(form: Any, site: str, expect: Any) -> None:
    form.goto(f"{site}/second.html")
    form.go_back()
    expect(form).to_have_title("Order")
    form.go_forward()
    expect(form).to_have_title("Second")


def test_reload_forgets_what_was_typed(form: Any, expect: Any) -> None:
    form.get_by_role("button", name="Add").click()
    form.reload()
    expect(form.locator("#count")).to_have_text("0")


def test_click_by_role(form: Any, expect: Any) -> None:
    form.get_by_role("button", name="Add").click()
    expect(form.get_by_test_id("count")).to_have_text("1")


def test_click_by_selector(form: Any, expect: Any) -> None:
    form.click("#add")
    expect(form.locator("#count")).to_have_text("1")


def test_dblclick(form: Any, expect: Any) -> None:
    form.locator("#twice").dblclick()
    expect(form.locator("#out")).to_have_text("doubled")


def test_fill_and_input_value(form: Any) -> None:
    form.get_by_label("Name").fill("Ada")
    assert form.get_by_label("Name").input_value() == "Ada"


def test_page_fill_and_input_value(form: Any) -> None:
    form.fill("#name", "Ada")
    assert form.input_value("#name") == "Ada"


def test_clear(form: Any, expect: Any) -> None:
    form.get_by_label("Note").clear()
    expect(form.get_by_label("Note")).to_be_empty()


def test_press_sequentially(form: Any, expect: Any) -> None:
    form.get_by_placeholder("Your name").press_sequentially("Bob")
    expect(form.locator("#out")).to_have_text("name is Bob")


def test_press(form: Any, expect: Any) -> None:
    form.get_by_label("Name").press("Enter")
    expect(form.locator("#out")).to_have_text("entered")


def test_page_press(form: Any, expect: Any) -> None:
    form.press("#name", "Enter")
    expect(form.locator("#out")).to_have_text("entered")


def test_keyboard(form: Any, expect: Any) -> None:
    form.get_by_label("Name").focus()
    form.keyboard.type("Eve")
    form.keyboard.press("Backspace")
    form.keyboard.insert_text("a")
    expect(form.get_by_label("Name")).to_have_value("Eva")


def test_held_keys(form: Any, expect: Any) -> None:
    form.get_by_label("Name").focus()
    form.keyboard.down("x")
    form.keyboard.up("x")
    expect(form.get_by_label("Name")).to_have_value("x")


def test_check_and_uncheck(form: Any, expect: Any) -> None:
    gift = form.get_by_label("Gift")
    gift.check()
    expect(gift).to_be_checked()
    gift.uncheck()
    expect(gift).not_to_be_checked()


def test_set_checked(form: Any) -> None:
    form.get_by_label("Gift").set_checked(True)
    assert form.get_by_label("Gift").is_checked()
    form.set_checked("#gift", False)
    assert not form.is_checked("#gift")


def test_radio_buttons(form: Any, expect: Any) -> None:
    form.get_by_role("radio", name="Post").check()
    expect(form.get_by_role("radio", name="Collect")).not_to_be_checked()


def test_select_option_by_value(form: Any, expect: Any) -> None:
    form.get_by_label("Size").select_option("m")
    expect(form.get_by_label("Size")).to_have_value("m")


def test_select_option_by_label(form: Any, expect: Any) -> None:
    form.get_by_label("Size").select_option(label="Large")
    expect(form.locator("#out")).to_have_text("size l")


def test_select_option_by_index(form: Any, expect: Any) -> None:
    form.select_option("#size", index=1)
    expect(form.get_by_label("Size")).to_have_value("m")


def test_select_several_options(form: Any, expect: Any) -> None:
    form.get_by_label("Extras").select_option(["Milk", "Ice"])
    expect(form.get_by_label("Extras")).to_have_values(["Milk", "Ice"])


def test_inner_text_and_text_content(form: Any) -> None:
    item = form.get_by_role("listitem").first
    assert (item.inner_text(), item.text_content()) == ("Apple fresh", "Apple fresh")


def test_inner_html(form: Any) -> None:
    assert form.get_by_role("listitem").first.inner_html() == "Apple <b>fresh</b>"


def test_get_attribute(form: Any) -> None:
    assert form.locator("#add").get_attribute("title") == "Adds one"
    assert form.get_attribute("#add", "nothing") is None


def test_all_texts(form: Any) -> None:
    assert form.locator("li").all_inner_texts()[:2] == ["Apple fresh", "Pear"]
    assert form.locator("li").all_text_contents() == ["Apple fresh", "Pear", "Plum"]


def test_count_all_and_nth(form: Any) -> None:
    items = form.locator("li")
    assert (items.count(), len(items.all())) == (3, 3)
    assert (items.nth(1).inner_text(), items.last.text_content()) == ("Pear", "Plum")


def test_states(form: Any) -> None:
    assert form.locator("#off").is_disabled()
    assert form.locator("#add").is_enabled()
    assert form.locator("#name").is_editable()
    assert not form.locator("#fixed").is_editable()
    assert form.locator("li").last.is_hidden()
    assert form.locator("#add").is_visible()
    assert not form.locator("#nowhere").is_visible()


def test_expect_states(form: Any, expect: Any) -> None:
    expect(form.locator("#off")).to_be_disabled()
    expect(form.locator("#add")).to_be_enabled()
    expect(form.locator("#name")).to_be_editable()
    expect(form.locator("#fixed")).not_to_be_editable()
    expect(form.locator("li").last).to_be_hidden()
    expect(form.locator("li").last).to_be_attached()
    expect(form.locator("#nowhere")).not_to_be_attached()


def test_expect_waits(form: Any, expect: Any) -> None:
    form.get_by_role("button", name="Late").click()
    expect(form.locator("#out")).to_have_text("late answer")


def test_expect_fails_as_an_assertion(form: Any, expect: Any, within: Within) -> None:
    with pytest.raises(AssertionError):
        expect(form.locator("#count")).to_have_text("9", **within(0.2))


def test_expect_texts(form: Any, expect: Any) -> None:
    expect(form.locator("li")).to_have_text(["Apple fresh", "Pear", "Plum"], use_inner_text=False)
    expect(form.locator("li").first).to_contain_text("apple", ignore_case=True)
    expect(form.locator("li")).to_contain_text(["Apple", "Pear"])
    expect(form.locator("li").first).not_to_contain_text("Pear")


def test_expect_count(form: Any, expect: Any) -> None:
    expect(form.locator("li")).to_have_count(3)
    expect(form.locator("li")).not_to_have_count(2)


def test_expect_attributes(form: Any, expect: Any) -> None:
    expect(form.locator("#add")).to_have_attribute("title", "Adds one")
    expect(form.locator("#add")).to_have_attribute("title", re.compile("one"))
    expect(form.locator("#add")).to_have_id("add")
    expect(form.locator("#out")).to_have_class("big red")
    expect(form.locator("#out")).to_contain_class("red")
    expect(form.locator("#out")).not_to_have_class("red")


def test_expect_css(form: Any, expect: Any) -> None:
    expect(form.locator("li").last).to_have_css("display", "none")


def test_expect_roles_and_names(form: Any, expect: Any) -> None:
    expect(form.locator("#add")).to_have_role("button")
    expect(form.locator("#name")).to_have_accessible_name("Name")
    expect(form.locator("#add")).to_have_accessible_description("Adds one")


def test_expect_property(form: Any, expect: Any) -> None:
    expect(form.locator("#gift")).to_have_js_property("checked", False)


def test_expect_focus_and_blur(form: Any, expect: Any) -> None:
    form.locator("#name").focus()
    expect(form.locator("#name")).to_be_focused()
    form.locator("#name").blur()
    expect(form.locator("#name")).not_to_be_focused()


def test_expect_in_viewport(form: Any, expect: Any) -> None:
    expect(form.locator("#far")).not_to_be_in_viewport()
    form.locator("#far").scroll_into_view_if_needed()
    expect(form.locator("#far")).to_be_in_viewport()


def test_expect_empty(form: Any, expect: Any) -> None:
    expect(form.locator("#empty")).to_be_empty()
    expect(form.locator("h1")).not_to_be_empty()


def test_locators_by_text_alt_and_title(form: Any, expect: Any) -> None:
    expect(form.get_by_text("Far away")).to_be_attached()
    expect(form.get_by_alt_text("Company logo")).to_have_count(1)
    expect(form.get_by_title("Adds one")).to_have_id("add")


def test_filters(form: Any, expect: Any) -> None:
    items = form.get_by_role("listitem")
    expect(items.filter(has_text="Pear")).to_have_count(1)
    expect(items.filter(has=form.locator("b"))).to_have_text("Apple fresh")
    expect(items.filter(has_not=form.locator("b"))).to_have_text("Pear")
    expect(items.filter(has_not_text="Pear")).to_have_text("Apple fresh")
    expect(form.locator("li").filter(visible=True)).to_have_count(2)


def test_and_or(form: Any, expect: Any) -> None:
    expect(form.get_by_role("button").and_(form.get_by_title("Adds one"))).to_have_id("add")
    expect(form.locator("#nowhere").or_(form.locator("#add"))).to_have_id("add")


def test_selector_engines(form: Any, expect: Any) -> None:
    expect(form.locator("text=Far away")).to_have_id("far")
    expect(form.locator("//button[@id='add']")).to_have_text("Add")
    expect(form.locator("ul >> li").first).to_have_text("Apple fresh")


def test_frame_locator(second: Any, expect: Any) -> None:
    inner = second.frame_locator("iframe")
    inner.get_by_role("button").click()
    expect(inner.get_by_role("button")).to_have_text("pressed")
    inner.get_by_label("Inner field").fill("x")
    expect(second.locator("iframe").content_frame.get_by_label("Inner field")).to_have_value("x")


def test_wait_for_on_locators(form: Any) -> None:
    form.get_by_role("button", name="Late").click()
    form.get_by_text("late answer").wait_for()
    form.locator("#gone").click()
    form.locator("#gone").wait_for(state="detached")


def test_wait_for_selector_and_function(form: Any) -> None:
    form.wait_for_selector("#add")
    form.click("#late")
    form.wait_for_function("() => document.querySelector('#out').textContent == 'late answer'")


def test_wait_for_url_and_load_state(form: Any) -> None:
    form.get_by_role("link", name="Second page").click()
    form.wait_for_url("**/second.html")
    form.wait_for_load_state("load")
    assert form.title() == "Second"


def test_wait_fails_in_time(form: Any, within: Within) -> None:
    with pytest.raises(Exception, match=r"(?i)time"):
        form.wait_for_selector("#nowhere", **within(0.2))


def test_evaluate(form: Any) -> None:
    assert form.evaluate("1 + 1") == 2
    assert form.evaluate("([a, b]) => a * b", [3, 4]) == 12
    assert form.evaluate("async () => ({ word: document.title, none: null })") == {"word": "Order", "none": None}


def test_evaluate_on_elements(form: Any) -> None:
    assert form.locator("#add").evaluate("(el, word) => el.id + word", "!") == "add!"
    assert form.locator("li").evaluate_all("all => all.length") == 3


def test_evaluate_raises_what_the_page_throws(form: Any) -> None:
    with pytest.raises(Exception, match="no such thing"):
        form.evaluate("() => { throw new Error('no such thing') }")


def test_content_and_set_content(page: Any, expect: Any) -> None:
    page.set_content("<title>Mine</title><p>Own words</p>")
    expect(page.get_by_text("Own words")).to_be_visible()
    assert "<p>Own words</p>" in page.content()


def test_console_messages(page: Any, site: str) -> None:
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    with page.expect_console_message() as info:
        page.goto(f"{site}/form.html")
    assert info.value.text == "form is ready"
    assert said == ["form is ready"]


def test_page_errors(second: Any) -> None:
    errors: list[str] = []
    second.on("pageerror", lambda error: errors.append(error.message))
    with second.expect_event("pageerror"):
        second.get_by_role("button", name="Break").click()
    assert errors == ["broken"]


def test_dialogs(form: Any, expect: Any) -> None:
    asked: list[str] = []

    def answer(dialog: Any) -> None:
        asked.append(dialog.message)
        dialog.accept()

    form.once("dialog", answer)
    form.click("#ask")
    expect(form.locator("#out")).to_have_text("yes")
    form.on("dialog", lambda dialog: dialog.dismiss())
    form.click("#ask")
    expect(form.locator("#out")).to_have_text("no")
    assert asked == ["Sure?"]


def test_expect_request_and_response(second: Any, expect: Any) -> None:
    with second.expect_request("**/data.json") as request, second.expect_response("**/data.json") as response:
        second.get_by_role("button", name="Load").click()
    assert (request.value.method, response.value.status, response.value.ok) == ("GET", 200, True)
    assert response.value.json() == {"word": "fetched"}
    expect(second.locator("#got")).to_have_text("fetched")


def test_expect_popup(form: Any, expect: Any) -> None:
    with form.expect_popup() as opened:
        form.get_by_role("link", name="New window").click()
    popup = opened.value
    expect(popup).to_have_title("Second")
    popup.close()
    assert popup.is_closed()


def test_bounding_box_and_mouse(form: Any, expect: Any) -> None:
    box = form.locator("#add").bounding_box()
    form.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(form.locator("#count")).to_have_text("1")


def test_screenshots(form: Any) -> None:
    assert form.locator("#add").screenshot()
    assert form.screenshot(type="jpeg", quality=50)
