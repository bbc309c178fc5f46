"""Which addresses may be opened: pure rules, and the resolver and the gate that hold connections to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bridge.lazy_names import lazy_names

if TYPE_CHECKING:
    from bridge.policy.egress import Egress
    from bridge.policy.grant import AppGrant, TestServerGrant
    from bridge.policy.judge import Decision, decide
    from bridge.policy.rules import BrowserPolicy, policy_for

__all__ = [
    "AppGrant",
    "BrowserPolicy",
    "Decision",
    "Egress",
    "TestServerGrant",
    "decide",
    "policy_for",
]

__getattr__ = lazy_names(
    __name__,
    {
        "AppGrant": "bridge.policy.grant",
        "BrowserPolicy": "bridge.policy.rules",
        "Decision": "bridge.policy.judge",
        "Egress": "bridge.policy.egress",
        "TestServerGrant": "bridge.policy.grant",
        "decide": "bridge.policy.judge",
        "policy_for": "bridge.policy.rules",
    },
)
