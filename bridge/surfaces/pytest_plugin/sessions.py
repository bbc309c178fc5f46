"""A test's session and pages, for asynchronous and plain tests."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from bridge.errors import BridgeError
from bridge.page.page import Page
from bridge.policy.configuration import load_policy
from bridge.policy.grant import TestServerGrant
from bridge.session import PROFILE, AttachedSession
from bridge.surfaces.composition import Session
from bridge.surfaces.pytest_plugin.artifacts import Artifacts

AnySession = Session | AttachedSession


@dataclass(frozen=True, slots=True)
class SessionSettings:
    """Settings for opening a test's session.

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
    base_url: str = ""
    video: Literal["on", "off", "retain-on-failure"] = "off"


# The first failure to attach to an app, by serial and package: it is the same for every test of the run.
_ATTACH_FAILURES: dict[tuple[str, str], BridgeError] = {}


@asynccontextmanager
async def session_for_test(settings: SessionSettings) -> AsyncIterator[AnySession]:
    """The session of a test. Collects artifacts before it closes.

    Raises:
        BridgeError: As `Session.open` and `Session.attach`.
    """
    options: dict[str, Any] = {"device": settings.serial, "trace": settings.trace, **settings.options}
    options["grants"] = (*settings.options.get("grants", ()), *settings.grants)
    if settings.app is None:
        options.setdefault("policy", load_policy("operator", os.environ))
        async with Session.open(**options) as session:
            settings.artifacts.has_session = True
            session.base_url = settings.base_url
            try:
                yield session
            finally:
                await settings.artifacts.collect(session)
        settings.artifacts.drop_unwanted()
        return
    key = (settings.serial, settings.app)
    if (known := _ATTACH_FAILURES.get(key)) is not None:
        raise known.with_traceback(None)  # of the test that met it first
    async with AsyncExitStack() as stack:
        try:
            attached = await stack.enter_async_context(Session.attach(settings.app, **options))
        except BridgeError as error:
            _ATTACH_FAILURES[key] = error
            raise
        settings.artifacts.has_session = True
        try:
            yield attached
        finally:
            await settings.artifacts.collect(attached)
    settings.artifacts.drop_unwanted()


@asynccontextmanager
async def page_for_test(session: AnySession, settings: SessionSettings) -> AsyncIterator[Page]:
    """A tab with empty state that is cleared afterwards, or the app's first page."""
    if isinstance(session, AttachedSession):
        yield session.pages[0]
        return
    async with session.isolated() as page, _recorded(page, settings):
        try:
            yield page
        finally:
            await settings.artifacts.collect(session)


@asynccontextmanager
async def _recorded(page: Page, settings: SessionSettings) -> AsyncIterator[None]:
    """Record the block where a video is wanted."""
    if settings.video == "off":
        yield
        return
    path = settings.artifacts.video_path(is_kept_always=settings.video == "on")
    async with page.recording() as recorder:
        yield
    await asyncio.to_thread(path.write_bytes, recorder.result.image_bytes)


def page_maker(session: AnySession) -> Callable[..., Awaitable[Page]]:
    """Returns a function that opens tabs sharing the state of the test's page."""

    async def new_page(url: str | None = None) -> Page:
        if isinstance(session, AttachedSession):
            return await session.new_page(url)
        profile = PROFILE if session.host.features.get("profiles") else None
        return await session.new_page(url, profile=profile)

    return new_page
