"""What lies around some nodes of a graph: `Graph.neighbourhood`, `Graph.within` and `Graph.sample`."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.core.results.dataframe import to_dataframe
from dgsuite.core.results.sampled import Sampled
from dgsuite.core.running.runner import run
from dgsuite.partition.graph.dask_views import here
from dgsuite.partition.graph.selection import induced, named, node_ids

if TYPE_CHECKING:
    import dask.dataframe as dd

    from dgsuite.partition.graph.graph import Graph
    from dgsuite.partition.graph.nearby import Nodes


def neighbourhood(graph: Graph, seeds: Nodes, hops: int) -> Graph:
    """The graph of all nodes within some hops of any of some nodes; see `Graph.neighbourhood`."""
    ds = run("neighbourhood", graph, sources=_listed(seeds), hops=hops, nearest=True)
    return induced(graph, named(graph, here(ds.target).values))


def within(graph: Graph, seeds: Nodes, hops: int) -> dd.DataFrame:
    """The nodes within some hops of each of some nodes; see `Graph.within`."""
    ds = run("neighbourhood", graph, sources=_listed(seeds), hops=hops)
    table = to_dataframe(ds, ["source", "target", "hop"])
    return table.rename(columns={"source": "seed", "target": "node"})


def sample(graph: Graph, seeds: Nodes, fanouts: Sequence[int], **how: Any) -> Sampled:
    """A sample of the neighbourhoods of some nodes; see `Graph.sample`."""
    listed = _listed(seeds)
    ds = run("sample", graph, sources=listed, fanouts=fanouts, **how)
    return Sampled.of(graph, ds, node_ids(graph, listed), len(fanouts))


def _listed(seeds: Any) -> Sequence[Hashable] | NDArray:
    """The seeds, which may come from an iterator.

    Raises
    ------
    InputError
        They are no nodes at all.
    """
    if not np.iterable(seeds) or isinstance(seeds, str | bytes):
        raise InputError(f"seeds must be a list of nodes, got {seeds!r}")
    listed = seeds if isinstance(seeds, np.ndarray) else [*seeds]
    if not len(listed):
        raise InputError("seeds must be at least one node, but none is named")
    return listed
