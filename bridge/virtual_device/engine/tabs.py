"""A tab of the engine and its events for the app."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from bridge.cdp import PendingCall
from bridge.virtual_device.engine.emulation import ViewSize


@dataclass(eq=False)
class EngineTab:
    """A page target of the device.

    Attributes:
        window: The target id of the tab that owns its desktop window; a popup shares its opener's.
        url: The last reported URL of the main frame.
        page_clients: The number of clients with the Page domain enabled, which handle JavaScript dialogs.
    """

    target_id: str
    session_id: str
    view: ViewSize
    context_id: str | None
    opener_id: str | None = None
    window: str = ""
    url: str = ""
    title: str = ""
    page_clients: int = 0
    dialogs_closed: int = 0
    is_resetting: bool = False
    origins: set[str] = field(default_factory=set)
    ready: PendingCall | None = None


@dataclass(frozen=True)
class PopupOpened:
    """A popup opened. Its `tab` is set up but has not run; the listener refuses it with False."""

    tab: EngineTab
    opener: EngineTab
    url: str


@dataclass(frozen=True)
class TabGone:
    """The renderer died (`crashed`, `killed`) or the page closed itself (`closed`)."""

    tab: EngineTab
    how: str


@dataclass(frozen=True)
class DownloadRequested:
    tab: EngineTab
    url: str
    name: str


@dataclass(frozen=True)
class ChooserOpened:
    tab: EngineTab
    backend_node_id: int
    multiple: bool


@dataclass(frozen=True)
class DialogPickerOpened:
    """A picker opened that is a dialog on Android: `element` is `select` or `input`."""

    tab: EngineTab
    element: str


BrowserEvent = PopupOpened | TabGone | DownloadRequested | ChooserOpened | DialogPickerOpened
Listener = Callable[[BrowserEvent], None]
