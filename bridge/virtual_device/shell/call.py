"""A call of a device command (arguments, streams, the system), and the table of commands."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

from bridge.virtual_device.android import AndroidSystem
from bridge.virtual_device.shell.pipes import ByteSink, ByteSource

ENVIRONMENT = {
    "ANDROID_DATA": "/data",
    "ANDROID_ROOT": "/system",
    "EXTERNAL_STORAGE": "/sdcard",
    "HOME": "/",
    "HOSTNAME": "virtual",
    "LOGNAME": "shell",
    "PATH": "/product/bin:/apex/com.android.runtime/bin:/system/bin:/system/xbin:/vendor/bin",
    "SHELL": "/bin/sh",
    "TERM": "dumb",
    "TMPDIR": "/data/local/tmp",
    "USER": "shell",
}
SHELL_PID = "4711"
STDIN_LIMIT_BYTES = 64 * 1024 * 1024


@dataclass(slots=True)
class Call:
    """One running command."""

    name: str
    args: list[str]
    stdin: ByteSource
    stdout: ByteSink
    stderr: ByteSink
    system: AndroidSystem
    cwd: str = "/"

    async def out(self, text: str) -> None:
        """Writes to standard output, as is."""
        await self.stdout.write(text.encode("utf-8", "surrogateescape"))

    async def line(self, text: str = "") -> None:
        await self.out(text + "\n")

    async def error(self, text: str) -> None:
        """Writes a line to standard error, as is."""
        await self.stderr.write((text + "\n").encode("utf-8", "surrogateescape"))

    async def complain(self, text: str, status: int = 1) -> int:
        """`name: text` on standard error; gives back the exit status."""
        await self.error(f"{self.name}: {text}")
        return status

    def path(self, name: str) -> str:
        """An argument as an absolute device path."""
        return self.system.files.resolve(name, self.cwd)

    async def read_all(self) -> bytes:
        """All of standard input, bounded."""
        body = bytearray()
        while chunk := await self.stdin.read():
            body += chunk
            if len(body) > STDIN_LIMIT_BYTES:
                raise OSError(12, "Cannot allocate memory")
        return bytes(body)

    async def inputs(self, names: list[str]) -> AsyncIterator[tuple[str, bytes]]:
        """Content of each named file, or of standard input for none and for "-"; complains about missing ones."""
        for name in names or ["-"]:
            if name == "-":
                yield name, await self.read_all()
                continue
            content = bytearray()
            try:
                for chunk in self.system.files.read_chunks(self.path(name)):
                    content += chunk
                    if len(content) > STDIN_LIMIT_BYTES:
                        raise OSError(12, "Cannot allocate memory")
            except OSError as error:
                await self.complain(f"{name}: {error.strerror}")
                continue
            yield name, bytes(content)
            await asyncio.sleep(0)


class ShellExit(Exception):
    """The command line ran `exit`, or ended its shell by a signal."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


Run = Callable[[Call], Awaitable[int]]
COMMANDS: dict[str, Run] = {}


def command(*names: str) -> Callable[[Run], Run]:
    """Adds a function to the table under those names; its result is the exit status."""

    def add(run: Run) -> Run:
        for name in names:
            assert name not in COMMANDS, name
            COMMANDS[name] = run
        return run

    return add


def split_options(args: list[str], with_value: str = "") -> tuple[dict[str, str], list[str]]:
    """Short options and the rest, as getopt cuts them; letters in `with_value` take a value. `--` ends options."""
    options: dict[str, str] = {}
    rest: list[str] = []
    queue = list(args)
    while queue:
        word = queue.pop(0)
        if word == "--":
            rest += queue
            break
        if len(word) < 2 or not word.startswith("-"):
            rest.append(word)
            continue
        if word.startswith("--"):
            key, _, value = word[2:].partition("=")
            options[key] = value
            continue
        letters = word[1:]
        while letters:
            letter, letters = letters[0], letters[1:]
            if letter in with_value:
                options[letter] = letters or (queue.pop(0) if queue else "")
                break
            options[letter] = ""
    return options, rest
