"""Progress, cancellation and questions to the person, in both eras of the protocol."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest
from mcp_types import ElicitRequestParams, ElicitResult

from tests.mcp.conftest import Serving, text_of

pytestmark = [pytest.mark.browser, pytest.mark.timeout(120)]

MODES = ("legacy", "auto")


class Person:
    """Answers every question in the same way and remembers what was asked."""

    def __init__(self, action: str) -> None:
        self.action = action
        self.asked: list[str] = []

    async def __call__(self, context: Any, params: ElicitRequestParams) -> ElicitResult:
        self.asked.append(params.message)
        return ElicitResult(action=self.action, content={} if self.action == "accept" else None)  # type: ignore[arg-type]


@pytest.mark.parametrize("transport", ["stdio", "http"])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("action", ["accept", "decline", "cancel"])
async def test_a_confirmed_effect_happens_only_when_the_person_accepts(
    serving: Serving, transport: str, mode: str, action: str
) -> None:
    serving.configure('[browser.actions]\nconfirm = ["navigate"]\n')
    person = Person(action)
    async with serving.client(transport, mode=mode, elicitation_callback=person) as client:
        result = await client.call_tool("web_open", {"url": serving.local.url("second.html")})
    assert len(person.asked) == 1
    assert "web_open" in person.asked[0]
    assert result.is_error is (action != "accept")
    assert ("HTTP 200" if action == "accept" else "it was not confirmed") in text_of(result)


@pytest.mark.parametrize("mode", MODES)
async def test_a_policy_that_asks_asks_the_person_and_the_answer_decides(serving: Serving, mode: str) -> None:
    serving.configure('[browser.policy]\ndefault_action = "ask"\n')
    for action in ("decline", "accept"):
        person = Person(action)
        async with serving.client("stdio", "--set", "simple", mode=mode, elicitation_callback=person) as client:
            result = await client.call_tool("webfetch", {"url": "http://nowhere.example/"})
            assert any("nowhere.example" in question for question in person.asked)
            # Where it may be opened, the name is asked for; it has no address.
            assert ("policy_refused" in text_of(result)) is (action == "decline"), text_of(result)
            asked = len(person.asked)
            await client.call_tool("webfetch", {"url": "http://nowhere.example/again"})
            assert len(person.asked) <= asked + 1
            refused = await client.call_tool("webfetch", {"url": "http://169.254.169.254/latest"})
            assert "policy_refused" in text_of(refused)
            assert not any("169.254" in question for question in person.asked)


@pytest.mark.parametrize("mode", MODES)
async def test_without_a_person_a_question_means_no(serving: Serving, mode: str) -> None:
    serving.configure('[browser.policy]\ndefault_action = "ask"\n[browser.actions]\nconfirm = ["act"]\n')
    async with serving.client("stdio", mode=mode) as client:
        opened = await client.call_tool("web_open", {"url": "http://nowhere.example/"})
        assert "policy_refused" in text_of(opened)
        await client.call_tool("web_open", {"url": serving.local.url("second.html")})
        pressed = await client.call_tool("web_press_key", {"key": "Tab"})
        assert "it was not confirmed" in text_of(pressed)


@pytest.mark.parametrize("mode", MODES)
async def test_a_client_that_cannot_be_asked_has_not_answered_for_the_others(serving: Serving, mode: str) -> None:
    serving.configure('[browser.policy]\ndefault_action = "ask"\n')
    url = {"url": "http://nowhere.example/"}
    with serving.http("--set", "simple") as address:
        async with address.client(mode=mode, query="?session=a") as unable:
            assert "no confirmation was received" in text_of(await unable.call_tool("webfetch", url))
        for action in ("cancel", "decline", "accept"):
            person = Person(action)
            async with address.client(mode=mode, query="?session=b", elicitation_callback=person) as client:
                said = text_of(await client.call_tool("webfetch", url))
            asked = {"cancel": "no confirmation was received", "decline": "the person asked refused"}.get(
                action, "refused"
            )
            assert asked in said, said
            assert bool(person.asked) is (action != "accept"), "a no is kept, and nothing else"


async def test_a_denied_effect_is_refused_with_the_line_that_would_allow_it(serving: Serving) -> None:
    serving.configure('[browser.actions]\ndeny = ["file"]\n')
    async with serving.client("stdio") as client:
        result = await client.call_tool("web_upload", {"ref": "e1", "paths": ["a"]})
    assert "[browser.actions]" in text_of(result)


async def test_a_policy_with_a_typo_stops_the_start(serving: Serving) -> None:
    serving.configure('[browser.policy]\nallowed_orgins = ["*"]\n')
    process = serving.start()
    _, said = await asyncio.to_thread(process.communicate, timeout=30)
    assert process.returncode == 2
    assert "allowed_orgins" in said


@pytest.mark.parametrize("transport", ["stdio", "http"])
@pytest.mark.parametrize("mode", MODES)
async def test_a_cancelled_call_frees_its_client_at_once(serving: Serving, transport: str, mode: str) -> None:
    async with serving.client(transport, mode=mode) as client:
        await client.call_tool("web_open", {"url": serving.local.url("second.html")})
        waiting = asyncio.Event()

        async def progress(done: float, total: float | None, message: str | None) -> None:
            waiting.set()

        hanging = asyncio.create_task(
            client.call_tool("web_open", {"url": serving.local.url("hang")}, progress_callback=progress)
        )
        await asyncio.wait_for(waiting.wait(), 20)
        hanging.cancel()
        with pytest.raises(asyncio.CancelledError):
            await hanging
        began = time.monotonic()
        result = await client.call_tool("web_open", {"url": serving.local.url("second.html")})
        assert not result.is_error, text_of(result)
        assert time.monotonic() - began < 25


@pytest.mark.parametrize("transport", ["stdio", "http"])
@pytest.mark.parametrize("mode", MODES)
async def test_long_calls_report_their_progress(serving: Serving, transport: str, mode: str) -> None:
    told: list[tuple[float, str]] = []

    async def progress(done: float, total: float | None, message: str | None) -> None:
        told.append((done, message or ""))

    async with serving.client(transport, mode=mode) as client:
        url = serving.local.url("second.html")
        await client.call_tool("web_open", {"url": url}, progress_callback=progress)
        first = [message for _, message in told]
        assert first[:2] == ["starting the device and the host app", f"opening {url}"]
        told.clear()
        await client.call_tool("web_wait", {"text": "never", "timeout_seconds": 6}, progress_callback=progress)
        assert len(told) >= 2
        assert [done for done, _ in told] == sorted(done for done, _ in told)
