"""The 18 operations: closed models, and the executor that runs them on a session."""

from __future__ import annotations

from bridge.ops.content_markers import ContentMarkers
from bridge.ops.effects import EFFECTS, ActionPolicy, Effect
from bridge.ops.events import BrowserEvent, BrowserPolicyDenied, Event, json_line
from bridge.ops.executor import Executor
from bridge.ops.models import EFFECT_OF, OPERATION_KINDS, InvalidOperation, Operation, operation_schema, parse_operation
from bridge.ops.results import OperationResult
from bridge.ops.secrets import Secret, Secrets

__all__ = [
    "EFFECTS",
    "EFFECT_OF",
    "OPERATION_KINDS",
    "ActionPolicy",
    "BrowserEvent",
    "BrowserPolicyDenied",
    "ContentMarkers",
    "Effect",
    "Event",
    "Executor",
    "InvalidOperation",
    "Operation",
    "OperationResult",
    "Secret",
    "Secrets",
    "json_line",
    "operation_schema",
    "parse_operation",
]
