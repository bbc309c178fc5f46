"""Commands about the system: properties, identity, processes, log, settings, network."""

from __future__ import annotations

import datetime
import re

from bridge.virtual_device.android import LogFilter
from bridge.virtual_device.shell.call import COMMANDS, ENVIRONMENT, SHELL_PID, Call, ShellExit, command, split_options

_SHELL_GROUPS = (
    "2000(shell),1004(input),1007(log),1011(adb),1015(sdcard_rw),1028(sdcard_r),1078(ext_data_rw),"
    "1079(ext_obb_rw),3001(net_bt_admin),3002(net_bt),3003(inet),3006(net_bw_stats),3009(readproc),3011(uhid),"
    "3012(readtracefs)"
)


@command("getprop")
async def getprop(call: Call) -> int:
    names = [word for word in call.args if not word.startswith("-")]
    if not names:
        for name, value in call.system.properties:
            await call.line(f"[{name}]: [{value}]")
        return 0
    await call.line(call.system.properties.get(names[0], names[1] if len(names) > 1 else ""))
    return 0


@command("setprop")
async def setprop(call: Call) -> int:
    if len(call.args) != 2:
        return await call.complain("Needs 2 arguments")
    name, value = call.args
    if not call.system.properties.shell_set(name, value):
        await call.error(f"Failed to set property '{name}' to '{value}'.")
        await call.error("See dmesg for error reason.")
        return 1
    return 0


@command("id")
async def identity(call: Call) -> int:
    options, _ = split_options(call.args)
    if "u" in options or "g" in options:
        await call.line("shell" if "n" in options else "2000")
    else:
        await call.line(f"uid=2000(shell) gid=2000(shell) groups={_SHELL_GROUPS} context=u:r:shell:s0")
    return 0


@command("whoami")
async def whoami(call: Call) -> int:
    await call.line("shell")
    return 0


@command("su")
async def su(call: Call) -> int:
    await call.error(f"/system/bin/sh: {call.name}: inaccessible or not found")
    return 127


@command("uname")
async def uname(call: Call) -> int:
    options, _ = split_options(call.args)
    facts = {"s": "Linux", "n": "localhost", "r": "6.1.23-android14-4-virtual", "v": "#1 SMP PREEMPT", "m": "x86_64"}
    chosen = [facts[key] for key in "snrvm" if key in options or "a" in options] or [facts["s"]]
    await call.line(" ".join(chosen))
    return 0


@command("date")
async def date(call: Call) -> int:
    now = datetime.datetime.now(datetime.UTC)
    form = next((word[1:] for word in call.args if word.startswith("+")), "%a %b %e %H:%M:%S %Z %Y")
    replaced = form.replace("%s", str(int(now.timestamp()))).replace("%N", f"{now.microsecond:06}000")
    await call.line(now.strftime(replaced))
    return 0


@command("uptime")
async def uptime(call: Call) -> int:
    await call.line(f" up {int(call.system.uptime_s() // 60)} min,  0 users,  load average: 0.00, 0.00, 0.00")
    return 0


@command("nproc")
async def nproc(call: Call) -> int:
    await call.line("2")
    return 0


@command("env", "printenv")
async def env(call: Call) -> int:
    for name, value in ENVIRONMENT.items():
        await call.line(f"{name}={value}")
    return 0


@command("which", "type")
async def which(call: Call) -> int:
    status = 0
    for name in call.args:
        if name in COMMANDS:
            await call.line(f"/system/bin/{name}")
        else:
            status = 1
    return status


@command("ps")
async def ps(call: Call) -> int:
    options, _ = split_options(call.args, with_value="opuU")
    columns = [column.strip().upper() for column in options.get("o", "").split(",") if column.strip()]
    rows = [
        {"USER": row.user, "PID": str(row.pid), "PPID": str(row.parent), "VSZ": "13000000", "RSS": "90000",
         "WCHAN": "0", "ADDR": "0", "S": "S", "NAME": row.name, "ARGS": row.name, "CMD": row.name}
        for row in sorted(call.system.processes.values(), key=lambda process: process.pid)
        if options.get("p") in (None, str(row.pid))
        and ("A" in options or "e" in options or columns or row.user == "shell")
    ]  # fmt: skip
    if columns:
        names = [column.split("=")[0] for column in columns]
        if not all(column.endswith("=") for column in columns):
            await call.line(" ".join(names))
        for row in rows:
            await call.line(" ".join(row.get(name, "?") for name in names))
        return 0
    await call.line("USER           PID  PPID        VSZ    RSS WCHAN            ADDR S NAME")
    for row in rows:
        await call.line(
            f"{row['USER']:<12} {row['PID']:>5} {row['PPID']:>5} {row['VSZ']:>10} {row['RSS']:>6} "
            f"{row['WCHAN']:<16} {row['ADDR']:>4} S {row['NAME']}"
        )
    return 0


@command("pidof", "pgrep")
async def pidof(call: Call) -> int:
    options, names = split_options(call.args)

    def wanted(process_name: str) -> bool:
        if call.name == "pidof" or "x" in options:
            return process_name in names
        return any(name in process_name for name in names)

    pids = [str(pid) for pid, process in sorted(call.system.processes.items()) if wanted(process.name)]
    if pids:
        await call.line((" " if call.name == "pidof" else "\n").join(pids))
    return 0 if pids else 1


@command("kill", "killall", "pkill")
async def kill(call: Call) -> int:
    for word in call.args:
        if word.startswith("-"):
            continue
        if word == SHELL_PID and call.name == "kill":
            number = next((item[1:] for item in call.args if re.fullmatch(r"-\d{1,2}", item)), "15")
            raise ShellExit(128 + int(number))
        if word.isdecimal() and int(word) in call.system.processes:
            return await call.complain(f"{word}: Operation not permitted")
        return await call.complain(f"{word}: No such process")
    return 0


@command("logcat")
async def logcat(call: Call) -> int:
    args = [word for word in call.args if word != "--"]
    options, specs = split_options(args, with_value="vtTbpfrneD")
    unknown = set(options) - set("dcsgvtTbpLSBef") - {"pid", "clear", "regex", "buffer", "format", "last"}
    if unknown:
        return await call.complain(f"unrecognized option: {min(unknown)}")
    buffer = call.system.logcat
    if "c" in options or "clear" in options:
        buffer.clear()
        return 0
    if "g" in options:
        await call.line("main: ring buffer is 256 KiB (1 KiB consumed, 0 B readable), max entry is 5120 B")
        return 0
    chosen = LogFilter((["-s"] if "s" in options else []) + specs)
    style = options.get("v", options.get("format", "threadtime"))
    only = re.compile(options.get("e", options.get("regex", "")))
    pid = int(options["pid"]) if options.get("pid", "").isdecimal() else None
    lines = [
        line
        for line in buffer.lines()
        if chosen.lets_through(line) and only.search(line.text) and pid in (None, line.pid)
    ]
    if (count := options.get("t", options.get("T", ""))).isdecimal():
        lines = lines[-int(count) :]
    await call.line("--------- beginning of main")
    for line in lines:
        await call.line(line.render(style))
    if "d" in options or "t" in options:
        return 0
    seen = max((line.number for line in buffer.lines()), default=0)
    async for line in buffer.follow(seen):
        if chosen.lets_through(line) and only.search(line.text) and pid in (None, line.pid):
            await call.line(line.render(style))
    return 0


@command("log")
async def log(call: Call) -> int:
    options, words = split_options(call.args, with_value="pt")
    priority = options.get("p", "i").upper()[:1]
    call.system.log(
        options.get("t", "log"), " ".join(words), priority=priority if priority in "VDIWEF" else "I", pid=4711
    )
    return 0


@command("settings")
async def settings(call: Call) -> int:
    words = list(call.args)
    if words[:1] == ["--user"]:
        words = words[2:]
    match words:
        case ["get", space, key] if space in call.system.settings:
            await call.line(call.system.settings[space].get(key, "null"))
        case ["put", space, key, value, *_] if space in call.system.settings:
            call.system.settings[space][key] = value
        case ["delete" | "reset", space, key] if space in call.system.settings:
            gone = call.system.settings[space].pop(key, None)
            await call.line(f"Deleted {int(gone is not None)} rows")
        case ["list", space] if space in call.system.settings:
            for key, value in sorted(call.system.settings[space].items()):
                await call.line(f"{key}={value}")
        case [("get" | "put" | "delete" | "list"), space, *_] if space not in call.system.settings:
            await call.error(f"Invalid namespace '{space}'")
            return 255
        case _:
            await call.error("Invalid command: " + (words[0] if words else ""))
            return 255
    return 0


@command("ip", "ifconfig")
async def ip(call: Call) -> int:
    words = [word for word in call.args if not word.startswith("-")]
    if words[:1] == ["route"]:
        await call.line("10.0.2.0/24 dev wlan0 proto kernel scope link src 10.0.2.16")
        return 0
    await call.out(
        "1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN group default qlen 1000\n"
        "    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00\n"
        "    inet 127.0.0.1/8 scope host lo\n       valid_lft forever preferred_lft forever\n"
        "2: wlan0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP group default qlen 1000\n"
        "    link/ether 02:15:b2:00:00:00 brd ff:ff:ff:ff:ff:ff\n"
        "    inet 10.0.2.16/24 brd 10.0.2.255 scope global wlan0\n       valid_lft forever preferred_lft forever\n"
    )
    return 0


@command("svc", "appops", "ime", "content", "wm-shell", "locksettings", "start", "stop", "sync")
async def accepted(call: Call) -> int:
    call.system.log("virtual", f"{call.name} {' '.join(call.args)[:200]}: accepted, without effect", priority="D")
    return 0


@command("reboot")
async def reboot(call: Call) -> int:
    call.system.reboot()
    return 0
