"""Serves control requests in the fake host app (PROTOCOL.md §5)."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from bridge.errors import BridgeError
from bridge.host.protocol import ControlRequest
from bridge.virtual_device.engine import ViewSize
from bridge.virtual_device.host_app.fields import Fields, RequestRefused
from bridge.virtual_device.host_app.files import is_base_name

if TYPE_CHECKING:
    from bridge.virtual_device.host_app.process import HostedTab, HostProcess

MAX_TABS = 8
MAX_CAPTURE_HEIGHT_PX = 10_000
_OPEN_TIMEOUT_S = 20.0

Response = tuple[Mapping[str, Any], bytes]
Handler = Callable[["HostProcess", Fields, bytes], Awaitable[Response]]


async def serve(process: HostProcess, request: ControlRequest) -> Response:
    """The fields and the body of the reply; RequestRefused for an error reply. Serialised per tab."""
    handler = HANDLERS.get(request.type)
    if handler is None:
        raise RequestRefused("unknown_request", f"unknown request {request.type[:60]!r}.")
    if request.body and handler is not _file_put:
        raise RequestRefused("bad_request", f"{request.type} takes no body.", field="body")
    fields = Fields(request.fields)
    names_tab = handler in _OF_A_TAB and "tab" in fields
    tab = process.tabs.get(fields.tab()) if names_tab else None
    if tab is None:
        return await handler(process, fields, request.body)
    process.touch(tab)
    async with tab.lock:
        return await handler(process, fields, request.body)


def _the_tab(process: HostProcess, fields: Fields) -> HostedTab:
    name = fields.tab()
    tab = process.tabs.get(name)
    if tab is None:
        raise RequestRefused("no_such_tab", f"tab {name} does not exist.", tab=name)
    return tab


async def _open(process: HostProcess, fields: Fields, _body: bytes) -> Response:
    view, profile = ViewSize(*fields.size()), fields.profile()
    if len(process.tabs) + process.opening >= MAX_TABS:
        raise RequestRefused("too_many_tabs", f"{MAX_TABS} tabs are open.", max_tabs=MAX_TABS)
    nonce = secrets.token_hex(16)
    url = blank_url(nonce)
    process.opening += 1
    try:
        page = await process.engine.open_tab(url, view, profile=profile, timeout_s=_OPEN_TIMEOUT_S)
    except BridgeError as error:
        raise RequestRefused("tab_failed", error.message) from error
    finally:
        process.opening -= 1
    tab = process.add_tab(page, nonce=nonce, profile=profile)
    return {"tab": tab.name, "nonce": nonce, "url": url}, b""


async def _close(process: HostProcess, fields: Fields, _body: bytes) -> Response:
    tab = _the_tab(process, fields)
    process.remove_tab(tab)
    await process.engine.browser.close(tab.page)
    return {}, b""


async def _list(process: HostProcess, _fields: Fields, _body: bytes) -> Response:
    return {"tabs": [process.describe(tab) for tab in process.tabs.values()]}, b""


async def _resize(process: HostProcess, fields: Fields, _body: bytes) -> Response:
    await process.engine.browser.resize(_the_tab(process, fields).page, ViewSize(*fields.size()))
    return {}, b""


async def _reset(process: HostProcess, fields: Fields, _body: bytes) -> Response:
    tab = _the_tab(process, fields)
    tab.nonce = secrets.token_hex(16)
    url = blank_url(tab.nonce)
    await process.engine.browser.reset(tab.page, url)
    return {"nonce": tab.nonce, "url": url}, b""


async def _file_put(process: HostProcess, fields: Fields, body: bytes) -> Response:
    name, chooser = fields.text("name", 1, 120), fields.flag("chooser")
    if not is_base_name(name):
        raise RequestRefused("bad_request", f"{name!r} is not a base name.", field="name")
    tab = _the_tab(process, fields).name if "tab" in fields or chooser else None
    try:
        file = await asyncio.to_thread(process.files.put, name, body, tab=tab, chooser=chooser)
    except OSError as error:
        raise RequestRefused("no_space", f"could not store the file: {error.strerror}.") from error
    return {"path": str(file.path), "size_bytes": file.size_bytes}, b""


async def _file_delete(process: HostProcess, fields: Fields, _body: bytes) -> Response:
    path = fields.text("path", 1, 4096)
    if not process.files.delete(path):
        raise RequestRefused("no_such_file", f"{path} is not a staged file.")
    return {}, b""


async def _capture(process: HostProcess, fields: Fields, _body: bytes) -> Response:
    tab = _the_tab(process, fields)
    full_page, source = fields.flag("full_page"), fields.one_of("source", "canvas", "surface")
    max_height_px = fields.integer("max_height_px", 1, MAX_CAPTURE_HEIGHT_PX, MAX_CAPTURE_HEIGHT_PX)
    if full_page and source == "surface":
        raise RequestRefused("bad_request", "the surface shows the viewport only.", field="source")
    try:
        png, width_px, height_px, page_height_px = await process.engine.browser.capture(
            tab.page, full_page=full_page, max_height_px=max_height_px
        )
    except BridgeError as error:
        raise RequestRefused("capture_failed", error.message) from error
    shown = {"width_px": width_px, "height_px": height_px, "page_height_px": page_height_px}
    return {**shown, "truncated": full_page and page_height_px > height_px, "source": source}, png


async def _proxy_set(process: HostProcess, fields: Fields, _body: bytes) -> Response:
    host = None if fields.raw("host") is None else fields.text("host", 1, 255)
    port = None if host is None else fields.integer("port", 1, 65535)
    if host not in (None, "127.0.0.1", "localhost", "::1"):
        raise RequestRefused("unsupported", f"the virtual device has no network that could reach {host}.")
    if not process.has_proxy:
        raise RequestRefused("unsupported", "this WebView does not support a proxy.")
    if process.tabs or process.opening:
        raise RequestRefused("tabs_open", "existing connections would bypass the proxy.")
    await process.engine.set_proxy(port)
    return {"mechanism": "none" if port is None else "controller", "loopback": port is not None}, b""


async def _touch(process: HostProcess, fields: Fields, _body: bytes) -> Response:
    if "tab" in fields:
        _the_tab(process, fields)
    else:
        for tab in process.tabs.values():
            process.touch(tab)
    return {}, b""


async def _stats(process: HostProcess, _fields: Fields, _body: bytes) -> Response:
    return process.stats(), b""


async def _shutdown(process: HostProcess, _fields: Fields, _body: bytes) -> Response:
    process.ending = True
    return {}, b""


def blank_url(nonce: str) -> str:
    return f"about:blank#{nonce}"


HANDLERS: dict[str, Handler] = {
    "tab.open": _open,
    "tab.close": _close,
    "tab.list": _list,
    "tab.resize": _resize,
    "tab.reset": _reset,
    "file.put": _file_put,
    "file.delete": _file_delete,
    "capture": _capture,
    "proxy.set": _proxy_set,
    "touch": _touch,
    "stats": _stats,
    "shutdown": _shutdown,
}

_OF_A_TAB = frozenset({_close, _resize, _reset, _file_put, _capture, _touch})
