"""What a run is asked for on the command line. No heavy imports."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from dgsuite.studies.experiment.model import Count, Section
from dgsuite.suites.graphalytics.plan import ALGORITHMS
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


class Given(Section):
    """The options as `dgsuite.studies.experiment.toml` takes them."""

    graphalytics: Options
    """The options of `dgsuite graphalytics`."""


def check(options: Options) -> None:
    """Refuse options that contradict each other, and unknown algorithms.

    Raises
    ------
    InputError
        The message names the option.
    """
    check_place(options)
    check_names("--algorithms", options.algorithms or (), ALGORITHMS)
