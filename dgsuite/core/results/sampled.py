"""A sample of neighbourhoods in the form that loaders of graph neural networks take."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from dgsuite.partition.arrays.segments import distinct
from dgsuite.partition.graph.checks import of_clusters, once
from dgsuite.partition.graph.dask_views import here

if TYPE_CHECKING:
    import xarray as xr

    from dgsuite.partition.graph.graph import Graph


class Block(NamedTuple):
    """The edges of a sample that a layer of a network passes messages along; all arrays are int64.

    Attributes
    ----------
    source, target
        Node ids. Messages go from the sources, which are those of the targets and the nodes that these have
        drawn; the targets are the first of the sources.
    row, col
        Of each edge, the number of its source, and of its target, in these.
    edge
        Number of each edge in the graph.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1], [1, 2])
    >>> (block,) = graph.sample([1], fanouts=[-1]).blocks()
    >>> block.source, block.row, block.col
    (array([1, 0, 2]), array([1, 2]), array([0, 0]))
    """

    source: NDArray[np.int64]
    target: NDArray[np.int64]
    row: NDArray[np.int64]
    col: NDArray[np.int64]
    edge: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Sampled:
    """Nodes and edges drawn around seeds, hop by hop: what `dgsuite.Graph.sample` returns.

    Attributes
    ----------
    node
        Node ids, int64: the seeds as they were given, each once, then the nodes that each hop has met first,
        ascending.
    row, col
        Of each edge, int64: the number in `node` of the node that was drawn, and of the node that drew it,
        hop by hop and by ascending `col`. Messages go from `row` to `col`.
    edge
        Number of each edge, int64: its place in ``graph.to_scipy().data``. An undirected edge has two
        numbers, one for each end that may draw it.
    num_sampled_nodes, num_sampled_edges
        How many nodes are seeds and how many each hop has met first; how many edges each hop has drawn.
    seed
        Of each seed as it was given, also where one was given twice, its number in `node`, int64.

    Notes
    -----
    The names are those of ``torch_geometric.sampler.SamplerOutput``.

    Examples
    --------
    >>> import dgsuite
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3])
    >>> sample = graph.sample([3], fanouts=(-1, -1))
    >>> sample.node, sample.num_sampled_nodes, sample.num_sampled_edges
    (array([3, 2, 0, 1]), [1, 1, 2], [1, 3])
    >>> sample.row, sample.col, sample.edge
    (array([1, 2, 3, 0]), array([0, 1, 1, 1]), array([7, 4, 5, 6]))
    >>> first, last = sample.blocks()
    >>> last.source, last.target, last.row, last.col
    (array([3, 2]), array([3]), array([1]), array([0]))
    """

    node: NDArray[np.int64]
    row: NDArray[np.int64]
    col: NDArray[np.int64]
    edge: NDArray[np.int64]
    num_sampled_nodes: list[int]
    num_sampled_edges: list[int]
    seed: NDArray[np.int64]

    def blocks(self) -> list[Block]:
        """The blocks of a network with a layer for each hop, that of the first layer first.

        The targets of the last block are the seeds. The targets of each other one are the sources of the
        next, and its edges are those of the next and of one hop more.
        """
        nodes = [self.node[:some] for some in np.cumsum(self.num_sampled_nodes)]
        edges = np.cumsum(self.num_sampled_edges)
        blocks = [
            Block(source, target, self.row[:some], self.col[:some], self.edge[:some])
            for (target, source), some in zip(pairwise(nodes), edges, strict=True)
        ]
        return blocks[::-1]

    @classmethod
    def of(cls, graph: Graph, dataset: xr.Dataset, given: NDArray[np.int64], hops: int) -> Self:
        """The sample that a run of the kernel "sample" from some seeds has drawn.

        Parameters
        ----------
        given
            Node ids of the seeds.
        hops
            Number of fan-outs.
        """
        names = ("source", "target", "place", "hop")
        source, target, place, hop = (np.asarray(here(dataset[name])) for name in names)
        if graph.labels is not None:
            source, target = graph.labels.nodes(source), graph.labels.nodes(target)
        edge = once(graph, "first edges", _first_edges)[source] + place
        number = np.full(graph.n, -1, np.int64)  # of a node that was met
        seeds = given[np.sort(np.unique(given, return_index=True)[1])]
        number[seeds] = np.arange(len(seeds))
        nodes, drawn = [seeds], []
        for turn in range(hops):
            chosen = np.flatnonzero(hop == turn)
            if turn == 0:  # elsewhere numbers ascend as nodes do
                chosen = chosen[np.argsort(number[source[chosen]], kind="stable")]
            drawn.append(chosen)
            met = target[chosen]
            fresh = distinct(met[number[met] < 0]).astype(np.int64)
            number[fresh] = np.arange(len(fresh)) + sum(map(len, nodes))
            nodes.append(fresh)
        order = np.concatenate(drawn)
        edges = number[target[order]], number[source[order]], edge[order]
        sizes = [*map(len, nodes)], [*map(len, drawn)]
        return cls(np.concatenate(nodes), *edges, *sizes, number[given])


def _first_edges(graph: Graph) -> NDArray[np.int64]:
    """The number of the first edge of each node, where edges are numbered by ascending node and neighbour."""
    degree = np.concatenate(of_clusters(graph, attrgetter("degree"), "counting edges"))
    degree = degree[graph.partition.position(np.arange(graph.n))]
    return np.cumsum(degree, dtype=np.int64) - degree
