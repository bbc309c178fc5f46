"""Which addresses may be opened: pure rules, and the resolver and the gate that hold connections to them."""

from __future__ import annotations

from bridge.policy.egress import Egress
from bridge.policy.grant import AppGrant, TestServerGrant
from bridge.policy.judge import Decision, decide
from bridge.policy.rules import BrowserPolicy, policy_for

__all__ = ["AppGrant", "BrowserPolicy", "Decision", "Egress", "TestServerGrant", "decide", "policy_for"]
