"""Whom the policy asks: somebody who is there, not too often, and nobody's silence is an answer."""

from __future__ import annotations

import pytest

from bridge.errors import PolicyRefused
from bridge.model_tools import NoElicitation, PendingElicitation
from bridge.policy.browser_policy import BrowserPolicy
from bridge.policy.pinning import PinnedEgress


class _Willing:
    says: bool | None = True

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def confirm(self, question: str) -> bool | None:
        self.asked.append(question)
        return self.says


class _Unwilling(_Willing):
    says = False


class _Waving(_Willing):
    """Closes the question without an answer."""

    says = None


def egress_with_elicitation() -> tuple[PendingElicitation, PinnedEgress]:
    pending = PendingElicitation()
    return pending, PinnedEgress(BrowserPolicy(default_action="ask"), ask=pending.may_open)


async def test_a_host_that_could_not_be_asked_about_is_asked_about_later() -> None:
    pending, egress = egress_with_elicitation()
    with pytest.raises(PolicyRefused, match="no confirmation was received"):
        await egress.check_request("https://shop.example/x.js")
    person = _Willing()
    with pending.during_call(person):
        assert await egress.check_url("https://shop.example/") == "https://shop.example/"
        await egress.check_request("https://shop.example/x.js")
    assert len(person.asked) == 1
    await egress.check_request("https://shop.example/x.js")


async def test_a_persons_refusal_is_remembered() -> None:
    pending, egress = egress_with_elicitation()
    with pending.during_call(_Unwilling()), pytest.raises(PolicyRefused, match="the person asked refused"):
        await egress.check_url("https://shop.example/")
    person = _Willing()
    with pending.during_call(person), pytest.raises(PolicyRefused, match="the person asked refused"):
        await egress.check_url("https://shop.example/")
    assert not person.asked


@pytest.mark.parametrize("silent", [NoElicitation, _Waving])
async def test_a_missing_answer_is_not_remembered_as_a_refusal(
    silent: type[NoElicitation | _Waving],
) -> None:
    pending, egress = egress_with_elicitation()
    with pending.during_call(silent()), pytest.raises(PolicyRefused, match="no confirmation was received"):
        await egress.check_url("https://shop.example/")
    person = _Willing()
    with pending.during_call(person):
        assert await egress.check_url("https://shop.example/") == "https://shop.example/"
    assert len(person.asked) == 1


async def test_a_page_of_a_hundred_hosts_is_not_a_hundred_questions() -> None:
    pending, egress = egress_with_elicitation()
    for _ in range(2):
        person = _Willing()
        with pending.during_call(person):
            for number in range(100):
                try:
                    await egress.check_request(f"https://h{number}.example/")
                except PolicyRefused:
                    continue
        assert len(person.asked) == 8
