"""`host`: the host app on a device, installed, started, stopped, removed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from bridge.errors import HostVersionMismatch
from bridge.surfaces.cli.groups import Commands
from bridge.surfaces.cli.options import EXISTING_FILE, WORDS, CommonOptions, common_options
from bridge.surfaces.cli.output import is_terminal, note, one_line, print_json

if TYPE_CHECKING:
    from bridge.adb import AdbDevice
    from bridge.surfaces.cli.runner import CommandProgress

C = TypeVar("C", bound=Callable[..., Any])

ADB_TIMEOUT_S = 20.0
ASK_TIMEOUT_S = 20.0
BUILD_TIMEOUT_S = 600.0
INSTALL_TIMEOUT_S = 180.0
START_TIMEOUT_S = 45.0

_device_option = click.option(
    "--device", type=WORDS, default="auto", show_default=True, metavar="auto|virtual|SERIAL", help="Which device."
)
_force_option = click.option(
    "--force", is_flag=True, help="Also while a session of this machine works on the device, which then breaks."
)


@click.group(cls=Commands)
def host() -> None:
    """The host app on a device: what renders the WebViews there."""


@host.command()
@_device_option
@_force_option
@click.option(
    "--apk",
    type=EXISTING_FILE,
    metavar="FILE",
    help="Another APK than the one that comes with this package.",
)
@common_options
def install(options: CommonOptions, device: str, force: bool, apk: Path | None) -> None:
    """Install or update the host app. In a source checkout its APK is built first where it is missing or old.

    One with another signature, or of a newer version, is removed first. With --json: device, action, version, before,
    why.
    """
    import bridge
    from bridge.host.apk import ready_apk
    from bridge.host.installation import install_host

    async def work(chosen: AdbDevice, steps: CommandProgress) -> Told:
        build_s = steps.begin("building the host app", BUILD_TIMEOUT_S)
        source = apk or await ready_apk(note, timeout_s=build_s)
        with _alone(chosen, force), _progress("installing", quiet=options.as_json) as on_progress:
            done = await install_host(
                chosen,
                source,
                timeout_s=steps.begin("installing the host app", INSTALL_TIMEOUT_S),
                on_progress=on_progress,
                report=note,
            )
        if apk is None and done.version_name != bridge.__version__:
            note(f"the host app says version {done.version_name}, this is webview-bridge {bridge.__version__}")
        results = {"action": done.action, "version": done.version_name, "before": done.before, "why": done.why}
        was = f", was {done.before}" if done.before else ""
        return Told(results, f"{done.action} host app {done.version_name} on {chosen.serial}{was}")

    _run("host install", options, device, work)


@host.command()
@_device_option
@click.option(
    "--instrument", is_flag=True, help="Start it by 'am instrument', the way around for phones that kill services."
)
@common_options
def start(options: CommonOptions, device: str, instrument: bool) -> None:
    """Start the host app, shake hands with it, and print what it says of itself.

    It ends by itself 30 s later unless a session uses it. With --json: device, host: {app_version, protocol, api_level,
    pid, webview, devtools_socket, max_tabs, idle_timeout_s, features}.
    """
    import os
    from dataclasses import asdict

    from bridge.host.launch import Plan, start_host

    plans: tuple[Plan, ...] = ("instrumentation",) if instrument else ("service", "instrumentation")

    async def work(chosen: AdbDevice, steps: CommandProgress) -> Told:
        timeout_s = steps.begin("starting the host app", START_TIMEOUT_S)
        async with start_host(
            chosen, owner=f"pid {os.getpid()}", policy_digest="", timeout_s=timeout_s, plans=plans
        ) as client:
            hello = client.hello
        if not options.as_json:
            note("it ends by itself after 30 s without a session")
        return Told(
            {"host": asdict(hello)},
            f"host app {hello.app_version} on {chosen.serial}: protocol {hello.protocol}, process {hello.pid}, "
            f"API {hello.api_level}, {hello.webview_package} {hello.webview_version}",
        )

    _run("host start", options, device, work)


@host.command()
@_device_option
@_force_option
@common_options
def stop(options: CommonOptions, device: str, force: bool) -> None:
    """End the host app's process and its tabs. Cookies stay. With --json: device, stopped."""
    from bridge.host.installation import stop_host

    async def work(chosen: AdbDevice, steps: CommandProgress) -> Told:
        with _alone(chosen, force):
            stopped = await stop_host(chosen, timeout_s=steps.begin("stopping the host app", ASK_TIMEOUT_S))
        said = f"stopped the host app on {chosen.serial}" if stopped else "the host app did not run"
        return Told({"stopped": stopped}, said)

    _run("host stop", options, device, work)


@host.command()
@_device_option
@common_options
def status(options: CommonOptions, device: str) -> None:
    """Whether the host app is installed, of this version, running, and who uses it from this machine.

    With --json: device, installed, version, matches, apk_path, pids, held_by, apk (here, null where there is none).
    """
    import bridge
    from bridge.host.apk import APK
    from bridge.host.installation import host_pids, installed_host
    from bridge.host.lease import held_by, lease_key

    async def work(chosen: AdbDevice, steps: CommandProgress) -> Told:
        found = await installed_host(chosen, timeout_s=steps.begin("asking the package manager", ASK_TIMEOUT_S))
        pids = await host_pids(chosen, timeout_s=steps.begin("asking for its process", ASK_TIMEOUT_S))
        holder = held_by(lease_key(chosen))
        matches = found is not None and found.version_name == bridge.__version__
        results = {
            "installed": found is not None,
            "version": found.version_name if found else None,
            "matches": matches,
            "apk_path": found.apk_path if found else None,
            "pids": list(pids),
            "held_by": holder,
            "apk": str(APK) if APK.is_file() else None,
        }
        used_by = f"used by: {holder or 'no session of this machine'}"
        if found is None:
            return Told(results, f"not installed on {chosen.serial}; webview-bridge host install", used_by)
        fits = "" if matches else f" (this is webview-bridge {bridge.__version__}: webview-bridge host install)"
        return Told(
            results,
            f"installed on {chosen.serial}: version {found.version_name}{fits}",
            f"running: {'process ' + ', '.join(map(str, pids)) if pids else 'no'}",
            used_by,
        )

    _run("host status", options, device, work)


@host.command()
@_device_option
@_force_option
@common_options
def uninstall(options: CommonOptions, device: str, force: bool) -> None:
    """Remove the host app, and the cookies and storage of its pages. With --json: device, removed."""
    from bridge.host.installation import uninstall_host

    async def work(chosen: AdbDevice, steps: CommandProgress) -> Told:
        with _alone(chosen, force):
            removed = await uninstall_host(chosen, timeout_s=steps.begin("removing the host app", ASK_TIMEOUT_S))
        said = f"removed the host app from {chosen.serial}" if removed else f"it is not installed on {chosen.serial}"
        return Told({"removed": removed}, said)

    _run("host uninstall", options, device, work)


class Told:
    """What a command has to say of a device: as JSON, or in lines."""

    def __init__(self, results: Mapping[str, Any], *lines: str) -> None:
        self.results = results
        self.lines = lines


def _run(
    command: str,
    options: CommonOptions,
    wanted: str,
    work: Callable[[AdbDevice, CommandProgress], Coroutine[Any, Any, Told]],
) -> None:
    """Carry the work out on the device and print what it told."""
    from bridge.surfaces.cli.runner import CommandProgress, run_async

    steps = CommandProgress(options.timeout_s)

    async def told() -> None:
        try:
            async with _opened(options, wanted, steps) as chosen:
                said = await work(chosen, steps)
        except HostVersionMismatch as error:
            raise HostVersionMismatch(
                error.message, hint="webview-bridge host install puts the one that fits there.", **error.details
            ) from error
        if options.as_json:
            print_json(command, {"device": chosen.serial, **said.results})
        else:
            for line in said.lines:
                click.echo(one_line(line))

    run_async(command, options, steps, told())


@asynccontextmanager
async def _opened(options: CommonOptions, wanted: str, steps: CommandProgress) -> AsyncIterator[AdbDevice]:
    """The device; a virtual one only where one runs already.

    Raises:
        NoDevice, DeviceNotFound, DeviceAmbiguous, DeviceUnauthorized, DeviceOffline
    """
    from bridge.adb import AdbServer
    from bridge.session.devices import select_device
    from bridge.surfaces.composition import RunningVirtualDevices

    server = AdbServer.from_environment(options.adb_server)
    await server.ensure_running(timeout_s=steps.begin("reaching the adb server", ADB_TIMEOUT_S))
    timeout_s = steps.begin("finding the device", ADB_TIMEOUT_S)
    async with select_device(server, wanted, RunningVirtualDevices(), lambda _: None, timeout_s=timeout_s) as chosen:
        yield server.device(chosen.serial)


def _alone(device: AdbDevice, force: bool) -> Any:
    """Nobody else of this machine works on the device while the block lives, unless by force.

    Raises:
        DeviceBusy: Somebody does.
    """
    import os

    from bridge.host.lease import hold_lease, lease_key

    if force:
        return nullcontext()
    return hold_lease(lease_key(device), owner=f"pid {os.getpid()}", policy_digest="host command")


@contextmanager
def _progress(what: str, *, quiet: bool) -> Iterator[Callable[[int, int], None] | None]:
    """A bar on stderr where stdout and stderr are a terminal's."""
    import sys

    if quiet or not is_terminal() or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


COMMANDS = (host,)
