"""A page as a short tree of roles and names with refs, inside hard bounds. Pure: values in, values out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bridge.lazy_names import lazy_names

if TYPE_CHECKING:
    from bridge.snapshot.lines.delta import Delta, snapshot_delta
    from bridge.snapshot.lines.render import render_snapshot
    from bridge.snapshot.model import Line, NodeRef, RenderOptions, SnapshotResult, SnapshotStats
    from bridge.snapshot.plain_html.snapshot import HtmlSnapshotOptions, snapshot_html

__all__ = [
    "Delta",
    "HtmlSnapshotOptions",
    "Line",
    "NodeRef",
    "RenderOptions",
    "SnapshotResult",
    "SnapshotStats",
    "render_snapshot",
    "snapshot_delta",
    "snapshot_html",
]

__getattr__ = lazy_names(
    __name__,
    {
        "Delta": "bridge.snapshot.lines.delta",
        "HtmlSnapshotOptions": "bridge.snapshot.plain_html.snapshot",
        "Line": "bridge.snapshot.model",
        "NodeRef": "bridge.snapshot.model",
        "RenderOptions": "bridge.snapshot.model",
        "SnapshotResult": "bridge.snapshot.model",
        "SnapshotStats": "bridge.snapshot.model",
        "render_snapshot": "bridge.snapshot.lines.render",
        "snapshot_delta": "bridge.snapshot.lines.delta",
        "snapshot_html": "bridge.snapshot.plain_html.snapshot",
    },
)
