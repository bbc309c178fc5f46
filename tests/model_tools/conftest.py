"""A desk on the device under test, with the policy of whoever is a model, and one test server granted."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from desks import house_on

from bridge.model_tools import ClientContext, ServerContext
from bridge.ops import Secrets
from tests.conftest import LocalServer

SECRET = "correct horse battery"


@pytest.fixture
async def house(webview_device: str, local_server: LocalServer, tmp_path: Path) -> AsyncIterator[ServerContext]:
    secrets = Secrets({"PASSWORD": SECRET})
    async with house_on(webview_device, [local_server.grant], tmp_path, secrets=secrets, reconnect=True) as house:
        yield house


@pytest.fixture
async def desk(house: ServerContext) -> ClientContext:
    return ClientContext(house)
