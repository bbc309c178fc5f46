"""`devices`, `targets` and `virtual`: what can be driven, and virtual devices that outlive a command."""

from __future__ import annotations

import math
from typing import Any

import click

from bridge.errors import NoDevice, UsageError
from bridge.surfaces.cli.groups import Commands
from bridge.surfaces.cli.options import TEXT, CommonOptions, WholeNumber, common_options
from bridge.surfaces.cli.output import note, one_line, print_json
from bridge.surfaces.cli.tables import print_table

ADB_TIMEOUT_S = 20.0
START_TIMEOUT_S = 60.0
# A frozen process accepts connections and never responds.
PAGES_TIMEOUT_S = 2.0
RAY_RESOURCE = "android_device"


@click.command()
@click.option("--ray", is_flag=True, help="Print only the resources for: ray start --resources=…")
@common_options
def devices(options: CommonOptions, ray: bool) -> None:
    """List the devices of the adb server.

    With --json: devices: [{serial, state, model, product, virtual}], or with --ray resources: {android_device}.
    """
    import json

    from bridge.adb import AdbServer
    from bridge.surfaces.cli.runner import CommandProgress, run_async
    from bridge.virtual_device import list_virtual_devices

    progress = CommandProgress(options.timeout_s)

    async def work() -> None:
        server = AdbServer.from_environment(options.adb_server)
        await server.ensure_running(timeout_s=progress.begin("reaching the adb server", ADB_TIMEOUT_S))
        found = await server.devices(timeout_s=progress.begin("listing devices", ADB_TIMEOUT_S))
        virtual_serials = {handle.serial for handle in list_virtual_devices()}
        rows = [
            {
                "serial": entry.serial,
                "state": entry.state,
                "model": entry.model,
                "product": entry.product,
                "virtual": entry.serial in virtual_serials,
            }
            for entry in found
        ]
        owned = {handle.serial for handle in list_virtual_devices() if not handle.is_detached}
        ready = [entry for entry in found if entry.state == "device" and entry.serial not in owned]
        resources = {RAY_RESOURCE: len(ready)}
        if options.as_json:
            print_json("devices", {"resources": resources} if ray else {"devices": rows})
            return
        if ray:
            click.echo(json.dumps(resources))
            return
        print_table(rows)
        if not rows:
            note("no device is attached; --device auto uses a virtual one")

    run_async("devices", options, progress, work())


@click.command()
@click.option("--pages", "with_pages", is_flag=True, help="Also list the pages of each; connects to it.")
@click.option("--forward", "forwards", is_flag=True, help="Forward a port of this machine to each, until Ctrl-C.")
@click.option(
    "--device", type=TEXT, default="auto", show_default=True, metavar="auto|virtual|SERIAL", help="The device."
)
@common_options
def targets(options: CommonOptions, device: str, with_pages: bool, forwards: bool) -> None:
    """List the WebViews and browsers on a device that can be attached to, with their apps.

    With --json: targets: [{name, kind, pid, process, package, pages?, port?}],
    where pages is [{url, title}] or {error}. With --forward other tools can connect to http://127.0.0.1:PORT, such as
    Playwright's connectOverCDP (with noDefaults: true) and chrome://inspect; so can every user of this machine.
    """
    import asyncio
    from contextlib import AsyncExitStack

    from bridge.adb import AdbServer
    from bridge.errors import BridgeError
    from bridge.session import devtools_sockets, pages_of, select_device
    from bridge.snapshot.address import shown_url
    from bridge.surfaces.cli.runner import CommandProgress, run_async
    from bridge.surfaces.composition import RunningVirtualDevices

    progress = CommandProgress(options.timeout_s)

    async def work() -> None:
        server = AdbServer.from_environment(options.adb_server)
        await server.ensure_running(timeout_s=progress.begin("reaching the adb server", ADB_TIMEOUT_S))
        timeout_s = progress.begin("finding the device", ADB_TIMEOUT_S)
        async with (
            select_device(server, device, RunningVirtualDevices(), note, timeout_s=timeout_s) as chosen,
            AsyncExitStack() as forwarded,
        ):
            adb_device = server.device(chosen.serial)
            rows = []
            for found in await devtools_sockets(adb_device, timeout_s=progress.begin("reading /proc", ADB_TIMEOUT_S)):
                row = found.to_json()
                if with_pages:
                    try:
                        pages = await pages_of(adb_device, found.name, found.pid, timeout_s=PAGES_TIMEOUT_S)
                        row["pages"] = [{"url": shown_url(page.url), "title": shown_url(page.title)} for page in pages]
                    except BridgeError as error:
                        row["pages"] = {"error": error.message}
                if forwards:
                    remote = f"localabstract:{found.name}"
                    timeout_s = progress.begin(f"forwarding a port to {found.name}", ADB_TIMEOUT_S)
                    forward = adb_device.forward("tcp:0", remote, timeout_s=timeout_s)
                    row["port"] = await forwarded.enter_async_context(forward)
                rows.append(row)
            show(rows)
            if forwards and rows:
                note("the ports are forwarded until Ctrl-C")
                progress.begin("waiting for Ctrl-C", math.inf)
                await asyncio.Event().wait()

    def show(rows: list[dict[str, Any]]) -> None:
        if options.as_json:
            print_json("targets", {"targets": rows})
            return
        from bridge.snapshot.escape import plain

        for row in rows:
            where = f"http://127.0.0.1:{row['port']}  " if "port" in row else ""
            click.echo(one_line(f"{where}{row['package'] or '?':30} {row['name']}"))
            pages = row.get("pages", [])
            for page in pages if isinstance(pages, list) else [{"url": "", "title": pages["error"]}]:
                click.echo(one_line(f"    {plain(page['title'])}  {page['url']}"))
        if not rows:
            note("no app on the device has a devtools socket: the app must be debuggable and show a WebView")

    run_async("targets", options, progress, work())


@click.group(cls=Commands)
def virtual() -> None:
    """Virtual devices that run until they are stopped: Chromium on this machine behind the real adb server."""


@virtual.command()
@click.option("--name", type=TEXT, metavar="NAME", help="Letters, digits, - and _ (default: a random one).")
@click.option("--no-quirks", "quirks", is_flag=True, flag_value=False, default=True, help="Plain Chromium.")
@click.option("--api-level", type=WholeNumber(26, 36), default=34, show_default=True)
@click.option(
    "--engine", type=WholeNumber(91, 999), metavar="VERSION", help="An old Chromium of tools/engines, by major."
)
@common_options
def start(options: CommonOptions, name: str | None, quirks: bool, api_level: int, engine: int | None) -> None:
    """Start a virtual device and print its serial.

    With --json: device: {serial, name, pid}.
    """
    import secrets

    from bridge.adb import AdbServer
    from bridge.surfaces.cli.runner import CommandProgress, run_async
    from bridge.virtual_device import DeviceOptions, start_detached

    progress = CommandProgress(options.timeout_s)
    server = AdbServer.from_environment(options.adb_server)
    device = DeviceOptions(
        name=name or f"virtual-{secrets.token_hex(3)}",
        adb_host=server.host,
        adb_port=server.port,
        api_level=api_level,
        quirks=quirks,
        is_detached=True,
        engine={} if engine is None else {"chromium": str(engine)},
    )

    async def work() -> None:
        handle = await start_detached(device, timeout_s=progress.begin("starting the virtual device", START_TIMEOUT_S))
        if options.as_json:
            print_json("virtual start", {"device": {"serial": handle.serial, "name": handle.name, "pid": handle.pid}})
            return
        click.echo(handle.serial)
        note(f"{handle.name} runs until 'webview-bridge virtual stop {handle.name}'")

    run_async("virtual start", options, progress, work())


@virtual.command()
@click.argument("device", required=False)
@click.option("--all", "every", is_flag=True, help="Stop all of them.")
@common_options
def stop(options: CommonOptions, device: str | None, every: bool) -> None:
    """Stop the virtual device with this serial or name; without one, the only one that runs.

    With --json: stopped: [serial].
    """
    from bridge.surfaces.cli.runner import CommandProgress, run_async
    from bridge.virtual_device import list_virtual_devices, stop_virtual_device

    if every and device is not None:
        raise UsageError("give either a device or --all.")
    running = list_virtual_devices()
    chosen = [handle for handle in running if device is None or device in (handle.serial, handle.name)]
    if not chosen and not every:
        seen = ", ".join(f"{handle.name} ({handle.serial})" for handle in running) or "none"
        raise NoDevice(f"that virtual device is not running (running: {seen}).")
    if len(chosen) > 1 and not every:
        names = ", ".join(handle.name for handle in chosen)
        raise UsageError(f"{len(chosen)} virtual devices are running: {names}.", hint="Name one, or give --all.")
    progress = CommandProgress(options.timeout_s)

    async def work() -> None:
        for handle in chosen:
            await stop_virtual_device(handle, timeout_s=progress.begin(f"stopping {handle.name}", ADB_TIMEOUT_S))
        if options.as_json:
            print_json("virtual stop", {"stopped": [handle.serial for handle in chosen]})
            return
        for handle in chosen:
            click.echo(f"stopped {handle.name} ({handle.serial})")

    run_async("virtual stop", options, progress, work())


@virtual.command()
@common_options
def status(options: CommonOptions) -> None:
    """List this user's virtual devices.

    With --json: devices: [{serial, name, pid}].
    """
    from bridge.virtual_device import list_virtual_devices

    rows = [{"serial": h.serial, "name": h.name, "pid": h.pid} for h in list_virtual_devices()]
    if options.as_json:
        print_json("virtual status", {"devices": rows})
        return
    print_table(rows)
    if not rows:
        note("no virtual device is running")


COMMANDS = (devices, targets, virtual)
