"""Commands that list files: ls, stat, df, du, find, readlink."""

from __future__ import annotations

import asyncio
import fnmatch
import re
import stat as stat_bits
import time

from bridge.virtual_device.android import FileStat
from bridge.virtual_device.shell.call import Call, command, split_options

_OWNERS = {0: "root", 1000: "system", 2000: "shell"}
MAX_WALKED = 100_000


def _long(name: str, found: FileStat) -> str:
    when = time.strftime("%Y-%m-%d %H:%M", time.gmtime(found.mtime))
    owner, group = _OWNERS.get(found.uid, str(found.uid)), _OWNERS.get(found.gid, str(found.gid))
    return f"{stat_bits.filemode(found.mode)} {found.links:2} {owner} {group} {found.size:6} {when} {name}"


@command("ls")
async def ls(call: Call) -> int:
    options, names = split_options(call.args)
    status = 0
    for name in names or ["."]:
        try:
            path = call.path(name)
            found = call.system.files.stat(path)
            if found.is_dir and "d" not in options:
                if len(names) > 1:
                    await call.line(f"{name}:")
                await _folder(call, path, options)
            else:
                await call.line(_long(name, found) if "l" in options else name)
        except OSError as error:
            status = await call.complain(f"{name}: {error.strerror}")
    return status


async def _folder(call: Call, path: str, options: dict[str, str]) -> None:
    entries = [
        (name, found)
        for name, found in call.system.files.list(path)
        if not name.startswith(".") or {"a", "A"} & options.keys()
    ]
    if "t" in options:
        entries.sort(key=lambda entry: -entry[1].mtime)
    if "S" in options:
        entries.sort(key=lambda entry: -entry[1].size)
    if "r" in options:
        entries.reverse()
    if "l" in options:
        await call.line(f"total {sum(-(-found.size // 1024) for _, found in entries)}")
    if "a" in options:
        entries = [(dots, call.system.files.stat(path)) for dots in (".", "..")] + entries
    for name, found in entries:
        await call.line(_long(name, found) if "l" in options else name)
    if "R" in options:
        for name, found in entries:
            if found.is_dir and name not in (".", ".."):
                await call.line(f"\n{path}/{name}:")
                await _folder(call, f"{path}/{name}", options)


@command("stat")
async def stat(call: Call) -> int:
    options, names = split_options(call.args, with_value="c")
    status = 0
    for name in names:
        try:
            found = call.system.files.stat(call.path(name))
        except OSError as error:
            status = await call.complain(f"'{name}': {error.strerror}")
            continue
        kind = "directory" if found.is_dir else "regular file" if found.size else "regular empty file"
        fields = {
            "s": str(found.size),
            "n": name,
            "a": f"{found.mode & 0o7777:o}",
            "A": stat_bits.filemode(found.mode),
            "f": f"{found.mode:x}",
            "F": kind,
            "Y": str(found.mtime),
            "u": str(found.uid),
            "g": str(found.gid),
            "U": _OWNERS.get(found.uid, str(found.uid)),
            "i": str(found.inode),
            "h": str(found.links),
            "%": "%",
        }
        form = options.get("c") or "  File: %n\n  Size: %s\t IO Blocks: 4096\t %F\nAccess: (%a/%A)\tUid: (%u/ %U)"
        pieces = re.split(r"%(.)", form)
        await call.line("".join(fields.get(piece, "?") if at % 2 else piece for at, piece in enumerate(pieces)))
    return status


@command("readlink", "realpath")
async def realpath(call: Call) -> int:
    _, names = split_options(call.args)
    for name in names:
        await call.line(call.path(name))
    return 0


@command("df")
async def df(call: Call) -> int:
    files = call.system.files
    total, used = files.quota_bytes // 1024, files.used_bytes // 1024
    await call.line("Filesystem     1K-blocks   Used Available Use% Mounted on")
    for name, mount in (("/dev/block/dm-5", "/data"), ("/dev/fuse", "/storage/emulated")):
        await call.line(f"{name:<14} {total:>9} {used:>6} {total - used:>9} {used * 100 // total:>3}% {mount}")
    return 0


def _walk(call: Call, path: str, budget: list[int]) -> list[tuple[str, FileStat]]:
    found = call.system.files.stat(path)
    rows = [(path, found)]
    budget[0] -= 1
    if found.is_dir and budget[0] > 0:
        try:
            names = call.system.files.list(path)
        except PermissionError:
            names = []
        for name, _ in names:
            rows += _walk(call, f"{path.rstrip('/')}/{name}", budget)
    return rows


@command("du")
async def du(call: Call) -> int:
    options, names = split_options(call.args)
    for name in names or ["."]:
        total = sum(found.size for _, found in _walk(call, call.path(name), [MAX_WALKED]) if found.is_file)
        size = f"{total / 1048576:.1f}M" if "h" in options else str(-(-total // 1024))
        await call.line(f"{size}\t{name}")
    return 0


@command("find")
async def find(call: Call) -> int:
    roots: list[str] = []
    words = list(call.args)
    while words and not words[0].startswith("-"):
        roots.append(words.pop(0))
    tests = dict(zip(words[::2], words[1::2], strict=False))
    if unknown := [word for word in words[::2] if word not in ("-name", "-iname", "-type", "-maxdepth", "-print")]:
        return await call.complain(f"bad arg '{unknown[0]}'")
    pattern = tests.get("-name") or tests.get("-iname")
    for root in roots or ["."]:
        base = call.path(root)
        for path, found in _walk(call, base, [MAX_WALKED]):
            below = path[len(base) :].count("/")
            name = path.rpartition("/")[2]
            if pattern and not fnmatch.fnmatchcase(name, pattern):
                continue
            if {"f": not found.is_file, "d": not found.is_dir}.get(tests.get("-type", ""), False):
                continue
            if below > int(tests.get("-maxdepth", "999") or 999):
                continue
            await call.line(root.rstrip("/") + path[len(base) :])
            await asyncio.sleep(0)
    return 0
