"""A test's session and its pages: the same blocks for asynchronous and for plain tests."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bridge.page.page import Page
from bridge.policy.configuration import load_policy
from bridge.policy.grant import TestServerGrant
from bridge.session.attached.session import AttachedSession
from bridge.session.storage.isolated import PROFILE
from bridge.surfaces.composition import Session
from bridge.surfaces.pytest_plugin.artifacts import Artifacts

AnySession = Session | AttachedSession


@dataclass(frozen=True, slots=True)
class SessionSettings:
    """How a test's session is opened.

    Attributes:
        options: Arguments of `Session.open` or `Session.attach`, from the fixture `webview_session_options`.
        app: The package whose WebView is tested; None for tabs of the host app.
    """

    serial: str
    options: Mapping[str, Any]
    artifacts: Artifacts
    grants: tuple[TestServerGrant, ...] = ()
    app: str | None = None
    trace: Path | None = None


@asynccontextmanager
async def session_for_test(plan: SessionSettings) -> AsyncIterator[AnySession]:
    """The session; what a failed test left is collected before it ends.

    Raises:
        BridgeError: As `Session.open` and `Session.attach`.
    """
    options: dict[str, Any] = {"device": plan.serial, "trace": plan.trace, **plan.options}
    options["grants"] = (*plan.options.get("grants", ()), *plan.grants)
    if plan.app is None:
        options.setdefault("policy", load_policy("operator", os.environ))
        async with Session.open(**options) as session:
            plan.artifacts.has_session = True
            try:
                yield session
            finally:
                await plan.artifacts.collect(session)
    else:
        async with Session.attach(plan.app, **options) as attached:
            plan.artifacts.has_session = True
            try:
                yield attached
            finally:
                await plan.artifacts.collect(attached)


@asynccontextmanager
async def page_for_test(session: AnySession, plan: SessionSettings) -> AsyncIterator[Page]:
    """A tab that begins empty and leaves nothing, or the app's first page."""
    if isinstance(session, AttachedSession):
        yield session.pages[0]
        return
    async with session.isolated() as page:
        try:
            yield page
        finally:
            await plan.artifacts.collect(session)


def page_maker(session: AnySession) -> Callable[..., Awaitable[Page]]:
    """Opens tabs that share the state of the test's page and are cleared with it."""

    async def new_page(url: str | None = None) -> Page:
        if isinstance(session, AttachedSession):
            return await session.new_tab(url)
        profile = PROFILE if session.host.features.get("profiles") else None
        return await session.new_tab(url, profile=profile)

    return new_page
