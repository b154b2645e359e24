"""What a run is asked for on the command line; which kernel of ours each algorithm is, and how its output is
compared and written. No heavy imports.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import Field

from dgsuite.studies.experiment.model import Count
from dgsuite.suites.options import Place, check_names, check_place


class Options(Place):
    """The options, by their names on the command line."""

    folder: str
    """Where NAME.v, NAME.e and NAME.properties are."""
    graph: str
    """Name of the graph."""
    algorithms: list[str] | None = None
    """Some of bfs, pr, wcc, cdlp, lcc, sssp; by default those of them that the .properties file lists."""
    repetitions: Count = 3
    """Of each algorithm."""
    output: str | None = None
    """Folder for outputs in the benchmark's format, and the dataset (by default the dataset alone, in
    results/)."""
    validate_outputs: bool = Field(default=False, alias="validate")
    """Also check outputs with dgsuite's own validators."""
    directed: bool | None = None
    """Whether edges have a direction (by default see the .properties file)."""
    source: Annotated[int, Field(ge=0, lt=2**64)] | None = None
    """Source vertex of bfs and sssp (by default see the .properties file)."""
    iterations: Count | None = None
    """Iterations of pr and cdlp (by default see the .properties file)."""
    damping: Annotated[float, Field(ge=0, le=1)] | None = None
    """Damping factor of pr (by default see the .properties file)."""


def check(options: Options) -> None:
    """Refuse options that contradict each other, and unknown algorithms.

    Raises
    ------
    InputError
        The message names the option.
    """
    check_place(options)
    check_names("--algorithms", options.algorithms or (), ALGORITHMS)


UNREACHED = 2**63 - 1
"""Depth of a vertex that a search does not reach."""

TOLERANCE = 1e-4
"""Relative difference that real values may have."""


@dataclass(frozen=True)
class Algorithm:
    """One of the benchmark's algorithms.

    Attributes
    ----------
    kernel, output
        Names of ours.
    rule
        How outputs are compared: value by value, by the sets of vertices of one value, or up to `TOLERANCE`.
    parameters
        The kernel's, each with the key that a .properties file has for it.
    weighted
        Whether edges need weights; others leave them alone.
    """

    kernel: str
    output: str
    rule: Literal["equal", "parts", "close"]
    parameters: Mapping[str, str] = field(default_factory=dict)
    weighted: bool = False


ALGORITHMS = {
    "bfs": Algorithm("bfs", "level", "equal", {"root": "source-vertex"}),
    "pr": Algorithm(
        "pagerank", "rank", "close", {"damping": "damping-factor", "iterations": "num-iterations"}
    ),
    "wcc": Algorithm("wcc", "component", "parts"),
    "cdlp": Algorithm("cdlp", "label", "equal", {"iterations": "max-iterations"}),
    "lcc": Algorithm("lcc", "coefficient", "close"),
    "sssp": Algorithm("sssp", "distance", "close", {"root": "source-vertex"}, weighted=True),
}
"""By the benchmark's names."""

SIZES = ("2XS", "XS", "S", "M", "L", "XL")
"""T-shirt sizes from scale 6.5 on, each half a unit wide; the last has no end."""


def size(vertices: int, edges: int) -> tuple[float, str]:
    """Scale of a graph, floor(10 log10(n + m)) / 10, and its T-shirt size; "-" below the smallest."""
    from math import floor, log10

    tenths = floor(10 * log10(vertices + edges))
    step = (tenths - 65) // 5
    return tenths / 10, "-" if step < 0 else SIZES[min(step, len(SIZES) - 1)]
