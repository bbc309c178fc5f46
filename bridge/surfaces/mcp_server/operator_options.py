"""The operator's options of the server, and the context that they create. A model can change none of it."""

from __future__ import annotations

import itertools
import logging
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from bridge.adb import AdbServer
from bridge.errors import PolicyRefused, UsageError
from bridge.model_tools.client_context import ServerContext
from bridge.model_tools.elicitation import PendingElicitation
from bridge.model_tools.shared_session import SharedSession
from bridge.ops import Secret, Secrets
from bridge.ops.effects import configured_actions
from bridge.page.files.safe_folder import DOWNLOADS_KEY, UPLOADS_KEY, SafeFolder
from bridge.policy import BrowserPolicy
from bridge.policy.address import parse_address
from bridge.policy.configuration import configuration_file, configured_table, from_environment, load_policy
from bridge.policy.pinning import PinnedEgress
from bridge.session import check_writable
from bridge.surfaces.live_view import live_view
from bridge.surfaces.session_command import StartOptions

if TYPE_CHECKING:
    from bridge.session import Session

logger = logging.getLogger(__name__)

#: Called with what gives the open session, or None.
ServeTabs = Callable[[Callable[[], "Session | None"]], AbstractAsyncContextManager[str]]


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """The command line of `webview-bridge mcp`.

    Attributes:
        http_port: Serve streamable HTTP on this loopback port (0: any free port); None serves stdio.
        secrets_env: Environment variables whose values `secret:NAME` fills in; `NAME@https://shop.example` binds one
            to an origin.
        uploads_root, downloads_root: The folders for uploads and downloads; None refuses them.
        serve_tabs: Lets `webview-bridge view` show the tabs; yields the name that it takes.
        tools: Sets and single tools, separated by commas.
        trace: Where a session writes its trace when it ends. After a loss the next session adds a number to the name.
    """

    start: StartOptions
    tools: str = "web"
    allow_javascript: bool = False
    http_port: int | None = None
    secrets_env: tuple[str, ...] = ()
    uploads_root: str | None = None
    downloads_root: str | None = None
    trace: Path | None = None
    serve_tabs: ServeTabs | None = None

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
    source = _PolicySource(environ, options.start.allowed_origins)
    egress = PinnedEgress(source.load(), options.start.grants(), ask=elicitation.may_open)
    action_policy = configured_actions(environ)
    # Checked now, so that an invalid address or folder fails the start and not a call.
    AdbServer.from_environment(options.start.adb_server, environ)
    SafeFolder.at(options.uploads_root, UPLOADS_KEY)
    downloads = SafeFolder.at(options.downloads_root, DOWNLOADS_KEY)
    secrets = Secrets(dict(_secrets(options.secrets_env, environ)))
    for warning in secrets.warnings:
        logger.warning("%s", warning)

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

    async with SharedSession(opener) as shared, AsyncExitStack() as stack:
        server = ServerContext(
            egress,
            shared,
            elicitation,
            action_policy,
            secrets,
            downloads=downloads,
            live_view=live_view,
            reload_policy=lambda: source.reload(egress),
            allowing_hint=source.allowing_hint,
        )
        if options.serve_tabs is not None:
            try:
                name = await stack.enter_async_context(options.serve_tabs(lambda: shared.present))
                server.view_command = f"webview-bridge view --session {name}"
            except UsageError as error:  # the model's tools need no socket
                logger.warning("'webview-bridge view' cannot show the tabs of this server: %s", error)
        yield server


class _PolicySource:
    """The operator's policy, read again when its file changes.

    Where nothing names a default action it is "ask": the person behind the client decides, and a client that cannot
    ask a person opens nothing.
    """

    def __init__(self, environ: Mapping[str, str], allowed_origins: tuple[str, ...]) -> None:
        self._environ = environ
        self._allowed = allowed_origins
        self._file = configuration_file(environ)
        self._seen = self._stamp()

    def load(self) -> BrowserPolicy:
        """Raises as `load_policy`."""
        policy = load_policy("model", self._environ, {"allowed_origins": self._allowed or None})
        named = {**(configured_table(self._environ, "policy") or {}), **from_environment(self._environ)}
        return policy if "default_action" in named else replace(policy, default_action="ask")

    def reload(self, egress: PinnedEgress) -> str:
        """Apply a changed file to what is opened from now on; returns a sentence if that was not possible."""
        if (stamp := self._stamp()) == self._seen:
            return ""
        self._seen = stamp
        try:
            policy = self.load()
        except UsageError as error:
            return (
                f"The operator's changed configuration is not valid, so the previous one still applies: {error.message}"
            )
        is_stricter = policy.strict > egress.policy.strict or policy.blocks_webrtc > egress.policy.blocks_webrtc
        egress.policy = policy
        return "The new policy blocks WebRTC or is strict. Restart the server to apply that." if is_stricter else ""

    def allowing_hint(self, error: PolicyRefused) -> str:
        """A hint that says where the operator can allow an address that no list names."""
        host = parse_address(str(error.details.get("url", ""))).host
        if error.details.get("rule") != "default_action" or host is None:
            return error.hint
        here = f"{error.hint} of {self._file}, which is read again at each call"
        return f"{here}; or set BRIDGE_POLICY_ALLOWED_ORIGINS={host}, or start with mcp --allow {host}."

    def _stamp(self) -> tuple[int, int] | None:
        try:
            found = self._file.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size


def _numbered(path: Path, number: int) -> Path:
    return path if number == 1 else path.with_stem(f"{path.stem}-{number}")


def _secrets(given: Iterable[str], environ: Mapping[str, str]) -> Iterator[tuple[str, Secret]]:
    for text in given:
        name, _, origin = text.partition("@")
        yield name, Secret.read(environ, name, origin=origin)
