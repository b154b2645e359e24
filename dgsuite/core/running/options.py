"""The options of `dgsuite.run`, checked."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from dgsuite.base.errors import InputError, one_of
from dgsuite.base.names import STYLES
from dgsuite.core.engine.network import Network, network_of
from dgsuite.core.engine.run_spec import RunSpec
from dgsuite.core.engine.workload import Workload
from dgsuite.partition.client.settings import setting

if TYPE_CHECKING:
    from distributed import Client

    from dgsuite.kernels.bsp import Kernel
    from dgsuite.partition.graph.graph import Graph

CHECK = "dgsuite.check"
"""Setting that makes checked runs the default."""


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """How a kernel runs; `dgsuite.run` says what each option means.

    Raises
    ------
    InputError
        An option has a value that it cannot have.
    """

    style: str | None = None
    form: str | None = None
    clusters: int | None = None
    client: Client | None = None
    seed: int | None = None
    count_as: str | None = None
    workload: Mapping[str, int] | Workload | None = None
    on_round: Callable[[int], None] | None = None
    progress: bool | None = None
    max_rounds: int | None = None
    check: bool | None = None
    trace: bool | str | os.PathLike[str] = False
    checkpoint: str | os.PathLike[str] | None = None
    since: xr.Dataset | None = None
    congest: float | None = None
    network: Network | None = None

    def __post_init__(self) -> None:
        for flag, what in ((self.progress, "progress"), (self.check, "check")):
            if flag is not None and not isinstance(flag, bool | np.bool_):
                raise InputError(f"{what} must be True, False or None, got {flag!r}")
        for value, what in ((self.style, "style"), (self.count_as, "count_as")):
            if value is not None:
                one_of(what, value, STYLES)
        if self.on_round is not None and not callable(self.on_round):
            raise InputError(
                f"on_round must be a function of the number of rounds, got {self.on_round!r}"
            )
        rounds = self.max_rounds
        if rounds is not None and (type(rounds) is not int or rounds < 1):
            raise InputError(
                f"max_rounds must be a whole number from 1 on, or None, got {rounds!r}"
            )
        congest = self.congest
        if congest is not None and (
            isinstance(congest, bool) or not isinstance(congest, Real) or not congest > 0
        ):
            raise InputError(
                f"congest must be a number above 0, such as 4, or None, got {congest!r}"
            )
        if not isinstance(self.trace, bool) and not (
            isinstance(self.trace, str | os.PathLike) and os.fspath(self.trace).endswith(".nc")
        ):
            raise InputError(
                f"trace must be True, False or the name of a file in .nc, got {self.trace!r}"
            )
        object.__setattr__(self, "network", network_of(self.network))
        if self.since is not None and not isinstance(self.since, xr.Dataset):
            raise InputError(
                f"since must be a dataset that dgsuite.run returned, got {type(self.since).__name__}"
            )

    @property
    def trace_file(self) -> str | os.PathLike[str] | None:
        """Where the trace is written, if anywhere."""
        return None if isinstance(self.trace, bool) else self.trace

    def spec(self, graph: Graph, kernel: Kernel) -> RunSpec:
        """What the sites of a run of a kernel on a graph get, but for checkpoints.

        Raises
        ------
        InputError
            The setting ``dgsuite.check`` is neither true nor false, or the network does not fit the graph.
        """
        check = setting(CHECK) if self.check is None else self.check
        if not isinstance(check, bool | np.bool_):
            raise InputError(f"{CHECK} must be true or false, got {check!r}")
        part = {} if self.network is None else self.network.part(graph, kernel)
        if self.max_rounds is not None:
            part["max_rounds"] = self.max_rounds
        return RunSpec(
            check=bool(check),
            trace=self.trace is not False,
            congest=None if self.congest is None else float(self.congest),
            workload=Workload.make(self.workload),
            **part,
        )
