"""The 18 operations as closed models: everything that a model may request of a session.

An operation is data (`{"kind": "navigate", "url": "https://…"}`). Unknown fields are rejected, and no operation runs
JavaScript.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from bridge.errors import UsageError
from bridge.ops.effects import Effect
from bridge.ops.loose_numbers import LooseNumber
from bridge.page.verbs import VERBS

MAX_URL = 8_192
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
    effect: ClassVar[Effect]


def _argument(verb: str, name: str, **more: Any) -> Any:
    """A field for an argument of a verb, described and, if it is one text, limited as the verb declares it."""
    argument = next(argument for argument in VERBS[verb].arguments if argument.name == name)
    if argument.kind == "text":
        more["max_length"] = argument.max_chars
    return Field(description=argument.description, **more)


class Navigate(_Operation):
    """Open a URL in the current tab; opens the first tab if there is none."""

    effect = "navigate"
    kind: Literal["navigate"] = "navigate"
    url: Url
    wait_until_loaded: bool = Field(True, description="Wait for the load event instead of the response only.")


class Snapshot(_Operation):
    """The page as a short tree of roles and names with refs. Elements keep their refs while they exist."""

    effect = "observe"
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

    effect = "observe"
    kind: Literal["read"] = "read"
    mode: Literal["main_content", "article", "raw"] = "main_content"
    max_length: Annotated[int, LooseNumber] = Field(
        50_000, ge=0, le=1_000_000, description="Maximum number of characters of Markdown; 0 for no limit."
    )


class Click(_Operation):
    __doc__ = VERBS["click"].summary
    effect = VERBS["click"].effect
    kind: Literal["click"] = "click"
    ref: Ref


class Fill(_Operation):
    __doc__ = VERBS["fill"].summary
    effect = VERBS["fill"].effect
    kind: Literal["fill"] = "fill"
    ref: Ref
    value: str = _argument("fill", "value")


class Press(_Operation):
    """Press a key or key combination on the focused element."""

    effect = VERBS["press"].effect
    kind: Literal["press"] = "press"
    key: str = _argument("press", "key", min_length=1)


class Select(_Operation):
    __doc__ = VERBS["select"].summary
    effect = VERBS["select"].effect
    kind: Literal["select"] = "select"
    ref: Ref
    values: list[Annotated[str, Field(max_length=1_000)]] = _argument("select", "values", min_length=1, max_length=200)


class Upload(_Operation):
    __doc__ = VERBS["upload"].summary
    effect = VERBS["upload"].effect
    kind: Literal["upload"] = "upload"
    ref: Ref
    paths: list[Path] = _argument("upload", "paths", min_length=1, max_length=20)


class DownloadFile(_Operation):
    """Download a URL with the page's cookies; the path is inside the operator's downloads folder."""

    effect = "file"
    kind: Literal["download"] = "download"
    url: Url
    dest_path: Path


class CaptureScreenshot(_Operation):
    """A screenshot of the viewport, of the whole page, or of one element."""

    effect = "observe"
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

    effect = "observe"
    kind: Literal["get_state"] = "get_state"


class WaitFor(_Operation):
    """Wait until an element matches, by CSS selector or by ARIA role."""

    effect = "observe"
    kind: Literal["wait_for"] = "wait_for"
    selector: Annotated[str, Field(min_length=1, max_length=1_000)] | None = None
    role: Annotated[str, Field(min_length=1, max_length=60)] | None = None
    timeout_ms: Annotated[int, LooseNumber] = Field(10_000, ge=1, le=MAX_WAIT_MS)

    @model_validator(mode="after")
    def _one_condition(self) -> WaitFor:
        if (self.selector is None) == (self.role is None):
            raise ValueError("give either selector or role")
        return self


class _LogOperation(_Operation):
    effect = "observe"
    kind: str
    filter: Filter | None = None
    tab: LogTab | None = None
    limit: Limit = 100
    clear: bool = Field(False, description="Leave these entries out of later results.")


class NetworkLog(_LogOperation):
    """The network requests of one tab, or of all tabs, closed ones included."""

    kind: Literal["network_log"] = "network_log"


class Console(_LogOperation):
    """The console messages and errors of one tab, or of all tabs, closed ones included."""

    kind: Literal["console"] = "console"


class NewTab(_Operation):
    """Open a tab, which becomes the current one."""

    effect = "navigate"
    kind: Literal["new_tab"] = "new_tab"
    url: Url | None = None


class CloseTab(_Operation):
    """Close the current tab; the previous one becomes current."""

    effect = "navigate"
    kind: Literal["close_tab"] = "close_tab"


class Back(_Operation):
    """Go back one step in the tab's history."""

    effect = "navigate"
    kind: Literal["back"] = "back"


class Forward(_Operation):
    """Go forward one step in the tab's history."""

    effect = "navigate"
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
    | DownloadFile
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

OPERATION_TYPES: tuple[type[_Operation], ...] = get_args(Operation)
OPERATION_KINDS: tuple[str, ...] = tuple(model.model_fields["kind"].default for model in OPERATION_TYPES)
EFFECT_OF: Mapping[str, Effect] = {model.model_fields["kind"].default: model.effect for model in OPERATION_TYPES}

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
