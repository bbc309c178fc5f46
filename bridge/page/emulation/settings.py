"""Settings of a page that hold for its lifetime: emulation, routes, credentials, init scripts, dialog answers."""

from __future__ import annotations

from dataclasses import dataclass, field

from bridge.deadline import Deadline
from bridge.errors import ProtocolError, Unsupported, UsageError
from bridge.page.emulation.commands import Commands, origin_of
from bridge.page.fetch_messages import AuthChallenge, Credentials
from bridge.page.interception.certificates import CertificateExceptions
from bridge.page.interception.routes import Routes
from bridge.page.target.attachment import Attachment
from bridge.page.target.dialogs import Dialogs

_UNSUPPORTED = ("wasn't found", "not supported", "Not supported", "is not supported", "not implemented", "Not allowed")
_METHOD_NOT_FOUND = -32601


@dataclass(slots=True)
class PageSettings:
    """The settings of one page; `apply` repeats them in a new attachment.

    Attributes:
        commands: CDP commands in force, by the name of the emulated condition.
        scripts: Init scripts, by the number that the caller got.
    """

    dialogs: Dialogs = field(default_factory=Dialogs)
    routes: Routes = field(default_factory=Routes)
    certificates: CertificateExceptions = field(default_factory=CertificateExceptions)
    commands: dict[str, Commands] = field(default_factory=dict)
    credentials: dict[str, Credentials] = field(default_factory=dict)
    scripts: dict[int, str] = field(default_factory=dict)
    # By the same numbers: the identifiers of the present attachment.
    _script_ids: dict[int, str] = field(default_factory=dict)
    _last_script: int = 0

    async def apply(self, attachment: Attachment, deadline: Deadline) -> None:
        """Send all settings to a new attachment, before it loads anything."""
        attachment.dialogs = self.dialogs
        await self.routes.apply(attachment, deadline)
        await self.certificates.apply(attachment, deadline)
        if self.credentials:
            await attachment.fetching.authenticate(self._credentials_for, timeout_s=deadline.remaining_s)
        for name, commands in self.commands.items():
            await _send(attachment, name, commands, deadline)
        for number, source in self.scripts.items():
            self._script_ids[number] = await _add_script(attachment, source, deadline)

    async def emulate(self, attachment: Attachment, name: str, commands: Commands, deadline: Deadline) -> None:
        """Send `commands` and keep them, in place of earlier ones of that name.

        Raises:
            Unsupported: The engine lacks a command.
            UsageError: The engine rejects a value.
        """
        await _send(attachment, name, commands, deadline)
        self.commands[name] = commands

    async def add_script(self, attachment: Attachment, source: str, deadline: Deadline) -> int:
        identifier = await _add_script(attachment, source, deadline)
        self._last_script += 1
        self.scripts[self._last_script] = source
        self._script_ids[self._last_script] = identifier
        return self._last_script

    async def remove_script(self, attachment: Attachment, number: int, deadline: Deadline) -> None:
        if self.scripts.pop(number, None) is None:
            raise UsageError(f"unknown init script {number}")
        identifier = self._script_ids.pop(number)
        await attachment.call(
            "Page.removeScriptToEvaluateOnNewDocument", {"identifier": identifier}, timeout_s=deadline.remaining_s
        )

    async def set_credentials(
        self, attachment: Attachment, origin: str, credentials: Credentials | None, deadline: Deadline
    ) -> None:
        key = origin_of(origin)
        if credentials is None:
            self.credentials.pop(key, None)
        else:
            self.credentials[key] = credentials
        answer = self._credentials_for if self.credentials else None
        await attachment.fetching.authenticate(answer, timeout_s=deadline.remaining_s)

    def _credentials_for(self, challenge: AuthChallenge) -> Credentials | None:
        return None if challenge.is_proxy else self.credentials.get(origin_of(challenge.origin))


async def _send(attachment: Attachment, name: str, commands: Commands, deadline: Deadline) -> None:
    for method, params in commands:
        try:
            await attachment.call(method, params, timeout_s=deadline.remaining_s)
        except ProtocolError as error:
            if error.cdp_code == _METHOD_NOT_FOUND or any(words in error.reason for words in _UNSUPPORTED):
                raise Unsupported(f"this WebView cannot set {name}: {error.reason}") from error
            raise UsageError(f"the WebView rejected this {name}: {error.reason}") from error


async def _add_script(attachment: Attachment, source: str, deadline: Deadline) -> str:
    added = await attachment.call(
        "Page.addScriptToEvaluateOnNewDocument", {"source": source}, timeout_s=deadline.remaining_s
    )
    return str(added.get("identifier", ""))
