"""Commands that change files, with the messages of toybox."""

from __future__ import annotations

import asyncio
import re

from bridge.virtual_device.shell.call import STDIN_LIMIT_BYTES, Call, command, split_options


@command("cat")
async def cat(call: Call) -> int:
    names = [word for word in call.args if word == "-" or not word.startswith("-")]
    status = 0
    for name in names or ["-"]:
        if name == "-":
            while chunk := await call.stdin.read():
                await call.stdout.write(chunk)
            continue
        try:
            for chunk in call.system.files.read_chunks(call.path(name), 1 << 19):
                await call.stdout.write(chunk)
        except BrokenPipeError:
            raise
        except OSError as error:
            status = await call.complain(f"{name}: {error.strerror}")
    return status


@command("tee")
async def tee(call: Call) -> int:
    options, names = split_options(call.args)
    handles = [call.system.files.open_write(call.path(name), append="a" in options) for name in names]
    try:
        while chunk := await call.stdin.read():
            await call.stdout.write(chunk)
            for handle in handles:
                handle.write(chunk)
    finally:
        for handle in handles:
            handle.close()
    return 0


@command("rm")
async def rm(call: Call) -> int:
    options, names = split_options(call.args)
    recursive = bool({"r", "R"} & options.keys())
    status = 0
    if not names and "f" not in options:
        return await call.complain('Needs 1 argument (see "rm --help")')
    for name in names:
        try:
            path = call.path(name)
            found = call.system.files.stat(path)
            if found.is_dir and not recursive:
                status = await call.complain(f"{name}: is a directory")
            elif found.is_dir:
                call.system.files.remove_tree(path)
            else:
                call.system.files.remove(path)
        except FileNotFoundError:
            if "f" not in options:
                status = await call.complain(f"{name}: No such file or directory")
        except OSError as error:
            status = await call.complain(f"{name}: {error.strerror}")
        await asyncio.sleep(0)
    return status


@command("rmdir")
async def rmdir(call: Call) -> int:
    status = 0
    for name in call.args:
        path = call.path(name)
        if not call.system.files.stat(path).is_dir:
            status = await call.complain(f"{name}: Not a directory")
        elif call.system.files.list(path):
            status = await call.complain(f"{name}: Directory not empty")
        else:
            call.system.files.remove(path)
    return status


@command("mkdir")
async def mkdir(call: Call) -> int:
    options, names = split_options(call.args, with_value="m")
    status = 0
    for name in names:
        try:
            call.system.files.mkdir(call.path(name), parents="p" in options)
        except OSError as error:
            status = await call.complain(f"'{name}': {error.strerror}")
    return status


def _target(call: Call, source: str, target: str) -> str:
    """The destination path: inside a folder under the same name, or the path itself."""
    files = call.system.files
    path = call.path(target)
    if files.exists(path) and files.stat(path).is_dir:
        return f"{path}/{source.rstrip('/').rpartition('/')[2]}"
    return path


@command("mv", "cp")
async def move_or_copy(call: Call) -> int:
    options, names = split_options(call.args)
    if len(names) < 2:
        return await call.complain('Needs 2 arguments (see "cp --help")')
    *sources, target = names
    status = 0
    for source in sources:
        try:
            goal = _target(call, source, target)
            if call.name == "mv":
                call.system.files.rename(call.path(source), goal)
            else:
                await _copy(call, call.path(source), goal, recursive=bool({"r", "R", "a"} & options.keys()))
        except OSError as error:
            status = await call.complain(f"bad '{source}': {error.strerror}")
    return status


async def _copy(call: Call, source: str, target: str, *, recursive: bool) -> None:
    files = call.system.files
    if files.stat(source).is_dir:
        if not recursive:
            raise IsADirectoryError(21, "Is a directory", source)
        if (target + "/").startswith(source + "/"):
            raise OSError(22, "Invalid argument", target)
        files.mkdir(target, parents=True)
        for name, _ in files.list(source):
            await _copy(call, f"{source}/{name}", f"{target}/{name}", recursive=True)
        return
    handle = files.open_write(target)
    try:
        for chunk in files.read_chunks(source, 1 << 20):
            handle.write(chunk)
            await asyncio.sleep(0)
    finally:
        handle.close()


@command("touch")
async def touch(call: Call) -> int:
    _, names = split_options(call.args, with_value="dtr")
    status = 0
    for name in names:
        try:
            path = call.path(name)
            if call.system.files.exists(path):
                call.system.files.touch(path)
            else:
                call.system.files.open_write(path).close()
        except OSError as error:
            status = await call.complain(f"'{name}': {error.strerror}")
    return status


@command("chmod")
async def chmod(call: Call) -> int:
    words = [word for word in call.args if word != "-R"]
    if len(words) < 2:
        return await call.complain("Needs 2 arguments")
    status = 0
    for name in words[1:]:
        path = call.path(name)
        found = call.system.files.stat(path)
        if re.fullmatch("[0-7]{3,4}", words[0]):
            call.system.files.touch(path, mtime=found.mtime, mode=int(words[0], 8))
    return status


@command("dd")
async def dd(call: Call) -> int:
    given = dict(word.partition("=")[::2] for word in call.args)
    size = re.fullmatch(r"(\d{1,9})([kKmM]?)", given.get("bs", "512"))
    block = int(size[1]) * {"": 1, "k": 1 << 10, "m": 1 << 20}[size[2].lower()] if size else 512
    limit = block * int(given["count"]) if given.get("count", "").isdecimal() else STDIN_LIMIT_BYTES
    if "if" in given:
        content = bytearray()
        for chunk in call.system.files.read_chunks(call.path(given["if"])):
            content += chunk
            if len(content) >= limit:
                break
            await asyncio.sleep(0)
        content = content[:limit]
    else:
        content = bytearray((await call.read_all())[:limit])
    if "of" in given:
        handle = call.system.files.open_write(call.path(given["of"]))
        try:
            handle.write(bytes(content))
        finally:
            handle.close()
    else:
        await call.stdout.write(bytes(content))
    return 0
