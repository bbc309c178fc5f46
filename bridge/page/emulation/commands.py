"""The CDP commands of each emulated condition: network, location, permissions, locale, time zone, media, headers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

from bridge.deadline import Deadline
from bridge.errors import UsageError
from bridge.page.results import ViewportSize
from bridge.page.target.attachment import Attachment
from bridge.policy.address import parse_address

PermissionSetting = Literal["granted", "denied", "prompt"]
Commands: TypeAlias = Sequence[tuple[str, dict[str, Any]]]


def offline(is_offline: bool) -> Commands:
    # -1 disables throttling.
    limits = {"offline": is_offline, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
    return [("Network.emulateNetworkConditions", limits)]


def geolocation(latitude: float | None, longitude: float | None, accuracy_m: float) -> Commands:
    if latitude is None or longitude is None:
        return [("Emulation.clearGeolocationOverride", {})]
    if not (-90 <= latitude <= 90 and -180 <= longitude <= 180 and accuracy_m >= 0):
        raise UsageError(f"not a valid geolocation: {latitude}, {longitude} (accuracy {accuracy_m} m)")
    where = {"latitude": latitude, "longitude": longitude, "accuracy": accuracy_m}
    return [("Emulation.setGeolocationOverride", where)]


def permissions(wanted: Mapping[str, PermissionSetting], origin: str) -> Commands:
    for name, setting in wanted.items():
        if setting not in ("granted", "denied", "prompt"):
            raise UsageError(f"permission {name}={setting!r}", hint="Use granted, denied or prompt.")
    return [
        ("Browser.setPermission", {"permission": {"name": name}, "setting": setting, "origin": origin_of(origin)})
        for name, setting in wanted.items()
    ]


def locale(tag: str | None, user_agent: str) -> Commands:
    """One command sets `Intl`; `navigator.language` and Accept-Language depend on the user agent override."""
    language = {"userAgent": user_agent, "acceptLanguage": tag} if tag else {"userAgent": user_agent}
    return [
        ("Emulation.setLocaleOverride", {"locale": tag.replace("-", "_")} if tag else {}),
        ("Emulation.setUserAgentOverride", language),
    ]


def time_zone(name: str | None) -> Commands:
    return [("Emulation.setTimezoneOverride", {"timezoneId": name or ""})]


def media(
    kind: str | None,
    color_scheme: str | None,
    reduced_motion: str | None,
    forced_colors: str | None,
    contrast: str | None,
) -> Commands:
    wanted = {
        "media": (kind, ("screen", "print")),
        "color_scheme": (color_scheme, ("light", "dark", "no-preference")),
        "reduced_motion": (reduced_motion, ("reduce", "no-preference")),
        "forced_colors": (forced_colors, ("active", "none")),
        "contrast": (contrast, ("more", "no-preference")),
    }
    for name, (value, allowed) in wanted.items():
        if value is not None and value not in allowed:
            raise UsageError(f"{name}={value!r}", hint=f"Use {', '.join(allowed)} or None.")
    features = [
        {"name": f"prefers-{name}" if name != "forced-colors" else name, "value": value or ""}
        for name, value in (
            ("color-scheme", color_scheme),
            ("reduced-motion", reduced_motion),
            ("forced-colors", forced_colors),
            ("contrast", contrast),
        )
    ]
    return [("Emulation.setEmulatedMedia", {"media": kind or "", "features": features})]


def viewport(size: ViewportSize | None) -> Commands:
    if size is None:
        return [("Emulation.clearDeviceMetricsOverride", {})]
    width, height = size.get("width"), size.get("height")
    if not all(type(side) is int and 1 <= side <= 10_000 for side in (width, height)):
        raise UsageError(f"viewport_size={size!r}", hint='Use {"width": 800, "height": 600}.')
    metrics = {"width": width, "height": height, "deviceScaleFactor": 0, "mobile": True}
    return [("Emulation.setDeviceMetricsOverride", metrics)]


def extra_headers(headers: Mapping[str, str]) -> Commands:
    for name, value in headers.items():
        if not name or any(character in name + value for character in "\r\n\0"):
            raise UsageError(f"{json.dumps(name)} is not a valid header")
    return [("Network.setExtraHTTPHeaders", {"headers": dict(headers)})]


def origin_of(url: str) -> str:
    """The canonical `scheme://host:port` of an http(s) address, always with its port.

    Raises:
        UsageError: The address has no origin.
    """
    address = parse_address(url)
    if address.host is None or address.port is None:
        raise UsageError(f"{url[:200]!r} has no origin", hint="Write it as https://example.com.")
    host = f"[{address.host}]" if ":" in address.host else address.host
    return f"{address.scheme}://{host}:{address.port}"


async def user_agent(attachment: Attachment, deadline: Deadline) -> str:
    """The user agent string of the page; setting a locale has to repeat it."""
    main = attachment.state.main
    frame_id = main.frame_id if main else ""
    return str(await attachment.evaluate(frame_id, "navigator.userAgent", timeout_s=deadline.remaining_s))
