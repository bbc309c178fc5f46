"""All errors of the library, as one tree. Each line: class, stable `code`, meaning.

    BridgeError
    ├── UsageError                  bad_usage             the arguments are invalid
    ├── DeadlineExceeded            timeout               a wait timed out
    │   └── RequestTimedOut         timeout               a fetched page did not arrive in time
    ├── PolicyRefused               policy_refused        a rule forbids it
    ├── NameNotResolved             name_not_resolved     the host name has no address
    ├── FetchFailed                 fetch_failed          webfetch could not get a page
    │   ├── NetworkFailed           network_failed        connecting, sending or receiving failed
    │   ├── TlsFailed               tls_failed            the server has no valid certificate, or no TLS
    │   ├── TooManyRedirects        too_many_redirects
    │   ├── HttpFailed              http_failed           the server responded with an error status
    │   ├── EmptyBody               empty_body
    │   └── NotText                 not_text              an image, an archive, a PDF
    ├── DeviceError                 device_error
    │   ├── AdbUnavailable          adb_unavailable       the adb program or server is missing or not supported
    │   ├── NoDevice                no_device             no device is connected
    │   ├── DeviceNotFound          device_not_found      no device with this serial is connected
    │   ├── DeviceAmbiguous         device_ambiguous      several devices are connected and none was named
    │   ├── DeviceUnauthorized      device_unauthorized   the device has not accepted this computer's key
    │   ├── DeviceOffline           device_offline        connected, but not responding
    │   ├── DeviceLost              device_lost           disconnected during an operation
    │   ├── DeviceBusy              device_busy           another client uses the host app
    │   ├── ServiceRefused          service_refused       adb or the device refused a service
    │   ├── ShellFailed             shell_failed          a device command failed
    │   ├── InstallFailed           install_failed        the package manager refused the app
    │   └── VirtualDeviceFailed     virtual_device_failed
    │       └── ChromiumMissing     chromium_missing
    ├── HostError                   host_error
    │   ├── HostMissing             host_missing          the host app is not installed
    │   ├── HostVersionMismatch     host_version_mismatch
    │   ├── HostUnproven            host_unproven         the peer does not know the token
    │   ├── HostProtocolError       host_protocol_error   the peer broke the control protocol
    │   ├── HostLost                host_lost             the host app's process or connection ended
    │   ├── HostFailed              host_failed           the host app responded with an error
    │   └── WebViewTooOld           webview_too_old
    ├── AppUnavailable              app_unavailable       another app is not in a state to attach to
    ├── TransportError              transport_error       the CDP connection broke or was closed
    ├── ProtocolError               protocol_error        the browser refused a CDP command
    ├── ExecutionContextDestroyed   execution_context_destroyed
    └── PageError                   page_error
        ├── NavigationFailed        navigation_failed
        ├── TabLost                 tab_lost
        ├── Unsupported             unsupported           not available in this engine or mode
        ├── ScriptFailed            script_failed         the injected script threw
        ├── CaptureFailed           capture_failed
        ├── ExpectationFailed       expectation_failed    an expectation was not met in time; an AssertionError
        └── ActionFailed            action_failed
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
            ├── InvalidValue        invalid_value         the control does not accept this value
            ├── SeveralMatches      several_matches       a locator for one element matches several
            └── UnknownAction       unknown_action

Every error says what was seen. It has a `hint` only where the hint is known to help. `exit_code` is that of the
command line.
"""

from __future__ import annotations

from typing import Any, ClassVar


class BridgeError(Exception):
    """Base of all errors: `code` for programs, `message` for people, `hint` for the next step.

    Attributes:
        message: One sentence about what was seen.
        hint: An instruction that is known to help, or "".
        details: Facts about this failure, as JSON values.
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
        """Support pickling, whatever the arguments of the constructor are."""
        return _restored, (type(self), self.args, self.__dict__)

    def to_json(self) -> dict[str, Any]:
        """`{"code", "message"}`, and `"hint"` and `"details"` if there are any."""
        out: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.hint:
            out["hint"] = self.hint
        if self.details:
            out["details"] = self.details
        return out


def followed_by(sentence: str, hint: str) -> str:
    """A sentence and its hint, with a full stop between them if the sentence has none."""
    if not hint:
        return sentence
    return f"{sentence}{'' if sentence.endswith(('.', '!', '?', ':', '…')) else '.'} {hint}"


def _restored(kind: type[BridgeError], args: tuple[Any, ...], state: dict[str, Any]) -> BridgeError:
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(state)
    return error


class UsageError(BridgeError):
    """The arguments are invalid; nothing was done."""

    code = "bad_usage"
    exit_code = 2


class DeadlineExceeded(BridgeError):
    """A wait timed out. `last_seen` is what was there instead of what it waited for."""

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
    """A fetched page did not arrive in time. `awaited` is its URL, `phase` what it was doing in a few fixed words."""

    def __init__(self, url: str, timeout_s: float, last_seen: str = "", phase: str = "") -> None:
        super().__init__(url, timeout_s, last_seen)
        self.phase = phase
        self.details["phase"] = phase
        seen = f"; last seen: {last_seen}" if last_seen else ""
        self.message = f"Request timed out: {url} took longer than {timeout_s:g} s{seen}."
        self.args = (self.message,)


class PolicyRefused(BridgeError):
    """A rule of the policy, or one that no policy lifts, forbids it. `details` has the `rule`."""

    code = "policy_refused"
    exit_code = 4


class NameNotResolved(BridgeError):
    """The host name has no address. `details` has the `host`."""

    code = "name_not_resolved"


class FetchFailed(BridgeError):
    """webfetch could not get a page.

    Attributes:
        cause: The failure in the library's own words, or the system's, without anything that a server chose.
    """

    def __init__(self, message: str, *, cause: str = "", hint: str = "", **details: Any) -> None:
        super().__init__(message, hint=hint, **details)
        self.cause = cause

    code = "fetch_failed"


class NetworkFailed(FetchFailed):
    """Connecting to the server, sending or receiving failed."""

    code = "network_failed"


class TlsFailed(FetchFailed):
    """The server has no valid certificate for its name, or does not speak TLS."""

    code = "tls_failed"


class TooManyRedirects(FetchFailed):
    """The server redirected more often than is followed."""

    code = "too_many_redirects"


class HttpFailed(FetchFailed):
    """The server responded with an error status. `body_start` is the beginning of the response body."""

    code = "http_failed"

    def __init__(self, status: int, reason: str, body_start: str = "", *, url: str = "") -> None:
        text = f"HTTP {status}: {reason}" if reason else f"HTTP {status}"
        super().__init__(f"{text}\n\n{body_start}" if body_start else text, url=url, status=status)
        self.status = status
        self.reason = reason
        self.body_start = body_start


class EmptyBody(FetchFailed):
    """The response has no content."""

    code = "empty_body"


class NotText(FetchFailed):
    """The response is not text. `size_bytes` is None if the server did not send a length."""

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
    """A device, or the connection to it, failed."""

    code = "device_error"
    exit_code = 3


class AdbUnavailable(DeviceError):
    """The adb program or the adb server is missing, or its version is not supported."""

    code = "adb_unavailable"


class NoDevice(DeviceError):
    """No device is connected."""

    code = "no_device"


class DeviceNotFound(DeviceError):
    """No device with this serial is connected."""

    code = "device_not_found"


class DeviceAmbiguous(DeviceError):
    """Several devices are connected and none was named."""

    code = "device_ambiguous"


class DeviceUnauthorized(DeviceError):
    """The device has not accepted this computer's key."""

    code = "device_unauthorized"


class DeviceOffline(DeviceError):
    """The device is connected and does not respond."""

    code = "device_offline"


class DeviceLost(DeviceError):
    """The device was disconnected during an operation."""

    code = "device_lost"


class DeviceBusy(DeviceError):
    """Another client uses the host app on the device."""

    code = "device_busy"


class ServiceRefused(DeviceError):
    """adb or the device refused a service (FAIL). `reason` is the text it sent."""

    code = "service_refused"
    exit_code = 1

    def __init__(self, service: str, reason: str, *, hint: str = "") -> None:
        super().__init__(f"{service} was refused: {reason.strip()}.", hint=hint, service=service, reason=reason)
        self.service = service
        self.reason = reason


class ShellFailed(DeviceError):
    """A device command ended with a non-zero exit code."""

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
    """The package manager of the device refused to install an app."""

    code = "install_failed"
    exit_code = 1


class VirtualDeviceFailed(DeviceError):
    """The virtual device did not start or did not do its work."""

    code = "virtual_device_failed"


class ChromiumMissing(VirtualDeviceFailed):
    """No Chromium was found for the virtual device."""

    code = "chromium_missing"


class HostError(BridgeError):
    """The host app, or the connection to it, failed."""

    code = "host_error"


class HostMissing(HostError):
    """The host app is not installed on the device."""

    code = "host_missing"
    exit_code = 3


class HostVersionMismatch(HostError):
    """The installed host app has another version than this library needs."""

    code = "host_version_mismatch"
    exit_code = 3


class HostUnproven(HostError):
    """The peer could not prove that it knows the token."""

    code = "host_unproven"


class HostProtocolError(HostError):
    """The peer broke the rules of the control protocol."""

    code = "host_protocol_error"


class HostLost(HostError):
    """The host app's process or connection ended."""

    code = "host_lost"


class HostFailed(HostError):
    """The host app responded to a request with an error. `host_code` is the code it sent."""

    code = "host_failed"

    def __init__(self, request: str, host_code: str, reason: str) -> None:
        super().__init__(f"the host app refused {request}: {host_code}: {reason}", request=request, host_code=host_code)
        self.request = request
        self.host_code = host_code
        self.reason = reason


class WebViewTooOld(HostError):
    """The WebView of the device is older than the oldest supported version."""

    code = "webview_too_old"


class AppUnavailable(BridgeError):
    """Another app cannot be attached to in its present state.

    Attributes:
        cause: `not_installed`, `not_running`, `frozen` (also: stopped), `not_accepting`, `not_debuggable` or
            `no_webview`.
    """

    code = "app_unavailable"
    exit_code = 3

    def __init__(self, message: str, *, cause: str, hint: str) -> None:
        super().__init__(message, hint=hint, cause=cause)
        self.cause = cause


class TransportError(BridgeError):
    """The CDP connection broke or was closed."""

    code = "transport_error"


class ProtocolError(BridgeError):
    """The browser refused a CDP command. `cdp_code` is the JSON-RPC error code."""

    code = "protocol_error"

    def __init__(self, method: str, cdp_code: int, reason: str) -> None:
        super().__init__(f"{method} failed: {reason} ({cdp_code})", method=method, cdp_code=cdp_code, reason=reason)
        self.method = method
        self.cdp_code = cdp_code
        self.reason = reason


class ExecutionContextDestroyed(BridgeError):
    """The page navigated while a script ran, or the frame left its renderer."""

    code = "execution_context_destroyed"


class PageError(BridgeError):
    """An operation on a page failed."""

    code = "page_error"


class NavigationFailed(PageError):
    """The main frame did not load the URL. `net_error` is Chromium's net error, such as net::ERR_TIMED_OUT."""

    code = "navigation_failed"

    def __init__(self, url: str, net_error: str, *, hint: str = "") -> None:
        super().__init__(f"{url} did not load: {net_error}", hint=hint, url=url, net_error=net_error)
        self.url = url
        self.net_error = net_error


class TabLost(PageError):
    """The tab was closed, crashed or could not be restored."""

    code = "tab_lost"


class Unsupported(PageError):
    """This engine, or this mode, does not have the feature."""

    code = "unsupported"


class ScriptFailed(PageError):
    """The injected script threw, or its reply was invalid."""

    code = "script_failed"


class CaptureFailed(PageError):
    """A screenshot or recording could not be made."""

    code = "capture_failed"


class ExpectationFailed(PageError, AssertionError):
    """An expectation was not met in time. It is an AssertionError, so test runners report it as a failure."""

    code = "expectation_failed"


class ActionFailed(PageError):
    """An action on an element failed."""

    code = "action_failed"


class RefNotFound(ActionFailed):
    """No element has this ref."""

    code = "ref_not_found"


class StaleRef(ActionFailed):
    """The element of the ref is gone, or has become a different one."""

    code = "stale_ref"


class NotVisible(ActionFailed):
    """The element is not visible."""

    code = "not_visible"


class ElementDisabled(ActionFailed):
    """The element is disabled."""

    code = "disabled"


class Covered(ActionFailed):
    """Another element covers the point to tap."""

    code = "covered"


class NotEditable(ActionFailed):
    """The element does not accept text."""

    code = "not_editable"


class NotCheckable(ActionFailed):
    """The element cannot be checked."""

    code = "not_checkable"


class NotUncheckable(ActionFailed):
    """The element cannot be unchecked."""

    code = "not_uncheckable"


class NotASelectElement(ActionFailed):
    """The element is not a <select>."""

    code = "not_a_select_element"


class NoSuchOption(ActionFailed):
    """The <select> does not have the option."""

    code = "no_such_option"


class InvalidValue(ActionFailed):
    """The control does not accept the value."""

    code = "invalid_value"


class SeveralMatches(ActionFailed):
    """A locator for one element matches several."""

    code = "several_matches"


class UnknownAction(ActionFailed):
    """No action has this name."""

    code = "unknown_action"


def _action_errors() -> dict[str, type[ActionFailed]]:
    return {kind.code: kind for kind in ActionFailed.__subclasses__()}


def action_error(code: str, message: str, *, hint: str = "", **details: Any) -> ActionFailed:
    """The error for a code that the injected script reported; `ActionFailed` for an unknown code."""
    return _action_errors().get(code, ActionFailed)(message, hint=hint, **details)
