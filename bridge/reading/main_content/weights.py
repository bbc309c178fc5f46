"""The weight of each piece of evidence, in log-odds: `weights.json`, fitted by `tools/fit_reading_weights.py`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from bridge.reading.main_content.evidence import Evidence


@dataclass(frozen=True, slots=True)
class Weights:
    """Four tables.

    Attributes:
        alone: For what a block shows by itself: finds the core.
        in_core: For the same facts of a block inside the core, beside its place: decides.
        outside: For those of a block outside of it.
        place: For the place of a block.
    """

    alone: dict[str, float]
    in_core: dict[str, float]
    outside: dict[str, float]
    place: dict[str, float]


@cache
def load_weights() -> Weights:
    text = files("bridge.reading.main_content").joinpath("weights.json").read_text("utf-8")
    return Weights(**json.loads(text))


def scored(evidence: Evidence, weights: dict[str, float]) -> float:
    """The sum of what the evidence weighs."""
    total = 0.0
    for name, value in evidence:
        if (weight := weights.get(name)) is not None:
            total += weight * value
    return total
