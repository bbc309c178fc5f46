"""A tab of the device, and what happens to it that the app must know."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from bridge.cdp import PendingCall
from bridge.virtual_device.engine.emulation import View


@dataclass(eq=False)
class Tab:
    """One page target that belongs to the device.

    Attributes:
        window: The target id of the tab whose desktop window it is in; a popup lives in its opener's.
        url: The main frame's, as last told.
        page_clients: How many clients of the relay have the Page domain enabled: they answer JS dialogs.
    """

    target_id: str
    session_id: str
    view: View
    context_id: str | None
    opener_id: str | None = None
    window: str = ""
    url: str = ""
    title: str = ""
    page_clients: int = 0
    origins: set[str] = field(default_factory=set)
    ready: PendingCall | None = None


@dataclass(frozen=True)
class PopupOpened:
    """`tab` has been set up but has not run yet when this is told; False from the listener refuses it."""

    tab: Tab
    opener: Tab
    url: str


@dataclass(frozen=True)
class TabGone:
    """Its renderer died (`crashed`, `killed`) or its page closed itself (`closed`)."""

    tab: Tab
    how: str


@dataclass(frozen=True)
class DownloadStarted:
    tab: Tab
    url: str
    name: str


@dataclass(frozen=True)
class ChooserOpened:
    tab: Tab
    backend_node_id: int
    multiple: bool


@dataclass(frozen=True)
class PickerOpened:
    """A popup that is a dialog on Android was opened: the process dies of it."""

    tab: Tab
    element: str


BrowserEvent = PopupOpened | TabGone | DownloadStarted | ChooserOpened | PickerOpened
Listener = Callable[[BrowserEvent], None]
