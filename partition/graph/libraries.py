"""Graphs of other libraries in and out: igraph, GraphBLAS, and the arrays of PyTorch Geometric and DGL."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.partition.graph import conversion
from dgsuite.partition.graph.constructors import Constructors

if TYPE_CHECKING:
    import graphblas
    import igraph
    import scipy.sparse as sp


class EdgeIndex(NamedTuple):
    """Edges as arrays, by the names of PyTorch Geometric: see `Graph.to_edge_index`.

    Attributes
    ----------
    edge_index
        int64, shape (2, entries): sources and targets.
    edge_weight
        Shape (entries,), or None.
    num_nodes
        Number of nodes.

    Examples
    --------
    >>> from dgsuite import Graph
    >>> Graph.from_edges([0], [1], directed=True).to_edge_index().num_nodes
    2
    """

    edge_index: NDArray[np.int64]
    edge_weight: NDArray | None
    num_nodes: int


class Libraries(Constructors):
    """Conversions of `dgsuite.partition.graph.graph.Graph` from and to objects of other libraries."""

    if TYPE_CHECKING:

        def to_scipy(self) -> sp.csr_array: ...

    @classmethod
    def from_igraph(cls, graph: igraph.Graph, *, weight: str = "weight", **options: Any) -> Self:
        """Make a graph from a graph of igraph.

        Parameters
        ----------
        graph
            Its vertices keep their numbers. The attribute ``name``, if they have it, becomes the labels.
        weight
            Edge attribute that holds the weights; if there is none, the graph has no weights.
        options
            As for `from_edges`, except `n` and `directed`.

        Raises
        ------
        InputError
            It is no graph of igraph, or as `from_edges` says.

        Examples
        --------
        >>> import igraph
        >>> from dgsuite import Graph
        >>> Graph.from_igraph(igraph.Graph.Ring(5))
        <dgsuite.Graph: 5 nodes, 5 edges, undirected; 1 clusters in this process>
        """
        if not hasattr(graph, "get_edgelist"):
            raise InputError(f"graph must be an igraph.Graph, got {type(graph).__name__}")
        ends = np.array(graph.get_edgelist(), np.int64).reshape(-1, 2)
        found = {
            "src": ends[:, 0],
            "dst": ends[:, 1],
            "n": graph.vcount(),
            "directed": graph.is_directed(),
            "weights": graph.es[weight] if weight in graph.es.attributes() else None,
            "labels": graph.vs["name"] if "name" in graph.vs.attributes() else None,
        }
        return cls.from_edges(**{**found, **options})

    def to_igraph(self) -> igraph.Graph:
        """A graph of igraph, in this process: labels as ``name`` of vertices, weights as ``weight`` of edges.

        Raises
        ------
        InputError
            igraph is not installed.

        Examples
        --------
        >>> from dgsuite import Graph
        >>> graph = Graph.from_edges(["ann", "bob"], ["bob", "cid"], weights=[2, 3], relabel=True)
        >>> made = graph.to_igraph()
        >>> made.vs["name"], made.get_edgelist(), made.es["weight"]
        (['ann', 'bob', 'cid'], [(0, 1), (1, 2)], [2, 3])
        """
        igraph = _installed("igraph", "igraph")
        source, target, weights = conversion.edges_of(self.to_scipy(), self.directed)
        made = igraph.Graph(self.n, np.stack([source, target], axis=1), self.directed)
        if self.labels is not None:
            made.vs["name"] = self.labels.array.tolist()
        if self.weighted:
            made.es["weight"] = weights.tolist()
        return made

    @classmethod
    def from_graphblas(cls, matrix: graphblas.Matrix, **options: Any) -> Self:
        """Make a graph from an adjacency matrix of python-graphblas.

        Parameters
        ----------
        matrix
            A stored entry (i, j) is an edge from i to j, as in `from_scipy`.
        options
            As for `from_scipy`.

        Raises
        ------
        InputError
            python-graphblas is not installed, or as `from_scipy` says.

        Examples
        --------
        >>> import graphblas as gb  # doctest: +SKIP
        >>> matrix = gb.Matrix.from_coo([0, 1], [1, 0], [True, True])  # doctest: +SKIP
        >>> Graph.from_graphblas(matrix)  # doctest: +SKIP
        <dgsuite.Graph: 2 nodes, 1 edges, undirected; 1 clusters in this process>
        """
        graphblas = _installed("graphblas", "python-graphblas")
        return cls.from_scipy(graphblas.io.to_scipy_sparse(matrix, "coo"), **options)

    def to_graphblas(self) -> graphblas.Matrix:
        """The adjacency matrix, as one of python-graphblas; of BOOL without weights.

        Raises
        ------
        InputError
            python-graphblas is not installed.

        Examples
        --------
        >>> from dgsuite import Graph
        >>> Graph.from_edges([0], [1]).to_graphblas().nvals  # doctest: +SKIP
        2
        """
        graphblas = _installed("graphblas", "python-graphblas")
        matrix = self.to_scipy()
        return graphblas.io.from_scipy_sparse(matrix if self.weighted else matrix.astype(bool))

    @classmethod
    def from_edge_index(cls, edges: Any, *, directed: bool | None = None, **options: Any) -> Self:
        """Make a graph from edges as PyTorch Geometric has them.

        Parameters
        ----------
        edges
            Sources and targets, shape (2, entries), as an array, a tensor of the processor or a pair of such;
            or an object with them as ``edge_index``, such as ``torch_geometric.data.Data``, from which
            ``edge_weight`` and ``num_nodes`` are taken, too.
        directed
            Whether edges have a direction. By default they have none if each is there both ways, as
            ``Data.is_undirected`` says.
        options
            As for `from_scipy`; `n` is the number of nodes, by default the largest id plus one, and
            `weights` has one for each entry.

        Raises
        ------
        InputError
            The shape is another one, or as `from_scipy` says.

        Examples
        --------
        >>> from dgsuite import Graph
        >>> Graph.from_edge_index([[0, 1, 1, 2], [1, 0, 2, 1]])
        <dgsuite.Graph: 3 nodes, 2 edges, undirected; 1 clusters in this process>
        """
        import scipy.sparse as sp

        given: Any = edges if hasattr(edges, "edge_index") else EdgeIndex(edges, None, 0)
        ends = [np.asarray(side) for side in given.edge_index]
        if len(ends) != 2 or ends[0].shape != ends[1].shape or ends[0].ndim != 1:
            raise InputError(
                f"edges must be sources and targets, shape (2, entries), "
                f"got shapes {', '.join(str(side.shape) for side in ends)}"
            )
        if ends[0].dtype.kind not in "iu" and len(ends[0]):
            raise InputError(f"edges must be node ids, integers from 0, got {ends[0].dtype}")
        weights = options.pop("weights", getattr(given, "edge_weight", None))
        n = options.pop("n", None) or getattr(given, "num_nodes", None)
        n = n or 1 + max((int(side.max()) for side in ends if len(side)), default=-1)
        data = np.ones(len(ends[0]), bool) if weights is None else np.asarray(weights)
        try:
            matrix = sp.coo_array((data, ends), shape=(n, n))
        except ValueError as error:
            raise InputError(f"edges of {n} nodes: {error}") from None
        if directed is None:
            there = sp.coo_array((np.ones(len(data), bool), ends), shape=(n, n)).tocsr()
            directed = (there != there.T).nnz > 0
        return cls.from_scipy(matrix, directed=directed, **options)

    def to_edge_index(self) -> EdgeIndex:
        """The edges as arrays, by PyTorch Geometric's names; an undirected edge is there both ways.

        ``Data(torch.from_numpy(e.edge_index), num_nodes=e.num_nodes)`` makes a graph of PyTorch Geometric,
        ``dgl.graph(tuple(e.edge_index), num_nodes=e.num_nodes)`` one of DGL.

        Returns
        -------
        EdgeIndex
            In the order of `to_scipy`, in which `sample` counts edges, too.

        Examples
        --------
        >>> from dgsuite import Graph
        >>> Graph.from_edges([0, 1], [1, 2]).to_edge_index().edge_index
        array([[0, 1, 1, 2],
               [1, 0, 2, 1]])
        """
        coo = self.to_scipy().tocoo()
        ends = np.stack(coo.coords).astype(np.int64)
        return EdgeIndex(ends, coo.data if self.weighted else None, self.n)


def _installed(name: str, package: str) -> Any:
    """The module of a name, which a package has."""
    try:
        return import_module(name)
    except ImportError as error:
        raise InputError(f"this needs another package: pip install {package} ({error})") from None
