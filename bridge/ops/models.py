"""The 18 operations as closed models: everything that a model may request of a session.

An operation is data (`{"kind": "navigate", "url": "https://…"}`). Unknown fields are rejected, and no operation runs
JavaScript.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from bridge.errors import UsageError
from bridge.ops.loose_numbers import LooseNumber

MAX_URL = 8_192
MAX_TEXT = 100_000
MAX_WAIT_MS = 120_000

_REF = r"^@?e[1-9][0-9]{0,8}$"


def _bare(ref: str) -> str:
    return ref.removeprefix("@")


Ref = Annotated[
    str, Field(pattern=_REF, description="A ref of the last snapshot, such as e5 or @e5."), AfterValidator(_bare)
]
Url = Annotated[str, Field(min_length=1, max_length=MAX_URL, description="An absolute http or https URL.")]
Path = Annotated[str, Field(min_length=1, max_length=4_096)]
Limit = Annotated[
    int, LooseNumber, Field(ge=1, le=1_000, description="Maximum number of entries; the newest are kept.")
]
LogTab = Annotated[
    str,
    Field(
        pattern=r"^(t[1-9][0-9]{0,8}|all)$",
        description="The id of an open or closed tab, or all; the current tab if omitted.",
    ),
]
Filter = Annotated[str, Field(min_length=1, max_length=500, description="Only entries that contain this text.")]


class _Operation(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Navigate(_Operation):
    """Open a URL in the current tab; opens the first tab if there is none."""

    kind: Literal["navigate"] = "navigate"
    url: Url
    wait_until_loaded: bool = Field(True, description="Wait for the load event instead of the response only.")


class Snapshot(_Operation):
    """The page as a short tree of roles and names with refs. Elements keep their refs while they exist."""

    kind: Literal["snapshot"] = "snapshot"
    interactive_only: bool = Field(
        True, description="Controls, and the headings and landmarks around them; false adds the text."
    )
    scope: Annotated[str, Field(min_length=1, max_length=1_000)] | None = Field(
        None, description="Only the subtree of this CSS selector or ref."
    )
    delta: bool = Field(False, description="Only what changed since the last snapshot.")


class Read(_Operation):
    """The text of the page as Markdown."""

    kind: Literal["read"] = "read"
    mode: Literal["main_content", "article", "raw"] = "main_content"
    max_length: Annotated[int, LooseNumber] = Field(
        50_000, ge=0, le=1_000_000, description="Maximum number of characters of Markdown; 0 for no limit."
    )


class Click(_Operation):
    """Tap an element."""

    kind: Literal["click"] = "click"
    ref: Ref


class Fill(_Operation):
    """Replace the value of a control."""

    kind: Literal["fill"] = "fill"
    ref: Ref
    value: str = Field(max_length=MAX_TEXT, description="The new value, or secret:NAME for a secret of the operator.")


class Press(_Operation):
    """Press a key on the focused element."""

    kind: Literal["press"] = "press"
    key: Annotated[str, Field(min_length=1, max_length=60, description="Such as Enter, a or Control+A.")]


class Select(_Operation):
    """Choose options of a select element by value or by visible text."""

    kind: Literal["select"] = "select"
    ref: Ref
    values: list[Annotated[str, Field(max_length=1_000)]] = Field(min_length=1, max_length=200)


class Upload(_Operation):
    """Set the files of a file input; paths are inside the operator's uploads folder."""

    kind: Literal["upload"] = "upload"
    ref: Ref
    paths: list[Path] = Field(min_length=1, max_length=20)


class Download(_Operation):
    """Download a URL with the page's cookies; the path is inside the operator's downloads folder."""

    kind: Literal["download"] = "download"
    url: Url
    dest_path: Path


class CaptureScreenshot(_Operation):
    """A screenshot of the viewport, of the whole page, or of one element."""

    kind: Literal["screenshot"] = "screenshot"
    full_page: bool = False
    annotate: bool = Field(False, description="Draw a box with its ref around each interactive element.")
    ref: Ref | None = None

    @model_validator(mode="after")
    def _one_extent(self) -> CaptureScreenshot:
        if self.full_page and self.ref is not None:
            raise ValueError("full_page and ref exclude each other")
        return self


class GetState(_Operation):
    """URL and title of the current tab, without touching the DOM."""

    kind: Literal["get_state"] = "get_state"


class WaitFor(_Operation):
    """Wait until an element matches, by CSS selector or by ARIA role."""

    kind: Literal["wait_for"] = "wait_for"
    selector: Annotated[str, Field(min_length=1, max_length=1_000)] | None = None
    role: Annotated[str, Field(min_length=1, max_length=60)] | None = None
    timeout_ms: Annotated[int, LooseNumber] = Field(10_000, ge=1, le=MAX_WAIT_MS)

    @model_validator(mode="after")
    def _one_condition(self) -> WaitFor:
        if (self.selector is None) == (self.role is None):
            raise ValueError("give either selector or role")
        return self


class NetworkLog(_Operation):
    """The network requests of one tab, or of all tabs, closed ones included."""

    kind: Literal["network_log"] = "network_log"
    filter: Filter | None = None
    tab: LogTab | None = None
    limit: Limit = 100
    clear: bool = Field(False, description="Leave these entries out of later results.")


class Console(_Operation):
    """The console messages and errors of one tab, or of all tabs, closed ones included."""

    kind: Literal["console"] = "console"
    filter: Filter | None = None
    tab: LogTab | None = None
    limit: Limit = 100
    clear: bool = Field(False, description="Leave these entries out of later results.")


class NewTab(_Operation):
    """Open a tab, which becomes the current one."""

    kind: Literal["new_tab"] = "new_tab"
    url: Url | None = None


class CloseTab(_Operation):
    """Close the current tab; the previous one becomes current."""

    kind: Literal["close_tab"] = "close_tab"


class Back(_Operation):
    """Go back one step in the tab's history."""

    kind: Literal["back"] = "back"


class Forward(_Operation):
    """Go forward one step in the tab's history."""

    kind: Literal["forward"] = "forward"


Operation = (
    Navigate
    | Snapshot
    | Read
    | Click
    | Fill
    | Press
    | Select
    | Upload
    | Download
    | CaptureScreenshot
    | GetState
    | WaitFor
    | NetworkLog
    | Console
    | NewTab
    | CloseTab
    | Back
    | Forward
)

OPERATION_TYPES: tuple[type[BaseModel], ...] = get_args(Operation)
OPERATION_KINDS: tuple[str, ...] = tuple(model.model_fields["kind"].default for model in OPERATION_TYPES)

_ADAPTER: TypeAdapter[Operation] = TypeAdapter(Annotated[Operation, Field(discriminator="kind")])


class InvalidOperation(UsageError):
    """The input is not a valid operation; the message names each invalid field."""

    code = "invalid_operation"


def parse_operation(source: str | bytes | dict[str, Any]) -> Operation:
    """Parse an operation from JSON text or a decoded object.

    Raises:
        InvalidOperation: Not JSON, an unknown kind, or a field that is unknown, missing, of the wrong type or out of
            range.
    """
    try:
        if isinstance(source, str | bytes):
            return _ADAPTER.validate_json(source)
        return _ADAPTER.validate_python(source)
    except ValidationError as error:
        raise InvalidOperation(_problems(error), hint=_hint(error)) from None


def operation_schema() -> dict[str, Any]:
    """The JSON Schema of the union."""
    return _ADAPTER.json_schema()


def _problems(error: ValidationError) -> str:
    problems = []
    for problem in error.errors(include_url=False, include_context=False, include_input=False)[:5]:
        where = ".".join(str(part) for part in problem["loc"])
        what = problem["msg"].removeprefix("Value error, ")
        problems.append(f"{where}: {what}"[:300] if where else what[:300])
    return "not an operation: " + "; ".join(problems)


def _hint(error: ValidationError) -> str:
    kinds = {problem["type"] for problem in error.errors(include_url=False, include_context=False, include_input=False)}
    if kinds & {"union_tag_invalid", "union_tag_not_found"}:
        return f"The kinds are {', '.join(OPERATION_KINDS)}."
    return ""
