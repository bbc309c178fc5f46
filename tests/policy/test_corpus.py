"""The corpus of bypasses and of benign look-alikes: data that any tool can run (`corpus/README.md`)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bridge.errors import PolicyRefused
from bridge.policy import BrowserPolicy, decide, policy_for
from bridge.policy.pinning import PinnedEgress

CORPUS = Path(__file__).parent / "corpus"
REFUSED: list[dict[str, Any]] = json.loads((CORPUS / "refused.json").read_text(encoding="utf-8"))
ALLOWED: list[dict[str, Any]] = json.loads((CORPUS / "allowed.json").read_text(encoding="utf-8"))
PUBLIC = policy_for("operator")


def test_the_corpus_is_complete_and_has_no_duplicates() -> None:
    assert len(REFUSED) >= 400
    assert len(ALLOWED) >= 100
    keys = [json.dumps(entry, sort_keys=True) for entry in REFUSED + ALLOWED]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize("entry", REFUSED, ids=lambda entry: ascii(entry["url"])[:80])
async def test_each_bypass_is_refused_by_the_expected_rule(entry: dict[str, Any]) -> None:
    if "addresses" not in entry:
        decision = decide(PUBLIC, entry["url"])
        assert (decision.action, decision.rule) == ("deny", entry["rule"])
        assert decision.reason
        return
    egress = PinnedEgress(PUBLIC, resolve=_resolver(entry))
    host = decide(PUBLIC, entry["url"]).host
    assert host is not None
    with pytest.raises(PolicyRefused) as caught:
        await egress.addresses(host, 80, timeout_s=20)
    assert caught.value.details["rule"] == entry["rule"]
    assert egress.pins == {}


@pytest.mark.parametrize("entry", ALLOWED, ids=lambda entry: ascii(entry["url"])[:80])
async def test_benign_look_alikes_are_allowed(entry: dict[str, Any]) -> None:
    decision = decide(PUBLIC, entry["url"])

    assert decision.allowed, decision.reason
    if "addresses" in entry:
        assert decision.host is not None
        egress = PinnedEgress(PUBLIC, resolve=_resolver(entry))
        assert await egress.addresses(decision.host, 443, timeout_s=20) == tuple(entry["addresses"])


def test_no_list_allows_an_always_refused_address() -> None:
    everything = BrowserPolicy(default_action="allow", allowed_origins=("*", "http://*", "https://*"))

    for entry in REFUSED:
        if "addresses" not in entry:
            assert decide(everything, entry["url"]).rule == entry["rule"]


def _resolver(entry: dict[str, Any]) -> Any:
    async def resolve(_host: str) -> tuple[str, ...]:
        return tuple(entry["addresses"])

    return resolve
