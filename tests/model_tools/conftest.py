"""A client on the device under test, with the policy of whoever is a model, and one test server granted."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from temp_clients import temp_server_context

from bridge.model_tools import ClientContext, ServerContext
from bridge.ops import Secrets
from tests.conftest import LocalServer

SECRET = "correct horse battery"


@pytest.fixture
async def server_context(
    webview_device: str, local_server: LocalServer, tmp_path: Path
) -> AsyncIterator[ServerContext]:
    secrets = Secrets({"PASSWORD": SECRET})
    async with temp_server_context(
        webview_device, [local_server.grant], tmp_path, secrets=secrets, reconnect=True
    ) as server_context:
        yield server_context


@pytest.fixture
async def client(server_context: ServerContext) -> ClientContext:
    return ClientContext(server_context)
