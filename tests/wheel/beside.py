"""Run beside another package `kernels`: another distribution's, or a folder beside the program."""

from __future__ import annotations

import dgsuite
import kernels as theirs
from dgsuite import genval, kernels, partition

if __name__ == "__main__":
    assert theirs is not kernels
    graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3], clusters=2)
    ds = dgsuite.run("bfs", graph, root=1)
    assert ds.level.values.tolist() == [1, 0, 1, 2]
    assert genval.validate("bfs", graph, ds).ok
    assert partition.blocks(4, 2).clusters == kernels.KERNELS["bfs"](root=2).root
    print("kernels:", theirs.__file__)
