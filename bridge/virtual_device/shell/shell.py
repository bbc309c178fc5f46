"""Runs command lines against the table of commands. Nothing is ever run on this machine."""

from __future__ import annotations

import asyncio
import contextlib
import fnmatch
import logging
from dataclasses import dataclass, field, replace

from bridge.virtual_device.android import AndroidSystem, fail
from bridge.virtual_device.shell.call import COMMANDS, ENVIRONMENT, SHELL_PID, Call, ShellExit
from bridge.virtual_device.shell.command_line import Part, Redirect, ShellCommand, ShellSyntaxError, Word, parse
from bridge.virtual_device.shell.pipes import ByteSink, ByteSource, BytesSource, FileSink, NullSink, Pipe

logger = logging.getLogger(__name__)

EXIT_SIGPIPE, EXIT_NOT_EXECUTABLE, EXIT_NOT_FOUND = 141, 126, 127
MAX_NESTING = 8
# Earlier stages may run on after the last one for this long: `logcat | head` writes seldom, so its SIGPIPE is late.
LINGER_S = 1.0
MAX_GLOB_MATCHES = 10_000


@dataclass(frozen=True, slots=True)
class Streams:
    stdin: ByteSource
    stdout: ByteSink
    stderr: ByteSink


@dataclass(slots=True)
class Shell:
    """One `sh`: its variables, its working directory and the status of its last command."""

    system: AndroidSystem
    cwd: str = "/"
    status: int = 0
    nesting: int = 0
    variables: dict[str, str] = field(default_factory=dict)

    async def run(self, text: str, streams: Streams) -> int:
        """Runs a command line; the exit status of its last command, or the one given to `exit`."""
        try:
            return await self.run_lines(text, streams)
        except ShellExit as leaving:
            return leaving.status

    async def run_lines(self, text: str, streams: Streams) -> int:
        """Like `run`, but `exit` raises ShellExit, which ends an interactive shell."""
        try:
            pipelines = parse(text)
        except ShellSyntaxError as error:
            await _write_error(streams, f"/system/bin/sh: {error}")
            self.status = 1
            return 1
        for pipeline in pipelines:
            if (pipeline.joiner == "&&" and self.status != 0) or (pipeline.joiner == "||" and self.status == 0):
                continue
            if len(pipeline.commands) == 1:
                self.status = await self._command(pipeline.commands[0], streams)
            else:
                self.status = await self._pipe(pipeline.commands, streams)
        return self.status

    async def run_words(self, words: list[str], streams: Streams) -> int:
        """Runs one command that is already split into words."""
        name, args = words[0], words[1:]
        call = Call(name, args, streams.stdin, streams.stdout, streams.stderr, self.system, self.cwd)
        try:
            if name.removeprefix("/system/bin/") in _BUILTINS:
                return await self._builtin(name.removeprefix("/system/bin/"), args, call, streams)
            run = COMMANDS.get(name.removeprefix("/system/bin/").removeprefix("/vendor/bin/"))
            if run is None:
                return await self._not_a_command(call, streams)
            return await run(call)
        except BrokenPipeError:
            return EXIT_SIGPIPE
        except ConnectionError:
            raise
        except OSError as error:
            return await call.complain(f"{error.filename or args[-1:] or ''}: {error.strerror or error}")
        except ShellExit:
            raise
        except Exception:
            logger.exception("the device command %r failed", words[:10])
            return await call.complain("failed inside the virtual device", 1)

    async def _pipe(self, commands: tuple[ShellCommand, ...], streams: Streams) -> int:
        """Runs the commands of a pipeline concurrently; the status of the last one."""
        pipes = [Pipe() for _ in commands[1:]]
        ends = zip(commands, [None, *pipes], [*pipes, None], strict=True)
        stages = [
            asyncio.ensure_future(self._stage(command, streams, before, after)) for command, before, after in ends
        ]
        try:
            status = await stages[-1]
            await asyncio.wait(stages, timeout=LINGER_S)
        finally:
            for stage in stages:
                stage.cancel()
            await asyncio.gather(*stages, return_exceptions=True)
        return status

    async def _stage(self, command: ShellCommand, streams: Streams, before: Pipe | None, after: Pipe | None) -> int:
        streams = replace(streams, stdin=before or streams.stdin, stdout=after or streams.stdout)
        try:
            return await self._subshell()._command(command, streams)
        except ShellExit as leaving:
            return leaving.status
        finally:
            if before is not None:
                before.close_reader()
            if after is not None:
                await after.close_writer()

    def _subshell(self) -> Shell:
        return Shell(self.system, self.cwd, self.status, self.nesting, dict(self.variables))

    async def _command(self, command: ShellCommand, streams: Streams) -> int:
        with contextlib.ExitStack() as opened:
            try:
                for redirect in command.redirects:
                    streams = self._redirected(redirect, streams, opened)
            except OSError as error:
                await _write_error(streams, f"/system/bin/sh: can't create {error.filename}: {error.strerror}")
                return 1
            values = {name: self._text(word) for name, word in command.assignments}
            words = [field for word in command.words for field in self._expand(word)]
            if words:
                return await self.run_words(words, streams)
            self.variables.update(values)
            return 0

    async def _not_a_command(self, call: Call, streams: Streams) -> int:
        problem, status = "inaccessible or not found", EXIT_NOT_FOUND
        if "/" in call.name:
            with contextlib.suppress(OSError):
                found = self.system.files.stat(call.path(call.name))
                if found.is_file and found.mode & 0o111:
                    return await self._script([call.name], call, streams)
                is_dir = found.is_dir
                problem = f"can't execute: {'Is a directory' if is_dir else 'Permission denied'}"
                status = EXIT_NOT_EXECUTABLE
        await call.error(f"/system/bin/sh: {call.name}: {problem}")
        return status

    async def _builtin(self, name: str, args: list[str], call: Call, streams: Streams) -> int:
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
            case "export":
                for word in args:
                    key, _, value = word.partition("=")
                    self.variables[key] = value
            case "unset":
                for word in args:
                    self.variables.pop(word, None)
            case "sh":
                return await self._script(args, call, streams)
            case _:  # exec, time, nohup, command, toybox: run the rest of the line
                return await self.run_words(args, streams) if args else 0
        return 0

    async def _script(self, args: list[str], call: Call, streams: Streams) -> int:
        """`sh -c TEXT`, `sh FILE`, or `sh` with the text on standard input."""
        if self.nesting >= MAX_NESTING:
            return await call.complain("nested too deeply")
        if args[:1] == ["-c"] and len(args) > 1:
            text = args[1]
        elif args:
            text = b"".join(self.system.files.read_chunks(call.path(args[0]))).decode(errors="replace")
        else:
            text = (await call.read_all()).decode(errors="replace")
        inner = self._subshell()
        inner.nesting += 1
        return await inner.run(text, streams)

    def _redirected(self, redirect: Redirect, streams: Streams, opened: contextlib.ExitStack) -> Streams:
        target = self._text(redirect.target)
        if redirect.operator == "<":
            content = b"".join(self.system.files.read_chunks(self.system.files.resolve(target, self.cwd)))
            return replace(streams, stdin=BytesSource(content))
        if redirect.operator in (">&", "<&") and target in ("0", "1", "2", "-"):
            sink: ByteSink = {"1": streams.stdout, "2": streams.stderr}.get(target) or NullSink()
            return _with_sink(streams, redirect.fd, sink)
        path = self.system.files.resolve(target, self.cwd)
        if path == "/dev/null":
            sink = NullSink()
        else:
            sink = FileSink(self.system.files.open_write(path, append=redirect.operator == ">>"))
            opened.callback(sink.close)
        streams = _with_sink(streams, redirect.fd, sink)
        return replace(streams, stderr=sink) if redirect.operator in ("&>", ">&") else streams

    def _text(self, word: Word) -> str:
        return "".join(self._variable(part.text) if part.is_variable else part.text for part in word)

    def _expand(self, word: Word) -> list[str]:
        """The fields of a word: the files that match its wildcards, nothing for an empty variable, else one."""
        text = self._text(word)
        if any(_has_wildcard(part) for part in word):
            return self._glob(text)
        return [text] if text or any(part.is_quoted for part in word) else []

    def _glob(self, pattern: str) -> list[str]:
        """Files that match in the last component, in order; the pattern itself when none does."""
        folder, slash, name = pattern.rpartition("/")
        try:
            entries = self.system.files.list(self.system.files.resolve(folder + slash or ".", self.cwd))
        except OSError:
            return [pattern]
        names = [entry for entry, _ in entries if not entry.startswith(".") or name.startswith(".")]
        return [folder + slash + entry for entry in fnmatch.filter(names, name)[:MAX_GLOB_MATCHES]] or [pattern]

    def _variable(self, name: str) -> str:
        fixed = {"?": str(self.status), "$": SHELL_PID, "#": "0", "PWD": self.cwd, "0": "sh"}
        return fixed.get(name) or self.variables.get(name) or ENVIRONMENT.get(name, "")


def _has_wildcard(part: Part) -> bool:
    return not (part.is_quoted or part.is_variable) and any(char in part.text for char in "*?[")


def _with_sink(streams: Streams, fd: int, sink: ByteSink) -> Streams:
    if fd == 2:
        return replace(streams, stderr=sink)
    return replace(streams, stdout=sink) if fd == 1 else streams


async def _write_error(streams: Streams, text: str) -> None:
    with contextlib.suppress(BrokenPipeError):
        await streams.stderr.write(text.encode("utf-8", "surrogateescape") + b"\n")


_BUILTINS = frozenset(("exit", "cd", "pwd", "export", "unset", "sh", "exec", "time", "nohup", "command", "toybox"))
