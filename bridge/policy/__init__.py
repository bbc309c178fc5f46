"""The policy: pure rules about which addresses may be opened, and the resolver and the gate that enforce them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bridge.lazy_names import lazy_names

if TYPE_CHECKING:
    from bridge.policy.browser_policy import BrowserPolicy, policy_for
    from bridge.policy.decision import Decision, decide
    from bridge.policy.grant import AppGrant, TestServerGrant

__all__ = [
    "AppGrant",
    "BrowserPolicy",
    "Decision",
    "TestServerGrant",
    "decide",
    "policy_for",
]

__getattr__ = lazy_names(
    __name__,
    {
        "AppGrant": "bridge.policy.grant",
        "BrowserPolicy": "bridge.policy.browser_policy",
        "Decision": "bridge.policy.decision",
        "TestServerGrant": "bridge.policy.grant",
        "decide": "bridge.policy.decision",
        "policy_for": "bridge.policy.browser_policy",
    },
)
