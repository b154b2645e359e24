"""Similarity of nodes, by linear algebra."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dgsuite.genval.report import Found
from dgsuite.genval.rules.base import LEAST, Job, closely, collect, rows, says, strange
from dgsuite.genval.rules.registry import judges
from dgsuite.genval.rules.triangles import CLOSE, MAX_WORK, adjacency

if TYPE_CHECKING:
    from scipy.sparse import csr_array

WEIGHTED = ("jaccard", "overlap", "cosine")
"""Measures in which weights may count."""

BLOCK = 1 << 16
"""Pairs that are looked at at a time."""


class Pairs(NamedTuple):
    """Pairs of nodes, by node id."""

    source: NDArray[np.int64]
    target: NDArray[np.int64]

    def keys(self, n: int) -> NDArray[np.int64]:
        """A number for each pair; they ascend as the pairs do."""
        return self.source * n + self.target


@judges("similarity", outputs={"source": 0, "target": 0, "similarity": 0}, real=("similarity",))
def similarity(job: Job) -> Iterator[list[Found]]:
    """The pairs are those that were asked for, in their order, and each similarity is what the definition
    says of the rows of the adjacency matrix. On larger graphs it is looked at for some nodes whether these
    have the best ones.
    """
    edges = adjacency(job)
    found, (value,) = Pairs(*job.integers("source", "target")), job.floats("similarity")
    yield [strange(job.n, *found)]
    right, k = _similarities(job, edges, found), job.fact("k")
    some = _asked(job, edges, found) if k is None else _best(job, edges, found, right, int(k))
    yield [collect(found.source, closely("similarity", value, right, CLOSE)), *some]


def _asked(job: Job, edges: csr_array, found: Pairs) -> list[Found]:
    """The pairs are all edges, from the end with more neighbours, or those that were given; each once and
    ascending.
    """
    given = job.fact("pairs", job.given("pairs"))
    if isinstance(given, str):  # too many to be listed among the parameters
        job.left_out.append("which pairs were asked for")
        return []
    if given is not None:
        if job.graph.labels is not None:
            given = [[job.node(node) for node in pair] for pair in given]
        wanted = Pairs(*np.asarray(given, np.int64).reshape(-1, 2).T)
    else:
        degree = np.diff(edges.indptr)
        u, v = np.repeat(np.arange(job.n), degree), edges.indices.astype(np.int64)
        drawn = (u < v) == ((u + v) % 2 == 0)
        more = (degree[u] > degree[v]) | ((degree[u] == degree[v]) & drawn)
        wanted = Pairs(u[more], v[more])
    return rows(job.n, *found, np.unique(wanted.keys(job.n)))


def _best(
    job: Job, edges: csr_array, found: Pairs, value: NDArray[np.float64], k: int
) -> list[Found]:
    """Each node has its `k` best of all nodes two hops away, or all of them, the best first."""
    nodes = np.arange(job.n)
    if (np.diff(edges.indptr).astype(np.int64) ** 2).sum() > MAX_WORK:
        nodes = job.some(np.bincount(found.source, value, job.n), LEAST)
        kept = np.isin(found.source, nodes)
        found, value = Pairs(found.source[kept], found.target[kept]), value[kept]
    two = (edges[nodes] @ edges).tocoo()
    rest = Pairs(nodes[two.row], two.col.astype(np.int64))
    near, keys = edges.tocoo(), rest.keys(job.n)
    joined = np.isin(keys, Pairs(near.row.astype(np.int64), near.col).keys(job.n))
    away = (rest.source != rest.target) & ~joined
    rest, keys = Pairs(rest.source[away], rest.target[away]), keys[away]
    wanted = np.minimum(np.bincount(rest.source, minlength=job.n), k)
    has = np.bincount(found.source, minlength=job.n)
    worst = np.full(job.n, np.inf)
    np.minimum.at(worst, found.source, value)
    out = ~np.isin(keys, found.keys(job.n))
    bar = np.zeros(job.n)
    left = Pairs(rest.source[out], rest.target[out])
    np.maximum.at(bar, left.source, _similarities(job, edges, left))
    same = np.diff(found.source, prepend=-1) == 0
    rises = np.diff(value, prepend=0) > CLOSE * np.abs(value)
    given = job.outputs["similarity"][np.isin(job.outputs["source"], nodes)]
    tied = same & (np.diff(given, prepend=-1) == 0) & (np.diff(found.target, prepend=-1) <= 0)
    number, best = wanted[nodes], bar[nodes]
    away = ~np.isin(found.keys(job.n), keys)
    disordered = (np.diff(found.source, prepend=0) < 0) | (same & rises) | tied
    order = "ascending sources, of each the best first, of equals the smaller node"
    beaten, least = best > worst[nodes] * (1 + CLOSE), "nodes with similarities from {:.15g} on"
    return [
        collect(
            nodes,
            ("number", has[nodes] != number, says("{} rows", number), has[nodes]),
            ("best", beaten, says(least, best), worst[nodes]),
        ),
        collect(
            found.source,
            ("two hops", away, "a node two hops away", found.target),
            ("order", disordered, order, found.target),
        ),
    ]


def _similarities(job: Job, edges: csr_array, pairs: Pairs) -> NDArray[np.float64]:
    """What the definitions say of some pairs."""
    name = str(job.fact("measure", "jaccard"))
    weighted = job.weighted and name in WEIGHTED
    matrix = job.graph.to_scipy().astype(np.float64) if weighted else edges.astype(np.float64)
    degree = np.diff(edges.indptr).astype(np.float64)
    size = np.asarray(matrix.power(2 if name == "cosine" else 1).sum(axis=1)).ravel()
    scaled = matrix.copy()
    if name in ("adamic_adar", "resource_allocation"):
        cost = np.log(np.maximum(degree, 1)) if name == "adamic_adar" else degree
        gain = np.divide(1, cost, out=np.zeros(job.n), where=cost > 0)
        scaled.data = gain[scaled.indices]
    found = np.zeros(len(pairs.source))
    for at in range(0, len(found), BLOCK):
        some = slice(at, at + BLOCK)
        mine, other = scaled[pairs.source[some]], matrix[pairs.target[some]]
        least = name in ("jaccard", "overlap")
        common = mine.minimum(other) if least else mine.multiply(other)
        found[some] = np.asarray(common.sum(axis=1)).ravel()
    a, b = size[pairs.source], size[pairs.target]
    if name == "preferential_attachment":
        return a * b
    if name in ("adamic_adar", "resource_allocation", "common_neighbours"):
        return found
    whole = {"jaccard": a + b - found, "overlap": np.minimum(a, b), "cosine": np.sqrt(a * b)}[name]
    return np.divide(found, whole, out=np.zeros_like(found), where=whole > 0)
