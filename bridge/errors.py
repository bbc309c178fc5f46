"""The one error tree.

    BridgeError
    ├── UsageError                  bad_usage             what was asked for makes no sense
    ├── DeadlineExceeded            timeout               a wait ended without what it waited for
    │   └── RequestTimedOut         timeout               a fetched page did not come in time
    ├── PolicyRefused               policy_refused        a rule forbids it
    ├── NameNotResolved             name_not_resolved     the host name has no address
    ├── FetchFailed                 fetch_failed          webfetch has no page to give
    │   ├── NetworkFailed           network_failed        connecting, sending or receiving broke
    │   ├── TlsFailed               tls_failed            no certificate that proves the name, or no TLS at all
    │   ├── TooManyRedirects        too_many_redirects
    │   ├── HttpFailed              http_failed           the server answered with an error status
    │   ├── EmptyBody               empty_body
    │   └── NotText                 not_text              a picture, an archive, a PDF
    ├── DeviceError
    │   ├── AdbUnavailable          adb_unavailable       no adb program, no server, another version
    │   ├── NoDevice                no_device             nothing is attached
    │   ├── DeviceNotFound          device_not_found      that serial is not attached
    │   ├── DeviceAmbiguous         device_ambiguous      several are attached and none was named
    │   ├── DeviceUnauthorized      device_unauthorized   the phone has not accepted this computer
    │   ├── DeviceOffline           device_offline        attached, but does not answer
    │   ├── DeviceLost              device_lost           went away while we worked
    │   ├── DeviceBusy              device_busy           somebody else owns the host app
    │   ├── ServiceRefused          service_refused       adb or the device refused one service
    │   ├── ShellFailed             shell_failed          a device command ended with an exit code
    │   ├── InstallFailed           install_failed        the package manager said no
    │   └── VirtualDeviceFailed     virtual_device_failed
    │       └── ChromiumMissing     chromium_missing
    ├── HostError
    │   ├── HostMissing             host_missing          the host app is not installed
    │   ├── HostVersionMismatch     host_version_mismatch
    │   ├── HostUnproven            host_unproven         the peer does not know our token
    │   ├── HostProtocolError       host_protocol_error   the peer broke the rules of the control protocol
    │   ├── HostLost                host_lost             its process or connection ended (update, crash, stop)
    │   ├── HostFailed              host_failed           the host app answered with an error
    │   └── WebViewTooOld           webview_too_old
    ├── TransportError              transport_error       the CDP connection broke or was closed
    ├── ProtocolError               protocol_error        the browser refused a CDP command
    └── PageError
        ├── NavigationFailed        navigation_failed
        ├── TabLost                 tab_lost
        ├── Unsupported             unsupported           this engine, or this mode, has it not
        ├── ScriptFailed            script_failed         the injected script threw
        ├── CaptureFailed           capture_failed
        ├── ExpectationFailed       expectation_failed    an AssertionError: it did not become so in time
        └── ActionFailed
            ├── RefNotFound         ref_not_found
            ├── StaleRef            stale_ref
            ├── NotVisible          not_visible
            ├── ElementDisabled     disabled
            ├── Covered             covered
            ├── NotEditable         not_editable
            ├── NotCheckable        not_checkable
            ├── NotUncheckable      not_uncheckable
            ├── NotASelectElement   not_a_select_element
            ├── NoSuchOption        no_such_option
            ├── InvalidValue        invalid_value         the control does not take this value
            ├── SeveralMatches      several_matches       a locator that is about one element matches more
            └── UnknownAction       unknown_action

Every error has a stable `code`, says what was seen, and carries a `hint` only where the hint is known to help.
`exit_code` is what the command line ends with.
"""

from __future__ import annotations

from typing import Any, ClassVar


class BridgeError(Exception):
    """What went wrong, as a value: `code` for programs, `message` for people, `hint` for the next step.

    Attributes:
        message: One sentence with what was seen.
        hint: An imperative that is known to help, or "".
        details: JSON-able facts about this failure.
    """

    code: ClassVar[str] = "error"
    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, *, hint: str = "", **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.details = details

    def __str__(self) -> str:
        text = f"{self.code}: {self.message}"
        return followed_by(text, self.hint)

    def __reduce__(self) -> tuple[Any, ...]:
        """Errors cross to other processes, whatever their own constructors take."""
        return _restored, (type(self), self.args, self.__dict__)

    def to_json(self) -> dict[str, Any]:
        """`{"code", "message"}` and, where there are any, `"hint"` and `"details"`."""
        out: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.hint:
            out["hint"] = self.hint
        if self.details:
            out["details"] = self.details
        return out


def followed_by(sentence: str, hint: str) -> str:
    """The hint behind what it is about; a message may or may not have ended its sentence."""
    if not hint:
        return sentence
    return f"{sentence}{'' if sentence.endswith(('.', '!', '?', ':', '…')) else '.'} {hint}"


def _restored(kind: type[BridgeError], args: tuple[Any, ...], state: dict[str, Any]) -> BridgeError:
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(state)
    return error


class UsageError(BridgeError):
    code = "bad_usage"
    exit_code = 2


class DeadlineExceeded(BridgeError):
    """A wait ended without what it waited for; `last_seen` is what was there instead."""

    code = "timeout"
    exit_code = 5

    def __init__(self, awaited: str, timeout_s: float, last_seen: str = "", *, hint: str = "") -> None:
        seen = f"; last seen: {last_seen}" if last_seen else ""
        super().__init__(
            f"{awaited} timed out after {timeout_s:g} s{seen}.", hint=hint, timeout_s=timeout_s, last_seen=last_seen
        )
        self.awaited = awaited
        self.timeout_s = timeout_s
        self.last_seen = last_seen


class RequestTimedOut(DeadlineExceeded):
    """A fetched page did not come in time; `awaited` is its URL."""

    def __init__(self, url: str, timeout_s: float, last_seen: str = "") -> None:
        super().__init__(url, timeout_s, last_seen)
        seen = f"; last seen: {last_seen}" if last_seen else ""
        self.message = f"Request timed out: {url} took longer than {timeout_s:g} s{seen}."
        self.args = (self.message,)


class PolicyRefused(BridgeError):
    code = "policy_refused"
    exit_code = 4


class NameNotResolved(BridgeError):
    code = "name_not_resolved"


class FetchFailed(BridgeError):
    code = "fetch_failed"


class NetworkFailed(FetchFailed):
    code = "network_failed"


class TlsFailed(FetchFailed):
    code = "tls_failed"


class TooManyRedirects(FetchFailed):
    code = "too_many_redirects"


class HttpFailed(FetchFailed):
    """The server answered with an error; `body_start` is the beginning of what it sent along."""

    code = "http_failed"

    def __init__(self, status: int, reason: str, body_start: str = "", *, url: str = "") -> None:
        words = f"HTTP {status}: {reason}" if reason else f"HTTP {status}"
        super().__init__(f"{words}\n\n{body_start}" if body_start else words, url=url, status=status)
        self.status = status
        self.reason = reason
        self.body_start = body_start


class EmptyBody(FetchFailed):
    code = "empty_body"


class NotText(FetchFailed):
    """`content_type` is what it is, `size_bytes` how much, None where the server did not say."""

    code = "not_text"

    def __init__(self, content_type: str, size_bytes: int | None, *, url: str = "") -> None:
        size = "of unknown size" if size_bytes is None else f"of {size_bytes:,} bytes"
        super().__init__(
            f"{url or 'the body'} is {content_type} {size}, which has no text to read.",
            url=url,
            content_type=content_type,
            size_bytes=size_bytes,
        )
        self.content_type = content_type
        self.size_bytes = size_bytes


class DeviceError(BridgeError):
    code = "device_error"
    exit_code = 3


class AdbUnavailable(DeviceError):
    code = "adb_unavailable"


class NoDevice(DeviceError):
    code = "no_device"


class DeviceNotFound(DeviceError):
    code = "device_not_found"


class DeviceAmbiguous(DeviceError):
    code = "device_ambiguous"


class DeviceUnauthorized(DeviceError):
    code = "device_unauthorized"


class DeviceOffline(DeviceError):
    code = "device_offline"


class DeviceLost(DeviceError):
    code = "device_lost"


class DeviceBusy(DeviceError):
    code = "device_busy"


class ServiceRefused(DeviceError):
    """adb or the device answered FAIL; `reason` is its own text."""

    code = "service_refused"
    exit_code = 1

    def __init__(self, service: str, reason: str, *, hint: str = "") -> None:
        super().__init__(f"{service} was refused: {reason.strip()}.", hint=hint, service=service, reason=reason)
        self.service = service
        self.reason = reason


class ShellFailed(DeviceError):
    """A device command ended with an exit code other than 0."""

    code = "shell_failed"
    exit_code = 1

    def __init__(self, command: str, exit_status: int, output: str) -> None:
        shown = output.strip()[:300] or "no output"
        super().__init__(
            f"{command!r} ended with exit code {exit_status}: {shown}",
            command=command,
            exit_status=exit_status,
            output=output[:2000],
        )
        self.command = command
        self.exit_status = exit_status
        self.output = output


class InstallFailed(DeviceError):
    code = "install_failed"
    exit_code = 1


class VirtualDeviceFailed(DeviceError):
    code = "virtual_device_failed"


class ChromiumMissing(VirtualDeviceFailed):
    code = "chromium_missing"


class HostError(BridgeError):
    code = "host_error"


class HostMissing(HostError):
    code = "host_missing"
    exit_code = 3


class HostVersionMismatch(HostError):
    code = "host_version_mismatch"
    exit_code = 3


class HostUnproven(HostError):
    code = "host_unproven"


class HostProtocolError(HostError):
    code = "host_protocol_error"


class HostLost(HostError):
    code = "host_lost"


class HostFailed(HostError):
    """The host app answered a request with an error; `host_code` is its own code."""

    code = "host_failed"

    def __init__(self, request: str, host_code: str, reason: str) -> None:
        super().__init__(f"the host app refused {request}: {host_code}: {reason}", request=request, host_code=host_code)
        self.request = request
        self.host_code = host_code
        self.reason = reason


class WebViewTooOld(HostError):
    code = "webview_too_old"


class TransportError(BridgeError):
    code = "transport_error"


class ProtocolError(BridgeError):
    """The browser refused a CDP command; `cdp_code` is its JSON-RPC error code."""

    code = "protocol_error"

    def __init__(self, method: str, cdp_code: int, reason: str) -> None:
        super().__init__(f"{method} failed: {reason} ({cdp_code})", method=method, cdp_code=cdp_code, reason=reason)
        self.method = method
        self.cdp_code = cdp_code
        self.reason = reason


class PageError(BridgeError):
    code = "page_error"


class NavigationFailed(PageError):
    """The main frame did not get there; `net_error` is Chromium's word for why."""

    code = "navigation_failed"

    def __init__(self, url: str, net_error: str, *, hint: str = "") -> None:
        super().__init__(f"{url} did not load: {net_error}", hint=hint, url=url, net_error=net_error)
        self.url = url
        self.net_error = net_error


class TabLost(PageError):
    code = "tab_lost"


class Unsupported(PageError):
    code = "unsupported"


class ScriptFailed(PageError):
    code = "script_failed"


class CaptureFailed(PageError):
    code = "capture_failed"


class ExpectationFailed(PageError, AssertionError):
    code = "expectation_failed"


class ActionFailed(PageError):
    code = "action_failed"


class RefNotFound(ActionFailed):
    code = "ref_not_found"


class StaleRef(ActionFailed):
    code = "stale_ref"


class NotVisible(ActionFailed):
    code = "not_visible"


class ElementDisabled(ActionFailed):
    code = "disabled"


class Covered(ActionFailed):
    code = "covered"


class NotEditable(ActionFailed):
    code = "not_editable"


class NotCheckable(ActionFailed):
    code = "not_checkable"


class NotUncheckable(ActionFailed):
    code = "not_uncheckable"


class NotASelectElement(ActionFailed):
    code = "not_a_select_element"


class NoSuchOption(ActionFailed):
    code = "no_such_option"


class InvalidValue(ActionFailed):
    code = "invalid_value"


class SeveralMatches(ActionFailed):
    code = "several_matches"


class UnknownAction(ActionFailed):
    code = "unknown_action"


def _action_errors() -> dict[str, type[ActionFailed]]:
    return {kind.code: kind for kind in ActionFailed.__subclasses__()}


def action_error(code: str, message: str, *, hint: str = "", **details: Any) -> ActionFailed:
    """The error of the tree for a code that the injected script reported; `action_failed` for one it does not have."""
    return _action_errors().get(code, ActionFailed)(message, hint=hint, **details)
