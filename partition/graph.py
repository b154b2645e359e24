"""Graph: an adjacency in clusters, in this process or on the workers of a Dask cluster."""

from __future__ import annotations

import html
import os
import uuid
from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from partition import build, distribute, edges, sources
from partition import relabel as numbering
from partition.client.queries import current_client
from partition.client.spans import spanned
from partition.client.waiting import Watch
from partition.client.workers import worker_addresses
from partition.cluster import Cluster, Identify
from partition.errors import InputError, RunError
from partition.labels import Labels
from partition.partitioners import (
    Partition,
    balanced,
    blocks,
    check_clusters,
    from_owner,
    hashed,
    metis,
)

if TYPE_CHECKING:
    import dask.array as da
    import dask.bag as db
    import networkx as nx
    import scipy.sparse as sp
    from distributed import Client

How = str | Partition | ArrayLike
"""How nodes are dealt to clusters: "nodes", "edges", "hash", "metis", a map, or a `Partition`."""


class Graph:
    """A graph cut into clusters.

    Make one with a constructor: `from_edges`, `from_scipy`, `from_networkx`, `read_imsuite`,
    `read_edge_list`, `read_matrix_market`. With a Dask client, construction runs on the workers and
    the clusters stay there; without one they are made in this process.

    The same rules hold for every source. Undirected unless ``directed=True``; self-loops are dropped;
    duplicates (of an undirected edge in either direction) are merged and keep the smallest weight;
    weights that are not finite and edges to missing nodes are refused.

    Attributes
    ----------
    directed
        Whether rows hold out-edges only.
    weight_dtype
        Dtype of the weights, or None.
    partition
        Which cluster owns which node; its `order` says how nodes are laid out in `indptr` and `uid`.
    entries
        Number of adjacency entries of each cluster.
    chosen
        Whether the user chose how to cut, so that a run should not choose anew.
    attrs
        Facts that kernels take as defaults of their parameters, such as ``root``.
    labels
        Labels of the nodes (`partition.labels.Labels`, a sequence), where the source had some.
    identified
        Whether the nodes were given identifiers; otherwise these are the node ids.
    passed
        What has been checked or counted of it, and what came out; see `partition.checks.once`.
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
        labels: Labels | None = None,
        identified: bool = False,
        chosen: bool = True,
    ) -> None:
        self._parts = list(parts)
        self.partition = partition
        self.entries = [int(e) for e in entries]
        self.directed = directed
        self.weight_dtype = weight_dtype
        self.attrs = dict(attrs or {})
        self.labels = labels
        self.identified = identified
        self.chosen = chosen
        self.passed: dict[str, Any] = {}
        self.placed: dict[Any, Any] = {}
        self._name = f"cluster-{uuid.uuid4().hex}"

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
    def parts(self) -> list[Any]:
        """The clusters, as `Cluster` objects in this process or as futures of them.

        Raises
        ------
        RunError
            One of them was lost with its worker, or the client that made it is closed.
        """
        for k, part in enumerate(self._parts):
            if isinstance(part, Cluster) or part.status in ("pending", "finished"):
                continue
            if part.status == "error":
                part.result()
            raise RunError(f"cluster {k} of the graph is {part.status}; build the graph anew")
        return self._parts

    @property
    def client(self) -> Client | None:
        """The client whose workers have the clusters, if they are not in this process."""
        return None if self.local else self._parts[0].client

    @property
    def weighted(self) -> bool:
        """Whether edges have weights."""
        return self.weight_dtype is not None

    @property
    def local(self) -> bool:
        """Whether the clusters are in this process, not on workers."""
        return all(isinstance(part, Cluster) for part in self._parts)

    @property
    def _kind(self) -> str:
        return ("directed" if self.directed else "undirected") + (
            f", weights {self.weight_dtype}" if self.weighted else ""
        )

    @property
    def _place(self) -> str:
        return f"{len(self._parts)} {'in this process' if self.local else 'on the workers'}"

    def __repr__(self) -> str:
        count, where = self._place.split(" ", 1)
        return (
            f"<dgsuite.Graph: {self.n} nodes, {self.m} edges, {self._kind}; "
            f"{count} clusters {where}>"
        )

    def _repr_html_(self) -> str:
        rows = {
            "nodes": f"{self.n:,}",
            "edges": f"{self.m:,}",
            "kind": self._kind,
            "clusters": self._place,
            **{str(k): _short(v) for k, v in self.attrs.items()},
        }
        body = "".join(
            f"<tr><th style='text-align:left'>{html.escape(k)}</th><td>{html.escape(v)}</td></tr>"
            for k, v in rows.items()
        )
        return f"<table><caption>dgsuite.Graph</caption>{body}</table>"

    # ---- the clusters as Dask collections

    def _delayed(self) -> list[Any]:
        from dask import delayed

        if not self.local:
            return [delayed(part) for part in self.parts]
        # named, so that it is one task a cluster however many arrays are made of it
        return [
            delayed(part, name=f"{self._name}-{i}", traverse=False)
            for i, part in enumerate(self.parts)
        ]

    @property
    def clusters(self) -> db.Bag:
        """A Dask bag with one `Cluster` an item, a partition each."""
        import dask.bag as db
        from dask import delayed

        return db.from_delayed([delayed(_listed)(part) for part in self._delayed()])

    def _array(self, name: str, sizes: Sequence[int] | NDArray, dtype: Any) -> da.Array:
        import dask.array as da
        from dask.highlevelgraph import HighLevelGraph

        # by hand: da.concatenate would leave out the chunks of empty clusters
        parts = self._delayed()
        key = f"{name}-{self._name}"
        tasks = {(key, i): (getattr, part.key, name) for i, part in enumerate(parts)}
        graph = HighLevelGraph.from_collections(key, tasks, dependencies=parts)
        return da.Array(graph, key, (tuple(map(int, sizes)),), dtype=dtype)

    @property
    def indptr(self) -> da.Array:
        """Row pointers (int64), a chunk a cluster, each with one entry more than nodes, from 0."""
        dtype = build.id_dtype(max(self.entries))
        sizes = np.diff(self.partition.offsets) + 1
        return self._array("indptr", sizes, dtype).astype(np.int64)

    @property
    def indices(self) -> da.Array:
        """Neighbours as node ids (int32 where they fit), ascending in each row, a chunk a cluster."""
        return self._array("indices", self.entries, build.id_dtype(self.n))

    @property
    def weights(self) -> da.Array | None:
        """Weight of each entry of `indices`, or None."""
        if not self.weighted:
            return None
        return self._array("weights", self.entries, self.weight_dtype)

    @property
    def uid(self) -> da.Array:
        """Identifier of each node (int64), a chunk a cluster."""
        return self._array("uid", np.diff(self.partition.offsets), np.int64)

    # ---- constructors

    @classmethod
    @spanned()
    def from_edges(
        cls,
        src: Any,
        dst: Any = None,
        *,
        n: int | None = None,
        weights: Any = None,
        directed: bool = False,
        uid: ArrayLike | Identify | None = None,
        clusters: int | None = None,
        partition: How = "nodes",
        client: Client | None = None,
        attrs: dict[str, Any] | None = None,
        labels: Iterable[Hashable] | None = None,
        relabel: bool = False,
        source: str = "src",
        target: str = "dst",
        weight: str = "weight",
    ) -> Graph:
        """Make a graph of a list of edges.

        Parameters
        ----------
        src, dst
            Ends of each edge, integers from 0 (with ``relabel=True`` any identifiers): NumPy arrays or
            lists, Dask arrays, or Dask Series; or one (Dask or pandas) DataFrame with columns ``src``,
            ``dst`` and perhaps ``weight``.
        n
            Number of nodes; by default one more than the largest id.
        weights
            A number for each edge, of the same kind as `src`; by default edges have none.
        directed
            Whether an edge goes one way only.
        uid
            Identifier of each node, distinct integers, shape (n,); by default the node ids. Or a
            function that turns an array of node ids into theirs, called where the clusters are
            built; that it is one to one is not checked.
        clusters
            Number of clusters; by default as many as the partition has, else one a worker with a
            client, else one. Clusters beyond the number of nodes are empty.
        partition
            "nodes" (blocks of equally many nodes), "edges" (blocks of about equally many edge ends),
            "hash" (nodes at random), "metis" (few edges between clusters; one process works it out),
            an array with the cluster of each node, or a `Partition`.
        client
            Where to build; by default the current client, else this process. Lists and arrays of
            up to some hundred thousand edges are built in this process in any case.
        attrs
            Facts for kernels, such as ``root``, which are defaults of their parameters.
        labels
            Names of the nodes, in their order, distinct and of any hashable type but None. Results are
            labelled by them, and parameters such as ``root`` name nodes by them.
        relabel
            Whether ends of edges are identifiers: integers of 64 bits, text, or objects of one type that
            has an order, such as UUIDs. Their ascending order numbers the nodes, and they become the
            labels. Nodes are those that edges name.
        source, target, weight
            Names of the columns of a DataFrame. One with another name than ``weight`` must be there.

        Returns
        -------
        Graph
            Its clusters are on the workers where there is a client, with int32 neighbours where node ids
            fit.

        Raises
        ------
        InputError
            An edge names a missing node, a weight is not finite, lengths differ, the graph would
            have no node, nearly all nodes would have no edge although no `n` asks for that many (see
            `partition.edges.SPARSE`), or an option is none.
        RunError
            A worker was lost meanwhile.

        Notes
        -----
        A Dask collection is computed once more for ``n`` where it is not given, or for the identifiers,
        and once more for ``partition="edges"``. All workers get the sorted identifiers.

        Examples
        --------
        >>> from dgsuite import Graph
        >>> Graph.from_edges([0, 1, 2], [1, 2, 0], weights=[7, 8, 9])
        <dgsuite.Graph: 3 nodes, 3 edges, undirected, weights int64; 1 clusters in this process>
        """
        client = current_client(client)
        pieces = edges.pieces(src, dst, weights, (source, target, weight))
        names = None
        if relabel:
            if n is not None or labels is not None:
                raise InputError("relabel=True finds the nodes itself: leave out n and labels")
            pieces, names = numbering.relabel(pieces, client)
            n = len(names)
        n = edges.count_nodes(pieces, n, client)
        if labels is not None:
            names = Labels(labels, n)
        workers = worker_addresses(client) if client is not None else []
        chosen = clusters is not None or not isinstance(partition, str)
        k = check_clusters(clusters) if clusters is not None else max(len(workers), 1)
        if isinstance(partition, Partition):
            how = partition
            if clusters is not None and how.clusters != k:
                raise InputError(f"the partition has {how.clusters} clusters, not {k}")
        elif not isinstance(partition, str):
            how = from_owner(partition, clusters)
        elif partition == "nodes":
            how = blocks(n, k)
        elif partition == "edges":
            how = balanced(edges.degrees(pieces, n, directed, client), k)
        elif partition == "hash":
            how = hashed(n, k)
        elif partition == "metis":
            how = _by_metis(cls.from_edges(edges.Pieces(pieces), n=n, clusters=1, client=client), k)
        else:
            raise InputError(
                f"partition must be 'nodes', 'edges', 'hash', 'metis', a Partition or an array with "
                f"the cluster of each node, got {partition!r}"
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
            labels=names,
            identified=uid is not None,
            chosen=chosen,
        )

    @classmethod
    def from_scipy(cls, matrix: sp.sparray | sp.spmatrix, **options: Any) -> Graph:
        """Make a graph of a sparse adjacency matrix.

        Parameters
        ----------
        matrix
            Shape (n, n): a stored entry (i, j) is an edge from i to j. Must be symmetric unless
            ``directed=True``. Entries become weights unless all are one (or True). What a COO
            matrix stores twice is one entry, the sum, as in all of scipy.
        options
            As for `from_edges`. With ``relabel=True`` rows and columns without entries are no nodes, and
            the others are labelled by their numbers.

        Raises
        ------
        InputError
            The matrix is not square or, for an undirected graph, not symmetric; an entry is not
            finite.
        """
        found = sources.of_scipy(matrix, options.get("directed", False))
        if options.get("relabel"):
            del found["n"]
        return cls.from_edges(**{**found, **options})

    @classmethod
    def from_networkx(cls, graph: nx.Graph, *, weight: str = "weight", **options: Any) -> Graph:
        """Make a graph of a networkx graph.

        Parameters
        ----------
        graph
            Nodes are numbered in the order of iteration, and keep their labels: see `labels` of
            `from_edges`. Parallel edges of a multigraph are duplicates.
        weight
            Edge attribute to take as weights. Edges without it weigh 1, as everywhere in networkx; where no
            edge has it, the graph has no weights.
        options
            As for `from_edges`, except `n`, `directed` and `labels`.

        Raises
        ------
        InputError
            This is no networkx graph, it has no node, or weights are not numbers.
        """
        found = sources.of_networkx(graph, weight)
        return cls.from_edges(directed=graph.is_directed(), **{**found, **options})

    @classmethod
    def read_imsuite(
        cls, path: str | os.PathLike[str] | bytes, kernel: str = "mis", **options: Any
    ) -> Graph:
        """Read an input file of IMSuite.

        Parameters
        ----------
        path
            The text file, or its content as bytes.
        kernel
            Which kernel it is for ("bf", "lcr", "mis", ...): that decides its sections.
        options
            As for `from_edges`.

        Raises
        ------
        InputError
            Naming file, line, and what should stand there.
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

        Options are those of `from_edges`, the rules those of `from_scipy`. The file is read in this
        process.

        Raises
        ------
        InputError
            No such file, not a Matrix Market file, not square, or not symmetric.
        """
        from partition.readers import read_matrix_market

        return cls.from_scipy(read_matrix_market(path), **options)

    @classmethod
    def read_edge_list(cls, path: str | os.PathLike[str], **options: Any) -> Graph:
        """Read an edge list, text or Parquet, in parallel by chunk.

        Text has an edge a line, two node ids and perhaps a weight, separated by blanks, tabs or
        commas; # starts a comment; ``.gz`` is unpacked. Weights are int64, or uint64, where all are
        integers, float64 otherwise. Parquet has columns ``src``, ``dst`` and perhaps ``weight``, or those
        that are named. Nodes are 0 to the largest id, or to ``n - 1``; with ``relabel=True`` they are what
        edges name, which in a text file is text unless the ends of the first edge are integers. A
        pattern such as ``part*.txt`` names several files; a URL is opened by fsspec. Options are those of
        `from_edges`; with a client, the workers must be able to read the files.

        Raises
        ------
        InputError
            No such file, or naming file, line and text of what is not an edge of such a graph.
        """
        from partition.readers import read_edge_list, refusing_damage

        default_source, default_target, default_weight = edges.COLUMNS
        columns = (
            options.get("source", default_source),
            options.get("target", default_target),
            options.get("weight", default_weight),
        )
        relabel = options.get("relabel", False)
        with refusing_damage(path):
            found = read_edge_list(path, options.get("n"), columns, relabel)
            return cls.from_edges(found, **options)

    # ---- other partitions and exports

    @spanned()
    def repartition(self, clusters: int, client: Client | None = None) -> Graph:
        """The same graph in another number of contiguous blocks of equally many nodes.

        The clusters stay where they are, in this process or on the workers.

        Raises
        ------
        InputError
            The graph was built with a node-to-cluster map, which no other number of clusters
            follows from.
        """
        k = check_clusters(clusters)
        if k == len(self.parts):
            return self
        if self.partition.order is not None:
            raise InputError(
                f"the graph has a partition of its own with {len(self.parts)} clusters; "
                f"build it anew to have {k}"
            )
        how = blocks(self.n, k)
        client = client or self.client
        parts, entries = distribute.recut(
            self.parts, self.partition, how, self.directed, self.weight_dtype, client
        )
        recut = Graph(
            parts,
            how,
            entries=entries,
            directed=self.directed,
            weight_dtype=self.weight_dtype,
            attrs=self.attrs,
            labels=self.labels,
            identified=self.identified,
        )
        recut.passed = self.passed
        return recut

    def gather(self) -> list[Cluster]:
        """All clusters, brought into this process."""
        if self.client is None:
            return self.parts
        return Watch(self.client, "bringing the graph here", inputs=self.parts).gather(self.parts)

    def to_scipy(self) -> sp.csr_array:
        """The adjacency matrix, in this process; ones (int64) where there are no weights, float32 where
        these are float16, which SciPy has not.
        """
        import scipy.sparse as sp

        clusters = self.gather()
        ends = np.cumsum([0, *self.entries])
        indptr = np.concatenate(
            [ends[:1], *(c.indptr[1:] + e for c, e in zip(clusters, ends, strict=False))]
        )
        indices = np.concatenate([c.indices for c in clusters])
        weights = [c.weights for c in clusters if c.weights is not None]
        data = np.concatenate(weights) if weights else np.ones(len(indices), np.int64)
        if data.dtype == np.float16:
            data = data.astype(np.float32)
        matrix = sp.csr_array((data, indices, indptr), shape=(self.n, self.n))
        return matrix if self.partition.order is None else matrix[np.argsort(self.partition.order)]

    def to_networkx(self) -> nx.Graph:
        """A networkx graph with the original labels, in this process."""
        import networkx as nx

        graph = nx.DiGraph() if self.directed else nx.Graph()
        labels = range(self.n) if self.labels is None else self.labels.array.tolist()
        graph.add_nodes_from(labels)
        matrix = self.to_scipy().tocoo()
        rows, columns = matrix.coords
        once = slice(None) if self.directed else rows < columns
        ends = [[labels[i] for i in side[once].tolist()] for side in (rows, columns)]
        if self.weighted:
            graph.add_weighted_edges_from(zip(*ends, matrix.data[once].tolist(), strict=True))
        else:
            graph.add_edges_from(zip(*ends, strict=True))
        return graph


def _by_metis(graph: Graph, clusters: int) -> Partition:
    """METIS's partition, worked out where the whole graph is."""
    (part,) = graph.parts
    if graph.local:
        return metis(part.indptr, part.indices, clusters)
    of_it = part.client.submit(_metis_of, part, clusters, pure=False)
    (found,) = Watch(part.client, "cutting the graph by METIS", inputs=[part]).gather([of_it])
    return found


def _metis_of(cluster: Cluster, clusters: int) -> Partition:
    return metis(cluster.indptr, cluster.indices, clusters)


def _listed(item: Any) -> list[Any]:
    return [item]


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 80 else f"{text[:79]}…"


def _check_uid(uid: ArrayLike | Identify | None, n: int) -> NDArray[np.int64] | Identify | None:
    if uid is None or callable(uid):
        return uid
    ids = np.asarray(uid)
    if ids.shape != (n,) or not np.issubdtype(ids.dtype, np.integer):
        raise InputError(f"uid must be {n} integers, one a node, got {ids.dtype} of {ids.shape}")
    if ids.max() > np.iinfo(np.int64).max:
        node = int(ids.argmax())
        raise InputError(f"identifier {ids[node]} of node {node} is not below 2^63")
    order = np.argsort(ids, kind="stable")
    same = np.flatnonzero(np.diff(ids[order]) == 0)
    if len(same):
        a, b = int(order[same[0]]), int(order[same[0] + 1])
        raise InputError(f"nodes {a} and {b} have the same identifier {ids[a]}")
    return ids.astype(np.int64)
