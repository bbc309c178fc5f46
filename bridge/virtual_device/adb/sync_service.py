"""adb's file transfer: `sync:` as in AOSP packages/modules/adb `file_sync_protocol.h` and `SYNC.TXT`.

Requests are a four-letter id, a little-endian length and a path; the v2 requests carry more words after it.
"""

from __future__ import annotations

import errno
import stat as stat_bits
import struct

from bridge.virtual_device.adb.streams import Stream
from bridge.virtual_device.android import DeviceFiles, FileStat, WriteHandle

DATA_MAX_BYTES = 64 * 1024
PATH_MAX_BYTES = 1024
_REQUEST = struct.Struct("<4sI")
_STAT_V1 = struct.Struct("<4sIII")
_STAT_V2 = struct.Struct("<4sIQQIIIIQqqq")
_DENT_V1 = struct.Struct("<4sIIII")
_DENT_V2 = struct.Struct("<4sIQQIIIIQqqqI")
_TWO_WORDS = struct.Struct("<4sII")
_ONE_WORD = struct.Struct("<4sI")
_READ_AT_ONCE_BYTES = 15 * DATA_MAX_BYTES


class _Refused(Exception):
    """The request failed; the message goes to the client and the session continues."""


class SyncSession:
    """One `sync:` stream, until QUIT."""

    def __init__(self, stream: Stream, files: DeviceFiles) -> None:
        self._stream = stream
        self._files = files

    async def run(self) -> None:
        """Serves requests until QUIT. A malformed one ends the session, as in adbd."""
        while True:
            name, size = _REQUEST.unpack(await self._stream.read_exactly(_REQUEST.size))
            if name == b"QUIT":
                return
            if size > PATH_MAX_BYTES:
                await self._fail(f"path too long: {size}")
                return
            path = (await self._stream.read_exactly(size)).decode("utf-8", "surrogateescape")
            try:
                if not await self._dispatch(name, path):
                    return
            except _Refused as refusal:
                await self._fail(str(refusal))

    async def _dispatch(self, name: bytes, path: str) -> bool:
        match name:
            case b"STAT":
                await self._stat_v1(path)
            case b"STA2" | b"LST2":
                await self._stat_v2(name, path)
            case b"LIST":
                await self._list(path, b"DENT")
            case b"LIS2":
                await self._list(path, b"DNT2")
            case b"SEND":
                target, _, mode = path.rpartition(",")
                await self._receive_file(target, int(mode) if mode.isdecimal() else -1)
            case b"SND2":
                _, mode_word, flags = _TWO_WORDS.unpack(await self._stream.read_exactly(_TWO_WORDS.size))
                await self._receive_file(path, mode_word if flags == 0 else -1)
            case b"RECV":
                await self._send_file(path)
            case b"RCV2":
                _, flags = _ONE_WORD.unpack(await self._stream.read_exactly(_ONE_WORD.size))
                if flags:
                    raise _Refused(f"unsupported compression flags: {flags}")
                await self._send_file(path)
            case _:
                await self._fail(f"unknown command {name.hex()}")
                return False
        return True

    async def _fail(self, text: str) -> None:
        body = text.encode("utf-8", "replace")
        await self._stream.write(_REQUEST.pack(b"FAIL", len(body)) + body)

    def _look(self, path: str) -> tuple[int, FileStat | None]:
        try:
            return 0, self._files.stat(path)
        except OSError as error:
            return error.errno or errno.EIO, None

    async def _stat_v1(self, path: str) -> None:
        _, found = self._look(path)
        words = (found.mode, min(found.size, 0xFFFFFFFF), found.mtime & 0xFFFFFFFF) if found else (0, 0, 0)
        await self._stream.write(_STAT_V1.pack(b"STAT", *words))

    async def _stat_v2(self, name: bytes, path: str) -> None:
        error, found = self._look(path)
        await self._stream.write(_STAT_V2.pack(name, error, *_stat_words(found)))

    async def _list(self, path: str, name: bytes) -> None:
        try:
            entries = self._files.list(path)
        except OSError:
            entries = []  # adbd answers an unreadable folder with an empty listing
        out = bytearray()
        for entry, found in entries:
            raw = entry.encode("utf-8", "surrogateescape")
            if name == b"DENT":
                out += _DENT_V1.pack(name, found.mode, min(found.size, 0xFFFFFFFF), found.mtime & 0xFFFFFFFF, len(raw))
            else:
                out += _DENT_V2.pack(name, 0, *_stat_words(found), len(raw))
            out += raw
        end = _DENT_V1 if name == b"DENT" else _DENT_V2
        await self._stream.write(bytes(out) + b"DONE" + bytes(end.size - 4))

    async def _send_file(self, path: str) -> None:
        try:
            found = self._files.stat(path)
            if found.is_dir:
                raise OSError(errno.EISDIR, "Is a directory")
            chunks = self._files.read_chunks(path, _READ_AT_ONCE_BYTES)
            for chunk in chunks:
                out = bytearray()
                for at in range(0, len(chunk), DATA_MAX_BYTES):
                    part = chunk[at : at + DATA_MAX_BYTES]
                    out += _REQUEST.pack(b"DATA", len(part))
                    out += part
                await self._stream.write(out)
        except OSError as error:
            if isinstance(error, ConnectionError):
                raise
            raise _Refused(f"open failed: {error.strerror}") from error
        await self._stream.write(_REQUEST.pack(b"DONE", 0))

    async def _receive_file(self, path: str, mode: int) -> None:
        """Reads all DATA of the file, even after an error, so that the session stays in sync; then replies once."""
        refusal, handle = "", None
        try:
            handle = self._create(path, mode)
        except _Refused as error:
            refusal = str(error)
        try:
            while True:
                name, size = _REQUEST.unpack(await self._stream.read_exactly(_REQUEST.size))
                if name == b"DONE":
                    break
                if name != b"DATA" or size > DATA_MAX_BYTES:
                    raise EOFError(f"unexpected {name!r} of {size} bytes inside a file")
                part = await self._stream.read_exactly(size)
                if handle is not None and not refusal:
                    try:
                        handle.write(part)
                    except OSError as error:
                        refusal = f"write failed: {error.strerror}"
        finally:
            if handle is not None:
                handle.close()
        if refusal:
            raise _Refused(refusal)
        self._files.touch(path, mtime=size, mode=_for_all(mode))
        await self._stream.write(_REQUEST.pack(b"OKAY", 0))

    def _create(self, path: str, mode: int) -> WriteHandle:
        if mode < 0:
            raise _Refused("unsupported mode or compression flags")
        if stat_bits.S_IFMT(mode) == stat_bits.S_IFLNK:
            raise _Refused("symlink failed: Operation not permitted")
        try:
            parent = path.rsplit("/", 1)[0] or "/"
            if not self._files.exists(parent):
                self._files.mkdir(parent, parents=True)
            return self._files.open_write(path, mode=_for_all(mode))
        except OSError as error:
            raise _Refused(f"couldn't create file: {error.strerror}") from error


def _for_all(mode: int) -> int:
    """The permissions with the owner's for group and others too (adbd, file_sync_service.cpp, `do_send`)."""
    owner = mode >> 6 & 0o7
    return mode & 0o777 | owner << 3 | owner


def _stat_words(found: FileStat | None) -> tuple[int, ...]:
    """dev, ino, mode, nlink, uid, gid, size, atime, mtime, ctime."""
    if found is None:
        return (0,) * 10
    return (1, found.inode, found.mode, found.links, found.uid, found.gid, found.size, *(found.mtime,) * 3)
