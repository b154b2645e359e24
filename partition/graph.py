"""Graph: an adjacency in clusters, in this process or on the workers of a Dask cluster."""

from __future__ import annotations

import html
import os
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from partition import build, distribute
from partition.cluster import Cluster
from partition.errors import InputError
from partition.partitioners import Partition, balanced, blocks, check_clusters, from_owner

if TYPE_CHECKING:
    import dask.array as da
    import dask.bag as db
    import networkx as nx
    import scipy.sparse as sp
    from distributed import Client

How = str | Partition | ArrayLike
"""How nodes are dealt to clusters: "nodes", "edges", a node-to-cluster map, or a `Partition`."""


class Graph:
    """A graph cut into clusters.

    Make one with a constructor: `from_edges`, `from_scipy`, `from_networkx`, `read_imsuite`,
    `read_edge_list`, `read_matrix_market`. With a Dask client, construction runs on the workers and
    the clusters stay there; without one they are made in this process.

    The same rules hold for every source. Undirected unless ``directed=True``; self-loops are dropped;
    duplicates (of an undirected edge in either direction) are merged and keep the smallest weight;
    NaN weights and edges to missing nodes are refused.

    Attributes
    ----------
    n, m
        Number of nodes, and of edges (an undirected edge counts once).
    directed, weighted
        Whether rows hold out-edges only, and whether edges have weights.
    partition
        Which cluster owns which node.
    attrs
        Facts that kernels take as defaults of their parameters, such as ``root``.
    labels
        Node labels, where the source had some that are not 0 to n - 1.
    """

    def __init__(
        self,
        parts: Sequence[Any],
        partition: Partition,
        *,
        entries: Sequence[int],
        directed: bool,
        weight_dtype: DTypeLike | None = None,
        attrs: dict[str, Any] | None = None,
        labels: Sequence[Hashable] | None = None,
        chosen: bool = True,
    ) -> None:
        self.parts = list(parts)
        self.partition = partition
        self.entries = [int(e) for e in entries]
        self.directed = directed
        self.weight_dtype = weight_dtype
        self.attrs = dict(attrs or {})
        self.labels = labels
        self.chosen = chosen
        self.placed: dict[Any, Any] = {}

    # ---- facts

    @property
    def n(self) -> int:
        """Number of nodes."""
        return self.partition.n

    @property
    def m(self) -> int:
        """Number of edges; an undirected edge counts once."""
        total = sum(self.entries)
        return total if self.directed else total // 2

    @property
    def weighted(self) -> bool:
        """Whether edges have weights."""
        return self.weight_dtype is not None

    @property
    def local(self) -> bool:
        """Whether the clusters are in this process, not on workers."""
        return all(isinstance(part, Cluster) for part in self.parts)

    def __repr__(self) -> str:
        kind = ("directed" if self.directed else "undirected") + (
            ", weighted" if self.weighted else ""
        )
        where = "in this process" if self.local else "on the workers"
        return f"<dgsuite.Graph: {self.n} nodes, {self.m} edges, {kind}; {len(self.parts)} clusters {where}>"

    def _repr_html_(self) -> str:
        rows = {
            "nodes": f"{self.n:,}",
            "edges": f"{self.m:,}",
            "kind": ("directed" if self.directed else "undirected")
            + (", weighted" if self.weighted else ""),
            "clusters": f"{len(self.parts)} {'in this process' if self.local else 'on the workers'}",
            **{str(k): str(v) for k, v in self.attrs.items()},
        }
        body = "".join(
            f"<tr><th style='text-align:left'>{html.escape(k)}</th><td>{html.escape(v)}</td></tr>"
            for k, v in rows.items()
        )
        return f"<table><caption>dgsuite.Graph</caption>{body}</table>"

    # ---- the clusters as Dask collections

    def _delayed(self) -> list[Any]:
        from dask import delayed

        return [delayed(part, pure=False) if self.local else delayed(part) for part in self.parts]

    @property
    def clusters(self) -> db.Bag:
        """A Dask bag with one `Cluster` an item."""
        import dask.bag as db
        from dask import delayed

        return db.from_delayed([delayed(_listed)(part) for part in self._delayed()])

    def _array(self, name: str, sizes: Sequence[int] | NDArray, dtype: Any) -> da.Array:
        import dask.array as da
        from dask import delayed

        chunks = [
            da.from_delayed(delayed(getattr)(part, name), (int(size),), dtype)
            for part, size in zip(self._delayed(), sizes, strict=True)
        ]
        return da.concatenate(chunks)

    @property
    def indptr(self) -> da.Array:
        """Row pointers, int64: a chunk a cluster, each with one entry more than nodes, from 0."""
        return self._array("indptr", np.diff(self.partition.offsets) + 1, np.int64)

    @property
    def indices(self) -> da.Array:
        """Neighbours as node ids, ascending in each row: a chunk a cluster; int32 where ids fit."""
        return self._array("indices", self.entries, build.id_dtype(self.n))

    @property
    def weights(self) -> da.Array | None:
        """Weight of each entry of `indices`, or None."""
        if not self.weighted:
            return None
        return self._array("weights", self.entries, self.weight_dtype)

    @property
    def uid(self) -> da.Array:
        """Identifier of each node, int64: a chunk a cluster."""
        return self._array("uid", np.diff(self.partition.offsets), np.int64)

    # ---- constructors

    @classmethod
    def from_edges(
        cls,
        src: Any,
        dst: Any = None,
        *,
        n: int | None = None,
        weights: Any = None,
        directed: bool = False,
        uid: ArrayLike | None = None,
        clusters: int | None = None,
        partition: How = "nodes",
        client: Client | None = None,
        attrs: dict[str, Any] | None = None,
        labels: Sequence[Hashable] | None = None,
    ) -> Graph:
        """Make a graph of a list of edges.

        Parameters
        ----------
        src, dst
            Ends of each edge, integers from 0: NumPy arrays or lists, Dask arrays, or Dask Series;
            or one (Dask or pandas) DataFrame with columns ``src``, ``dst`` and perhaps ``weight``.
        n
            Number of nodes; by default one more than the largest id.
        weights
            A number for each edge, of the same kind as `src`.
        directed
            Whether an edge goes one way only.
        uid
            Identifier of each node, distinct integers; by default the node ids.
        clusters
            Number of clusters; by default one a worker with a client, else one.
        partition
            "nodes" (blocks of equally many nodes), "edges" (blocks of about equally many edge ends),
            an array with the cluster of each node, or a `Partition`.
        client
            Where to build; by default the current client, else this process.

        Raises
        ------
        InputError
            An edge names a missing node, a weight is NaN, lengths differ.
        """
        client = distribute.current(client)
        pieces = distribute.pieces(src, dst, weights)
        n = distribute.count_nodes(pieces, n, client)
        if labels is not None and len(labels) != n:
            raise InputError(f"{len(labels)} labels for {n} nodes")
        workers = distribute.workers(client) if client is not None else []
        chosen = clusters is not None or not isinstance(partition, str)
        k = check_clusters(clusters) if clusters is not None else max(len(workers), 1)
        if isinstance(partition, Partition):
            how = partition
        elif not isinstance(partition, str):
            how = from_owner(partition, clusters)
        elif partition == "nodes":
            how = blocks(n, k)
        elif partition == "edges":
            how = balanced(distribute.degrees(pieces, n, directed, client), k)
        else:
            raise InputError(
                f"partition must be 'nodes', 'edges', a Partition or an array with the cluster of "
                f"each node, got {partition!r}"
            )
        if how.n != n:
            raise InputError(f"the partition maps {how.n} nodes, but the graph has {n}")
        ids = _check_uid(uid, n)
        parts, entries, dtype = distribute.construct(pieces, how, ids, directed, client, workers)
        return cls(
            parts,
            how,
            entries=entries,
            directed=directed,
            weight_dtype=dtype,
            attrs=attrs,
            labels=labels,
            chosen=chosen,
        )

    @classmethod
    def from_scipy(cls, matrix: sp.sparray | sp.spmatrix, **options: Any) -> Graph:
        """Make a graph of a sparse adjacency matrix.

        Parameters
        ----------
        matrix
            Shape (n, n): a stored entry (i, j) is an edge from i to j. Must be symmetric unless
            ``directed=True``. Entries become weights unless all are one (or True).
        options
            As for `from_edges`.
        """
        import scipy.sparse as sp

        coo = sp.coo_array(matrix)
        if coo.ndim != 2 or coo.shape[0] != coo.shape[1]:
            raise InputError(f"an adjacency matrix must be square, got shape {coo.shape}")
        coo.sum_duplicates()
        if not options.get("directed", False):
            differs = abs(coo - coo.T)
            differs.eliminate_zeros()
            if differs.nnz:
                i, j = (int(axis[0]) for axis in differs.tocoo().coords)
                raise InputError(
                    f"the matrix is not symmetric: entries ({i}, {j}) and ({j}, {i}) differ; "
                    f"pass directed=True for a directed graph"
                )
        weights = None if coo.dtype == bool or (coo.data == 1).all() else coo.data
        options.setdefault("weights", weights)
        return cls.from_edges(coo.coords[0], coo.coords[1], n=coo.shape[0], **options)

    @classmethod
    def from_networkx(cls, graph: nx.Graph, *, weight: str = "weight", **options: Any) -> Graph:
        """Make a graph of a networkx graph.

        Parameters
        ----------
        graph
            Nodes are numbered in the order of iteration; their labels are kept.
        weight
            Edge attribute to take as weights, where all edges have it.
        options
            As for `from_edges`, except `n` and `directed`.
        """
        labels = list(graph.nodes)
        number = {label: i for i, label in enumerate(labels)}
        edges = list(graph.edges(data=weight))
        src = np.fromiter((number[u] for u, _, _ in edges), np.int64, len(edges))
        dst = np.fromiter((number[v] for _, v, _ in edges), np.int64, len(edges))
        if edges and all(w is not None for _, _, w in edges):
            options.setdefault("weights", np.array([w for _, _, w in edges]))
        if labels == list(range(len(labels))):
            labels = None  # type: ignore[assignment]
        return cls.from_edges(
            src,
            dst,
            n=graph.number_of_nodes(),
            directed=graph.is_directed(),
            labels=labels,
            **options,
        )

    @classmethod
    def read_imsuite(
        cls, path: str | os.PathLike[str], kernel: str = "mis", **options: Any
    ) -> Graph:
        """Read an input file of IMSuite.

        Parameters
        ----------
        path
            The text file.
        kernel
            Which kernel it is for ("bf", "lcr", "mis", ...): that decides its sections.
        options
            As for `from_edges`.
        """
        from partition.imsuite import read

        found = read(path, kernel)
        return cls.from_edges(
            found.src,
            found.dst,
            n=found.n,
            weights=found.weights,
            uid=found.uid,
            attrs=found.attrs,
            **options,
        )

    @classmethod
    def read_matrix_market(cls, path: str | os.PathLike[str], **options: Any) -> Graph:
        """Read a Matrix Market file; a "general" matrix must be symmetric unless directed.

        Options are those of `from_edges`.
        """
        from partition.readers import read_matrix_market

        return cls.from_scipy(read_matrix_market(path), **options)

    @classmethod
    def read_edge_list(cls, path: str | os.PathLike[str], **options: Any) -> Graph:
        """Read an edge list, text or Parquet, in parallel by chunk.

        Text has an edge a line, two node ids and perhaps a weight, separated by blanks, tabs or
        commas; lines that start with # are comments. Parquet has columns ``src``, ``dst`` and perhaps
        ``weight``. Options are those of `from_edges`.
        """
        from partition.readers import read_edge_list

        return cls.from_edges(read_edge_list(path), **options)

    # ---- other partitions and exports

    def repartition(self, clusters: int, client: Client | None = None) -> Graph:
        """The same graph in another number of contiguous blocks of equally many nodes."""
        k = check_clusters(clusters)
        if k == len(self.parts):
            return self
        if self.partition.order is not None:
            raise InputError(
                f"the graph has a partition of its own with {len(self.parts)} clusters; "
                f"build it anew to have {k}"
            )
        how = blocks(self.n, k)
        parts, entries = distribute.recut(self.parts, self.partition, how, self.directed, client)
        return Graph(
            parts,
            how,
            entries=entries,
            directed=self.directed,
            weight_dtype=self.weight_dtype,
            attrs=self.attrs,
            labels=self.labels,
        )

    def gather(self) -> list[Cluster]:
        """All clusters, brought into this process."""
        if self.local:
            return self.parts
        parts: list[Cluster] = self.parts[0].client.gather(self.parts)
        return parts

    def to_scipy(self) -> sp.csr_array:
        """The adjacency matrix, in this process; ones where there are no weights."""
        import scipy.sparse as sp

        rows, columns, weights = self._edges()
        data = np.ones(len(rows), np.int8) if weights is None else weights
        return sp.coo_array((data, (rows, columns)), shape=(self.n, self.n)).tocsr()

    def to_networkx(self) -> nx.Graph:
        """A networkx graph with the original labels, in this process."""
        import networkx as nx

        graph = nx.DiGraph() if self.directed else nx.Graph()
        labels = range(self.n) if self.labels is None else self.labels
        graph.add_nodes_from(labels)
        rows, columns, weights = self._edges()
        once = slice(None) if self.directed else rows < columns
        ends = [([labels[i] for i in side[once].tolist()]) for side in (rows, columns)]
        if weights is None:
            graph.add_edges_from(zip(*ends, strict=True))
        else:
            graph.add_weighted_edges_from(zip(*ends, weights[once].tolist(), strict=True))
        return graph

    def _edges(self) -> tuple[NDArray, NDArray, NDArray | None]:
        clusters = self.gather()
        rows = [np.repeat(c.ids, c.degree) for c in clusters]
        weights = [c.weights for c in clusters if c.weights is not None]
        return (
            np.concatenate(rows),
            np.concatenate([c.indices for c in clusters]),
            np.concatenate(weights) if self.weighted else None,
        )


def _listed(item: Any) -> list[Any]:
    return [item]


def _check_uid(uid: ArrayLike | None, n: int) -> NDArray[np.int64] | None:
    if uid is None:
        return None
    ids = np.asarray(uid)
    if ids.shape != (n,) or not np.issubdtype(ids.dtype, np.integer):
        raise InputError(f"uid must be {n} integers, one a node, got {ids.dtype} of {ids.shape}")
    order = np.argsort(ids, kind="stable")
    same = np.flatnonzero(np.diff(ids[order]) == 0)
    if len(same):
        a, b = int(order[same[0]]), int(order[same[0] + 1])
        raise InputError(f"nodes {a} and {b} have the same identifier {ids[a]}")
    return ids.astype(np.int64)
