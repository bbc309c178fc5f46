"""A desk on the device under test, with the policy of whoever is a model, and one test server granted."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bridge import Session
from bridge.model_tools import Asking, Desk, House, SharedSession
from bridge.ops import Secrets
from bridge.policy.pinning import PinnedEgress
from bridge.policy.rules import policy_for
from tests.conftest import LocalServer

SECRET = "correct horse battery"


@pytest.fixture
async def house(webview_device: str, local_server: LocalServer, tmp_path: Path) -> AsyncIterator[House]:
    asking = Asking()
    egress = PinnedEgress(policy_for("model"), [local_server.grant], ask=asking.may_open)
    shared = SharedSession(lambda: Session.open(webview_device, egress=egress, reconnect=True))
    async with shared:
        yield House(egress, shared, asking, secrets=Secrets({"PASSWORD": SECRET}), cache_folder=tmp_path / "cache")


@pytest.fixture
async def desk(house: House) -> Desk:
    return Desk(house)
