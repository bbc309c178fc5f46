"""A model's place at a session: the policy of whoever is a model, with the servers of a test granted."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from bridge import Session, TestServerGrant
from bridge.model_tools import ClientContext, PendingElicitation, ServerContext, SharedSession
from bridge.ops import Secrets
from bridge.policy.browser_policy import policy_for
from bridge.policy.pinning import PinnedEgress

NO_SECRETS = Secrets()


@asynccontextmanager
async def temp_server_context(
    device: str, grants: Sequence[TestServerGrant], folder: Path, *, secrets: Secrets = NO_SECRETS, **options: Any
) -> AsyncIterator[ServerContext]:
    """`folder` is for what is cached; the options are those of `Session.open`."""
    pending = PendingElicitation()
    egress = PinnedEgress(policy_for("model"), grants, ask=pending.may_open)
    async with SharedSession(lambda: Session.open(device, egress=egress, **options)) as shared:
        yield ServerContext(egress, shared, pending, secrets=secrets, cache_folder=folder / "cache")


@asynccontextmanager
async def temp_client(
    device: str, grants: Sequence[TestServerGrant], folder: Path, *, secrets: Secrets = NO_SECRETS, **options: Any
) -> AsyncIterator[ClientContext]:
    async with temp_server_context(device, grants, folder, secrets=secrets, **options) as server_context:
        yield ClientContext(server_context)
