"""Records a trace: observes each operation without changing the page.

It uses the snapshots that operations took, because a snapshot of its own would assign refs, and takes a screenshot
after each operation that may have changed the page. Secrets are removed from the whole text when the trace is written
(`hide`), and fields that show one are painted over in screenshots (`bridge.page.capture.secret_masking`). A screenshot
is left out if a frame shows a secret, or the page has too much text to search. A secret that a page has transformed
stays visible.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import bridge
from bridge.deadline import Deadline
from bridge.errors import BridgeError, TabLost
from bridge.page.capture.secret_masking import masked_viewport
from bridge.page.capture.viewport import capture_viewport
from bridge.page.instrumentation import ApiCall, Ended
from bridge.page.page import Page
from bridge.policy.pinning import ConnectionRecord
from bridge.session import TracedSession
from bridge.snapshot import SnapshotResult, snapshot_delta
from bridge.surfaces.trace.images import QUALITY, TraceImages
from bridge.surfaces.trace.written import arguments_of, call, jsonable

logger = logging.getLogger(__name__)

FORMAT, VERSION = "webview-bridge trace", 2
MAX_OPERATIONS = 5_000
MAX_SNAPSHOT_CHARS = 3_000_000
_SCREENSHOT_S = 2.0
_LOG_ENTRIES = 3_000
_LOG_CHARS = 1_000
_DELTA_CHARS = 4_000
# Operations that do not change the page; the previous screenshot still shows it.
_READ_ONLY = frozenset(
    "get_state query count all matches ref read snapshot screenshot wait_for title content aria_snapshot "
    "inner_text text_content inner_html get_attribute input_value all_inner_texts all_text_contents is_visible "
    "is_hidden is_enabled is_disabled is_editable is_checked bounding_box wait_for_url wait_for_load_state "
    "wait_for_selector wait_for_function wait_for_timeout".split()
)
_SHOWN_ELSEWHERE = frozenset({"cost", "changes", "refs", "stats", "text", "markdown", "legend", "lines"})


class TraceRecorder:
    """Records one session; `to_json` is the trace so far."""

    def __init__(self, session: TracedSession, *, screenshots: TraceImages | None = None) -> None:
        self._session = session
        self._redactions: list[Callable[[Any], Any]] = []
        self._began_s, self._began_at = time.time(), time.monotonic()
        self._operations: list[dict[str, Any]] = []
        self._screenshots = screenshots or TraceImages()
        self._last_screenshot: dict[str, int | None] = {}
        self._snapshots: dict[str, int] = {}
        self._snapshot_chars = 0
        self._policy: list[dict[str, Any]] = []
        self._last_record: ConnectionRecord | None = None
        self._dropped_operations = self._dropped_snapshots = 0

    async def begin(self, operation: ApiCall) -> Ended:
        """See Observer."""
        page, at = operation.page, time.monotonic()
        before = page.last_snapshot
        logs = self._log_ends()
        element = _element(before, operation.arguments.get("selector") or operation.arguments.get("ref"))

        async def ended(result: Any, error: BaseException | None) -> None:
            ms = (time.monotonic() - at) * 1000
            if len(self._operations) >= MAX_OPERATIONS:
                self._dropped_operations += 1
                return
            arguments = arguments_of(operation, result, is_known=error is None)
            entry: dict[str, Any] = {
                "number": len(self._operations) + 1,
                "tab": page.tab_id,
                "subject": operation.subject,
                "name": operation.name,
                "arguments": arguments,
                "code": call(operation, arguments),
                "at_ms": round((at - self._began_at) * 1000, 1),
                "ms": round(ms, 1),
                "outcome": "ok" if error is None else "failed" if isinstance(error, Exception) else "cancelled",
                "url": page.url,
                **({"element": element} if element else {}),
            }
            self._operations.append(entry)
            entry |= _outcome(result, error)
            entry |= self._seen(before, page.last_snapshot, result)
            if isinstance(error, Exception) or (error is None and _may_change(operation)):
                entry["screenshot"] = self._last_screenshot[page.tab_id] = await self._screenshot(page, error)
            entry["console"], entry["network"] = ([first + 1, last] for first, last in zip(logs, self._log_ends()))  # noqa: B905
            self._take_decisions(entry["number"])

        return ended

    def to_json(self) -> dict[str, Any]:
        """The whole trace."""
        session = self._session
        self._take_decisions(len(self._operations))
        host = getattr(session, "host", None)
        facts: dict[str, Any] = {
            "format": FORMAT,
            "version": VERSION,
            "session": {
                "bridge": bridge.__version__,
                "serial": session.serial,
                "is_virtual": getattr(session, "is_virtual", None),
                "webview": f"{host.webview_package} {host.webview_version}" if host is not None else None,
                "started_s": round(self._began_s, 3),
                "ms": round((time.monotonic() - self._began_at) * 1000, 1),
                "grants": [[grant.host, grant.port] for grant in session.egress.test_servers],
            },
            "operations": self._operations,
            "snapshots": list(self._snapshots),
            "console": [jsonable(entry.to_json()) for entry in session.logs.console(limit=_LOG_ENTRIES)],
            "network": [_request(entry.to_json()) for entry in session.logs.network(limit=_LOG_ENTRIES)],
            "policy": self._policy,
            "left_out": self._left_out(),
        }
        # Base64 may contain any letters, so screenshots are not redacted as text.
        return {**self._hidden(facts), "screenshots": self._screenshots.to_json()}

    def hide(self, redact: Callable[[Any], Any]) -> None:
        """See Observer."""
        self._redactions.append(redact)

    def _hidden(self, facts: Any) -> Any:
        for redact in self._redactions:
            facts = redact(facts)
        return facts

    def timeline(self, tabs: Collection[str]) -> str:
        """The operations in these tabs as text: a line each, with its changes below."""
        lines: list[str] = []
        for entry in self._operations:
            if entry["tab"] not in tabs:
                continue
            error = entry.get("error")
            outcome = entry["outcome"] if error is None else f"{error['code']}: {error['message']}"
            lines.append(f"{entry['number']} {entry['tab']} {entry['code']} -> {outcome} ({entry['ms']:.0f} ms)")
            lines += [f"    {line}" for line in str(entry.get("delta") or "").splitlines()]
        return str(self._hidden("\n".join(lines)))

    def _log_ends(self) -> tuple[int, int]:
        logs = self._session.logs
        return logs.console(limit=1).last, logs.requests.last

    def _seen(self, before: SnapshotResult | None, after: SnapshotResult | None, result: Any) -> dict[str, Any]:
        changes = getattr(result, "changes", None)
        delta = getattr(changes, "text", None)
        if delta is None and before is not None and after is not None and before is not after:
            delta = snapshot_delta(before, after, max_chars=_DELTA_CHARS).text
        return {"before": self._snapshot(before), "after": self._snapshot(after), "delta": jsonable(delta)}

    def _snapshot(self, snapshot: SnapshotResult | None) -> int | None:
        if snapshot is None:
            return None
        number = self._snapshots.get(snapshot.text)
        if number is None and self._snapshot_chars + len(snapshot.text) > MAX_SNAPSHOT_CHARS:
            self._dropped_snapshots += 1
            return None
        if number is None:
            self._snapshot_chars += len(snapshot.text)
            number = self._snapshots[snapshot.text] = len(self._snapshots)
        return number

    async def _screenshot(self, page: Page, error: BaseException | None) -> int | None:
        if isinstance(error, TabLost):
            return None
        try:
            async with asyncio.timeout(_SCREENSHOT_S):
                attachment = await page.attached()
                if self._redactions:
                    webp = await masked_viewport(
                        attachment, self._hidden, "webp", QUALITY, Deadline.after(_SCREENSHOT_S)
                    )
                else:
                    webp = await capture_viewport(attachment, "webp", QUALITY, Deadline.after(_SCREENSHOT_S))
            return await asyncio.to_thread(self._screenshots.add, webp)
        except (BridgeError, TimeoutError) as why:
            logger.debug("no screenshot after an operation on %s: %s", page.tab_id, why)
            return None

    def _take_decisions(self, number: int) -> None:
        fresh: list[ConnectionRecord] = []
        for record in reversed(self._session.egress.audit):
            if record is self._last_record:
                break
            fresh.append(record)
        if fresh:
            self._last_record = fresh[0]
        self._policy += [{"operation": number, **record.to_json()} for record in reversed(fresh)]

    def _left_out(self) -> list[str]:
        counted = (
            (self._dropped_operations, "operations"),
            (self._screenshots.dropped, "screenshots"),
            (self._dropped_snapshots, "snapshots"),
        )
        return [f"{count} {what}: the trace has reached its size limit" for count, what in counted if count]


@asynccontextmanager
async def recording_to(session: TracedSession, path: Path) -> AsyncIterator[TraceRecorder]:
    """Record while the block runs, then write the file, also after an error."""
    from bridge.surfaces.trace.document import write_trace

    recorder = TraceRecorder(session)
    try:
        yield recorder
    finally:
        try:
            write_trace(path, recorder.to_json())  # not in a thread: it must also happen on cancellation
        except OSError as error:
            session.notice(f"could not write the trace to {path}: {error.strerror or error}")


def _may_change(operation: ApiCall) -> bool:
    return operation.name not in _READ_ONLY and not operation.subject.startswith("expect(")


def _element(before: SnapshotResult | None, ref: Any) -> dict[str, Any] | None:
    """The element of a ref when it was used: role, name, and its index among equal ones."""
    node = before.refs.get(str(ref).removeprefix("@")) if before is not None and ref is not None else None
    if before is None or node is None:
        return None
    alike = [other.ref for other in before.refs.values() if (other.role, other.name) == (node.role, node.name)]
    return {"ref": node.ref, "role": node.role, "name": node.name, "nth": alike.index(node.ref), "of": len(alike)}


def _outcome(result: Any, error: BaseException | None) -> dict[str, Any]:
    if isinstance(error, BridgeError):
        return {"error": jsonable(error.to_json())}
    if error is not None:
        return {"error": jsonable({"code": "error", "message": repr(error)})}
    cost = getattr(result, "cost", None)
    facts = result.to_json() if hasattr(result, "to_json") else None
    out: dict[str, Any] = {"cost": cost.to_json()} if cost is not None else {}
    if isinstance(facts, dict):
        out["result"] = jsonable({key: value for key, value in facts.items() if key not in _SHOWN_ELSEWHERE})
    return out


def _request(facts: dict[str, Any]) -> dict[str, Any]:
    """An entry of the network log without headers, which are in the HAR."""
    kept = {key: value for key, value in facts.items() if not key.endswith("_headers")}
    return {key: value[:_LOG_CHARS] if isinstance(value, str) else value for key, value in kept.items()}
