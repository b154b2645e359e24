"""When the rounds of a run would be over on a network whose messages take time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike, NDArray

from dgsuite.base.errors import InputError, one_of
from dgsuite.partition.graph.graph import Graph
from dgsuite.studies.network.delays import Delay

SYNCHRONISERS = ("alpha", "beta")
"""Kernels that work out virtual times."""


class VirtualTimes(NamedTuple):
    """Virtual times of pulses; see `virtual_times`.

    Attributes
    ----------
    time
        int64, shape (pulses,): the tick by which all nodes have begun the pulse after each.
    messages
        int64, shape (pulses,): the messages of each, where every node sends one to each neighbour, and those
        of the synchroniser.
    """

    time: NDArray[np.int64]
    messages: NDArray[np.int64]


def virtual_times(
    run: Callable[..., xr.Dataset],
    graph: Graph,
    pulses: int,
    delay: Any,
    seed: int | None = None,
    synchroniser: str = "alpha",
    late: ArrayLike = (),
    **how: Any,
) -> VirtualTimes:
    """When each pulse is over on a network whose messages take time, under a synchroniser.

    Parameters
    ----------
    run
        `dgsuite.run`.
    graph
        The network; the edges of a directed graph carry messages both ways.
    pulses
        How many pulses: the rounds of a run.
    delay
        How long messages take; see `dgsuite.studies.network.delays.Delay.of`.
    seed
        Key of the delays.
    synchroniser
        "alpha", or "beta", which needs a connected graph.
    late
        What takes longer; see `dgsuite.kernels.lab.synchroniser.Synchroniser`.
    how
        Options of `dgsuite.run`, such as style and client; for "beta" also `root`.

    Raises
    ------
    InputError
        A value is not one of these, or weights are to be delays and are no whole numbers from 0.

    Examples
    --------
    >>> import dgsuite
    >>> from dgsuite.studies.network.times import virtual_times
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> virtual_times(dgsuite.run, graph, 3, 2)
    VirtualTimes(time=array([ 6, 12, 18]), messages=array([18, 18, 18]))
    """
    one_of("synchroniser", synchroniser, SYNCHRONISERS)
    law = Delay.of(delay)
    if law.kind == "weight" and not graph.weighted:
        raise InputError("delay='weight' needs a graph with weights")
    if not pulses:
        return VirtualTimes(np.zeros(0, np.int64), np.zeros(0, np.int64))
    ds = run(synchroniser, graph, seed=seed, rounds=pulses, late=late, **law.parameters, **how)
    return VirtualTimes(ds["pulse_time"].values, ds["messages"].values)
