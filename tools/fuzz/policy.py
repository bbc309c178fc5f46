#!/usr/bin/env python3
"""Coverage-guided fuzzing of URL parsing and deciding (atheris).

    python tools/fuzz/policy.py -max_total_time=60        # the minute of CI; 3600 for the hour

It begins with the corpus of tests/policy. An input is a URL and, after a line break, a pattern of an origin. Laws: no
text makes the rules crash; nothing passes without a web scheme and a host; a canonical URL is judged as the text it
came from; no address of a forbidden range passes in any spelling; what is denied stays denied; the strict policy
allows nothing.
"""

from __future__ import annotations

import contextlib
import json
import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["bridge.policy"]):
    from bridge.policy import BrowserPolicy, decide
    from bridge.policy.address import ip_literal, parse_address, parse_host
    from bridge.policy.origins import OriginPattern
    from bridge.policy.ranges import forbidden_range

from bridge.errors import UsageError

CORPUS = Path(__file__).parents[2] / "tests" / "policy" / "corpus"
PUBLIC, NOTHING = BrowserPolicy(default_action="allow"), BrowserPolicy()


def one(given: bytes) -> None:
    url, _, text = given.decode("utf-8", "surrogateescape").partition("\n")
    decision = decide(PUBLIC, url)
    if url != "about:blank":
        assert decide(NOTHING, url).action == "deny", url
    if decision.allowed and decision.rule != "blank":
        assert decision.host, url
        again = decide(PUBLIC, decision.url)
        assert (again.action, again.host, again.port) == ("allow", decision.host, decision.port), url
        literal = ip_literal(decision.host)
        assert literal is None or forbidden_range(literal) is None, url
    host = parse_host(url)
    assert host is None or parse_host(f"[{host}]" if ":" in host else host) == host, url
    with contextlib.suppress(UsageError):
        by_pattern(OriginPattern.parse(text), url)


def by_pattern(pattern: OriginPattern, url: str) -> None:
    """The laws of the lists, for a pattern that is one."""
    assert not decide(
        BrowserPolicy(default_action="allow", denied_origins=(pattern.text,)), url
    ).allowed or not matched(pattern, url), (pattern, url)
    allowing = BrowserPolicy(allowed_origins=(pattern.text,))
    if decide(allowing, url).allowed and url != "about:blank":
        assert matched(pattern, url), (pattern, url)
        assert decide(PUBLIC, url).allowed, (pattern, url)


def matched(pattern: OriginPattern, url: str) -> bool:
    address = parse_address(url)
    return (
        address.host is not None
        and address.port is not None
        and pattern.matches(address.scheme, address.host, address.port)
    )


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name in ("refused", "allowed"):
            for number, entry in enumerate(json.loads((CORPUS / f"{name}.json").read_text(encoding="utf-8"))):
                seed = entry["url"].encode("utf-8", "replace")
                Path(folder, f"{name}-{number}").write_bytes(seed[:300] + b"\n*.example.com")
        atheris.Setup([*sys.argv, folder], one)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
