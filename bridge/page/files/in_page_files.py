"""Makes `File` objects in the page from bytes sent over CDP, for apps into which files cannot be copied.

An app reads its own files, and on some devices not those that adb can write (/data/local/tmp). To the page, such a
`File` is like any other, but the input's events come from a script (`isTrusted` is false).
"""

from __future__ import annotations

import base64
from typing import Any

from bridge.deadline import Deadline
from bridge.errors import ActionFailed
from bridge.page.snapshots.element_handles import evaluate_handle, release
from bridge.page.target.attachment import Attachment
from bridge.page.target.execution_contexts import ExecutionContext
from bridge.snapshot.injected import method_of_script, script_call

_CHUNK_BYTES = 512 * 1024

_BEGIN = script_call("newFileMaker")
_TAKE = method_of_script("addPiece")
_NAME = method_of_script("finishFile")
_GIVE = method_of_script("giveFiles")


async def set_files_in_page(
    attachment: Attachment,
    context: ExecutionContext,
    input_id: str,
    contents: list[tuple[str, bytes]],
    deadline: Deadline,
) -> None:
    """Set the files, names and contents, of an input and dispatch its events; a round trip for each half megabyte.

    Raises:
        ActionFailed: The page did not accept the files.
    """
    made_id = str((await evaluate_handle(attachment, context, _BEGIN, deadline))["objectId"])

    async def call(object_id: str, function: str, argument: dict[str, Any]) -> None:
        reply = await attachment.call(
            "Runtime.callFunctionOn",
            {"objectId": object_id, "functionDeclaration": function, "arguments": [argument]},
            timeout_s=deadline.remaining_s,
            session_id=context.session_id,
        )
        if "exceptionDetails" in reply:
            raise ActionFailed("the page did not accept the files: File objects could not be made in it")

    try:
        for name, content in contents:
            for at in range(0, len(content), _CHUNK_BYTES):
                piece = base64.b64encode(content[at : at + _CHUNK_BYTES]).decode()
                await call(made_id, _TAKE, {"value": piece})
            await call(made_id, _NAME, {"value": name})
        await call(input_id, _GIVE, {"objectId": made_id})
    finally:
        release(attachment, made_id, context.session_id)
