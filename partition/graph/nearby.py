"""What lies around some nodes of a graph: methods of `Graph`, most of which run kernels."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Self

from numpy.typing import ArrayLike

from dgsuite.partition.graph.data import GraphData

if TYPE_CHECKING:
    import dask.dataframe as dd

Nodes = Iterable[Hashable] | ArrayLike
"""Labels, where the graph has labels, else node ids."""


class Nearby(GraphData):
    """The methods of `dgsuite.partition.graph.graph.Graph` that look at the neighbourhoods of some nodes."""

    def neighbourhood(self, seeds: Nodes, hops: int = 1) -> Self:
        """The graph of all nodes within some hops of any of some nodes, and all edges between them.

        On a directed graph ways lead from the seeds along the edges; ``graph.reversed()`` has those that lead
        to them, and ``graph.to_undirected()`` both.

        Parameters
        ----------
        seeds
            Labels, where the graph has labels, else node ids; different ones, at least one.
        hops
            Most hops from the nearest seed, from 0 on.

        Returns
        -------
        Graph
            As `subgraph` makes it.

        Raises
        ------
        InputError
            A seed is not a node, or is named twice, or there is none.
        RunError
            A worker was lost.

        Examples
        --------
        >>> from dgsuite import Graph
        >>> graph = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4])
        >>> graph.neighbourhood([0], hops=2)
        <dgsuite.Graph: 3 nodes, 2 edges, undirected; 1 clusters in this process>
        """
        from dgsuite.core.running import neighbourhoods

        return neighbourhoods.neighbourhood(self, seeds, hops)

    def within(self, seeds: Nodes, hops: int = 1) -> dd.DataFrame:
        """The nodes within some hops of each of some nodes: the nodes of their ego graphs, as a table.

        Parameters
        ----------
        seeds, hops
            As for `neighbourhood`.

        Returns
        -------
        dask.dataframe.DataFrame
            A row for each seed and each node near it, itself at hop 0: columns ``seed``, ``node`` and
            ``hop``, by ascending node. What the workers of a client have found stays there.

        Raises
        ------
        InputError
            As for `neighbourhood`.
        RunError
            A worker was lost.

        Examples
        --------
        >>> from dgsuite import Graph
        >>> graph = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4])
        >>> print(graph.within([0, 4], hops=1).compute(scheduler="threads"))
           seed  node  hop
        0     0     0    0
        1     0     1    1
        2     4     3    1
        3     4     4    0
        """
        from dgsuite.core.running import neighbourhoods

        return neighbourhoods.within(self, seeds, hops)

    def sample(
        self,
        seeds: Nodes,
        fanouts: Sequence[int] = (15, 10),
        replace: bool = False,
        weighted: bool = False,
        seed: int = 0,
    ) -> Any:
        """A sample of the neighbourhoods of some nodes, as loaders of graph neural networks take it.

        Each seed draws some of its edges, each node that is met for the first time draws some of its own, and
        so on, hop by hop. The same arguments give the same sample for any cut of the graph and any workers.
        On a directed graph nodes draw edges that leave them; ``graph.reversed()`` has those that come in, as
        PyTorch Geometric and DGL draw them.

        Parameters
        ----------
        seeds
            Labels, where the graph has labels, else node ids, at least one: all, or a mini-batch. One that is
            named several times draws once.
        fanouts
            For each hop, how many edges a node draws, or -1 for all of them. A node with fewer edges takes
            all, unless it draws with replacement.
        replace
            Whether a node may draw an edge several times.
        weighted
            Whether nodes draw in proportion to the weights of edges; an edge of weight 0 is not drawn.
        seed
            Another one gives another sample.

        Returns
        -------
        dgsuite.core.results.sampled.Sampled
            Nodes, local indices, numbers of edges, and how many of each a hop has drawn; it has `blocks`.

        Raises
        ------
        InputError
            A seed is not a node, or there is none; a fan-out is no number from -1 on; with
            `weighted`, a weight is negative.
        RunError
            A worker was lost.

        Examples
        --------
        >>> from dgsuite import Graph
        >>> graph = Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3])
        >>> sample = graph.sample([3, 0], fanouts=(1, 1), seed=4)
        >>> sample.node, sample.num_sampled_nodes, sample.num_sampled_edges
        (array([3, 0, 1, 2]), [2, 2, 0], [2, 2])
        """
        from dgsuite.core.running import neighbourhoods

        how = {"replace": replace, "weighted": weighted, "seed": seed}
        return neighbourhoods.sample(self, seeds, fanouts, **how)
