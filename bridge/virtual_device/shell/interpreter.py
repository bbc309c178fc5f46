"""Runs parsed command lines against the command table."""

from __future__ import annotations

import asyncio
import contextlib
import fnmatch
import logging
from dataclasses import dataclass, field, replace

from bridge.virtual_device.android import AndroidSystem, fail
from bridge.virtual_device.shell.call import COMMANDS, Call
from bridge.virtual_device.shell.parser import Command, Part, Pipeline, Redirect, Script, ShellSyntaxError, Word, parse
from bridge.virtual_device.shell.pipes import (
    BytesSource,
    CaptureSink,
    FileSink,
    NullSink,
    Pipe,
    Sink,
    Source,
)

logger = logging.getLogger(__name__)

EXIT_SIGPIPE, EXIT_NOT_FOUND = 141, 127
MAX_NESTING = 8
LINGER_S = 1.0  # what an early stage has after the last one ended: `logcat | head` writes seldom, so sees SIGPIPE late
MAX_GLOB_MATCHES = 10_000


class ShellExit(Exception):
    """`exit` was said."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


@dataclass(frozen=True, slots=True)
class Streams:
    stdin: Source
    stdout: Sink
    stderr: Sink


@dataclass(slots=True)
class Shell:
    """One `sh`: its variables, its folder, the status of its last command."""

    system: AndroidSystem
    cwd: str = "/"
    status: int = 0
    nesting: int = 0
    variables: dict[str, str] = field(default_factory=dict)

    async def run(self, text: str, streams: Streams) -> int:
        """Runs the text; the exit status of its last command, or what `exit` said."""
        try:
            return await self.run_lines(text, streams)
        except ShellExit as leaving:
            return leaving.status

    async def run_lines(self, text: str, streams: Streams) -> int:
        """Like `run`, but `exit` raises ShellExit: an interactive shell has more to read otherwise."""
        try:
            script = parse(text)
        except ShellSyntaxError as error:
            await _write_error(streams, f"/system/bin/sh: {error}")
            self.status = 1
            return 1
        return await self._script(script, streams)

    async def _script(self, script: Script, streams: Streams) -> int:
        for joiner, pipeline in script.steps:
            if (joiner == "&&" and self.status != 0) or (joiner == "||" and self.status == 0):
                continue
            self.status = await self._pipeline(pipeline, streams)
        return self.status

    async def _pipeline(self, pipeline: Pipeline, streams: Streams) -> int:
        commands = pipeline.commands
        if len(commands) == 1:
            status = await self._command(commands[0], streams)
        else:
            pipes = [Pipe() for _ in commands[1:]]
            stages = [
                asyncio.ensure_future(self._stage(command, streams, pipes, index))
                for index, command in enumerate(commands)
            ]
            try:
                status = await stages[-1]
                await asyncio.wait(stages, timeout=LINGER_S)
            finally:
                for stage in stages:
                    stage.cancel()
                await asyncio.gather(*stages, return_exceptions=True)
        return int(status == 0) if pipeline.is_negated else status

    async def _stage(self, command: Command, streams: Streams, pipes: list[Pipe], index: int) -> int:
        before = pipes[index - 1] if index else None
        after = pipes[index] if index < len(pipes) else None
        own = replace(streams, stdin=before or streams.stdin, stdout=after or streams.stdout)
        try:
            return await self._subshell()._command(command, own)
        except ShellExit as leaving:
            return leaving.status
        finally:
            if before is not None:
                before.close_reader()
            if after is not None:
                await after.close_writer()

    def _subshell(self) -> Shell:
        return Shell(self.system, self.cwd, self.status, self.nesting, dict(self.variables))

    async def _command(self, command: Command, streams: Streams) -> int:
        with contextlib.ExitStack() as opened:
            try:
                streams = await self._redirected(command.redirects, streams, opened)
                words = [word for part in command.words for word in await self._expand(part, streams)]
                values = [(name, await self._expand_one(word, streams)) for name, word in command.assignments]
            except OSError as error:
                await _write_error(streams, f"/system/bin/sh: can't create {error.filename}: {error.strerror}")
                return 1
            if command.group is not None:
                try:
                    return await self._subshell()._script(command.group, streams)
                except ShellExit as leaving:
                    return leaving.status
            if not words:
                self.variables.update(values)
                return 0
            return await self.run_words(words, streams)

    async def run_words(self, words: list[str], streams: Streams) -> int:
        """Runs one command whose words need no parsing."""
        name, args = words[0], words[1:]
        call = Call(name, args, streams.stdin, streams.stdout, streams.stderr, self.system, self.cwd)
        try:
            if name in _BUILTINS:
                return await self._builtin(name, args, call)
            run = COMMANDS.get(name.removeprefix("/system/bin/").removeprefix("/vendor/bin/"))
            if run is None:
                what = "inaccessible or not found" if "/" not in name else self._why_not(name)
                await call.error(f"/system/bin/sh: {name}: {what}")
                return (
                    126
                    if what in ("can't execute: Permission denied", "can't execute: Is a directory")
                    else EXIT_NOT_FOUND
                )
            return await run(call)
        except BrokenPipeError:
            return EXIT_SIGPIPE
        except OSError as error:
            if isinstance(error, ConnectionError):
                raise
            return await call.complain(f"{error.filename or args[-1:] or ''}: {error.strerror or error}")
        except (ShellExit, asyncio.CancelledError):
            raise
        except Exception:
            logger.exception("the device command %r failed", words[:10])
            return await call.complain("failed inside the virtual device", 1)

    def _why_not(self, name: str) -> str:
        try:
            is_dir = self.system.files.stat(self.system.files.resolve(name, self.cwd)).is_dir
        except OSError:
            return "inaccessible or not found"
        return "can't execute: Is a directory" if is_dir else "can't execute: Permission denied"

    async def _builtin(self, name: str, args: list[str], call: Call) -> int:
        match name:
            case "exit":
                raise ShellExit(int(args[0]) & 0xFF if args and args[0].lstrip("-").isdecimal() else self.status)
            case "cd":
                target = call.path(args[0] if args else "/")
                if not self.system.files.stat(target).is_dir:
                    raise fail(20, target)
                self.cwd = target
            case "pwd":
                await call.line(self.cwd)
            case "export" | "readonly" | "local":
                for word in args:
                    key, equals, value = word.partition("=")
                    if equals:
                        self.variables[key] = value
            case "unset":
                for word in args:
                    self.variables.pop(word, None)
            case "eval" | "sh" | "/system/bin/sh":
                return await self._nested(name, args, call)
            case "exec" | "time" | "nohup" | "command" | "toybox":
                streams = Streams(call.stdin, call.stdout, call.stderr)
                return await self.run_words(args, streams) if args else 0
        return 0

    async def _nested(self, name: str, args: list[str], call: Call) -> int:
        if self.nesting >= MAX_NESTING:
            return await call.complain("nested too deeply")
        streams = Streams(call.stdin, call.stdout, call.stderr)
        if name == "eval":
            text, shell = " ".join(args), self
        elif args[:1] == ["-c"] and len(args) > 1:
            text, shell = args[1], self._subshell()
        elif args:
            content = b"".join(self.system.files.read_chunks(call.path(args[0])))
            text, shell = content.decode(errors="replace"), self._subshell()
        else:
            content = await call.read_all()
            text, shell = content.decode(errors="replace"), self._subshell()
        shell.nesting += 1
        try:
            return await (shell.run_lines if shell is self else shell.run)(text, streams)
        finally:
            shell.nesting -= 1

    async def _redirected(
        self, redirects: tuple[Redirect, ...], streams: Streams, opened: contextlib.ExitStack
    ) -> Streams:
        for redirect in redirects:
            target = await self._expand_one(redirect.target, streams)
            if redirect.operator in (">&", "<&") and target in ("0", "1", "2", "-"):
                sinks: dict[str, Sink] = {"1": streams.stdout, "2": streams.stderr}
                streams = _with_sink(streams, redirect.fd, sinks.get(target, NullSink()))
            elif redirect.operator == "<":
                content = b"".join(self.system.files.read_chunks(self.system.files.resolve(target, self.cwd)))
                streams = replace(streams, stdin=BytesSource(content))
            else:
                sink = self._file_sink(target, redirect.operator == ">>", opened)
                streams = _with_sink(streams, redirect.fd, sink)
                if redirect.operator in ("&>", ">&"):
                    streams = _with_sink(streams, 2, sink)
        return streams

    def _file_sink(self, target: str, append: bool, opened: contextlib.ExitStack) -> Sink:
        path = self.system.files.resolve(target, self.cwd)
        if path == "/dev/null":
            return NullSink()
        sink = FileSink(self.system.files.open_write(path, append=append))
        opened.callback(sink.close)
        return sink

    async def _expand_one(self, word: Word, streams: Streams) -> str:
        return "".join([await self._part(part, streams) for part in word])

    async def _expand(self, word: Word, streams: Streams) -> list[str]:
        """The fields a word becomes: unquoted `$` results are split at blanks, unquoted `*?[` match files."""
        fields: list[str] = []
        current, is_open, is_pattern = "", False, False
        for part in word:
            value = await self._part(part, streams)
            if part.is_quoted or part.kind == "text":
                current += value
                is_open = True
                is_pattern |= not part.is_quoted and any(char in value for char in "*?[")
                continue
            pieces = value.split()
            if value[:1].isspace() and is_open:
                fields.append(current)
                current, is_open = "", False
            for index, piece in enumerate(pieces):
                if index:
                    fields.append(current)
                    current = ""
                current += piece
                is_open = True
            if value[-1:].isspace() and is_open:
                fields.append(current)
                current, is_open = "", False
        if is_open:
            fields += self._glob(current) if is_pattern else [current]
        return fields

    def _glob(self, pattern: str) -> list[str]:
        """Files that match in the last component, in order; the pattern itself when none does."""
        folder, slash, name = pattern.rpartition("/")
        if any(char in folder for char in "*?["):
            return [pattern]
        try:
            entries = self.system.files.list(self.system.files.resolve(folder + slash or ".", self.cwd))
        except OSError:
            return [pattern]
        found = [folder + slash + entry for entry, _ in entries[:MAX_GLOB_MATCHES] if _matches(entry, name)]
        return found or [pattern]

    async def _part(self, part: Part, streams: Streams) -> str:
        if part.kind == "text":
            return part.text
        if part.kind == "variable":
            value = self._variable(part.text)
            return value if value or part.default is None else part.default
        if self.nesting >= MAX_NESTING:
            return ""
        captured = CaptureSink()
        inner = self._subshell()
        inner.nesting += 1
        self.status = await inner.run(part.text, replace(streams, stdout=captured))
        return captured.content.decode("utf-8", "surrogateescape").rstrip("\n")

    def _variable(self, name: str) -> str:
        fixed = {"?": str(self.status), "$": "4711", "#": "0", "PWD": self.cwd, "0": "sh"}
        return fixed.get(name) or self.variables.get(name) or _ENVIRONMENT.get(name, "")


def _matches(entry: str, pattern: str) -> bool:
    return fnmatch.fnmatchcase(entry, pattern) and (pattern.startswith(".") or not entry.startswith("."))


def _with_sink(streams: Streams, fd: int, sink: Sink) -> Streams:
    if fd == 2:
        return replace(streams, stderr=sink)
    return replace(streams, stdout=sink) if fd == 1 else streams


async def _write_error(streams: Streams, text: str) -> None:
    with contextlib.suppress(BrokenPipeError):
        await streams.stderr.write(text.encode("utf-8", "surrogateescape") + b"\n")


_BUILTINS = frozenset(
    (
        "exit", "cd", "pwd", "export", "readonly", "local", "unset", "eval",
        "sh", "/system/bin/sh", "exec", "time", "nohup", "command", "toybox",
    )
)  # fmt: skip

_ENVIRONMENT = {
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
