"""Chromium that behaves as Android WebView does."""

from bridge.virtual_device.engine.chromium import find_chromium, program_version
from bridge.virtual_device.engine.emulation import View
from bridge.virtual_device.engine.engine import LOST_RUNTIME_ENABLES, Engine, EngineOptions, start_engine
from bridge.virtual_device.engine.tabs import (
    BrowserEvent,
    ChooserOpened,
    DownloadStarted,
    PickerOpened,
    PopupOpened,
    Tab,
    TabGone,
)

__all__ = [
    "LOST_RUNTIME_ENABLES",
    "BrowserEvent",
    "ChooserOpened",
    "DownloadStarted",
    "Engine",
    "EngineOptions",
    "PickerOpened",
    "PopupOpened",
    "Tab",
    "TabGone",
    "View",
    "find_chromium",
    "program_version",
    "start_engine",
]
