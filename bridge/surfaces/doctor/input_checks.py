"""Device checks of input: taps on a page with a frame, keys, and controls that open system dialogs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from bridge.surfaces.doctor.device_check import Bench, DeviceCheck
from bridge.surfaces.doctor.report import CheckResult, Stakes, failed, passed, warned

# A tap on a phone, in the order of its events (Touch Events §8, Pointer Events §11); mouse events follow the touch.
_TAP = ("pointerdown", "touchstart", "pointerup", "touchend", "mousedown", "mouseup", "click")
_TYPED = "Mix 42?"


def input_checks(bench: Bench) -> list[DeviceCheck]:
    """Taps and keys."""
    taps = "pages do not receive touch events, so many buttons do nothing"
    return [
        DeviceCheck("click", Stakes("click", taps), lambda: click_heard(bench)),
        DeviceCheck("click in a frame", Stakes("click in frames", taps), lambda: _click_inside(bench)),
        DeviceCheck("double click", Stakes("dblclick", taps), lambda: _double_click(bench)),
        DeviceCheck(
            "long press",
            Stakes("long_press", "pages do not receive contextmenu, so their menus do not open"),
            lambda: _long_press(bench),
        ),
        DeviceCheck(
            "typed keys",
            Stakes("type and press", "pages do not receive keys, so search boxes and editors miss input"),
            lambda: _keys(bench),
        ),
        DeviceCheck(
            "date and colour inputs",
            Stakes("fill", "fill does not set date and colour inputs"),
            lambda: _dates(bench),
        ),
    ]


def picker_checks(bench: Bench) -> list[DeviceCheck]:
    """Controls that the page opens by script, which may end the app."""
    meaning = "a page that opens {} ends the app: all tabs are lost and have to be restored"
    kinds = {
        "select opened by the page": ("Show the sizes", "a <select> by showPicker()"),
        "date picker opened by the page": ("Show the days", "a date picker by showPicker()"),
        "file chooser opened by the page": ("Choose a file", "a file chooser"),
    }

    def check(button: str, what: str) -> Callable[[], Awaitable[CheckResult]]:
        return lambda: _opened_picker(bench, button, what)

    return [
        DeviceCheck(name, Stakes("pages with pickers", meaning.format(what)), check(button, what))
        for name, (button, what) in kinds.items()
    ]


async def click_heard(bench: Bench) -> CheckResult:
    """Taps a button and compares the events that the page heard."""
    await bench.page.goto(bench.server.url("events"))
    await bench.page.click((await bench.page.snapshot()).find(name="Target").ref)
    return _compared(await bench.evaluate("heard"), _TAP)


async def _click_inside(bench: Bench) -> CheckResult:
    await bench.page.goto(bench.server.url("events"))
    await bench.page.click((await bench.page.snapshot()).find(name="Inside").ref)
    return _compared(await bench.evaluate("heardInside"), _TAP)


async def _double_click(bench: Bench) -> CheckResult:
    await bench.page.goto(bench.server.url("events"))
    await bench.page.dblclick((await bench.page.snapshot()).find(name="Target").ref)
    return _compared(await bench.evaluate("heard"), (*_TAP, *_TAP, "dblclick"))


async def _long_press(bench: Bench) -> CheckResult:
    await bench.page.goto(bench.server.url("events"))
    await bench.page.long_press((await bench.page.snapshot()).find(name="Target").ref)
    heard = await bench.evaluate("heard")
    if "click" in heard:
        return failed(f"the page received a click: {_listed(heard)}")
    result = _compared(heard, ("pointerdown", "touchstart", "contextmenu"))
    if result.status != "pass" or await bench.evaluate("isTouchMenu"):
        return result
    finding = (
        f"{result.finding}; contextmenu was dispatched by script, because the engine opens no context menu by touch"
    )
    # Chromium without a window never does; a WebView does, unless something takes its long press away.
    return passed(finding) if bench.session.is_virtual else warned(finding)


def _compared(heard: Sequence[str], wanted: Sequence[str]) -> CheckResult:
    """Fails if the page heard fewer or more of the wanted events, or a touch after its click."""
    wrong = [kind for kind in dict.fromkeys(wanted) if heard.count(kind) != wanted.count(kind)]
    if wrong:
        return failed(f"the page received {_listed(heard)}; expected {_listed(wanted)}")
    first = [heard.index(kind) for kind in ("pointerdown", "pointerup", "click") if kind in heard]
    if first != sorted(first):
        return failed(f"the page received the events in a different order from those of a finger: {_listed(heard)}")
    return passed(f"the page received {_listed(heard)}")


def _listed(kinds: Sequence[str]) -> str:
    return ", ".join(kinds) or "nothing"


async def _keys(bench: Bench) -> CheckResult:
    await bench.page.goto(bench.server.url("events"))
    await bench.page.type((await bench.page.snapshot()).find(name="Text").ref, _TYPED)
    value = await bench.evaluate("text.value")
    heard = await bench.evaluate("heardKeys")
    counts = {kind: heard.count(kind) for kind in ("keydown", "input", "keyup")}
    finding = f"the input has {value!r}; the page received " + ", ".join(f"{n} {kind}" for kind, n in counts.items())
    if value != _TYPED or min(counts.values()) < len(_TYPED):
        return failed(f"{finding}; expected {_TYPED!r} and {len(_TYPED)} of each")
    return passed(finding)


async def _dates(bench: Bench) -> CheckResult:
    await bench.page.goto(bench.server.url("events"))
    shot = await bench.page.snapshot()
    wanted = {"day": "2026-03-01", "paint": "#ff8800"}
    await bench.page.fill(shot.find(name="Day").ref, wanted["day"])
    await bench.page.fill(shot.find(name="Paint").ref, wanted["paint"])
    values = await bench.evaluate("({day: day.value, paint: paint.value})")
    changed = await bench.evaluate("changed")
    if values != wanted or changed != wanted:
        return failed(f"the inputs have {values} and the page received changes of {changed}; expected {wanted}")
    return passed(f"the page received changes of {wanted['day']} and {wanted['paint']}")


async def _opened_picker(bench: Bench, button: str, what: str) -> CheckResult:
    """The page opens a picker in the handler of a tap: the app must live, and the page go on."""
    await bench.page.goto(bench.server.url("events"))
    before = bench.session.host.pid
    with bench.session.host_client.events("tab.lost") as lost:
        await bench.page.click((await bench.page.snapshot()).find(name=button).ref)
        alive = await bench.evaluate("document.title")
        gone = [event.fields.get("reason") for event in lost.queue]
    if gone or bench.session.host.pid != before:
        return failed(f"the page opened {what}, and the app's process {before} ended")
    if alive != "Events":
        return failed(f"the page opened {what}, and then its title was {alive!r} instead of 'Events'")
    return passed(f"the page opened {what}, and could be used afterwards")
