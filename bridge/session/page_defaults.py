"""The settings that a session makes in all its pages, open and future ones."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from bridge.page.page import Page

Setting: TypeAlias = "Callable[[Page], Awaitable[object]]"


class PageDefaults:
    """Settings by what they set; a later one of the same name takes the place of an earlier one."""

    def __init__(self) -> None:
        self._settings: dict[object, Setting] = {}

    async def set(self, name: object, setting: Setting, pages: tuple[Page, ...]) -> None:
        """Apply a setting to the open pages now, and to later ones before they load any address."""
        self._settings[name] = setting
        await asyncio.gather(*(setting(page) for page in pages))

    def forget(self, name: object) -> None:
        """Later pages do not get the setting."""
        self._settings.pop(name, None)

    def names(self) -> tuple[object, ...]:
        return tuple(self._settings)

    async def apply(self, page: Page) -> None:
        """Apply all settings to a new page, in their order."""
        for setting in tuple(self._settings.values()):
            await setting(page)
