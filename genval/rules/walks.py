"""Random walks, and embeddings by linear algebra."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.mixing import GOLDEN, mix
from dgsuite.genval.report import Found
from dgsuite.genval.rules.base import Job, Outputs, collect, says
from dgsuite.genval.rules.registry import judges
from dgsuite.partition.clusters.cluster import Cluster


@judges("random_walks", outputs={"walk": 2}, sampled=True, columns="number")
def random_walks(job: Job) -> list[Found]:
    """Each walk begins at its node, goes along edges, ends only at a node that no edge leaves, and has as
    many steps as the run was to make. With restarts it may go back to its first node at any time, and does
    not end. Where weights count, it takes no edge of weight 0.
    """
    steps = job.outputs["walk"].shape[-1] - 1
    length = job.integer("length", steps, 0, np.iinfo(np.int64).max)
    restarts = bool(job.fact("restart", 0.0))
    by_weight = job.graph.weighted and bool(job.fact("weighted", False))
    return [
        *job.each(_ends, steps=steps, length=length),
        *job.each(_steps, restarts=restarts, by_weight=by_weight),
    ]


def _ends(c: Cluster, outputs: Outputs, steps: int, length: int) -> Found:
    walk = outputs["walk"][c.ids].reshape(-1, steps + 1)
    node = np.repeat(c.ids, len(walk) // max(c.size, 1))
    ended = walk == -1
    resumed = (ended[:, :-1] & ~ended[:, 1:]).any(axis=1)
    short = np.full(len(walk), steps != length)
    return collect(
        node,
        ("start", walk[:, 0] != node, says("node {}", node), walk[:, 0]),
        ("end", resumed, "no node after the end", walk),
        ("length", short, f"{length} steps", f"{steps}"),
    )


def _steps(c: Cluster, outputs: Outputs, restarts: bool, by_weight: bool) -> Found:
    walk, after = outputs["walk"][..., :-1], outputs["walk"][..., 1:]
    here = (walk >= 0) & (walk < c.n)
    here &= c.partition.owner(np.where(here, walk, 0)) == c.index
    start = np.nonzero(here)[0]
    row = c.partition.position(walk[here]) - c.partition.offsets[c.index]
    to = after[here]
    weighs = c.weights > 0 if by_weight and c.weights is not None else np.ones(len(c.indices), bool)
    way = c.entries(row, to)
    way[way >= 0] = np.where(weighs[way[way >= 0]], way[way >= 0], -1)
    ways = np.bincount(np.repeat(np.arange(c.size), c.degree), weighs, c.size)[row] > 0
    wrong = np.where(to == -1, ways | restarts, (way < 0) & ~(restarts & (to == start)))
    told = says("a neighbour of node {}, or none where it has none", c.ids[row])
    return collect(start, ("step", wrong, told, to))


CLOSE = 1e-5
"""Of the length of a row: numbers are float32."""


@judges("fastrp", outputs={"embedding": 2}, real=("embedding",), sampled=True)
def fastrp(job: Job) -> list[Found]:
    """Each row is that of the definition: powers of the transition matrix times the random matrix, weighted
    and added up. What nodes tell each other is rounded to float32.
    """
    (found,) = job.floats("embedding")
    dimensions = job.integer("dimensions", 128, 1, 1 << 16)
    powers = job.listed("powers", (0.0, 1.0, 1.0))
    matrix = job.graph.to_scipy().astype(np.float64)
    if not job.weighted:
        matrix.data[:] = 1
    degree = np.asarray(matrix.sum(axis=1)).ravel()
    share = degree / (degree.sum() or 1.0)
    power = np.zeros(job.n)
    np.power(share, float(job.fact("beta", 0.0)), out=power, where=share > 0)
    sparsity, seed = float(job.fact("sparsity", 3.0)), int(job.fact("seed", 101))
    vector = power[:, None] * _random(job.n, dimensions, sparsity, seed)
    right, scale = np.zeros((job.n, dimensions)), np.zeros(job.n)
    for factor in powers:
        heard = matrix @ vector.astype(np.float32).astype(np.float64)
        vector = heard / np.where(degree > 0, degree, 1)[:, None]
        size = np.sqrt((vector**2).sum(axis=1))
        if job.fact("normalise", True):
            right += factor * vector / np.where(size > 0, size, 1)[:, None]
            scale += abs(factor) * (size > 0)
        else:
            right += factor * vector
            scale += abs(factor) * size
    if found.shape != right.shape:
        length = np.full(job.n, found.shape[1])
        return [job.found(("length", length >= 0, f"{dimensions} numbers", length))]
    apart = np.abs(found - right).max(axis=1)
    wanted = says("{} and so on", right[:, :3])
    told = says("{} and so on, of which a number differs by {:.3g}", found[:, :3], apart)
    return [job.found(("vector", ~(apart <= CLOSE * scale), wanted, told))]


def _random(n: int, dimensions: int, sparsity: float, seed: int) -> NDArray[np.float64]:
    """The random matrix: entry j of node i is made of draw j + 1 of the node's generator."""
    key = mix(mix(np.array([seed % 2**64], np.uint64) + GOLDEN))
    node = mix(key + np.arange(n, dtype=np.uint64) * GOLDEN)
    draws = np.arange(1, dimensions + 1, dtype=np.uint64) * GOLDEN
    luck = (mix(node[:, None] + draws) >> np.uint64(11)) * 2.0**-53 * sparsity
    return np.sqrt(sparsity) * (np.where(luck < 0.5, 1.0, 0.0) - ((luck >= 0.5) & (luck < 1)))
