"""The operator's options of the server, and the context that they create. A model can change none of it."""

from __future__ import annotations

import itertools
import logging
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bridge.adb import AdbServer
from bridge.model_tools.client_context import ServerContext
from bridge.model_tools.elicitation import PendingElicitation
from bridge.model_tools.sets import SetName
from bridge.model_tools.shared_session import SharedSession
from bridge.ops import Secret, Secrets
from bridge.ops.effects import configured_actions
from bridge.page.files.safe_folder import DOWNLOADS_KEY, UPLOADS_KEY, SafeFolder
from bridge.policy.configuration import load_policy
from bridge.policy.pinning import PinnedEgress
from bridge.session.tracing import check_writable
from bridge.surfaces.session_command import StartOptions

if TYPE_CHECKING:
    from bridge.session.session import Session

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """The command line of `webview-bridge mcp`.

    Attributes:
        http_port: Serve streamable HTTP on this loopback port (0: any free port); None serves stdio.
        secrets_env: Environment variables whose values `secret:NAME` fills in; `NAME@https://shop.example` binds one
            to an origin.
        uploads_root, downloads_root: The folders for uploads and downloads; None refuses them.
        trace: Where a session writes its trace when it ends. After a loss the next session adds a number to the name.
    """

    start: StartOptions
    tools: SetName = "web"
    allow_javascript: bool = False
    http_port: int | None = None
    secrets_env: tuple[str, ...] = ()
    uploads_root: str | None = None
    downloads_root: str | None = None
    trace: Path | None = None

    @property
    def notices(self) -> tuple[str, ...]:
        """Warnings about options that the operator may not have intended, one sentence each."""
        unbound = [name for name in self.secrets_env if "@" not in name]
        return tuple(
            f"secret:{name} may be filled in on any page; {name}@https://… binds it to one origin" for name in unbound
        )


@asynccontextmanager
async def open_server_context(options: ServerOptions, environ: Mapping[str, str]) -> AsyncIterator[ServerContext]:
    """The context that all clients of a server share. The first call that needs the device opens it.

    Raises:
        UsageError: The policy cannot be read, a secret is not set, or a folder does not exist.
    """
    elicitation = PendingElicitation()
    policy = load_policy("model", environ)
    egress = PinnedEgress(policy, options.start.grants(), ask=elicitation.may_open)
    action_policy = configured_actions(environ)
    # Checked now, so that an invalid address or folder fails the start and not a call.
    AdbServer.from_environment(options.start.adb_server, environ)
    SafeFolder.at(options.uploads_root, UPLOADS_KEY)
    SafeFolder.at(options.downloads_root, DOWNLOADS_KEY)
    secrets = Secrets(dict(_secrets(options.secrets_env, environ)))

    if options.trace is not None:
        check_writable(options.trace)
    numbers = itertools.count(1)

    @asynccontextmanager
    async def opener() -> AsyncIterator[Session]:
        from bridge import Session

        async with AsyncExitStack() as stack:
            opening = Session.open(
                options.start.device,
                adb_server=options.start.adb_server,
                egress=egress,
                reconnect=True,
                uploads_root=options.uploads_root,
                downloads_root=options.downloads_root,
                on_notice=lambda notice: logger.warning("%s", notice),
            )
            session = await stack.enter_async_context(opening)
            if options.trace is not None:
                from bridge.surfaces.trace.recorder import recording_to

                path = _numbered(options.trace, next(numbers))
                session.observer = await stack.enter_async_context(recording_to(session, path))
                if secrets.names:
                    session.observer.hide(secrets.redact_values)
            yield session

    async with SharedSession(opener) as shared:
        yield ServerContext(egress, shared, elicitation, action_policy, secrets)


def _numbered(path: Path, number: int) -> Path:
    return path if number == 1 else path.with_stem(f"{path.stem}-{number}")


def _secrets(given: Iterable[str], environ: Mapping[str, str]) -> Iterator[tuple[str, Secret]]:
    for text in given:
        name, _, origin = text.partition("@")
        yield name, Secret.read(environ, name, origin=origin)
