"""What operations answer: one closed model per shape, in an envelope that says whether it went well.

An answer is for a model. Whatever in it a page or a server may have written is redacted and stands between the marks of
a fence, field by field; `Executor.fence.inside` gives a program what is between them.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

#: Fields of results that hold a page's words, or a server's: strings, or lists of them.
PAGE_FIELDS = frozenset({"text", "changes", "legend", "url", "title", "value", "values", "mime"})


class _Closed(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class CostModel(_Closed):
    """What an operation took: milliseconds, waits for the browser, bytes, and tokens of its text (estimated)."""

    ms: float
    round_trips: int
    bytes_sent: int
    bytes_received: int
    est_tokens: int


class Location(_Closed):
    """Where the tab is: `navigate`, `back`, `forward`, `get_state`, `new_tab`."""

    shape: Literal["location"] = "location"
    tab: str
    url: str
    title: str
    status: int | None = None


class PageText(_Closed):
    """Words of the page: `snapshot`, `read`."""

    shape: Literal["page_text"] = "page_text"
    text: str
    url: str
    title: str
    truncated: bool
    truncate_reasons: list[str] = Field(default_factory=list)
    hidden_text_removed: int = 0
    refs: int = Field(0, description="How many refs the text shows.")


class ActionOutcome(_Closed):
    """What an action by ref did, and what changed: `click`, `fill`, `press`, `select`, `upload`."""

    shape: Literal["action"] = "action"
    action: str
    ref: str | None = None
    changes: str
    settled: str
    value: str | None = None
    values: list[str] | None = None
    checked: bool | str | None = None
    files: list[str] | None = None


class Picture(_Closed):
    """A picture: `screenshot`. The bytes are beside the JSON (`OperationResult.image_bytes`)."""

    shape: Literal["picture"] = "picture"
    format: str
    width_px: int
    height_px: int
    scale: float
    strategy: str
    truncated: bool
    legend: str = ""


class FileSaved(_Closed):
    """A file that was written: `download`."""

    shape: Literal["file"] = "file"
    path: str
    bytes: int
    mime: str | None = None


class Waited(_Closed):
    """A condition that was met: `wait_for`."""

    shape: Literal["waited"] = "waited"
    awaited: str
    waited_ms: float


class LogLines(_Closed):
    """Lines of a log: `network_log`, `console`."""

    shape: Literal["log"] = "log"
    text: str
    entries: int
    older: int = Field(0, description="Entries before these that the limit left out.")
    dropped: int = Field(0, description="Older entries that the log no longer held.")


class Closed(_Closed):
    """A tab that was closed: `close_tab`."""

    shape: Literal["closed"] = "closed"
    closed: str
    current: str | None = None


Result = Location | PageText | ActionOutcome | Picture | FileSaved | Waited | LogLines | Closed


class Failure(_Closed):
    """An error of the bridge: a stable code, what was seen, and what to do where that is known.

    The message is fenced where it may quote a page, the hint where it names a host that a redirect may have chosen.
    `snapshot` is the page as it is now when a ref was no longer what it had been shown as.
    """

    code: str
    message: str
    hint: str = ""
    snapshot: str | None = None


class OperationResult(_Closed):
    """The answer to one operation: `result` when `ok`, else `error`."""

    kind: str
    ok: bool
    result: Result | None = Field(None, discriminator="shape")
    error: Failure | None = None
    notices: list[str] = Field(default_factory=list)
    cost: CostModel
    image_bytes: bytes | None = Field(None, exclude=True, repr=False)

    def to_json(self) -> dict[str, Any]:
        """The answer without its picture's bytes; empty fields left out."""
        return self.model_dump(mode="json", exclude_none=True, exclude_defaults=False)
