"""What a page is told to pretend: network, place, language, time, preferences, credentials, scripts of its own.

Everything is kept, and told again to every fresh attachment before anything is loaded in it. What the engine has not
is a named error: nothing is pretended by script.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from bridge.errors import ProtocolError, Unsupported, UsageError
from bridge.page.interception.certificates import CertificateExceptions
from bridge.page.interception.fetch_messages import AuthChallenge, Credentials
from bridge.page.interception.routes import Routes
from bridge.page.target.attachment import Attachment
from bridge.page.target.dialogs import Dialogs
from bridge.policy.address import parse_address

PermissionSetting = Literal["granted", "denied", "prompt"]
_NOT_THERE = ("wasn't found", "not supported", "Not supported", "is not supported", "not implemented", "Not allowed")
_METHOD_NOT_FOUND = -32601

Commands = Sequence[tuple[str, dict[str, Any]]]


@dataclass(slots=True)
class PageSetup:
    """All that a page was told beyond its navigation; `apply` tells it to a fresh attachment.

    Attributes:
        commands: CDP commands in force, by what they are for.
        scripts: Init scripts by our own number, and under which identifier the present attachment knows them.
    """

    dialogs: Dialogs = field(default_factory=Dialogs)
    routes: Routes = field(default_factory=Routes)
    certificates: CertificateExceptions = field(default_factory=CertificateExceptions)
    commands: dict[str, Commands] = field(default_factory=dict)
    credentials: dict[str, Credentials] = field(default_factory=dict)
    scripts: dict[int, str] = field(default_factory=dict)
    _script_ids: dict[int, str] = field(default_factory=dict)
    _last_script: int = 0

    async def apply(self, attachment: Attachment, *, timeout_s: float) -> None:
        attachment.dialogs = self.dialogs
        await self.routes.apply(attachment, timeout_s=timeout_s)
        await self.certificates.apply(attachment, timeout_s=timeout_s)
        if self.credentials:
            await attachment.fetching.authenticate(self._credentials_for, timeout_s=timeout_s)
        for name, commands in self.commands.items():
            await _send(attachment, name, commands, timeout_s)
        for number, source in self.scripts.items():
            self._script_ids[number] = await _add_script(attachment, source, timeout_s)

    async def tell(self, attachment: Attachment, name: str, commands: Commands, *, timeout_s: float) -> None:
        """Put `commands` in force under `name`, in the place of what was in force there.

        Raises:
            Unsupported: The engine has not got it.
            UsageError: The engine does not take the value.
        """
        await _send(attachment, name, commands, timeout_s)
        self.commands[name] = commands

    async def add_script(self, attachment: Attachment, source: str, *, timeout_s: float) -> int:
        identifier = await _add_script(attachment, source, timeout_s)
        self._last_script += 1
        self.scripts[self._last_script] = source
        self._script_ids[self._last_script] = identifier
        return self._last_script

    async def remove_script(self, attachment: Attachment, number: int, *, timeout_s: float) -> None:
        if self.scripts.pop(number, None) is None:
            raise UsageError(f"there is no init script {number}")
        identifier = self._script_ids.pop(number)
        await attachment.call(
            "Page.removeScriptToEvaluateOnNewDocument", {"identifier": identifier}, timeout_s=timeout_s
        )

    async def set_credentials(
        self, attachment: Attachment, origin: str, credentials: Credentials | None, *, timeout_s: float
    ) -> None:
        key = origin_of(origin)
        if credentials is None:
            self.credentials.pop(key, None)
        else:
            self.credentials[key] = credentials
        answer = self._credentials_for if self.credentials else None
        await attachment.fetching.authenticate(answer, timeout_s=timeout_s)

    def _credentials_for(self, challenge: AuthChallenge) -> Credentials | None:
        return None if challenge.is_proxy else self.credentials.get(origin_of(challenge.origin))


def offline(is_offline: bool) -> Commands:
    # -1 is "do not throttle".
    limits = {"offline": is_offline, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
    return [("Network.emulateNetworkConditions", limits)]


def geolocation(latitude: float | None, longitude: float | None, accuracy_m: float) -> Commands:
    if latitude is None or longitude is None:
        return [("Emulation.clearGeolocationOverride", {})]
    if not (-90 <= latitude <= 90 and -180 <= longitude <= 180 and accuracy_m >= 0):
        raise UsageError(f"there is no place {latitude}, {longitude} (accuracy {accuracy_m} m) on Earth")
    where = {"latitude": latitude, "longitude": longitude, "accuracy": accuracy_m}
    return [("Emulation.setGeolocationOverride", where)]


def permissions(wanted: Mapping[str, PermissionSetting], origin: str) -> Commands:
    for name, setting in wanted.items():
        if setting not in ("granted", "denied", "prompt"):
            raise UsageError(f"permission {name}={setting!r}", hint="It is granted, denied or prompt.")
    return [
        ("Browser.setPermission", {"permission": {"name": name}, "setting": setting, "origin": origin_of(origin)})
        for name, setting in wanted.items()
    ]


def locale(tag: str | None, user_agent: str) -> Commands:
    """`Intl` by one command; `navigator.language` and Accept-Language hang on the user agent's override."""
    language = {"userAgent": user_agent, "acceptLanguage": tag} if tag else {"userAgent": user_agent}
    return [
        ("Emulation.setLocaleOverride", {"locale": tag.replace("-", "_")} if tag else {}),
        ("Emulation.setUserAgentOverride", language),
    ]


def time_zone(name: str | None) -> Commands:
    return [("Emulation.setTimezoneOverride", {"timezoneId": name or ""})]


def media(color_scheme: str | None, reduced_motion: bool | None) -> Commands:
    if color_scheme not in (None, "light", "dark"):
        raise UsageError(f"color_scheme={color_scheme!r}", hint='It is "light", "dark" or None.')
    motion = {None: "", True: "reduce", False: "no-preference"}[reduced_motion]
    features = [
        {"name": "prefers-color-scheme", "value": color_scheme or ""},
        {"name": "prefers-reduced-motion", "value": motion},
    ]
    return [("Emulation.setEmulatedMedia", {"features": features})]


def extra_headers(headers: Mapping[str, str]) -> Commands:
    for name, value in headers.items():
        if not name or any(character in name + value for character in "\r\n\0"):
            raise UsageError(f"{json.dumps(name)} is no header that can be sent")
    return [("Network.setExtraHTTPHeaders", {"headers": dict(headers)})]


def origin_of(url: str) -> str:
    """`scheme://host:port` of an http(s) address, canonical, with the port always written.

    Raises:
        UsageError: No origin can be read out of it.
    """
    address = parse_address(url)
    if address.host is None or address.port is None:
        raise UsageError(f"{url[:200]!r} has no origin", hint="Write it as https://example.com.")
    host = f"[{address.host}]" if ":" in address.host else address.host
    return f"{address.scheme}://{host}:{address.port}"


async def _send(attachment: Attachment, name: str, commands: Commands, timeout_s: float) -> None:
    for method, params in commands:
        try:
            await attachment.call(method, params, timeout_s=timeout_s)
        except ProtocolError as error:
            if error.cdp_code == _METHOD_NOT_FOUND or any(words in error.reason for words in _NOT_THERE):
                raise Unsupported(f"this WebView cannot set {name}: {error.reason}") from error
            raise UsageError(f"the WebView does not take this {name}: {error.reason}") from error


async def _add_script(attachment: Attachment, source: str, timeout_s: float) -> str:
    added = await attachment.call("Page.addScriptToEvaluateOnNewDocument", {"source": source}, timeout_s=timeout_s)
    return str(added.get("identifier", ""))
