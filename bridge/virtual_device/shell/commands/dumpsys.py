"""`dumpsys`, `cmd`, `wm` and `service`: the system services that tools query."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable

from bridge.virtual_device.android import WEBVIEW_PACKAGE
from bridge.virtual_device.shell.call import COMMANDS, Call, command
from bridge.virtual_device.shell.commands.activity import activity_service
from bridge.virtual_device.shell.commands.packages import describe, package_service


@command("cmd")
async def cmd(call: Call) -> int:
    if not call.args:
        await call.error("cmd: No service specified; use -l to list all running services. Use -w to start and wait.")
        return 20
    if call.args[0] == "-l":
        await call.line("Currently running services:")
        for name in sorted({*_SERVICES, *_DUMPS}):
            await call.line(f"  {name}")
        return 0
    service = _SERVICES.get(call.args[0])
    if service is None:
        await call.error(f"cmd: Can't find service: {call.args[0]}")
        return 20
    return await service(call, call.args[1:])


def _as_command(name: str) -> Callable[[Call, list[str]], Awaitable[int]]:
    async def run(call: Call, words: list[str]) -> int:
        call.args = words
        return await COMMANDS[name](call)

    return run


async def _webview_update(call: Call, words: list[str]) -> int:
    match words:
        case ["set-webview-implementation", name]:
            found = call.system.packages.get(name)
            if name == WEBVIEW_PACKAGE and found is not None:
                await call.line("Success")
                return 0
            await call.error(f"Failed to switch, the WebView implementation is now provided by {WEBVIEW_PACKAGE}.")
            return 1
        case [
            "enable-multiprocess" | "disable-multiprocess" | "enable-redundant-packages" | "disable-redundant-packages"
        ]:
            await call.line("Success")
            return 0
    await call.error(f"Unknown command: {words[0] if words else ''}")
    return 255


async def _device_idle(call: Call, words: list[str]) -> int:
    """`cmd deviceidle` and `dumpsys deviceidle`, which take the same arguments."""
    match words:
        case ["whitelist"] | ["sys-whitelist"] | ["except-idle-whitelist"]:
            for name in sorted(call.system.idle_whitelist):
                package = call.system.packages.get(name)
                await call.line(f"user,{name},{package.uid if package else 0}")
        case ["whitelist", *changes]:
            for change in changes:
                sign, name = change[:1], change[1:]
                if sign == "+" and call.system.packages.get(name) is None:
                    await call.line(f"Unknown package: {name}")
                    return 0
                (call.system.idle_whitelist.add if sign == "+" else call.system.idle_whitelist.discard)(name)
                await call.line(f"{'Added' if sign == '+' else 'Removed'}: {name}")
        case ["force-idle", *_]:  # AOSP DeviceIdleController.Shell
            call.system.power.force_idle(True)
            await call.line("Now forced in to deep idle mode")
        case ["unforce"]:
            call.system.power.force_idle(False)
            await call.line("Light state: ACTIVE, deep state: ACTIVE")
        case ["get", *_]:
            await call.line("IDLE" if call.system.power.is_idle_forced else "ACTIVE")
        case _:
            state = "IDLE" if call.system.power.is_idle_forced else "ACTIVE"
            await call.line(f"  mState={state} mLightState={state}")
    return 0


@command("dumpsys")
async def dumpsys(call: Call) -> int:
    words = [word for index, word in enumerate(call.args) if word != "-t" and call.args[index - 1 : index] != ["-t"]]
    if not words or words[0] == "-l":
        await call.line("Currently running services:")
        for name in sorted(_DUMPS):
            await call.line(f"  {name}")
        return 0
    dump = _DUMPS.get(words[0])
    if dump is None:
        await call.error(f"Can't find service: {words[0]}")
        return 0
    return await dump(call, words[1:])


async def _dump_webview_update(call: Call, words: list[str]) -> int:
    found = call.system.packages.get(WEBVIEW_PACKAGE)
    current = f"({found.name}, {found.facts.version_name})" if found else "null"
    await call.line("Current WebView Update Service state")
    await call.line("  Multiprocess enabled: true")
    await call.line(f"  Current WebView package (name, version): {current}")
    await call.line(f"  Minimum targetSdkVersion: {call.system.api_level}")
    await call.line("  Minimum WebView version code: 443021300")
    await call.line("  Number of relros started: 1")
    await call.line("  Number of relros finished: 1")
    await call.line("  WebView package dirty: false")
    await call.line("  Any WebView package installed: " + str(found is not None).lower())
    if found:
        facts = found.facts
        await call.line(
            f"  Valid package {found.name} (versionName: {facts.version_name}, versionCode: {facts.version_code}, "
            f"targetSdkVersion: {facts.target_sdk}) is  installed/enabled for all users"
        )
    return 0


async def _dump_package(call: Call, words: list[str]) -> int:
    names = [word for word in words if not word.startswith("-")]
    if not names:
        for package in call.system.packages.all():
            await call.out(describe(package))
        return 0
    found = call.system.packages.get(names[0])
    if found is None:
        await call.line(f"Unable to find package: {names[0]}")
        return 0
    await call.out(describe(found))
    return 0


async def _dump_battery(call: Call, words: list[str]) -> int:
    await call.out(
        "Current Battery Service state:\n  AC powered: false\n  USB powered: true\n  Wireless powered: false\n"
        "  status: 2\n  health: 2\n  present: true\n  level: 100\n  scale: 100\n  voltage: 5000\n"
        "  temperature: 250\n  technology: Li-ion\n"
    )
    return 0


async def _dump_window(call: Call, words: list[str]) -> int:
    display = call.system.display
    width, height = display.override_size or (display.width_px, display.height_px)
    is_on = str(call.system.power.is_awake).lower()
    await call.out(
        f"WINDOW MANAGER DISPLAY CONTENTS (dumpsys window displays)\n  Display: mDisplayId=0\n"
        f"    init={display.width_px}x{display.height_px} {display.density_dpi}dpi cur={width}x{height}\n"
        f"  mCurrentFocus=null\n  mFocusedApp=null\n  mAwake={is_on} mScreenOn={is_on}\n"
    )
    return 0


async def _dump_activity(call: Call, words: list[str]) -> int:
    if words[:1] == ["services"]:
        await call.line("ACTIVITY MANAGER SERVICES (dumpsys activity services)")
        for component in sorted(call.system.running_services):
            await call.line(f"  * ServiceRecord{{3f2a1b0 u0 {component}}}\n    isForeground=true foregroundId=1")
        return 0
    await call.line("ACTIVITY MANAGER ACTIVITIES (dumpsys activity activities)\n  mResumedActivity: null")
    return 0


async def _dump_power(call: Call, words: list[str]) -> int:
    wakefulness = "Awake" if call.system.power.is_awake else "Asleep"
    await call.line(f"POWER MANAGER (dumpsys power)\n  mWakefulness={wakefulness}\n  mIsPowered=true\n  mStayOn=true")
    return 0


async def _dump_display(call: Call, words: list[str]) -> int:
    display = call.system.display
    await call.line(
        f"DISPLAY MANAGER (dumpsys display)\n  mBaseDisplayInfo=real {display.width_px} x {display.height_px}"
    )
    return 0


@command("wm")
async def wm(call: Call) -> int:
    display = call.system.display
    match call.args:
        case ["size"]:
            await call.line(f"Physical size: {display.width_px}x{display.height_px}")
            if display.override_size:
                await call.line(f"Override size: {display.override_size[0]}x{display.override_size[1]}")
        case ["size", "reset"]:
            display.override_size = None
        case ["size", size] if match := re.fullmatch(r"(\d{2,5})x(\d{2,5})", size):
            display.override_size = (int(match[1]), int(match[2]))
        case ["density"]:
            await call.line(f"Physical density: {display.density_dpi}")
            if display.override_density:
                await call.line(f"Override density: {display.override_density}")
        case ["density", "reset"]:
            display.override_density = None
        case ["density", density] if re.fullmatch(r"\d{2,4}", density):
            display.override_density = int(density)
        case [("size" | "density") as what, value, *_]:
            await call.error(f"Error: bad {what} {value}")
            return 255
        case _:
            await call.error(f"Unknown command: {call.args[0] if call.args else ''}")
            return 255
    return 0


@command("service")
async def service(call: Call) -> int:
    match call.args:
        case ["check", name]:
            await call.line(f"Service {name}: {'found' if name in _DUMPS or name in _SERVICES else 'not found'}")
        case ["list"]:
            for index, name in enumerate(sorted({*_SERVICES, *_DUMPS})):
                await call.line(f"{index}\t{name}: []")
        case _:
            await call.line("Usage: service [-h|-?]\n       service list\n       service check SERVICE")
            return 10
    return 0


_SERVICES: dict[str, Callable[[Call, list[str]], Awaitable[int]]] = {
    "activity": activity_service,
    "appops": _as_command("appops"),
    "deviceidle": _device_idle,
    "input": _as_command("input"),
    "package": package_service,
    "settings": _as_command("settings"),
    "webviewupdate": _webview_update,
    "window": _as_command("wm"),
}

_DUMPS: dict[str, Callable[[Call, list[str]], Awaitable[int]]] = {
    "activity": _dump_activity,
    "battery": _dump_battery,
    "deviceidle": _device_idle,
    "display": _dump_display,
    "package": _dump_package,
    "power": _dump_power,
    "webviewupdate": _dump_webview_update,
    "window": _dump_window,
}
