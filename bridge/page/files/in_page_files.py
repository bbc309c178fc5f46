"""Files that are made in the page, of bytes that come over CDP: for apps that are not ours to put files into.

An app reads files of its own, and what adb can write (/data/local/tmp) is not among them on every device. A `File` of
bytes is a file to the page like any other; only the events of the input are a script's then.
"""

from __future__ import annotations

import base64
from typing import Any

from bridge.deadline import Deadline
from bridge.errors import ActionFailed
from bridge.page.snapshots.element_handles import evaluate_handle, release
from bridge.page.target.attachment import Attachment
from bridge.page.target.execution_contexts import World

_PIECE_BYTES = 512 * 1024

_BEGIN = "__agentBrowser.newFileMaker()"
_TAKE = "function(piece){__agentBrowser.addPiece(this,piece)}"
_NAME = "function(name){__agentBrowser.finishFile(this,name)}"
_GIVE = "function(maker){__agentBrowser.giveFiles(this,maker)}"


async def give_files(
    attachment: Attachment, world: World, input_id: str, contents: list[tuple[str, bytes]], deadline: Deadline
) -> None:
    """Make the files, names and content, those of the input, which hears of it: a round trip for each half megabyte.

    Raises:
        ActionFailed: The page refused.
    """
    made_id = str((await evaluate_handle(attachment, world, _BEGIN, deadline))["objectId"])

    async def call(object_id: str, function: str, argument: dict[str, Any]) -> None:
        reply = await attachment.call(
            "Runtime.callFunctionOn",
            {"objectId": object_id, "functionDeclaration": function, "arguments": [argument]},
            timeout_s=deadline.remaining_s,
            session_id=world.session_id,
        )
        if "exceptionDetails" in reply:
            raise ActionFailed("the page did not take the files: they could not be made in it")

    try:
        for name, content in contents:
            for at in range(0, len(content), _PIECE_BYTES):
                piece = base64.b64encode(content[at : at + _PIECE_BYTES]).decode()
                await call(made_id, _TAKE, {"value": piece})
            await call(made_id, _NAME, {"value": name})
        await call(input_id, _GIVE, {"objectId": made_id})
    finally:
        release(attachment, made_id, world.session_id)
