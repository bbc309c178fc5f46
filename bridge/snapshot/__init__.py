"""A page as a short tree of roles and names with refs, inside hard bounds. Pure: values in, values out."""

from bridge.snapshot.delta import Delta, snapshot_delta
from bridge.snapshot.model import Line, NodeRef, RenderOptions, SnapshotResult, SnapshotStats
from bridge.snapshot.render import render_snapshot

__all__ = [
    "Delta",
    "Line",
    "NodeRef",
    "RenderOptions",
    "SnapshotResult",
    "SnapshotStats",
    "render_snapshot",
    "snapshot_delta",
]
