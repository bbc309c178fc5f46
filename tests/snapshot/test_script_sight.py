# ruff: noqa: E501 - HTML reads better on one line
"""What clips, what pushes out of sight, what only seems to; repetition, depth and bytes."""

from __future__ import annotations

import json

import pytest
from browser import Page
from raw_tree import find, nodes, refs, words

pytestmark = pytest.mark.browser

CLIPPED = {
    "beside": "<div style='overflow:hidden;width:200px;height:40px;white-space:nowrap'><p style='margin-left:300px;width:90px'>SECRET</p></div>",
    "below": "<div style='overflow:hidden;height:40px'><p style='margin-top:80px'>SECRET</p></div>",
    "moved": "<div style='overflow:clip;width:300px'><p style='transform:translateX(-350px)'>SECRET</p></div>",
    "absolute in its containing block": "<div style='overflow:hidden;height:40px;position:relative'><p style='position:absolute;top:90px'>SECRET</p></div>",
}
NOT_CLIPPED = {
    "partly": "<div style='overflow:hidden;height:40px'><p style='margin-top:20px;height:60px'>SHOWN</p></div>",
    "to be scrolled to": "<div style='overflow:hidden'><div style='height:50px;overflow:auto'><p style='margin-top:90px'>SHOWN</p></div></div>",
    "absolute past its parent": "<div style='overflow:hidden;height:40px'><p style='position:absolute;top:90px'>SHOWN</p></div>",
    "fixed": "<div style='overflow:hidden;height:40px;position:relative'><p style='position:fixed;top:190px'>SHOWN</p></div>",
    "white where the page is dark": "<style>:root{color-scheme:dark}p{color:#fff}</style><p>SHOWN</p>",
}


@pytest.mark.parametrize("case", CLIPPED)
def test_words_that_an_ancestor_clips_away_are_not_read(tab: Page, case: str) -> None:
    tab.show(f"<p style='color:#222'>public</p>{CLIPPED[case]}")
    raw = tab.snapshot()
    assert "SECRET" not in json.dumps(raw)
    assert "public" in words(raw)


@pytest.mark.parametrize(
    "style",
    [
        "opacity:.01",
        "color:oklch(0 0 0 / 0)",
        "color:color(srgb 0 0 0 / 0)",
        "color:rgba(0,0,0,0)",
        "color:rgba(0,0,0,.01)",
        "filter:opacity(0)",
        "clip-path:polygon(0 0, 0 0, 0 0)",
        "transform:scale(0)",
        "transform:scale(.01)",
        "transform:rotateX(90deg)",
    ],
)
def test_words_without_ink_are_not_read_whatever_the_syntax(tab: Page, style: str) -> None:
    if not tab.run(f"CSS.supports({json.dumps(style)})"):
        pytest.skip(f"the engine does not parse {style}, so the words are seen")
    tab.show(f"<p style='color:lab(30 0 0)'>public</p><p style='{style}'>SECRET</p>")
    raw = tab.snapshot()
    assert "SECRET" not in json.dumps(raw)
    assert "public" in words(raw)


def test_what_is_for_browsers_without_scripts_is_not_read(tab: Page) -> None:
    tab.show("<p>public</p><noscript><p>SECRET</p></noscript>")
    raw = tab.snapshot()
    assert "SECRET" not in json.dumps(raw)
    assert "public" in words(raw)


@pytest.mark.parametrize(
    "style", ["transform:scale(.3)", "filter:opacity(.5)", "clip-path:polygon(0 0, 100% 0, 0 100%)", "width:0;height:0"]
)
def test_words_that_are_only_small_faint_or_cropped_are_read(tab: Page, style: str) -> None:
    tab.show(f"<p style='color:#222;{style}'>SHOWN</p>")
    assert "SHOWN" in words(tab.snapshot())


@pytest.mark.parametrize("case", NOT_CLIPPED)
def test_words_that_only_might_be_clipped_are_read(tab: Page, case: str) -> None:
    tab.show(f"<style>p{{color:#222}}</style>{NOT_CLIPPED[case]}")
    assert "SHOWN" in words(tab.snapshot())


@pytest.mark.parametrize("scrolled", [0, -600])
def test_a_page_written_from_the_right_goes_on_to_the_left(tab: Page, scrolled: int) -> None:
    tab.show(
        "<!doctype html><style>div{position:absolute;width:90px;color:#222}</style>"
        "<div style='right:600px;width:1000px'>SHOWN</div><div style='right:-5000px'>SECRET</div>"
    )
    tab.run(f"document.documentElement.dir='rtl';scrollTo({scrolled},0);0")
    raw = tab.snapshot()
    assert "SHOWN" in words(raw)
    assert "SECRET" not in json.dumps(raw)


def test_a_page_is_searched_for_labels_only_of_what_may_have_one(tab: Page) -> None:
    """The engine goes through the whole document for each element that is asked for its labels."""
    tab.show("<button>plain</button><button id=b>x</button><label for=b>Far</label><label>Near <input></label>")
    count = (
        "globalThis.asked=0;for(const I of [HTMLButtonElement,HTMLInputElement]){"
        "const {get}=Object.getOwnPropertyDescriptor(I.prototype,'labels');"
        "Object.defineProperty(I.prototype,'labels',{get(){asked++;return get.call(this)}})};0"
    )
    tab.run(count, world=tab.world())
    raw = tab.snapshot()
    assert {node["name"] for node in refs(raw).values()} >= {"plain", "Far", "Near"}
    assert tab.run("asked", world=tab.world()) == 2


def test_repetition_inside_the_viewport_becomes_samples_a_count_and_more(tab: Page) -> None:
    tab.show(
        "<style>li{float:left;width:20px;height:20px;overflow:hidden;font-size:9px}</style><ul>"
        + "".join(f"<li class=row><button>B{i}</button></li>" for i in range(200))
        + "</ul><button style='position:fixed;bottom:0'>after</button>"
    )
    raw = tab.snapshot(maxNodes=20)
    assert find(raw, "button", "after")
    cut = next(node for node in nodes(raw) if "more" in node)
    shown = sum(node.get("name", "").startswith("B") for node in refs(raw).values())
    assert 8 <= shown < 20
    assert (cut["kind"], cut["role"], cut["count"]) == ("alike", "listitem", 200 - shown)
    assert "maxNodes" in raw["reasons"]


DEEP = """(levels => {
  let el = document.body;
  for (let i = 0; i < levels; i++) el = el.appendChild(document.createElement('div'));
  el.appendChild(document.createElement('button')).textContent = 'Deep';
})"""


def test_a_chain_two_thousand_deep_is_walked_to_its_end_in_time(tab: Page) -> None:
    tab.show("")
    tab.run(f"{DEEP}(2000); document.body.offsetTop; 0")
    raw = tab.snapshot(cursorInteractive=True, timeBudgetMs=5_000)
    assert find(raw, "button", "Deep")
    assert not raw["truncated"]


def test_the_budget_counts_bytes_as_they_are_sent(tab: Page) -> None:
    tab.show("".join(f"<p style='color:#222'>{'漢字' * 60}<a href='/{i}'>リンク{i}</a></p>" for i in range(900)))
    raw = tab.snapshot(budgetChars=30_000)
    assert "budgetChars" in raw["reasons"]
    assert len(json.dumps(raw, ensure_ascii=False, separators=(",", ":")).encode()) < 36_000


def test_a_long_list_of_options_is_sampled_and_can_be_chosen_from(tab: Page) -> None:
    tab.show(
        "<select aria-label=Country>"
        + "".join(f"<option>Land {i}" for i in range(250))
        + "</select><button>Go</button>"
    )
    raw = tab.snapshot()
    assert 5 <= sum(node.get("role") == "option" and "more" not in node for node in nodes(raw)) <= 12
    assert tab.call("action", find(raw, "combobox")["ref"], "select", {"value": "Land 200"})["values"] == ["Land 200"]


def test_a_text_of_megabytes_is_cut(tab: Page) -> None:
    tab.show("<button id=b></button><p id=p></p>")
    tab.run("p.textContent = b.textContent = 'words '.repeat(5e5); 0")
    assert len(json.dumps(tab.snapshot())) < 5_000


def test_attribute_values_are_cut_where_the_options_say(tab: Page) -> None:
    tab.show(f"<a href='/{'u' * 500}'>a</a><input aria-label=b placeholder='{'p' * 300}' value='{'v' * 300}'>")
    for limit in (20, 150):
        for node in refs(tab.snapshot(maxAttrValueLen=limit)).values():
            lengths = [len(value) for value in node["attrs"].values() if isinstance(value, str)]
            assert max(lengths) == limit


@pytest.mark.parametrize(
    "style",
    ["visibility:hidden", "display:none", "opacity:0;position:absolute;left:-999px"],
)
def test_an_element_that_turned_invisible_is_not_visible_rather_than_stale(tab: Page, style: str) -> None:
    tab.show("<ul><li>Ann <button id=x>Delete <b>it</b></button><li>Bo <button>Delete</button></ul>")
    ref = next(iter(refs(tab.snapshot())))
    tab.run(f"x.style.cssText = '{style}'; 0")
    assert tab.call("prepare", ref, "click", {"timeoutMs": 200})["error"]["code"] == "not_visible"


def test_two_hundred_thousand_siblings_stay_within_the_time_budget_and_it_is_said(tab: Page) -> None:
    tab.show("<main id=m></main>")
    tab.run("m.innerHTML = '<span>a</span>'.repeat(200000); m.offsetTop; 0")
    raw = tab.snapshot(maxNodes=1_000_000, budgetChars=10**9, timeBudgetMs=150)
    assert "jsTime" in raw["reasons"]
    assert raw["truncated"]
    assert raw["stats"]["visitedNodes"] < 200_000


def test_a_page_of_few_elements_is_read_to_its_end_however_late_it_gets(tab: Page) -> None:
    """A renderer that other programs keep from the processor has used its time up without doing anything."""
    tab.show("<main id=m></main>")
    for count, whole in ((100, True), (5_000, False)):
        tab.run(f"m.innerHTML = '<div><button>a</button></div>'.repeat({count}); m.offsetTop; 0")
        raw = tab.snapshot(maxNodes=10_000, budgetChars=10**9, timeBudgetMs=0)
        assert ("jsTime" not in raw["reasons"]) is whole
        assert (len(refs(raw)) == count) is whole


def test_the_first_of_very_many_siblings_are_read_however_late_it_gets(tab: Page) -> None:
    """That there are thousands beside them takes nothing from the few hundred that are read in any case."""
    tab.show("<main id=m></main>")
    tab.run("m.innerHTML = '<button>a</button>'.repeat(5000); m.offsetTop; 0")
    raw = tab.snapshot(maxNodes=10_000, budgetChars=10**9, timeBudgetMs=0)
    assert raw["reasons"] == ["jsTime"]
    assert 400 < len(refs(raw)) < 600


@pytest.mark.parametrize("condition", [{"role": "button", "name": "Late"}, {"text": "Late"}, {"selector": "button"}])
def test_waiting_begins_in_a_document_that_has_no_element_yet(tab: Page, condition: dict[str, str]) -> None:
    tab.show("")
    tab.run("document.documentElement.remove(); 0")
    waiting = tab.start_call("waitFor", condition, 5_000)
    tab.run("""setTimeout(() => document.append(Object.assign(document.createElement('html'),
      { innerHTML: '<body><button>Late</button>' })), 50); 0""")
    assert tab.end_call(waiting)["ok"] is True


def test_settling_observes_open_shadow_roots(tab: Page) -> None:
    tab.show("<div id=h></div>")
    tab.run("""h.attachShadow({mode: 'open'}).innerHTML = '<button>Save</button><p role=status></p>';
      h.shadowRoot.querySelector('button').onclick = () => setTimeout(() => { h.shadowRoot.querySelector('p').textContent = 'Saved'; }, 15); 0""")
    place = tab.call("prepare", next(iter(refs(tab.snapshot()))), "click", {"timeoutMs": 10_000})
    settled = tab.start_call("settle", {"settleMs": 2000, "quietMs": 60, "expect": "click"})
    tab.tap(place["x"], place["y"])
    answer = tab.end_call(settled)
    assert answer["hit"] is True
    assert answer["texts"] == ["Saved"]


def test_what_moves_in_every_frame_is_not_ready(tab: Page) -> None:
    """It moves where no frame comes too, as on a busy machine: the check does not wait for those for ever."""
    tab.show("<button id=x style='position:absolute'>x</button>")
    ref = next(iter(refs(tab.snapshot())))
    tab.run(
        "n = 0; move = () => x.style.left = ++n % 300 + 'px'; setInterval(move, 1);"
        "(function frame() { move(); requestAnimationFrame(frame); })(); 0"
    )
    answer = tab.call("prepare", ref, "click", {"timeoutMs": 200})
    assert answer["error"]["code"] == "timeout"
    assert answer["error"]["lastSeen"] == "moving"
