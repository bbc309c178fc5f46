"""What each piece of evidence weighs, in log-odds: `weights.json`, fitted by `tools/fit_reading_weights.py`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from bridge.reading.main_content.evidence import Evidence


@dataclass(frozen=True, slots=True)
class Weights:
    """Two tables.

    Attributes:
        alone: For what a block shows by itself; finds the core.
        placed: For the same facts, those in the core once more, and for its place; decides.
    """

    alone: dict[str, float]
    placed: dict[str, float]


@cache
def load_weights() -> Weights:
    text = files("bridge.reading.main_content").joinpath("weights.json").read_text("utf-8")
    return Weights(**json.loads(text))


def scored(evidence: Iterable[Evidence], weights: dict[str, float]) -> list[float]:
    """The sum of what each block's evidence weighs."""
    known = weights.get
    return [sum([known(name, 0.0) * value for name, value in facts]) for facts in evidence]
