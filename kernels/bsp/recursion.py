"""What a recursive kernel is made of: tasks that spawn tasks, under finishes that wait for them.

The program of a recursive kernel yields a `Finish` where an iterative one would repeat a phase until
no cluster has anything left to do; it may yield rounds as well. A *task* is written like a phase: a
function of (cluster, state, inbox), where the inbox holds the tasks of that name that have arrived
at the cluster and its ``round`` is their depth. It changes the cluster's state and returns what to
`spawn`. The style decides which tasks arrive together, and in which order; results must not depend on it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dgsuite.kernels.bsp.rounds import Phase
from dgsuite.partition.arrays.reductions import Reduction, reduction


class Spawn(NamedTuple):
    """Tasks to run at other nodes; see `spawn`."""

    task: str
    to: NDArray
    by: NDArray
    at: NDArray
    repeat: NDArray | None
    combine: Reduction | None
    then: str | None
    fields: dict[str, ArrayLike]


def spawn(
    task: Phase,
    to: NDArray,
    *,
    by: NDArray,
    at: NDArray | None = None,
    repeat: NDArray | None = None,
    combine: str | Reduction | None = None,
    then: Phase | None = None,
    **fields: ArrayLike,
) -> Spawn:
    """Have nodes run a task, each in its own cluster.

    Parameters
    ----------
    task
        Method of the kernel.
    to
        Node id of each that runs it.
    by
        Local indices of the nodes that spawn, each under a finish of its own; each is named once.
    at
        Which of `by` spawns each task, as an index; by default one spawns one.
    repeat
        For each of `by`, how many of the original's tasks each of its tasks stands for.
    combine
        "min", "max", "sum", "or" or a `dgsuite.partition.arrays.reductions.Reduction`: combine what is
        spawned at one node into one task, on the way.
    then
        Method to run at each of `by` when all that it spawned has ended, at any depth; at once where
        it spawned nothing. What that spawns ends before the task does.
    fields
        One value a task, or one for all.

    Examples
    --------
    From the root, a task at each neighbour, and so on along a path of four nodes:

    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> import dgsuite
    >>> from dgsuite.kernels import bsp
    >>> @dataclass(frozen=True)
    ... class Hops(bsp.Kernel):
    ...     name = "hops"
    ...     form = "recursive"
    ...     outputs = {"distance": bsp.Output("hops from node 0")}
    ...     fields = {"hops": np.int64}
    ...
    ...     def program(self, net):
    ...         yield bsp.Finish(self.launch)
    ...
    ...     def start(self, c):
    ...         return bsp.State(distance=c.full(c.n))
    ...
    ...     def launch(self, c, s, inbox):
    ...         root = c.local(0)
    ...         s.distance[root] = 0
    ...         return self.spread(c, s, root)
    ...
    ...     def visit(self, c, s, inbox):
    ...         nodes, hops = inbox.min("hops")
    ...         nearer = hops < s.distance[nodes]
    ...         s.distance[nodes[nearer]] = hops[nearer]
    ...         return self.spread(c, s, nodes[nearer])
    ...
    ...     def spread(self, c, s, nodes):
    ...         at, to = c.edges(nodes)
    ...         return bsp.spawn(self.visit, to, by=nodes, at=at, hops=s.distance[nodes][at] + 1)
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3], clusters=2)
    >>> dgsuite.run(Hops, graph, style="serial").distance.values
    array([0, 1, 2, 3])
    """
    return Spawn(
        task.__name__,
        to,
        by,
        np.arange(len(by)) if at is None else at,
        repeat,
        None if combine is None else reduction(combine),
        None if then is None else then.__name__,
        fields,
    )
