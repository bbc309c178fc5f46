"""Chromium that behaves as Android WebView does."""

from bridge.virtual_device.engine.chromium import find_chromium, program_version
from bridge.virtual_device.engine.defects import DEFECTS
from bridge.virtual_device.engine.emulation import ViewSize
from bridge.virtual_device.engine.engine import LOST_RUNTIME_ENABLES, Engine, EngineOptions, start_engine
from bridge.virtual_device.engine.old_engines import require_engine
from bridge.virtual_device.engine.tabs import (
    BrowserEvent,
    ChooserOpened,
    DialogPickerOpened,
    DownloadRequested,
    EngineTab,
    PopupOpened,
    TabGone,
)

__all__ = [
    "DEFECTS",
    "LOST_RUNTIME_ENABLES",
    "BrowserEvent",
    "ChooserOpened",
    "DialogPickerOpened",
    "DownloadRequested",
    "Engine",
    "EngineOptions",
    "EngineTab",
    "PopupOpened",
    "TabGone",
    "ViewSize",
    "find_chromium",
    "program_version",
    "require_engine",
    "start_engine",
]
