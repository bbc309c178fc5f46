"""The services `shell:`, `shell,v2:` and `exec:`.

Shell protocol v2 (AOSP packages/modules/adb `shell_protocol.h`): id u8, length u32 little-endian, body. Without it,
standard output and error share the stream and there is no exit code.
"""

from __future__ import annotations

import asyncio
import contextlib
import struct
from dataclasses import dataclass

from bridge.virtual_device.adb.packets import MAX_PAYLOAD
from bridge.virtual_device.adb.streams import Stream
from bridge.virtual_device.android import AndroidSystem
from bridge.virtual_device.shell import Shell, ShellExit, Streams

STDIN, STDOUT, STDERR, EXIT, CLOSE_STDIN = range(5)
_HEADER = struct.Struct("<BI")
_MAX_WAITING_CHUNKS = 64
ORPHAN_S = 30.0


@dataclass(frozen=True, slots=True)
class ShellRequest:
    """A parsed service name: `shell[,v2][,raw|pty][,TERM=…]:COMMAND` or `exec:COMMAND`; abb passes `words`."""

    command: str
    is_v2: bool
    is_pty: bool
    words: tuple[str, ...] = ()

    @classmethod
    def parse(cls, name: str) -> ShellRequest:
        options, _, command = name.partition(":")
        kind, *flags = options.split(",")
        is_pty = (not command and kind == "shell" and "raw" not in flags) or "pty" in flags
        return cls(command, kind == "shell" and "v2" in flags, is_pty)


class _ClientOutput:
    """One output of the command, as packets of the shell protocol or as plain bytes."""

    def __init__(self, stream: Stream, packet_id: int | None, is_pty: bool) -> None:
        self._stream = stream
        self._packet_id = packet_id
        self._is_pty = is_pty

    async def write(self, chunk: bytes) -> None:
        if self._is_pty:
            chunk = chunk.replace(b"\n", b"\r\n")
        try:
            if self._packet_id is None:
                await self._stream.write(chunk)
                return
            room = MAX_PAYLOAD - _HEADER.size
            for at in range(0, len(chunk), room):
                part = chunk[at : at + room]
                await self._stream.write(_HEADER.pack(self._packet_id, len(part)) + part)
        except ConnectionResetError as error:
            raise BrokenPipeError("the client is gone") from error


class _ClientInput:
    """Standard input from the client. Bounded: a command that does not read blocks its sender."""

    def __init__(self) -> None:
        self._chunks: asyncio.Queue[bytes] = asyncio.Queue(_MAX_WAITING_CHUNKS)
        self._has_ended = False

    async def read(self) -> bytes:
        if self._has_ended:
            return b""
        chunk = await self._chunks.get()
        self._has_ended = not chunk
        return chunk

    async def put(self, chunk: bytes) -> None:
        await self._chunks.put(chunk)


async def serve_shell(stream: Stream, request: ShellRequest, system: AndroidSystem) -> None:
    """Runs the command or an interactive shell until it ends or the client disconnects."""
    stdin = _ClientInput()
    out = _ClientOutput(stream, STDOUT if request.is_v2 else None, request.is_pty)
    err = _ClientOutput(stream, (STDOUT if request.is_pty else STDERR) if request.is_v2 else None, request.is_pty)
    streams = Streams(stdin, out, err)
    shell = Shell(system)
    if request.words:
        work = asyncio.ensure_future(shell.run_words(list(request.words), streams))
    elif request.command:
        work = asyncio.ensure_future(shell.run(request.command, streams))
    else:
        work = asyncio.ensure_future(_interact(shell, streams, request.is_pty))
    feeding = asyncio.ensure_future(_feed(stream, stdin, is_v2=request.is_v2))
    try:
        await asyncio.wait((work, feeding), return_when=asyncio.FIRST_COMPLETED)
        if not work.done() and not request.is_v2:
            await asyncio.wait((work,), timeout=ORPHAN_S)  # it may still finish after the end of its input
        if not work.done():
            return  # the client disconnected, so the command gets SIGHUP
        status = work.result()
        if request.is_v2:
            await stream.write(_HEADER.pack(EXIT, 1) + bytes([status & 0xFF]))
    finally:
        work.cancel()
        feeding.cancel()
        await asyncio.gather(work, feeding, return_exceptions=True)


async def _feed(stream: Stream, stdin: _ClientInput, *, is_v2: bool) -> None:
    """Forwards the client's bytes to standard input until the stream ends."""
    if not is_v2:
        while chunk := await stream.read():
            await stdin.put(chunk)
        await stdin.put(b"")
        return
    with contextlib.suppress(EOFError):
        while True:
            packet_id, size = _HEADER.unpack(await stream.read_exactly(_HEADER.size))
            if size > MAX_PAYLOAD:
                return
            body = await stream.read_exactly(size)
            if packet_id == CLOSE_STDIN:
                await stdin.put(b"")
            elif packet_id == STDIN and body:
                await stdin.put(body)


async def _interact(shell: Shell, streams: Streams, is_pty: bool) -> int:
    """Runs an interactive shell. On a pty it prompts and echoes as a terminal's line discipline does."""
    buffered = b""
    prompt = b"virtual:/ $ "
    try:
        if is_pty:
            await streams.stdout.write(prompt)
        while True:
            line, newline, rest = buffered.replace(b"\r", b"\n").partition(b"\n")
            if newline:
                buffered = rest
                await shell.run_lines(line.decode("utf-8", "surrogateescape"), streams)
                if is_pty:
                    await streams.stdout.write(prompt)
                continue
            chunk = await streams.stdin.read()
            if is_pty:
                await streams.stdout.write(chunk.replace(b"\r", b"\n").replace(b"\x04", b""))
            if not chunk or (is_pty and b"\x04" in chunk and not buffered):
                if line:
                    await shell.run_lines(line.decode("utf-8", "surrogateescape"), streams)
                return shell.status
            buffered += chunk
            if len(buffered) > MAX_PAYLOAD:
                return 1
    except ShellExit as leaving:
        return leaving.status
