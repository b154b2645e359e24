"""What lies around some nodes of a graph: `Graph.neighbourhood`, `Graph.within` and `Graph.sample`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dgsuite.base.errors import InputError
from dgsuite.core.results.dataframe import to_dataframe
from dgsuite.core.results.sampled import Sampled
from dgsuite.core.running.runner import run
from dgsuite.partition.graph.dask_views import here
from dgsuite.partition.graph.selection import induced, named
from dgsuite.partition.labels.nodes import Listed, listed, node_ids

if TYPE_CHECKING:
    import dask.dataframe as dd

    from dgsuite.partition.graph.nearby import Nodes


def neighbourhood(graph: Any, seeds: Nodes, hops: int) -> Any:
    """The graph of all nodes within some hops of any of some nodes; see `Graph.neighbourhood`."""
    ds = run("neighbourhood", graph, sources=_listed(seeds), hops=hops, nearest=True)
    return induced(graph, named(graph, here(ds.target).values))


def within(graph: Any, seeds: Nodes, hops: int) -> dd.DataFrame:
    """The nodes within some hops of each of some nodes; see `Graph.within`."""
    ds = run("neighbourhood", graph, sources=_listed(seeds), hops=hops)
    table = to_dataframe(ds, ["source", "target", "hop"])
    return table.rename(columns={"source": "seed", "target": "node"})


def sample(graph: Any, seeds: Nodes, fanouts: Sequence[int], **how: Any) -> Sampled:
    """A sample of the neighbourhoods of some nodes; see `Graph.sample`."""
    given = _listed(seeds)
    ids = node_ids(given, graph.n, graph.labels, "seeds")
    first = np.sort(np.unique(ids, return_index=True)[1])
    if len(first) < len(ids):
        given = [given[at] for at in first]
    ds = run("sample", graph, sources=given, fanouts=fanouts, **how)
    return Sampled.of(graph, ds, ids, len(fanouts))


def _listed(seeds: Any) -> Listed:
    """The seeds, which may come from an iterator.

    Raises
    ------
    InputError
        They are no nodes at all.
    """
    found = listed(seeds, "seeds")
    if not len(found):
        raise InputError("seeds must be at least one node, but none is named")
    return found
