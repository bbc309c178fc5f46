"""What a control or an operation cannot take is refused in words, before anything is changed."""

from __future__ import annotations

import math
from typing import Any

import pytest

from bridge.errors import InvalidValue, NoSuchOption, UsageError
from bridge.page.page import Page
from tests.conftest import LocalServer

pytestmark = pytest.mark.browser

CONTROLS = """document.body.innerHTML='<select aria-label=One><option>a<option>b'+
  '<optgroup disabled label=Out><option>c</optgroup></select>'+
  '<select multiple aria-label=Many><option>a<option>b<option>c</select>'+
  '<input aria-label=Short maxlength=3><textarea aria-label=Long maxlength=5></textarea>'+
  '<input type=range min=0 max=10 step=2 value=4 aria-label=Volume><button>Go</button>'"""


@pytest.fixture
async def controls(page: Page, local_server: LocalServer) -> Page:
    await page.goto(local_server.url("second.html"))
    attachment = await page.attached()
    await attachment.call("Runtime.evaluate", {"expression": CONTROLS}, timeout_s=20)
    return page


async def ref_of(page: Page, name: str) -> str:
    return (await page.snapshot()).find(name=name).ref


async def value_of(page: Page, name: str) -> Any:
    return (await page.query(await ref_of(page, name), "value")).value


async def test_a_list_that_takes_one_option_is_not_given_two(controls: Page) -> None:
    with pytest.raises(InvalidValue, match="takes one option"):
        await controls.select_option(await ref_of(controls, "One"), "a", "b")
    assert await value_of(controls, "One") == "a"
    assert (await controls.select_option(await ref_of(controls, "Many"), "a", "b")).values == ("a", "b")


async def test_an_option_of_a_disabled_group_is_disabled(controls: Page) -> None:
    with pytest.raises(NoSuchOption) as caught:
        await controls.select_option(await ref_of(controls, "One"), "c")
    assert caught.value.details["options"] == ["a", "b", "c"]
    assert await value_of(controls, "One") == "a"


@pytest.mark.parametrize("value", [3, None, b"a", ["a", 3]], ids=repr)
async def test_options_are_chosen_by_text(controls: Page, value: Any) -> None:
    with pytest.raises(UsageError, match="by their value or text"):
        await controls.select_option(await ref_of(controls, "One"), value)


@pytest.mark.parametrize("value", [5, None, b"a", ["a"]], ids=repr)
async def test_a_field_is_filled_with_text(controls: Page, value: Any) -> None:
    with pytest.raises(UsageError, match="must be a string"):
        await controls.fill(await ref_of(controls, "Short"), value)
    assert await value_of(controls, "Short") == ""


@pytest.mark.parametrize(("name", "value"), [("Short", "abcd"), ("Long", "abc\ndef")])
async def test_more_than_a_person_could_type_is_refused(controls: Page, name: str, value: str) -> None:
    with pytest.raises(InvalidValue, match=r"takes at most \d characters, and these are \d"):
        await controls.fill(await ref_of(controls, name), value)
    assert await value_of(controls, name) == ""
    assert (await controls.fill(await ref_of(controls, name), value[:3])).value == value[:3]


async def test_a_range_says_its_steps_and_takes_a_number_however_it_is_written(controls: Page) -> None:
    ref = await ref_of(controls, "Volume")
    with pytest.raises(InvalidValue, match="takes a number from 0 to 10 in steps of 2"):
        await controls.fill(ref, "5")
    assert (await controls.fill(ref, "6.0")).value == "6"


@pytest.mark.parametrize("seconds", [math.nan, math.inf, -1, "5"], ids=repr)
@pytest.mark.parametrize("name", ["timeout_s", "settle_s"])
async def test_a_span_of_time_is_a_number_of_seconds(controls: Page, name: str, seconds: Any) -> None:
    ref = await ref_of(controls, "Go")
    with pytest.raises(UsageError, match=f"{name} is .*; it must be a number of seconds"):
        await controls.click(ref, **{name: seconds})
    if name == "timeout_s":
        for other in (controls.snapshot, controls.reload, controls.read):
            with pytest.raises(UsageError, match="number of seconds"):
                await other(timeout_s=seconds)


@pytest.mark.parametrize("kind", ["selector", "gone"])
async def test_an_error_about_an_invalid_selector_is_in_plain_words(controls: Page, kind: str) -> None:
    with pytest.raises(UsageError, match="is not a valid CSS selector"):
        await controls.wait_for(**{kind: "a[["})  # type: ignore[arg-type]
