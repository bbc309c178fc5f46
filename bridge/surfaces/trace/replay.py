"""Turns a trace into a test that repeats it, with roles and names instead of refs.

A trace file is untrusted, so none of it is copied as code: subjects and arguments are parsed, only known calls are
written, and values only as literals.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from bridge.errors import UsageError
from bridge.page.logs.request_entry import REDACTED
from bridge.snapshot.roles import TELLING_ROLES
from bridge.surfaces.trace.written import ONLY_BY_NAME

_LOCATING = frozenset(
    "get_by_role get_by_label get_by_text get_by_placeholder get_by_alt_text get_by_title get_by_test_id "
    "locator filter nth".split()
)
_ON_ELEMENTS = frozenset(
    "click tap dblclick long_press fill type press_sequentially clear check uncheck set_checked select_option "
    "press focus hover scroll_into_view_if_needed swipe".split()
)
_ON_PAGES = frozenset(
    "goto go_back go_forward reload wait_for wait_for_load_state scroll swipe pinch set_offline set_geolocation "
    "set_locale set_time_zone emulate_media add_init_script accept_certificate".split()
)
# Calls that only return something; a replay has no use for it.
_READ_ONLY = frozenset(
    "snapshot get_state query read screenshot record count all matches ref stop title content aria_snapshot "
    "inner_text text_content inner_html get_attribute input_value all_inner_texts all_text_contents is_visible "
    "is_hidden is_enabled is_disabled is_editable is_checked bounding_box wait_for_timeout".split()
)
_ON_KEYBOARDS = frozenset({"press", "type", "insert_text"})
_NOT_REPLAYED = frozenset({"timeout_s", "settle_s"})


@dataclass(frozen=True, slots=True)
class ReplayTest:
    """The source of the test, and one sentence for each part of the trace that it leaves out."""

    source: str
    left_out: tuple[str, ...]


@dataclass
class _Writing:
    is_async: bool
    lines: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    secrets: int = 0
    pages: dict[str, str] = field(default_factory=dict)

    def page_of(self, tab: str) -> str:
        """The variable of a tab: the first is the fixture, others are opened on first use."""
        name = self.pages.get(tab)
        if name is None:
            name = self.pages[tab] = "page" if not self.pages else f"page_{len(self.pages) + 1}"
            if name != "page":
                self.lines.append(f"{name} = {self.waited('new_page()')}")
        return name

    def waited(self, call: str) -> str:
        return f"await {call}" if self.is_async else call


def test_source(trace: Mapping[str, Any], *, is_async: bool, with_grants: bool) -> ReplayTest:
    """Write the test.

    Args:
        with_grants: Include the session's grants for ports of this machine; an untrusted trace may name any.

    Raises:
        UsageError: The trace is damaged, or none of it can be replayed.
    """
    writing = _Writing(is_async)
    try:
        for operation in trace["operations"]:
            _write(operation, writing)
        if not writing.lines:
            raise UsageError("no operation of this trace can be replayed")
        grants = [(str(host), int(port)) for host, port in trace["session"]["grants"]]
        if grants and not with_grants:
            ports = ", ".join(f"{host[:100]}:{port}" for host, port in grants)
            writing.left_out.append(f"grants for {ports}: --with-grants includes them")
        source = _module(trace["session"], writing, grants if with_grants else [])
        compile(
            source, "test_replay.py", "exec", dont_inherit=True
        )  # reports a syntax error now, not when the test runs
        return ReplayTest(source, tuple(writing.left_out))
    except (
        KeyError,
        TypeError,
        ValueError,
        AttributeError,
        IndexError,
        SyntaxError,
        OverflowError,
        OSError,
        RecursionError,
        MemoryError,
    ) as error:
        raise UsageError(f"the trace is damaged: {type(error).__name__}: {error}") from error


def _write(operation: Mapping[str, Any], writing: _Writing) -> None:
    name, number = str(operation["name"]), int(operation["number"])
    if name in _READ_ONLY:
        return
    if operation["outcome"] != "ok":
        writing.left_out.append(f"operation {number} ({name}), which did not succeed")
        return
    call = _call(operation, writing)
    if call is None:
        writing.left_out.append(f"operation {number} ({name}), which cannot be expressed by roles and names")
        return
    writing.lines.append(writing.waited(call))
    page = writing.pages[str(operation["tab"])]
    result = operation.get("result") or {}
    if name in ("goto", "go_back", "go_forward") and result.get("title"):
        writing.lines.append(writing.waited(f"expect({page}).to_have_title({str(result['title'])!r})"))


def _call(operation: Mapping[str, Any], writing: _Writing) -> str | None:
    name, subject = str(operation["name"]), str(operation["subject"])
    arguments = dict(operation["arguments"])
    if subject.startswith("expect("):
        return _expectation(operation, subject, name, arguments, writing)
    element = operation.get("element")
    if subject == "keyboard":
        chain = f".{subject}" if name in _ON_KEYBOARDS else ""
    elif subject:
        if name not in _ON_ELEMENTS or not (chain := _chain(subject)):
            return None
    elif "selector" in arguments or "ref" in arguments:
        if name not in _ON_ELEMENTS or not (chain := _by_role(element)):
            return None
        arguments = {key: value for key, value in arguments.items() if key not in ("selector", "ref")}
        name = "press_sequentially" if name == "type" else name
    elif name in _ON_PAGES:
        chain = ""
    else:
        return None
    if subject == "keyboard" and not chain:
        return None
    page = writing.page_of(str(operation["tab"]))
    return f"{page}{chain}.{name}({_arguments(name, arguments, writing)})"


def _expectation(
    operation: Mapping[str, Any], subject: str, name: str, arguments: dict[str, Any], writing: _Writing
) -> str | None:
    inner, closing, negation = subject.removeprefix("expect(").rpartition(")")
    if not closing or negation or not name.startswith(("to_", "not_to_")) or not name.isidentifier():
        return None
    chain = "" if inner == "page" else _chain(inner)
    if inner != "page" and not chain:
        return None
    page = writing.page_of(str(operation["tab"]))
    return f"expect({page}{chain}).{name}({_arguments(name, arguments, writing)})"


def _arguments(name: str, arguments: Mapping[str, Any], writing: _Writing) -> str:
    written = []
    for number, (key, value) in enumerate(arguments.items()):
        if key in _NOT_REPLAYED:
            continue
        if not key.isidentifier():
            raise UsageError(f"the trace is damaged: an argument is named {key[:40]!r}")
        if value == REDACTED:
            writing.secrets += 1
            text = f'os.environ["SECRET_{writing.secrets}"]'
        elif isinstance(value, Mapping) and set(value) == {"pattern", "flags"}:
            text = f"re.compile({str(value['pattern'])!r}{', re.IGNORECASE' if value['flags'] else ''})"
        else:
            text = repr(value)
        if name == "select_option" and key == "values":
            text = f"*{text}"
            written.append(text)
        else:
            written.append(text if number == 0 and name not in ONLY_BY_NAME else f"{key}={text}")
    return ", ".join(written)


def _chain(subject: str) -> str:
    """`get_by_role('button', name='Pay').first` rewritten from its parsed form; "" for anything else."""
    try:
        node: ast.expr = ast.parse(f"page.{subject}", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    parts: list[str] = []
    while isinstance(node, ast.Call):
        function = node.func
        if not isinstance(function, ast.Attribute) or function.attr not in _LOCATING:
            return ""
        values = [*node.args, *(keyword.value for keyword in node.keywords)]
        if not all(_is_plain(value) for value in values):
            return ""
        given = [ast.unparse(value) for value in node.args]
        given += [f"{keyword.arg}={ast.unparse(keyword.value)}" for keyword in node.keywords if keyword.arg]
        parts.append(f".{function.attr}({', '.join(given)})")
        node = function.value
    return "".join(reversed(parts)) if isinstance(node, ast.Name) and node.id == "page" else ""


def _is_plain(value: ast.expr) -> bool:
    """A literal, or `re.compile` of literals."""
    if isinstance(value, ast.Constant):
        return True
    if isinstance(value, ast.UnaryOp):
        return isinstance(value.op, ast.USub) and isinstance(value.operand, ast.Constant)
    if isinstance(value, ast.Attribute):
        return ast.unparse(value) == "re.IGNORECASE"
    if isinstance(value, ast.Call):
        return ast.unparse(value.func) == "re.compile" and not value.keywords and all(map(_is_plain, value.args))
    return False


def _by_role(element: Mapping[str, Any] | None) -> str:
    """A locator by role and name for the element of a ref; "" if they do not identify it."""
    if not element or element["role"] not in TELLING_ROLES:
        return ""
    role, name, nth, of = str(element["role"]), str(element["name"]), int(element["nth"]), int(element["of"])
    if name.endswith("…"):
        return ""
    named = f", name={name!r}, exact=True" if name else ""
    return f".get_by_role({role!r}{named})" + (f".nth({nth})" if of > 1 else "")


def _module(session: Mapping[str, Any], writing: _Writing, grants: list[tuple[str, int]]) -> str:
    body = "\n".join(f"    {line}" for line in writing.lines)
    started = datetime.fromtimestamp(float(session["started_s"]), UTC).strftime("%Y-%m-%d %H:%M UTC")
    home = "bridge" if writing.is_async else "bridge.sync"
    expects = "expect(" in body
    several = len(writing.pages) > 1
    plain = [name for name, used in (("os", "os.environ" in body), ("re", "re.compile(" in body)) if used]
    imports = [f"import {name}\n" for name in plain]
    if several or grants:
        names = [name for name, used in (("Awaitable", several and writing.is_async), ("Callable", several)) if used]
        imports += [f"from collections.abc import {', '.join(names)}\n"] if names else []
        imports += ["from typing import Any\n", "\nimport pytest\n"] if grants else []
    if not grants and imports:
        imports.append("\n")
    imports += ["from bridge import TestServerGrant\n"] if grants and not writing.is_async else []
    words = ["Page", *(["TestServerGrant"] if grants and writing.is_async else []), *(["expect"] if expects else [])]
    imports.append(f"from {home} import {', '.join(words)}\n")
    fixture = (
        "\n\n@pytest.fixture\ndef webview_session_options() -> dict[str, Any]:\n"
        f'    return {{"grants": [{", ".join(f"TestServerGrant({host!r}, {port})" for host, port in grants)}]}}\n'
        if grants
        else ""
    )
    maker = f", new_page: Callable[..., {'Awaitable[Page]' if writing.is_async else 'Page'}]" if several else ""
    return (
        f'"""What a session did on {started}, replayed."""\n\n{"".join(imports)}{fixture}\n\n'
        f"{'async ' if writing.is_async else ''}def test_replay(page: Page{maker}) -> None:\n{body}\n"
    )
