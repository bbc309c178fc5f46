"""Over HTTP the server answers those who have its token, and nobody else of the machine."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import httpx
import pytest
from mcp import Client

from bridge.errors import UsageError
from bridge.surfaces.mcp_server.bearer import TOKEN_VARIABLE, token_for
from tests.mcp.conftest import LIMIT_S, Serving, text_of
from tests.mcp.test_server_life import HANDSHAKE

pytestmark = pytest.mark.timeout(120)

MODERN = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}


@pytest.mark.browser
def test_no_request_without_the_token_reaches_the_protocol(serving: Serving) -> None:
    with serving.http() as address:
        token = address.token
        kept = address.headers["Accept"]
        wrong = (
            "",
            token,
            f"Basic {token}",
            "Bearer",
            f"Bearer {token[:-1]}",
            f"Bearer {token}x",
            "Bearer é",
        )
        for method in ("POST", "GET", "DELETE", "OPTIONS"):
            for path in ("/mcp", "/mcp?session=a", f"/mcp?token={token}", "/"):
                url = address.url.removesuffix("/mcp") + path
                found = httpx.request(method, url, headers={"Accept": kept}, timeout=LIMIT_S)
                assert (found.status_code, found.headers["WWW-Authenticate"]) == (401, 'Bearer realm="webview-bridge"')
        for given in wrong:
            for message in (*HANDSHAKE, MODERN):
                headers = {"Accept": kept, "Authorization": given.encode()}
                found = httpx.post(address.url, json=message, headers=headers, timeout=LIMIT_S)
                assert found.status_code == 401, given
                assert 'error="invalid_token"' in found.headers["WWW-Authenticate"]
                assert token not in found.text
        twice = [("Accept", kept), ("Authorization", "Bearer x"), ("Authorization", f"Bearer {token}")]
        assert httpx.post(address.url, json=HANDSHAKE[0], headers=twice, timeout=LIMIT_S).status_code == 401
        assert httpx.post(address.url, json=HANDSHAKE[0], headers=address.headers, timeout=LIMIT_S).status_code == 200


@pytest.mark.browser
async def test_a_name_of_a_desk_is_worth_nothing_without_the_token(serving: Serving) -> None:
    with serving.http() as address:
        async with address.client(query="?session=mine", mode="auto") as client:
            await client.call_tool("web_open", {"url": serving.local.url("second.html")})
            with pytest.raises(ExceptionGroup):
                async with asyncio.timeout(LIMIT_S), Client(f"{address.url}?session=mine", mode="auto") as other:
                    pytest.fail(text_of(await other.call_tool("web_tabs", {})))
            assert "second.html" in text_of(await client.call_tool("web_tabs", {}))


@pytest.mark.browser
def test_the_operators_token_is_taken_and_never_printed(serving: Serving) -> None:
    serving.environment[TOKEN_VARIABLE] = token = "operators-own-0123456789"
    process = serving.start("--http", "--port", "0")
    assert process.stderr is not None
    said = process.stderr.readline() + process.stderr.readline()
    url = said.split("serving MCP at ")[1].split()[0]
    headers = {"Accept": "application/json, text/event-stream", "Authorization": f"bearer  {token}"}
    assert httpx.post(url, json=HANDSHAKE[0], headers=headers, timeout=LIMIT_S).status_code == 200
    process.terminate()
    said += process.communicate(timeout=LIMIT_S)[1]
    assert TOKEN_VARIABLE in said
    assert token not in said


@pytest.mark.browser
def test_a_guessable_token_stops_the_start(serving: Serving) -> None:
    for given in ("", "short", "with spaces and more", "ümlaut-0123456789012", "a" * 600):
        serving.environment[TOKEN_VARIABLE] = given
        process = serving.start("--http", "--port", "0")
        _, said = process.communicate(timeout=LIMIT_S)
        assert process.returncode == 2
        assert TOKEN_VARIABLE in said
        assert not given or given not in said


def test_each_start_has_a_token_of_its_own() -> None:
    made = {token_for({}).value for _ in range(20)}
    assert len(made) == 20
    assert all(len(value) >= 32 for value in made)
    assert all(value not in repr(token_for({TOKEN_VARIABLE: value})) for value in made)
    with pytest.raises(UsageError):
        token_for({TOKEN_VARIABLE: "short"})


def test_the_help_says_what_clients_have_to_send() -> None:
    program = [sys.executable, "-c", "from bridge.surfaces.cli import main; main()", "mcp", "--help"]
    said = " ".join(subprocess.run(program, capture_output=True, text=True, check=True, timeout=LIMIT_S).stdout.split())
    assert "Authorization: Bearer TOKEN" in said
    assert TOKEN_VARIABLE in said
