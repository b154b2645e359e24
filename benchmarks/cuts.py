"""Partitions: what they take to make, what they cut, and what kernels take on them.

python benchmarks/cuts.py [--side 1000] [--turns 3] [--workers 2]
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from time import perf_counter

import numpy as np
from common import Options, cluster, in_turns, record
from numpy.typing import NDArray

import dgsuite
from dgsuite import Graph, genval, partition

WAYS = ("nodes", "hash", "metis")

KERNELS = ("bfs", "wcc", "pagerank")


def edges(kind: str, n: int, luck: np.random.Generator) -> tuple[NDArray, NDArray]:
    """Ends of a graph's edges; "shuffled" ones are of nodes that are numbered at random."""
    name = kind.removeprefix("shuffled ")
    matrix = genval.graph(name, n, client=None).to_scipy().tocoo()
    once = matrix.row < matrix.col
    src, dst = matrix.row[once], matrix.col[once]
    if name == kind:
        return src, dst
    number = luck.permutation(n)
    return number[src], number[dst]


def ours(name: str, graph: Graph) -> float:
    """Milliseconds of the rounds of a run."""
    return 1e3 * float(dgsuite.run(name, graph, style="clocked").attrs["seconds"])


def main(arguments: Sequence[str] | None = None) -> None:
    options = Options(__file__, __doc__)
    options.size("--side", 1000, 20)
    options.size("--turns", 3, 1)
    options.size("--workers", 2, 1)
    with options.recorded(arguments) as given, cluster(given.workers) as client:
        n = given.side**2
        powers = 1 << (n.bit_length() - 3)
        kinds = {"grid": n, "shuffled grid": n, "shuffled road": n, "web": powers, "rmat": powers}
        luck = np.random.default_rng(1)
        for kind, nodes in kinds.items():
            src, dst = edges(kind, nodes, luck)
            graphs = {}
            for how in WAYS:
                begin = perf_counter()
                graph = Graph.from_edges(src, dst, n=nodes, partition=how, client=client)
                taken = perf_counter() - begin
                graphs[how] = graph
                found = partition.describe(graph).attrs
                facts = {"graph": kind, "partition": how}
                record("construction takes", taken, "s", **facts)
                record("edges between clusters", found["cut_share"], "", **facts)
                record("largest load over the mean", found["edge_balance"], "", **facts)
            for name in KERNELS:
                measured = in_turns(
                    {how: partial(ours, name, graph) for how, graph in graphs.items()}, given.turns
                )
                for how, taken in measured.items():
                    record("rounds take", taken, "ms", graph=kind, partition=how, kernel=name)


if __name__ == "__main__":
    main()
