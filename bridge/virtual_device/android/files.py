"""The device's file system: a realistic tree whose writable parts are in the device's private folder.

No path leads outside that folder: device paths are resolved lexically, symbolic links are never created, and one that
appears in the private folder is not followed.
"""

from __future__ import annotations

import errno
import os
import stat as stat_bits
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from bridge.virtual_device.android.file_tree import ALIASES, FORBIDDEN, READ_ONLY_FOLDERS, WRITABLE

MAX_PATH_BYTES = 4095
MAX_NAME_BYTES = 255
DEFAULT_QUOTA_BYTES = 2 * 1024**3

# Writable file systems in which the shell may not create files; the others are mounted read-only.
_NOT_THE_SHELLS = ("/data/", "/dev/", "/mnt/", "/proc/", "/storage/", "/sys/")

Generated = Callable[[], bytes] | Path


@dataclass(frozen=True, slots=True)
class FileStat:
    """The result of `stat`; `uid` and `gid` are 2000 (shell) for files of the shell and 0 (root) otherwise."""

    mode: int
    size: int
    mtime: int
    inode: int = 1
    links: int = 1
    uid: int = 0
    gid: int = 0

    @property
    def is_dir(self) -> bool:
        return stat_bits.S_ISDIR(self.mode)

    @property
    def is_file(self) -> bool:
        return stat_bits.S_ISREG(self.mode)


def fail(number: int, path: str) -> OSError:
    """An OSError with the C library's text, which Android prints."""
    return OSError(number, os.strerror(number), path)


class WriteHandle:
    """An open file that counts against the quota."""

    def __init__(self, files: DeviceFiles, path: str, file: BinaryIO) -> None:
        self._files = files
        self._path = path
        self._file = file

    def write(self, chunk: bytes) -> None:
        """Appends; ENOSPC when the device is full."""
        self._files.reserve(len(chunk), self._path)
        self._file.write(chunk)

    def close(self) -> None:
        self._file.close()


class DeviceFiles:
    """Files by device path. Every method raises OSError with the errno of a device."""

    def __init__(self, root: Path, *, quota_bytes: int = DEFAULT_QUOTA_BYTES) -> None:
        self._root = root
        self._quota_bytes = quota_bytes
        self._used_bytes = 0
        self._generated: dict[str, Generated] = {}
        self._boot_time = int(time.time())
        for folder in WRITABLE:
            (root / folder.lstrip("/")).mkdir(parents=True, exist_ok=True)

    @property
    def used_bytes(self) -> int:
        return self._used_bytes

    @property
    def quota_bytes(self) -> int:
        return self._quota_bytes

    def provide(self, path: str, content: Generated) -> None:
        """Adds a read-only file: bytes generated on each read, or a file of this machine (an installed APK)."""
        self._generated[path] = content

    def withdraw(self, path: str) -> None:
        self._generated.pop(path, None)

    def resolve(self, path: str, cwd: str = "/") -> str:
        """The canonical device path: absolute, no `.` or `..`, aliases like /sdcard replaced."""
        if "\0" in path:
            raise fail(errno.EINVAL, path)
        if len(path.encode("utf-8", "surrogateescape")) > MAX_PATH_BYTES:
            raise fail(errno.ENAMETOOLONG, path[:80])
        parts: list[str] = []
        for part in (path if path.startswith("/") else f"{cwd}/{path}").split("/"):
            if part == "..":
                del parts[-1:]
            elif part not in ("", "."):
                if len(part.encode("utf-8", "surrogateescape")) > MAX_NAME_BYTES:
                    raise fail(errno.ENAMETOOLONG, path[:80])
                parts.append(part)
                if alias := ALIASES.get("/" + "/".join(parts)):
                    parts = alias.strip("/").split("/")
        return "/" + "/".join(parts)

    def stat(self, path: str) -> FileStat:
        where = self.resolve(path)
        if where in self._generated:
            content = self._generated[where]
            if isinstance(content, Path):
                found = content.stat()
                return FileStat(stat_bits.S_IFREG | 0o644, found.st_size, int(found.st_mtime), 1, 1, 1000, 1000)
            size = 0 if where.startswith("/proc/") else len(content())
            return FileStat(stat_bits.S_IFREG | 0o444, size, self._boot_time)
        if self._is_writable(where):
            return self._stat_of(self._real(where))
        self._check_visible(where)
        if where in READ_ONLY_FOLDERS or self._generated_children(where):
            return FileStat(stat_bits.S_IFDIR | 0o755, 4096, self._boot_time, 2, 2)
        raise fail(errno.ENOENT, path)

    def exists(self, path: str) -> bool:
        try:
            self.stat(path)
        except OSError:
            return False
        return True

    def list(self, path: str) -> list[tuple[str, FileStat]]:
        """The sorted names in a folder with their stats, without `.` and `..`."""
        where = self.resolve(path)
        if not self.stat(where).is_dir:
            raise fail(errno.ENOTDIR, path)
        if where in FORBIDDEN:
            raise fail(errno.EACCES, path)
        names: set[str] = set(self._generated_children(where))
        if self._is_writable(where):
            names.update(entry.name for entry in os.scandir(self._real(where)) if not entry.is_symlink())
        prefix = where.rstrip("/") + "/"
        for folder in (*READ_ONLY_FOLDERS, *WRITABLE):
            if folder.startswith(prefix):
                names.add(folder[len(prefix) :].split("/")[0])
        return [(name, self.stat(prefix + name)) for name in sorted(names)]

    def open_read(self, path: str) -> BinaryIO | bytes:
        """An open file of this machine, or the bytes of a generated one."""
        where = self.resolve(path)
        if self.stat(where).is_dir:
            raise fail(errno.EISDIR, path)
        content = self._generated.get(where)
        if content is None:
            return self._real(where).open("rb")
        return content.open("rb") if isinstance(content, Path) else content()

    def read_chunks(self, path: str, chunk_bytes: int = 65536) -> Iterator[bytes]:
        """The file's bytes in pieces."""
        while self.resolve(path) == "/dev/zero":
            yield bytes(chunk_bytes)
        opened = self.open_read(path)
        if isinstance(opened, bytes):
            for at in range(0, len(opened), chunk_bytes):
                yield opened[at : at + chunk_bytes]
            return
        with opened:
            while chunk := opened.read(chunk_bytes):
                yield chunk

    def open_write(self, path: str, *, append: bool = False, mode: int = 0o644) -> WriteHandle:
        """Opens a file for writing, truncated unless `append`. Its folder must exist."""
        where = self.resolve(path)
        if where in WRITABLE:
            raise fail(errno.EISDIR, path)
        real = self._real_to_change(where, path)
        if real.is_dir():
            raise fail(errno.EISDIR, path)
        before = real.stat().st_size if real.exists() else 0
        file = real.open("ab" if append else "wb")
        real.chmod(0o600 | (mode & 0o777))
        if not append:
            self._used_bytes -= before
        return WriteHandle(self, path, file)

    def mkdir(self, path: str, *, parents: bool = False) -> None:
        where = self.resolve(path)
        if parents:
            if self.exists(where) and self.stat(where).is_dir:
                return
            self._real_to_change(where, path).mkdir(parents=True, exist_ok=True)
            return
        if self.exists(where):
            raise fail(errno.EEXIST, path)
        self._real_to_change(where, path).mkdir()

    def remove(self, path: str) -> None:
        """Removes one file, or one empty folder."""
        where = self.resolve(path)
        found = self.stat(where)
        real = self._real_to_change(where, path)
        if found.is_dir:
            real.rmdir()
        else:
            self._used_bytes -= found.size
            real.unlink()

    def remove_tree(self, path: str) -> None:
        where = self.resolve(path)
        if self.stat(where).is_dir:
            for name, _ in self.list(where):
                self.remove_tree(f"{where}/{name}")
        self.remove(where)

    def rename(self, source: str, target: str) -> None:
        old, new = self.resolve(source), self.resolve(target)
        self.stat(old)
        origin, goal = self._real_to_change(old, source), self._real_to_change(new, target)
        if (new + "/").startswith(old + "/") and new != old:
            raise fail(errno.EINVAL, target)
        if goal.is_file():
            self._used_bytes -= goal.stat().st_size
        origin.replace(goal)

    def touch(self, path: str, mtime: int | None = None, mode: int | None = None) -> None:
        """Sets the modification time (default: now) and the permission bits of an existing file."""
        where = self.resolve(path)
        real = self._real_to_change(where, path)
        self._stat_of(real)
        stamp = time.time() if mtime is None else mtime
        os.utime(real, (stamp, stamp))
        if mode is not None:
            real.chmod(0o600 | (mode & 0o777))

    def reserve(self, size: int, path: str) -> None:
        """Accounts for bytes that are about to be written."""
        if self._used_bytes + size > self._quota_bytes:
            raise fail(errno.ENOSPC, path)
        self._used_bytes += size

    def _generated_children(self, where: str) -> set[str]:
        prefix = where.rstrip("/") + "/"
        return {path[len(prefix) :].split("/")[0] for path in self._generated if path.startswith(prefix)}

    def _is_writable(self, where: str) -> bool:
        return any(where == folder or where.startswith(folder + "/") for folder in WRITABLE)

    def _check_visible(self, where: str) -> None:
        if any(where.startswith(folder + "/") and where not in READ_ONLY_FOLDERS for folder in FORBIDDEN):
            raise fail(errno.EACCES, where)

    def _real_to_change(self, where: str, path: str) -> Path:
        if self._is_writable(where) and where not in WRITABLE:
            return self._real(where)
        is_read_only = not where.startswith(_NOT_THE_SHELLS) and where not in WRITABLE
        raise fail(errno.EROFS if is_read_only else errno.EACCES, path)

    def _real(self, where: str) -> Path:
        """The path in the private folder; ELOOP if a component is a symbolic link."""
        real = self._root
        for part in where.strip("/").split("/"):
            if part in ("", ".", "..") or os.sep in part or "\0" in part:
                raise fail(errno.EINVAL, where)
            real = real / part
            if real.is_symlink():
                raise fail(errno.ELOOP, where)
        return real

    def _stat_of(self, real: Path) -> FileStat:
        found = real.lstat()
        return FileStat(found.st_mode, found.st_size, int(found.st_mtime), found.st_ino, found.st_nlink, 2000, 2000)
