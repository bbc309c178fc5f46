"""Results of operations: one closed model per shape, in an envelope that reports success or failure.

Results are made for a model. Each field that a page or a server may have written is redacted and wrapped in markers;
`Executor.markers.unwrap` gives a program the content.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

#: Fields of results that a page or a server may have written: strings, or lists of strings.
PAGE_FIELDS = frozenset({"text", "changes", "legend", "url", "title", "value", "values", "mime"})


class _Closed(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class CostModel(_Closed):
    """The cost of an operation: milliseconds, round trips to the browser, bytes, and estimated tokens of its text."""

    ms: float
    round_trips: int
    bytes_sent: int
    bytes_received: int
    est_tokens: int


class Location(_Closed):
    """The address of the tab: `navigate`, `back`, `forward`, `get_state`, `new_tab`."""

    shape: Literal["location"] = "location"
    tab: str
    url: str
    title: str
    status: int | None = None


class PageText(_Closed):
    """Text of the page: `snapshot`, `read`."""

    shape: Literal["page_text"] = "page_text"
    text: str
    url: str
    title: str
    truncated: bool
    truncate_reasons: list[str] = Field(default_factory=list)
    hidden_text_removed: int = 0
    refs: int = Field(0, description="Number of refs in the text.")


class ActionOutcome(_Closed):
    """The outcome of an action by ref and what changed: `click`, `fill`, `press`, `select`, `upload`."""

    shape: Literal["action"] = "action"
    action: str
    ref: str | None = None
    changes: str
    settled: str
    value: str | None = None
    values: list[str] | None = None
    checked: bool | str | None = None
    files: list[str] | None = None


class CapturedImage(_Closed):
    """A screenshot: `screenshot`. The bytes are in `OperationResult.image_bytes`, not in the JSON."""

    shape: Literal["screenshot"] = "screenshot"
    format: str
    width_px: int
    height_px: int
    scale: float
    strategy: str
    truncated: bool
    legend: str = ""


class FileSaved(_Closed):
    """A saved file: `download`."""

    shape: Literal["file"] = "file"
    path: str
    bytes: int
    mime: str | None = None


class Waited(_Closed):
    """A met condition: `wait_for`."""

    shape: Literal["waited"] = "waited"
    awaited: str
    waited_ms: float


class LogLines(_Closed):
    """Lines of a log: `network_log`, `console`."""

    shape: Literal["log"] = "log"
    text: str
    entries: int
    older: int = Field(0, description="Number of older entries that the limit left out.")
    dropped: int = Field(0, description="Number of older entries that the log had already dropped.")


class Closed(_Closed):
    """A closed tab: `close_tab`."""

    shape: Literal["closed"] = "closed"
    closed: str
    current: str | None = None


Result = Location | PageText | ActionOutcome | CapturedImage | FileSaved | Waited | LogLines | Closed


class Failure(_Closed):
    """An error: a stable code, what was seen, and a hint.

    The message is wrapped in markers if it may quote a page, the hint if a redirect may have chosen a host it names.

    Attributes:
        snapshot: The page as it is now, after a stale or unknown ref.
    """

    code: str
    message: str
    hint: str = ""
    snapshot: str | None = None


class OperationResult(_Closed):
    """The result of one operation: `result` if `ok`, else `error`."""

    kind: str
    ok: bool
    result: Result | None = Field(None, discriminator="shape")
    error: Failure | None = None
    notices: list[str] = Field(default_factory=list)
    cost: CostModel
    image_bytes: bytes | None = Field(None, exclude=True, repr=False)

    def to_json(self) -> dict[str, Any]:
        """The result without the bytes of an image; empty fields are left out."""
        return self.model_dump(mode="json", exclude_none=True, exclude_defaults=False)
