"""Which kernel of ours each of GAP's is, and how its trials go. No heavy imports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Benchmark:
    """One of GAP's kernels.

    Attributes
    ----------
    kernel
        Name of ours.
    trials
        As many as GAP has.
    sources
        How many each trial has.
    weighted
        Whether edges have weights.
    parameters
        Of every trial.
    """

    kernel: str
    trials: int
    sources: int = 0
    weighted: bool = False
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def each(self, sources: Sequence[Any], trials: int | None) -> list[dict[str, Any]]:
        """The parameters of each trial; all kernels take their sources from the same list, in order."""
        count = trials or self.trials
        if not self.sources:
            return [{}] * count
        picks = [[sources[k * self.sources + i] for i in range(self.sources)] for k in range(count)]
        if self.sources == 1:
            return [{"root": source} for (source,) in picks]
        return [{"sources": list(dict.fromkeys(some))} for some in picks]


BENCHMARKS = {
    "bfs": Benchmark("bfs", 64, sources=1),
    "sssp": Benchmark("sssp", 64, sources=1, weighted=True),
    "pr": Benchmark(
        "pagerank", 16, parameters={"tolerance": 1e-4, "sinks": "lost", "weighted": False}
    ),
    "cc": Benchmark("wcc", 16),
    "bc": Benchmark("bc", 16, sources=4, parameters={"weighted": False}),
    "tc": Benchmark("triangles", 3),
}
"""By GAP's names."""

WEIGHTS = 255
"""Largest weight of an edge; weights are uniform integers from 1."""
