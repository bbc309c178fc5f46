"""Reads and writes files below one folder of the operator, and never outside of it.

Each component of a path is opened relative to its parent, without following symbolic links (openat(2), O_NOFOLLOW).
Checks apply to the open file, so nothing can be swapped between check and use. Refused before anything is sent or
fetched: a path with `..`, an absolute path that is not below the folder, symbolic links, devices, FIFOs, folders.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from bridge.errors import PolicyRefused, UsageError

#: Settings that name the two folders: arguments of `Session.open`, and with dashes options of the command line.
UPLOADS_KEY, DOWNLOADS_KEY = "uploads_root", "downloads_root"
_MAX_NAME_BYTES = 255
_CHUNK_BYTES = 1024 * 1024
_HAS_OPENAT = os.open in os.supports_dir_fd and hasattr(os, "O_NOFOLLOW")
_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC if _HAS_OPENAT else 0


@dataclass(frozen=True, slots=True, weakref_slot=True)
class SafeFolder:
    """A folder from which files may be read, or to which they may be written.

    Attributes:
        folder: None if the operator has not set one; every path is refused then.
        key: The setting that names the folder, for errors.
    """

    folder: Path | None
    key: str
    _descriptor: int = field(default=-1, repr=False, compare=False)
    _temporary: set[str] = field(default_factory=set, repr=False, compare=False)

    @classmethod
    def at(cls, folder: str | os.PathLike[str] | None, key: str) -> SafeFolder:
        """The folder, with symbolic links to it resolved now and not again later.

        It is held open as long as the object exists, so the path may lead elsewhere later without effect.

        Raises:
            UsageError: Not a folder.
        """
        if folder is None:
            return cls(None, key)
        try:
            resolved = Path(folder).resolve(strict=True)
        except (OSError, ValueError, RuntimeError) as error:
            raise UsageError(f"{key}: cannot use {folder}: {_reason(error)}") from error
        if not resolved.is_dir():
            raise UsageError(f"{key}: {folder} is not a folder")
        if not _HAS_OPENAT:
            return cls(resolved, key)
        try:
            descriptor = os.open(resolved, _FOLDER_FLAGS)
        except OSError as error:
            raise UsageError(f"{key}: cannot use {folder}: {_reason(error)}") from error
        confined = cls(resolved, key, descriptor)
        weakref.finalize(confined, os.close, descriptor)
        return confined

    def read(self, path: str | os.PathLike[str], *, max_bytes: int) -> tuple[str, bytes]:
        """The base name and content of a regular file.

        Raises:
            PolicyRefused: No folder is set, or the path leads out of it, has a symbolic link, or is not a regular file.
            UsageError: The file does not exist, cannot be read, or is larger than `max_bytes`.
        """
        parts = self.parts(path)
        with self._parent(parts) as parent:
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # opening a FIFO must not block
            descriptor = _opened(parts[-1], flags, parent, str(path))
            try:
                if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                    raise PolicyRefused(f"{path} is not a regular file", rule="files", path=str(path))
                with os.fdopen(descriptor, "rb", closefd=False) as file:
                    content = file.read(max_bytes + 1)
            except OSError as error:
                raise UsageError(f"cannot read {path}: {_reason(error)}") from error
            finally:
                os.close(descriptor)
        if len(content) > max_bytes:
            raise UsageError(f"{path} is larger than {max_bytes} bytes")
        return parts[-1], content

    @contextmanager
    def write(self, path: str | os.PathLike[str], *, overwrite: bool, max_bytes: int) -> Iterator[IncomingFile]:
        """Write a file. It gets its name when the block succeeds; otherwise nothing is left of it.

        Raises:
            PolicyRefused: As in `read`.
            UsageError: The file exists and `overwrite` is off, its folder does not exist, or it cannot be written.
        """
        parts = self.parts(path)
        with self._parent(parts) as parent:
            _check_target(parts[-1], parent, overwrite, str(path))
            temporary = f".{secrets.token_hex(8)}.part"
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            descriptor = _opened(temporary, flags, parent, str(path))
            try:
                with os.fdopen(descriptor, "wb") as file:
                    incoming = IncomingFile(file.fileno(), max_bytes, str(path))
                    yield incoming
                    incoming.finish()
                _place(temporary, parts[-1], parent, overwrite, str(path))
            finally:
                with suppress(FileNotFoundError):
                    os.unlink(temporary, dir_fd=parent)

    def temporary_name(self) -> str:
        """A name for a file in the folder that `delete_temporary` deletes."""
        name = f".{secrets.token_hex(8)}.temporary"
        self._temporary.add(name)
        return name

    def delete_temporary(self, name: str | None = None) -> None:
        """Delete one temporary file, or all of them; those that are gone already are no error."""
        for one in self._temporary & {name} if name is not None else set(self._temporary):
            self._temporary.discard(one)
            with suppress(OSError):
                os.unlink(one, dir_fd=self._descriptor)

    def listing(self, limit: int) -> list[tuple[str, int]]:
        """Name and size in bytes of the regular files directly in the folder, the newest `limit` of them first.

        Raises:
            PolicyRefused: No folder is set.
        """
        self.parts("any")
        files = []
        with os.scandir(self._descriptor) as entries:
            for entry in entries:
                if entry.is_file(follow_symlinks=False) and not entry.name.endswith(".part"):
                    with suppress(FileNotFoundError):
                        found = entry.stat(follow_symlinks=False)
                        files.append((found.st_mtime, entry.name, found.st_size))
        return [(name, size) for _, name, size in sorted(files, reverse=True)[:limit]]

    def parts(self, path: str | os.PathLike[str]) -> tuple[str, ...]:
        """The components of a path below the folder. The file system is not touched.

        Raises:
            PolicyRefused: No folder is set, or the path leads out of it.
            UsageError: Not a valid path of a file.
        """
        if self.folder is None:
            raise PolicyRefused(
                f"{path!s:.200} is refused: {self.key} is not set",
                hint=f"Open the session with --{self.key.replace('_', '-')} FOLDER ({self.key}=… in Python).",
                key=self.key,
                rule="files",
                path=str(path)[:2_000],
            )
        text = os.fspath(path)
        if not isinstance(text, str) or not text or "\0" in text:
            raise UsageError(f"{text!r:.200} is not a valid path")
        where = {"rule": "files", "path": text[:2_000]}
        if not _HAS_OPENAT:
            raise PolicyRefused("this system cannot open files below a folder safely (openat)")
        if "\\" in text and os.sep != "\\":
            raise PolicyRefused(
                f"{text!r:.200} is refused: it contains a backslash", hint="Separate folders with /.", **where
            )
        pure = Path(text)
        if ".." in pure.parts:
            raise PolicyRefused(
                f"{text!r:.200} is refused: it contains ..", hint=f"Use a path below {self.key}.", **where
            )
        if pure.is_absolute():
            if not pure.is_relative_to(self.folder):
                raise PolicyRefused(f"{text!r:.200} is refused: it is not below {self.key}", **where)
            pure = pure.relative_to(self.folder)
        parts = tuple(part for part in pure.parts if part != ".")
        if not parts or text.endswith("/"):
            raise UsageError(f"{text!r:.200} is not the path of a file")
        for part in parts:
            if len(part.encode("utf-8", "surrogateescape")) > _MAX_NAME_BYTES:
                raise UsageError(f"{part[:80]!r}… is too long for a file name")
            if any(ord(character) < 0x20 or ord(character) == 0x7F for character in part):
                raise UsageError(f"{part[:80]!r} contains control characters")
        return parts

    @contextmanager
    def _parent(self, parts: tuple[str, ...]) -> Iterator[int]:
        """A descriptor of the folder that contains the last component."""
        assert self.folder is not None
        try:
            if not os.path.samestat(self.folder.stat(), os.fstat(self._descriptor)):
                raise PolicyRefused(f"{self.folder} is refused: {self.key} has been moved or replaced")
            at = os.open(".", _FOLDER_FLAGS, dir_fd=self._descriptor)
        except OSError as error:
            raise UsageError(f"{self.key} can no longer be opened: {_reason(error)}") from error
        try:
            for depth, part in enumerate(parts[:-1], 1):
                inner = _opened(part, _FOLDER_FLAGS, at, "/".join(parts[:depth]))
                os.close(at)
                at = inner
            yield at
        finally:
            os.close(at)


class IncomingFile:
    """A file that is being written, of bounded size."""

    def __init__(self, descriptor: int, max_bytes: int, path: str) -> None:
        self.size_bytes = 0
        self._descriptor = descriptor
        self._max_bytes = max_bytes
        self._path = path

    def write(self, chunk: bytes) -> None:
        """Append.

        Raises:
            UsageError: The file is larger than `max_bytes`, or the disk is full.
        """
        self.size_bytes += len(chunk)
        if self.size_bytes > self._max_bytes:
            raise UsageError(
                f"{self._path} would be larger than max_bytes ({self._max_bytes} bytes)",
                hint="Raise max_bytes to save it.",
            )
        view = memoryview(chunk)
        try:
            while view:
                view = view[os.write(self._descriptor, view[:_CHUNK_BYTES]) :]
        except OSError as error:
            raise UsageError(f"cannot write {self._path}: {_reason(error)}") from error

    def finish(self) -> None:
        """Flush to disk. File systems that allocate late report a full disk only here.

        Raises:
            UsageError: The disk is full.
        """
        try:
            os.fsync(self._descriptor)
        except OSError as error:
            raise UsageError(f"cannot write {self._path}: {_reason(error)}") from error


def _opened(name: str, flags: int, parent: int, shown: str) -> int:
    try:
        return os.open(name, flags, 0o600, dir_fd=parent)
    except OSError as error:
        if error.errno == errno.ELOOP or (error.errno == errno.ENOTDIR and _is_link(name, parent)):
            raise PolicyRefused(f"{shown:.200} is refused: it is a symbolic link", rule="files", path=shown) from error
        if error.errno == errno.ENXIO:
            raise PolicyRefused(f"{shown:.200} is not a regular file", rule="files", path=shown) from error
        raise UsageError(f"cannot open {shown:.200}: {_reason(error)}") from error


def _is_link(name: str, parent: int) -> bool:
    try:
        return stat.S_ISLNK(os.lstat(name, dir_fd=parent).st_mode)
    except OSError:
        return False


def _check_target(name: str, parent: int, overwrite: bool, shown: str) -> None:
    """Report early what is in the way; `_place` decides."""
    try:
        there = os.lstat(name, dir_fd=parent)
    except FileNotFoundError:
        return
    except OSError as error:
        raise UsageError(f"cannot write {shown}: {_reason(error)}") from error
    if stat.S_ISLNK(there.st_mode):
        raise PolicyRefused(f"{shown} is refused: it is a symbolic link", rule="files", path=shown)
    if not stat.S_ISREG(there.st_mode):
        raise PolicyRefused(f"{shown} is not a regular file", rule="files", path=shown)
    if not overwrite:
        raise UsageError(f"{shown} exists already", hint="Use overwrite=True to replace it.")


def _place(temporary: str, name: str, parent: int, overwrite: bool, shown: str) -> None:
    """Give the finished file its name, atomically."""
    try:
        if overwrite:
            _check_target(name, parent, True, shown)
            os.replace(temporary, name, src_dir_fd=parent, dst_dir_fd=parent)
        else:
            # Unlike rename(2), link(2) does not replace a file that was created since the check.
            os.link(temporary, name, src_dir_fd=parent, dst_dir_fd=parent, follow_symlinks=False)
    except FileExistsError as error:
        raise UsageError(f"{shown} exists already", hint="Use overwrite=True to replace it.") from error
    except OSError as error:
        raise UsageError(f"cannot write {shown}: {_reason(error)}") from error


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
