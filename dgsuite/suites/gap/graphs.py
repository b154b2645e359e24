"""GAP's graphs on the workers, and weights for them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dgsuite import genval
from dgsuite.genval.plan import pair_weights
from dgsuite.partition.client.waiting import Watch
from dgsuite.partition.clusters.cluster import Cluster
from dgsuite.partition.graph.checks import each_cluster
from dgsuite.partition.graph.graph import Graph
from dgsuite.suites.gap.options import Options, generated
from dgsuite.suites.gap.plan import WEIGHTS
from dgsuite.suites.sources import read

if TYPE_CHECKING:
    from distributed import Client


FAMILY = {"kron": "rmat", "urand": "er"}
"""Families of random graphs, by GAP's names."""


def name(options: Options) -> str:
    """A name for the graph that is asked for, which file names may have."""
    if options.file is not None:
        return Path(options.file).name.partition(".")[0]
    return "{}{}".format(*generated(options))


def make(options: Options, client: Client) -> Graph:
    """The graph that is asked for.

    Raises
    ------
    InputError
        The file cannot be read.
    """
    if options.file is not None:
        return read(options.file, client, options.directed, options.relabel, options.duplicates)
    which, scale = generated(options)
    n = 2**scale
    if which == "road":
        return genval.graph("road", n, seed=options.seed, client=client)
    if which == "web":
        return genval.graph(
            "web", n, seed=options.seed, client=client, directed=True, degree=options.degree
        )
    m = options.degree * n
    if which == "urand":
        m = min(m, n * (n - 1) // 2)
    return genval.graph(FAMILY[which], n, m=m, seed=options.seed, client=client)


def weighted(graph: Graph, seed: int) -> Graph:
    """The graph itself if it has weights, else the same edges with random ones: see `WEIGHTS`."""
    if graph.weighted:
        return graph
    parts = each_cluster(graph, _weigh, seed)
    if graph.client is not None:
        Watch(graph.client, "making weights", inputs=graph.parts).wait_or_raise(parts)
    return graph.like(parts, graph.entries, weight_dtype=np.int64)


def _weigh(cluster: Cluster, seed: int) -> Cluster:
    src = np.repeat(cluster.ids, cluster.degree)
    weights = pair_weights(src, cluster.indices, cluster.n, WEIGHTS, seed)
    return replace(cluster, weights=weights, cache={})
