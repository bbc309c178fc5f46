"""The 18 operations as closed models: what a program or a model may ask of a session, and nothing beside it.

Locked: an operation is data (`{"kind": "navigate", "url": "https://…"}`), every field is named here, unknown fields are
refused, and there is no way to run JavaScript.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from bridge.errors import UsageError

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
Limit = Annotated[int, Field(ge=1, le=1_000, description="At most this many entries, the newest.")]
Filter = Annotated[str, Field(min_length=1, max_length=500, description="Only entries that contain this text.")]


class _Operation(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Navigate(_Operation):
    """Open a URL in the current tab, or in a first one."""

    kind: Literal["navigate"] = "navigate"
    url: Url
    wait_until_loaded: bool = Field(True, description="Wait for the load event; otherwise only for the answer.")


class Snapshot(_Operation):
    """The page as a short tree of roles and names with refs; those of living elements keep their number."""

    kind: Literal["snapshot"] = "snapshot"
    interactive_only: bool = Field(True, description="Only what can be acted on, and what it is in.")
    scope: Annotated[str, Field(min_length=1, max_length=1_000)] | None = Field(
        None, description="Only what is below this CSS selector or ref."
    )
    delta: bool = Field(False, description="Only what changed since the last snapshot.")


class Read(_Operation):
    """The page's words as Markdown."""

    kind: Literal["read"] = "read"
    mode: Literal["main_content", "article", "raw"] = "main_content"
    max_length: int = Field(50_000, ge=1, le=1_000_000, description="Characters of Markdown at most.")


class Click(_Operation):
    """Tap an element."""

    kind: Literal["click"] = "click"
    ref: Ref


class Fill(_Operation):
    """Replace what a control holds."""

    kind: Literal["fill"] = "fill"
    ref: Ref
    value: str = Field(max_length=MAX_TEXT, description="The new value, or secret:NAME for one the operator has given.")


class Press(_Operation):
    """Press a key on the focused element."""

    kind: Literal["press"] = "press"
    key: Annotated[str, Field(min_length=1, max_length=60, description="Enter, a, Control+A …")]


class Select(_Operation):
    """Choose options of a select element by value or by visible text."""

    kind: Literal["select"] = "select"
    ref: Ref
    values: list[Annotated[str, Field(max_length=1_000)]] = Field(min_length=1, max_length=200)


class Upload(_Operation):
    """Give files to a file input; paths are below the operator's uploads folder."""

    kind: Literal["upload"] = "upload"
    ref: Ref
    paths: list[Path] = Field(min_length=1, max_length=20)


class Download(_Operation):
    """Save what a URL gives, with the page's cookies; the path is below the operator's downloads folder."""

    kind: Literal["download"] = "download"
    url: Url
    dest_path: Path


class Screenshot(_Operation):
    """A picture of the viewport, of the whole page, or of one element."""

    kind: Literal["screenshot"] = "screenshot"
    full_page: bool = False
    annotate: bool = Field(False, description="Draw boxes that are numbered like the refs.")
    ref: Ref | None = None

    @model_validator(mode="after")
    def _one_extent(self) -> Screenshot:
        if self.full_page and self.ref is not None:
            raise ValueError("full_page and ref exclude each other")
        return self


class GetState(_Operation):
    """URL and title of the current tab; the page's DOM is not touched."""

    kind: Literal["get_state"] = "get_state"


class WaitFor(_Operation):
    """Wait until an element is there, by CSS selector or by role."""

    kind: Literal["wait_for"] = "wait_for"
    selector: Annotated[str, Field(min_length=1, max_length=1_000)] | None = None
    role: Annotated[str, Field(min_length=1, max_length=60)] | None = None
    timeout_ms: int = Field(10_000, ge=1, le=MAX_WAIT_MS)

    @model_validator(mode="after")
    def _one_condition(self) -> WaitFor:
        if (self.selector is None) == (self.role is None):
            raise ValueError("give selector or role, one of them")
        return self


class NetworkLog(_Operation):
    """The requests of the current tab."""

    kind: Literal["network_log"] = "network_log"
    filter: Filter | None = None
    limit: Limit = 100
    clear: bool = Field(False, description="Forget them afterwards.")


class Console(_Operation):
    """The console messages and errors of the current tab."""

    kind: Literal["console"] = "console"
    filter: Filter | None = None
    limit: Limit = 100
    clear: bool = Field(False, description="Forget them afterwards.")


class NewTab(_Operation):
    """Open a tab, which becomes the current one."""

    kind: Literal["new_tab"] = "new_tab"
    url: Url | None = None


class CloseTab(_Operation):
    """Close the current tab; the one before it becomes current."""

    kind: Literal["close_tab"] = "close_tab"


class Back(_Operation):
    """One step back in the tab's history."""

    kind: Literal["back"] = "back"


class Forward(_Operation):
    """One step forward in the tab's history."""

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
    | Screenshot
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
    """What was given is no operation; the message names each field that is wrong."""

    code = "invalid_operation"


def parse_operation(source: str | bytes | dict[str, Any]) -> Operation:
    """The operation that JSON text, or an object already parsed, stands for.

    Raises:
        InvalidOperation: Not JSON, another kind, a field unknown, missing, of another type or out of range.
    """
    try:
        if isinstance(source, str | bytes):
            return _ADAPTER.validate_json(source)
        return _ADAPTER.validate_python(source)
    except ValidationError as error:
        raise InvalidOperation(_in_words(error), hint=_hint(error)) from None


def operation_schema() -> dict[str, Any]:
    """The JSON Schema of the union."""
    return _ADAPTER.json_schema()


def _in_words(error: ValidationError) -> str:
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
