"""The life of a tab of our host app: its states, and which may follow which.

                                               reopened by
    OPENING          no WebView yet            -
    OPEN             shows its page            -
    WITHOUT_PAGE     its page did not load     only goto: nothing reads or acts on the blank page in its place
                     when it was reopened
    IDLED            the host app destroyed    the next operation
                     the idle WebView
    KILLED           hang recovery killed its  the next operation, because we killed it
                     renderer
    LOST             its renderer crashed, or  `Session.reconnect`; the next operation if the session reconnects by
                     its host app was lost     itself
    CLOSING          `close` follows           nothing
    CLOSED           closed by the session     nothing
    CLOSED_BY_PAGE   window.close()            nothing: what the window was for is done

A page that hangs a second time is not restored: only goto opens its tab again, whatever state the tab is in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum, auto

from bridge.errors import TabLost


class TabState(Enum):
    OPENING = auto()
    OPEN = auto()
    WITHOUT_PAGE = auto()
    IDLED = auto()
    KILLED = auto()
    LOST = auto()
    CLOSING = auto()
    CLOSED = auto()
    CLOSED_BY_PAGE = auto()


_S = TabState
#: The host app has a WebView of the tab, or is making one.
HAS_WEBVIEW = frozenset({_S.OPENING, _S.OPEN, _S.WITHOUT_PAGE, _S.CLOSING})
_REOPENED = frozenset({_S.OPEN, _S.WITHOUT_PAGE})
_GONE = frozenset({_S.IDLED, _S.KILLED, _S.LOST})
_CLOSED = frozenset({_S.CLOSING, _S.CLOSED, _S.CLOSED_BY_PAGE})

#: Which states may follow each. News of a loss that comes late is not a transition, and is ignored.
TRANSITIONS: Mapping[TabState, frozenset[TabState]] = {
    _S.OPENING: _REOPENED | _GONE | _CLOSED,
    _S.OPEN: _REOPENED | _GONE | _CLOSED,
    _S.WITHOUT_PAGE: _REOPENED | _GONE | _CLOSED,
    # The renderer that is killed for another tab's sake is not the reason why this one is gone.
    _S.IDLED: _REOPENED | {_S.IDLED, _S.LOST} | _CLOSED,
    # The host app reports a crash then; that it was our doing has to be remembered.
    _S.KILLED: _REOPENED | {_S.KILLED} | _CLOSED,
    _S.LOST: _REOPENED | _GONE | _CLOSED,
    _S.CLOSING: frozenset({_S.CLOSED}),
    _S.CLOSED: frozenset(),
    _S.CLOSED_BY_PAGE: frozenset(),
}

_WHY = {_S.IDLED: "closed after idling", _S.KILLED: "closed because its page did not respond"}


class TabLife:
    """The state of one tab, with the reasons that errors and notices quote.

    Attributes:
        state: See `TabState`.
        page_lost: Why the tab has lost its page, to follow "the page of t1 is gone: "; "" if it has not.
    """

    def __init__(self) -> None:
        self.state = TabState.OPENING
        self.page_lost = ""
        self._reason = ""
        self._has_loaded: Callable[[], bool] | None = None

    @property
    def is_gone(self) -> bool:
        """Its WebView is gone, and can be opened again."""
        return self.state in _GONE

    @property
    def is_closed(self) -> bool:
        """No operation is accepted any more."""
        return self.state in _CLOSED

    @property
    def reopens_itself(self) -> bool:
        """The next operation reopens it, also in a session that does not reconnect by itself."""
        return self.state in (TabState.IDLED, TabState.KILLED)

    @property
    def reason(self) -> str:
        """The reason that the host app, or the reconnect, gave for the loss."""
        return self._reason or self.state.name.lower()

    @property
    def description(self) -> str:
        """The loss, to follow "t1 had been": "closed after idling"."""
        return _WHY.get(self.state) or f"lost ({self.reason})"

    def move(self, state: TabState, reason: str = "") -> bool:
        """Take a transition; False if the table does not have it."""
        if state not in TRANSITIONS[self.state]:
            return False
        self.state, self._reason = state, reason
        return True

    def opened(self) -> None:
        """An attachment was made."""
        self.move(TabState.WITHOUT_PAGE if self.page_lost else TabState.OPEN)

    def lose(self, reason: str) -> None:
        """The host app, or a reconnect, reports that the WebView is gone."""
        self.move(TabState.IDLED if reason == "idle" else TabState.LOST, reason)

    def close(self) -> TabState | None:
        """Close for good; the state until now, or None if the session has closed the tab before."""
        before = self.state
        self.move(TabState.CLOSED)
        return before if before is not TabState.CLOSED else None

    def lose_page(self, why: str, has_loaded: Callable[[], bool] | None = None) -> None:
        """From now on only goto continues in this tab.

        Args:
            has_loaded: Whether the page arrived after all, if it was only late.
        """
        self.page_lost, self._has_loaded = why, has_loaded
        if self.state is TabState.OPEN:
            self.move(TabState.WITHOUT_PAGE)

    def forget_page(self) -> None:
        """The page is there, or the caller navigates elsewhere."""
        self.page_lost, self._has_loaded = "", None
        if self.state is TabState.WITHOUT_PAGE:
            self.move(TabState.OPEN)

    def require_page(self, tab_id: str) -> None:
        """Raise TabLost if the tab has no page to operate on."""
        if self._has_loaded is not None and self._has_loaded():
            self.forget_page()
        if self.page_lost:
            raise TabLost(
                f"the page of {tab_id} is gone: {self.page_lost}",
                hint="Use goto: it opens an address in the same tab. Until then the tab has no page.",
                recovery="kill_renderer" if self.state is TabState.KILLED else "opened_blank",
            )
