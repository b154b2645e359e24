"""R-MAT graphs of the betweenness benchmark of X10 on the SCC: directed, with self-loops."""

from __future__ import annotations

from math import inf

import numpy as np

from dgsuite.base.errors import InputError
from dgsuite.genval.counters import subkey
from dgsuite.genval.families import quadrants
from dgsuite.genval.imsuite import integer
from dgsuite.genval.plan import EDGES
from dgsuite.partition.clusters.cluster import Cluster
from dgsuite.partition.clusters.partitioners import blocks, check_clusters
from dgsuite.partition.construction import build
from dgsuite.partition.graph.graph import Graph

SAMPLES = 8
"""Edges drawn per node."""

LARGEST = 24
"""Largest binary logarithm of the number of nodes. Drawing the edges then takes some 2 GiB."""


def rmat(
    n: int = 14,
    a: float = 0.55,
    b: float = 0.1,
    c: float = 0.1,
    d: float = 0.25,
    seed: int = 1,
    *,
    clusters: int | None = None,
) -> Graph:
    """A directed R-MAT graph after the SSCA2 sample (Chapman, Hussein and Bokhari; Bader et al. 2006).

    8 * 2^n edges are drawn, each by n choices among the quadrants of the adjacency matrix. The weight of an
    edge is the number of times it was drawn. Self-loops are kept. Nodes are not permuted, so those with small
    ids have the most edges.

    Parameters
    ----------
    n
        Binary logarithm of the number of nodes.
    a, b, c, d
        Probabilities of the quadrants: upper left, upper right, lower left, lower right; their sum is 1.
    seed
        Any integer.
    clusters
        Number of clusters; by default one, and a run chooses its own number.

    Returns
    -------
    Graph in this process, with weights int64.

    Raises
    ------
    InputError
        A probability is not from 0 to 1, their sum is not 1, or n is out of range.

    Notes
    -----
    In the benchmark's own names, the defaults are the workloads "low" and "large" with n = 14, and "high"
    with n = 15.

    Examples
    --------
    >>> from dgsuite import genval
    >>> genval.rmat(n=4)
    <dgsuite.Graph: 16 nodes, 70 edges, directed, weights int64; 1 clusters in this process>
    """
    import scipy.sparse as sp

    n = integer("n", n, 1, LARGEST)
    shares = {"a": a, "b": b, "c": c, "d": d}
    for name, share in shares.items():
        if not isinstance(share, int | float | np.number) or not 0 <= share <= 1:
            raise InputError(f"{name} must be a share from 0 to 1, got {share!r}")
    if abs(sum(shares.values()) - 1) > 1e-9:
        raise InputError(f"a + b + c + d must be 1, got {sum(shares.values()):g}")
    size = 1 << n
    at = np.arange(SAMPLES * size, dtype=np.uint64)
    cuts = [min(int(2**32 * share), 2**32 - 1) for share in (a, a + b, a + b + c)]
    src, dst = quadrants(at, size, subkey(integer("seed", seed, -inf), EDGES), cuts)
    drawn = (np.ones(len(at), np.int64), (src.astype(np.int64), dst.astype(np.int64)))
    matrix = sp.coo_array(drawn, shape=(size, size)).tocsr()
    partition = blocks(size, 1)
    cluster = Cluster(
        0,
        partition,
        matrix.indptr.astype(build.id_dtype(matrix.nnz)),
        matrix.indices.astype(build.id_dtype(size)),
        matrix.data,
        None,
        directed=True,
    )
    graph = Graph(
        [cluster],
        partition,
        entries=[matrix.nnz],
        directed=True,
        weight_dtype=matrix.dtype,
        attrs={"root": 0},
        chosen=clusters is not None,
    )
    return graph if clusters is None else graph.repartition(check_clusters(clusters))
