"""Which addresses may be opened. Pure: values in, a decision out."""

from __future__ import annotations

from bridge.policy.grant import TestServerGrant
from bridge.policy.judge import Decision, decide

__all__ = ["Decision", "TestServerGrant", "decide"]
