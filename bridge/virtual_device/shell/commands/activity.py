"""`am` and `cmd activity`, `input`, `monkey` (AOSP `ActivityManagerShellCommand.java` for words and texts)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from bridge.errors import BridgeError
from bridge.virtual_device.android import HOST_SERVICE, normalize_component
from bridge.virtual_device.shell.call import Call, command

_EXTRA_FLAGS = {
    "-e", "--es", "--esn", "--ez", "--ei", "--el", "--ef", "--eu", "--ecn", "--eia", "--esa", "--esal",
}  # fmt: skip
_VALUE_FLAGS = {"-a", "-d", "-t", "-c", "-i", "-n", "-p", "-f", "--user", "--display", "--windowingMode", "-P", "-R"}


class _BadIntent(Exception):
    """The arguments are not a valid intent; the message is am's."""


@dataclass(slots=True)
class Intent:
    """The intent in the arguments of `am VERB`."""

    action: str = ""
    data: str = ""
    component: str = ""
    package: str = ""
    extras: dict[str, str] = field(default_factory=dict)
    flags: dict[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, words: list[str]) -> Intent:
        intent = cls()
        pending = iter(words)
        for word in pending:
            if word in _EXTRA_FLAGS:
                key = _next(pending, word)
                intent.extras[key] = "" if word == "--esn" else _next(pending, word)
            elif word in _VALUE_FLAGS:
                intent.flags[word] = _next(pending, word)
            elif word.startswith("-"):
                intent.flags[word] = ""
            elif "/" in word and "://" not in word:
                intent.component = word
            elif ":" in word:
                intent.data = word
            else:
                intent.package = word
        intent.action = intent.flags.get("-a", "")
        intent.data = intent.flags.get("-d", intent.data)
        intent.component = intent.flags.get("-n", intent.component)
        if intent.component and not normalize_component(intent.component):
            raise _BadIntent(f"Bad component name: {intent.component}")
        return intent

    def __str__(self) -> str:
        parts = [f"act={self.action}" if self.action else "", f"dat={self.data}" if self.data else ""]
        parts += [
            f"pkg={self.package}" if self.package else "",
            f"cmp={_short(self.component)}" if self.component else "",
        ]
        parts += ["(has extras)" if self.extras else ""]
        return f"Intent {{ {' '.join(part for part in parts if part)} }}"


def _next(pending: Iterator[str], flag: str) -> str:
    value = next(pending, None)
    if value is None:
        raise _BadIntent(f'Argument expected after "{flag}"')
    return value


def _short(component: str) -> str:
    package, _, name = component.partition("/")
    return f"{package}/{name.removeprefix(package)}"


@command("am")
async def am(call: Call) -> int:
    return await activity_service(call, call.args)


async def activity_service(call: Call, words: list[str]) -> int:
    """Shared by `am …` and `cmd activity …`."""
    verb, rest = (words[0], words[1:]) if words else ("", [])
    try:
        match verb:
            case "start-foreground-service" | "startforegroundservice" | "start-service" | "startservice":
                return await _start_service(call, Intent.parse(rest))
            case "stop-service" | "stopservice":
                return await _stop_service(call, Intent.parse(rest))
            case "start" | "start-activity":
                return await _start_activity(call, Intent.parse(rest))
            case "broadcast":
                return await _broadcast(call, Intent.parse(rest))
            case "force-stop" | "kill":
                return await _force_stop(call, rest)
            case "instrument":
                return await _instrument(call, rest)
            case "get-current-user":
                await call.line("0")
                return 0
            case "kill-all" | "wait-for-broadcast-idle" | "set-debug-app" | "clear-debug-app" | "switch-user":
                return 0
            case "stack" | "task" | "get-standby-bucket" | "get-config":
                return 0
    except _BadIntent as error:
        await call.error(f"Error: {error}")
        return 255
    await call.error(f"Unknown command: {verb}")
    return 255


async def _start_service(call: Call, intent: Intent) -> int:
    await call.line(f"Starting service: {intent}")
    component = normalize_component(intent.component)
    package, _, name = component.partition("/")
    declared = call.system.service_component(package, name)
    if declared is None:
        await call.line("Error: Not found; no service started.")
        return 255
    if not declared.is_exported:
        await call.line(f"Error: Requires permission not exported from uid {call.system.packages.all()[0].uid}")
        return 255
    if component not in call.system.services:
        await call.line("Error: the virtual device runs no application code except the host app's")
        return 255
    call.system.log("ActivityManager", f"Background started FGS: Allowed [callingPackage: com.android.shell] {intent}")
    try:
        await call.system.start_service(component, intent.extras)
    except Exception as error:
        call.system.log("AndroidRuntime", f"FATAL EXCEPTION: main\n{type(error).__name__}: {error}", priority="E")
        await call.line(f"Error: app process crashed: {error}")
        return 255
    return 0


async def _stop_service(call: Call, intent: Intent) -> int:
    await call.line(f"Stopping service: {intent}")
    component = normalize_component(intent.component)
    if component not in call.system.running_services:
        await call.line("Service not stopped: was not running.")
        return 0
    call.system.running_services.discard(component)
    await call.system.services[component].stop()
    await call.line("Service stopped")
    return 0


async def _start_activity(call: Call, intent: Intent) -> int:
    await call.line(f"Starting: {intent}")
    component = normalize_component(intent.component)
    package, _, name = component.partition("/")
    found = call.system.packages.get(package)
    if component and (found is None or name not in {activity.name for activity in found.facts.activities}):
        await call.error("Error type 3")
        await call.error(f"Error: Activity class {{{component}}} does not exist.")
        return 1
    if not component:
        await call.error(f"Error: Activity not started, unable to resolve {intent}")
        return 1
    if call.system.start_activity is None or component in call.system.services:
        await call.error("Error: the virtual device has no engine to show an activity with")
        return 1
    try:
        await call.system.start_activity(package, intent.data)
    except BridgeError as error:
        await call.error(f"Error: app process crashed: {error}")
        return 1
    return 0


async def _broadcast(call: Call, intent: Intent) -> int:
    await call.line(f"Broadcasting: {intent}")
    await call.line("Broadcast completed: result=0")
    return 0


async def _force_stop(call: Call, words: list[str]) -> int:
    names = [
        word for index, word in enumerate(words) if not word.startswith("-") and words[index - 1 : index] != ["--user"]
    ]
    if not names:
        await call.error('Error: Argument expected after "force-stop"')
        return 255
    await call.system.stop_package(names[0])
    return 0


async def _instrument(call: Call, words: list[str]) -> int:
    """Runs the host app's service in a new process, as its instrumentation does (AOSP Instrument.java)."""
    extras: dict[str, str] = {}
    component = ""
    pending = iter(words)
    for word in pending:
        if word == "-e":
            key = _next(pending, word)
            extras[key] = _next(pending, word)
        elif word in ("--user", "--abi", "-p"):
            _next(pending, word)
        elif not word.startswith("-"):
            component = word
    package, _, name = normalize_component(component).partition("/")
    found = call.system.packages.get(package)
    if found is None or name not in found.facts.instrumentations or HOST_SERVICE not in call.system.services:
        await call.line(f"android.util.AndroidException: INSTRUMENTATION_FAILED: {component}")
        await call.line("INSTRUMENTATION_STATUS: id=ActivityManagerService")
        await call.line(
            f"INSTRUMENTATION_STATUS: Error=Unable to find instrumentation info for: ComponentInfo{{{component}}}"
        )
        await call.line("INSTRUMENTATION_STATUS_CODE: -1")
        return 1
    await call.system.stop_package(package)
    await call.system.start_service(HOST_SERVICE, extras)
    return 0


@command("input")
async def input_event(call: Call) -> int:
    words = [word for word in call.args if word not in ("touchscreen", "keyboard", "mouse", "stylus")]
    if not words or words[0] not in ("tap", "text", "swipe", "keyevent", "draganddrop", "press", "roll", "motionevent"):
        await call.error(f"Error: Unknown command: {words[0] if words else ''}")
        return 255
    call.system.log("Input", " ".join(words)[:200], priority="D")
    if words[0] == "keyevent":
        for word in words[1:]:
            _press(call, word.removeprefix("KEYCODE_"))
    return 0


def _press(call: Call, key: str) -> None:
    """The keys that switch the screen (AOSP `KeyEvent.java` for names and numbers)."""
    power = call.system.power
    if key in ("SLEEP", "223", "SOFT_SLEEP", "276"):
        power.wake(False)
    elif key in ("WAKEUP", "224"):
        power.wake(True)
    elif key in ("POWER", "26"):
        power.wake(not power.is_awake)


@command("monkey")
async def monkey(call: Call) -> int:
    await call.line("  bash arg: " + " ".join(call.args))
    await call.line("** No activities found to run, monkey aborted.")
    return 252
