"""The egress gate: the HTTP proxy through which a device's WebView reaches the network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bridge.lazy_names import lazy_names

if TYPE_CHECKING:
    from bridge.policy.gate.proxy import Gate, run_gate

__all__ = ["Gate", "run_gate"]

__getattr__ = lazy_names(__name__, {"Gate": "bridge.policy.gate.proxy", "run_gate": "bridge.policy.gate.proxy"})
