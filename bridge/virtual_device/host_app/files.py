"""Files that clients staged on the device for tabs (PROTOCOL.md, `file.put`)."""

from __future__ import annotations

import contextlib
import secrets
import shutil
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class StagedFile:
    path: Path
    size_bytes: int
    tab: str | None


def is_base_name(name: str) -> bool:
    """True if it is a valid name for a staged file."""
    return (
        0 < len(name) <= 120
        and len(name.encode(errors="replace")) <= 255
        and name not in (".", "..")
        and not any(
            mark in "/\\" or ord(mark) < 32 or ord(mark) == 127 or 0xD800 <= ord(mark) < 0xE000 for mark in name
        )
    )


class HostFiles:
    """The staged files, each in a folder of its own, so that names cannot collide."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: dict[str, StagedFile] = {}
        self._for_chooser: dict[str, list[StagedFile]] = {}

    @property
    def count(self) -> int:
        return len(self._files)

    @property
    def size_bytes(self) -> int:
        return sum(file.size_bytes for file in self._files.values())

    def put(self, name: str, content: bytes, *, tab: str | None, chooser: bool) -> StagedFile:
        """Stores a file; OSError if the device is full."""
        folder = self._folder / secrets.token_hex(8)
        folder.mkdir(parents=True, mode=0o700)
        file = StagedFile(folder / name, len(content), tab)
        try:
            file.path.write_bytes(content)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        self._files[str(file.path)] = file
        if chooser and tab is not None:
            self._for_chooser.setdefault(tab, []).append(file)
        return file

    def delete(self, path: str) -> bool:
        """Deletes a staged file; False if the path is not one."""
        file = self._files.pop(path, None)
        if file is None:
            return False
        for staged in self._for_chooser.values():
            with contextlib.suppress(ValueError):
                staged.remove(file)
        shutil.rmtree(file.path.parent, ignore_errors=True)
        return True

    def take_for_chooser(self, tab: str, *, multiple: bool) -> list[Path]:
        """The files for the tab's next file chooser; only the first if it takes a single one."""
        staged = self._for_chooser.pop(tab, [])
        return [file.path for file in (staged if multiple else staged[:1])]

    def drop_tab(self, tab: str) -> None:
        self._for_chooser.pop(tab, None)
        for path in [path for path, file in self._files.items() if file.tab == tab]:
            self.delete(path)

    def clear(self) -> None:
        for path in tuple(self._files):
            self.delete(path)
        self._for_chooser.clear()
