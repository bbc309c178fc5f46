"""Uploads files from the operator's folder: into a file input, or dropped on an element."""

from __future__ import annotations

import asyncio
import base64
import json
import os
from collections.abc import Sequence
from typing import Any

from bridge.cdp.meter import measure
from bridge.deadline import Deadline
from bridge.errors import ActionFailed, ElementDisabled, ExecutionContextDestroyed, ProtocolError, UsageError
from bridge.page.files.host_services import HostServices
from bridge.page.files.safe_folder import SafeFolder
from bridge.page.input.script_replies import SettleReply
from bridge.page.input.settle import QUIET_MS, Before, Settled, changes_since
from bridge.page.results import ActionResult, Changes
from bridge.page.snapshots.element_handles import element_handle, evaluate_handle, release
from bridge.page.snapshots.refs import RefEntry, RefTable
from bridge.page.snapshots.take import Snapshots
from bridge.page.target.attachment import CONTEXT_NAME, Attachment
from bridge.page.target.execution_contexts import ExecutionContext
from bridge.snapshot.escape import quote
from bridge.snapshot.injected import method_of_script, script_call

MAX_UPLOAD_BYTES = 100 * 1024 * 1024
_MAX_FILES = 50
_CHUNK_BYTES = 512 * 1024
_MADE_IN_PAGE = "the files were made in the page by a script, so the input's events have isTrusted false"

_FIND_INPUT = method_of_script("fileInputOf")
_INPUT_STATE = method_of_script("fileInputState")
_DROP = method_of_script("dropFiles")
# Files made in the page: a maker takes pieces, then the name; the input gets the finished files.
_NEW_MAKER = script_call("newFileMaker")
_ADD_PIECE = method_of_script("addPiece")
_FINISH_FILE = method_of_script("finishFile")
_GIVE_FILES = method_of_script("giveFiles")


def checked_paths(paths: object) -> list[str | os.PathLike[str]]:
    """A list of one path or several.

    Raises:
        UsageError: Neither a path nor a list of paths.
    """
    wanted = [paths] if isinstance(paths, str | os.PathLike) else paths
    if not isinstance(wanted, Sequence) or not all(isinstance(path, str | os.PathLike) for path in wanted):
        raise UsageError(f"paths must be a path or a list of paths, not {quote(str(paths)[:100])}")
    return list(wanted)


class Uploads:
    """Uploads into one attachment. Files on the device are deleted with the tab."""

    def __init__(
        self,
        attachment: Attachment,
        refs: RefTable,
        snapshots: Snapshots,
        host: HostServices | None,
        source: SafeFolder,
    ) -> None:
        self._attachment = attachment
        self._refs = refs
        self._snapshots = snapshots
        self._host = host
        self._source = source

    async def give(
        self, ref: str, paths: Sequence[str | os.PathLike[str]], deadline: Deadline, *, settle_s: float
    ) -> ActionResult:
        """Read the files, put them on the device or into the page, and give them to the element.

        Returns a result whose `values` are the base names.

        Raises:
            PolicyRefused: A path leads out of the uploads folder, or no folder is set. Nothing was sent.
            UsageError: A file does not exist or is too large, or the input accepts only one.
            RefNotFound, StaleRef: The element is gone, or has become a different one.
            ElementDisabled: The input is disabled.
            ActionFailed: The element accepts no dropped files.
        """
        wanted = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
        if not 1 <= len(wanted) <= _MAX_FILES:
            raise UsageError(f"1 to {_MAX_FILES} paths can be uploaded at once, not {len(wanted)}")
        for path in wanted:
            self._source.parts(path)
        contents = [await asyncio.to_thread(self._source.read, path, max_bytes=MAX_UPLOAD_BYTES) for path in wanted]
        with measure() as meter:
            before = Before.now(self._attachment, self._snapshots)
            async with element_handle(self._attachment, self._refs, self._snapshots, ref, deadline) as (entry, element):
                context = self._attachment.state.context_of(entry.frame_id, CONTEXT_NAME)
                assert context is not None  # element_handle has used it
                field = await self._call(context, element, _FIND_INPUT, deadline)
                input_id = field.get("objectId")
                if input_id is not None:
                    await self._check_input(entry, context, input_id, len(contents), deadline)
                    await self._set_files(context, input_id, contents, deadline)
                    release(self._attachment, input_id, context.session_id)
                else:
                    await self._drop(entry, context, element, contents, deadline)
            changes = await self._changes(before, entry, settle_s, deadline)
        names = tuple(name for name, _ in contents)
        return ActionResult(
            action="upload",
            ref=entry.ref,
            changes=changes,
            cost=meter.cost(),
            values=names,
            notices=() if self._host else (_MADE_IN_PAGE,),
        )

    async def _changes(self, before: Before, entry: RefEntry, settle_s: float, deadline: Deadline) -> Changes:
        """The changes of the page after the upload, once it is quiet."""
        settling = Deadline.after(settle_s)
        options: dict[str, Any] = {"settleMs": round(settle_s * 1000), "quietMs": QUIET_MS, "expect": None}
        options["snapshot"] = self._snapshots.last_request.script_options(None)
        try:
            call = script_call("settle", options)
            reply = SettleReply.parse(await self._attachment.evaluate(entry.frame_id, call, timeout_s=settle_s))
        except ExecutionContextDestroyed:
            reply = SettleReply("navigation")
        return await changes_since(
            before, Settled(reply, [], [], settling, deadline), self._attachment, self._snapshots
        )

    async def _check_input(
        self, entry: RefEntry, context: ExecutionContext, input_id: str, count: int, deadline: Deadline
    ) -> None:
        about = json.loads((await self._call(context, input_id, _INPUT_STATE, deadline)).get("value") or "{}")
        if about.get("disabled"):
            raise ElementDisabled(f"{entry.label} is disabled", ref=entry.ref)
        if count > 1 and not about.get("multiple"):
            raise UsageError(f"{entry.label} accepts one file, not {count}")

    async def _set_files(
        self, context: ExecutionContext, object_id: str, contents: list[tuple[str, bytes]], deadline: Deadline
    ) -> None:
        """Set files from the device's disk, for which Chromium dispatches the events; else files made in the page."""
        if self._host is None:
            await self._set_files_made_in_page(context, object_id, contents, deadline)
            return
        staged = [
            await self._host.put_file(name, content, timeout_s=deadline.remaining_s) for name, content in contents
        ]
        try:
            await self._attachment.call(
                "DOM.setFileInputFiles",
                {"files": staged, "objectId": object_id},
                timeout_s=deadline.remaining_s,
                session_id=context.session_id,
            )
        except ProtocolError as error:
            raise ActionFailed(f"the page did not accept the files: {error.reason}") from error

    async def _drop(
        self,
        entry: RefEntry,
        context: ExecutionContext,
        element: str,
        contents: list[tuple[str, bytes]],
        deadline: Deadline,
    ) -> None:
        """Drop the files on the element. They come from a file input that is not in the document."""
        made = await evaluate_handle(
            self._attachment,
            context,
            script_call("detachedFileInput"),
            deadline,
        )
        input_id = str(made["objectId"])
        try:
            await self._set_files(context, input_id, contents, deadline)
            taken = await self._call(context, element, _DROP, deadline, {"objectId": input_id})
        finally:
            release(self._attachment, input_id, context.session_id)
        if taken.get("value") is not True:
            raise ActionFailed(
                f"{entry.label} is not a file input and accepts no dropped files",
                hint="Use the ref of the file input, its label, or the drop target.",
                ref=entry.ref,
            )

    async def _set_files_made_in_page(
        self, context: ExecutionContext, input_id: str, contents: list[tuple[str, bytes]], deadline: Deadline
    ) -> None:
        """Set files that a script makes; a round trip for each half megabyte.

        For apps into which files cannot be copied: an app reads its own files, and on some devices not those that adb
        can write (/data/local/tmp). To the page, such a file is like any other, but the input's events come from a
        script (`isTrusted` is false).
        """
        maker_id = str((await evaluate_handle(self._attachment, context, _NEW_MAKER, deadline))["objectId"])
        try:
            for name, content in contents:
                for at in range(0, len(content), _CHUNK_BYTES):
                    piece = base64.b64encode(content[at : at + _CHUNK_BYTES]).decode()
                    await self._call(context, maker_id, _ADD_PIECE, deadline, {"value": piece})
                await self._call(context, maker_id, _FINISH_FILE, deadline, {"value": name})
            await self._call(context, input_id, _GIVE_FILES, deadline, {"objectId": maker_id})
        finally:
            release(self._attachment, maker_id, context.session_id)

    async def _call(
        self, context: ExecutionContext, object_id: str, function: str, deadline: Deadline, *arguments: Any
    ) -> dict[str, Any]:
        reply = await self._attachment.call(
            "Runtime.callFunctionOn",
            {"objectId": object_id, "functionDeclaration": function, "arguments": list(arguments)},
            timeout_s=deadline.remaining_s,
            session_id=context.session_id,
        )
        if "exceptionDetails" in reply:
            raise ActionFailed("the page threw an error during the upload")
        result = reply.get("result")
        return result if isinstance(result, dict) else {}
