#!/usr/bin/env python3
"""Coverage-guided fuzzing of URL parsing and deciding (atheris).

    python tools/fuzz/policy.py -max_total_time=60        # the minute of CI; 3600 for the hour

Laws: no text makes the rules crash; nothing passes without a web scheme and a host; a canonical URL is judged as the
text it came from; no address of a forbidden range passes in any spelling; the strict policy allows nothing.
"""

from __future__ import annotations

import sys

import atheris

with atheris.instrument_imports(include=["bridge.policy"]):
    from bridge.policy import BrowserPolicy, decide
    from bridge.policy.address import ip_literal, parse_host
    from bridge.policy.ranges import forbidden_range

PUBLIC, NOTHING = BrowserPolicy(default_action="allow"), BrowserPolicy()


def one(given: bytes) -> None:
    source = atheris.FuzzedDataProvider(given)
    prefix = source.PickValueInList(["", "http://", "https:", "http:\\\\", "ws://", "http://a@", "http://["])
    url = prefix + source.ConsumeUnicode(200)
    decision = decide(PUBLIC, url)
    if url != "about:blank":
        assert decide(NOTHING, url).action == "deny", url
    if decision.allowed and decision.rule != "blank":
        assert decision.host, url
        again = decide(PUBLIC, decision.url)
        assert (again.action, again.host, again.port) == ("allow", decision.host, decision.port), url
        literal = ip_literal(decision.host)
        assert literal is None or forbidden_range(literal) is None, url
    host = parse_host(url[len(prefix) :])
    assert host is None or parse_host(f"[{host}]" if ":" in host else host) == host, url


def main() -> None:
    atheris.Setup(sys.argv, one)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
