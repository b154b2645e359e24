"""GAP's graphs on the workers, and weights for them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from distributed import Client

from dgsuite import genval
from dgsuite.genval.plan import pair_weights
from dgsuite.partition.client.waiting import Watch
from dgsuite.partition.clusters.cluster import Cluster
from dgsuite.partition.graph.checks import each_cluster
from dgsuite.partition.graph.graph import Graph
from dgsuite.suites.gap.options import DIRECTED, PLANAR, WEIGHTS, Options, generated
from dgsuite.suites.sources import read

FAMILY = {"kron": "rmat", "urand": "er", "twitter": "rmat"}
"""Families of generated graphs whose names here are GAP's."""


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
        return read(options.file, client, options)
    which, scale = generated(options)
    how: dict[str, Any] = {"seed": options.seed, "client": client, "edges": options.edges}
    n, m = 2**scale, options.degree * 2**scale
    if which == "web":
        how["degree"] = options.degree
    elif which not in PLANAR:
        how["m"] = min(m, n * (n - 1) // 2) if which == "urand" else m
    return genval.graph(FAMILY.get(which, which), n, directed=which in DIRECTED, **how)


def weighted(graph: Graph, seed: int) -> Graph:
    """The graph itself if it has weights, else the same edges with random ones: see `WEIGHTS`."""
    if graph.weighted:
        return graph
    parts = each_cluster(graph, _weigh, seed)
    if graph.client is not None:
        Watch(graph.client, "making weights", inputs=graph.parts).wait(parts)
    return graph.like(parts, graph.entries, weight_dtype=np.int64)


def _weigh(cluster: Cluster, seed: int) -> Cluster:
    src = np.repeat(cluster.ids, cluster.degree)
    weights = pair_weights(src, cluster.indices, cluster.n, WEIGHTS, seed)
    return replace(cluster, weights=weights, cache={})
