"""What a run is asked for on the command line. No heavy imports."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from dgsuite.experiment.model import Count, Section
from dgsuite.graphalytics.plan import ALGORITHMS
from dgsuite.suites.options import Place, check_names, check_place


class Options(Place):
    """The options, by their names on the command line."""

    folder: str
    graph: str
    algorithms: list[str] | None = None
    """By default those of the .properties file that there are here."""
    repetitions: Count = 3
    output: str | None = None
    """Folder for outputs and the dataset."""
    validate_outputs: bool = Field(default=False, alias="validate")
    directed: bool | None = None
    source: Annotated[int, Field(ge=0, lt=2**64)] | None = None
    iterations: Count | None = None
    damping: Annotated[float, Field(ge=0, le=1)] | None = None


class Given(Section):
    """The options as `dgsuite.experiment.toml` takes them."""

    graphalytics: Options


def check(options: Options) -> None:
    """Refuse options that contradict each other, and unknown algorithms.

    Raises
    ------
    InputError
        The message names the option.
    """
    check_place(options)
    check_names("--algorithms", options.algorithms or (), ALGORITHMS)
