"""What a page is told to pretend, as the page itself and its servers see it."""

from __future__ import annotations

import base64
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from bridge import Session, TestServerGrant
from bridge.errors import NavigationFailed, Unsupported, UsageError
from bridge.page.page import Page
from bridge.surfaces.local_server import QuietHandler, listening
from tests.conftest import LocalServer

pytestmark = pytest.mark.browser


async def value(page: Page, expression: str) -> object:
    attachment = await page.attached()
    main = attachment.state.main
    assert main is not None
    return await attachment.evaluate(main.frame_id, expression, timeout_s=20)


async def test_set_offline_on_and_off(page: Page, local_server: LocalServer) -> None:
    await page.set_offline()
    with pytest.raises(NavigationFailed, match="ERR_INTERNET_DISCONNECTED"):
        await page.goto(local_server.url("second.html"))
    await page.set_offline(False)
    assert (await page.goto(local_server.url("second.html"))).status == 200


async def test_time_zone_locale_and_media_are_emulated(page: Page, local_server: LocalServer) -> None:
    await page.set_time_zone("Asia/Kathmandu")
    await page.set_locale("de-DE")
    await page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    await page.goto(local_server.url("second.html"))
    assert await value(page, "Intl.DateTimeFormat().resolvedOptions().timeZone") in ("Asia/Kathmandu", "Asia/Katmandu")
    assert await value(page, "new Date(0).getTimezoneOffset()") == -330
    assert await value(page, "(1234.5).toLocaleString()") == "1.234,5"
    assert await value(page, "navigator.language") == "de-DE"
    assert await value(page, "matchMedia('(prefers-color-scheme: dark)').matches") is True
    assert await value(page, "matchMedia('(prefers-reduced-motion: reduce)').matches") is True
    await page.emulate_media()
    await page.set_time_zone(None)
    await page.set_locale(None)
    assert await value(page, "matchMedia('(prefers-reduced-motion: reduce)').matches") is False


async def test_rejected_emulation_value_is_a_usage_error(page: Page) -> None:
    with pytest.raises(UsageError, match="time zone"):
        await page.set_time_zone("Atlantis/Capital")
    with pytest.raises(UsageError, match="not a valid geolocation"):
        await page.set_geolocation(91, 0)
    with pytest.raises(UsageError, match="header"):
        await page.set_extra_http_headers({"x": "a\r\nb: c"})


async def test_set_permissions_is_unsupported_in_a_webview(page: Page, local_server: LocalServer) -> None:
    with pytest.raises(Unsupported, match="permissions"):
        await page.set_permissions({"geolocation": "granted"}, origin=local_server.url(""))


async def test_init_script_runs_before_the_page_until_removed(page: Page, local_server: LocalServer) -> None:
    number = await page.add_init_script("window.early = document.readyState")
    await page.goto(local_server.url("second.html"))
    await page.wait_for(function="early == 'loading'", timeout_s=20)
    await page.remove_init_script(number)
    await page.reload()
    await page.wait_for(function="typeof early == 'undefined'", timeout_s=20)


class _Careful(QuietHandler):
    """Shows its headers to whoever knows the password."""

    def do_GET(self) -> None:
        wanted = "Basic " + base64.b64encode(b"ada:secret").decode()
        if self.path == "/private" and self.headers.get("authorization") != wanted:
            self.respond(b"closed", status=401, WWW_Authenticate='Basic realm="books"')
            return
        body = f"<title>open</title><pre>{self.headers}</pre>".encode()
        self.respond(body)


@pytest.fixture
def careful_server() -> Iterator[LocalServer]:
    with listening(_Careful) as server:
        yield server


async def is_refused(page: Page, url: str) -> None:
    try:
        status = (await page.goto(url)).status
    except NavigationFailed as error:  # desktop Chromium does not show the body of a 401 that nobody answered
        status = 401 if error.net_error == "net::ERR_INVALID_AUTH_CREDENTIALS" else None
    assert status == 401


async def test_credentials_and_extra_headers_are_sent(webview_device: str, careful_server: LocalServer) -> None:
    async with Session.open(webview_device, grants=[careful_server.grant]) as session:
        page = await session.new_page()
        await is_refused(page, careful_server.url("private"))
        await page.set_http_credentials("https://elsewhere.example", "ada", "secret")
        await is_refused(page, careful_server.url("private"))
        await page.set_http_credentials(careful_server.url(""), "ada", "wrong")
        await is_refused(page, careful_server.url("private"))
        await page.set_http_credentials(careful_server.url(""), "ada", "secret")
        await page.set_extra_http_headers({"x-test": "yes"})
        there = await page.goto(careful_server.url("private"))
        assert (there.status, there.title) == (200, "open")
        await page.wait_for(text="x-test: yes", timeout_s=20)


@pytest.fixture
def self_signed(tmp_path: Path) -> Iterator[LocalServer]:
    key, certificate = tmp_path / "key.pem", tmp_path / "cert.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"]
    subprocess.run([*command, "-keyout", str(key), "-out", str(certificate)], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with listening(_Careful, tls=context) as server:
        yield server


async def test_certificate_exception_covers_one_host(webview_device: str, self_signed: LocalServer) -> None:
    port = self_signed.port
    grants = [self_signed.grant, TestServerGrant("localhost", port)]
    async with Session.open(webview_device, grants=grants) as session:
        page = await session.new_page()
        with pytest.raises(NavigationFailed, match="ERR_CERT"):
            await page.goto(f"https://127.0.0.1:{port}/")
        await page.accept_certificate("127.0.0.1")
        assert (await page.goto(f"https://127.0.0.1:{port}/")).title == "open"
        with pytest.raises(NavigationFailed, match="ERR_CERT"):
            await page.goto(f"https://localhost:{port}/")
