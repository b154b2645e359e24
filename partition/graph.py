"""The graph: adjacency in clusters, in this process or on the workers of a Dask cluster."""

from __future__ import annotations

import os
import uuid
from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from partition import (
    bags,
    build,
    chunks,
    conversion,
    cutting,
    dask_views,
    degrees,
    display,
    distribute,
    edges,
    frames,
    selection,
    storage,
    views,
)
from partition import relabel as numbering
from partition.client import queries
from partition.client.spans import spanned
from partition.client.waiting import Watch
from partition.client.workers import worker_addresses
from partition.cluster import Cluster, Identify
from partition.cutting import How
from partition.errors import InputError, RunError
from partition.labels import Labels
from partition.partitioners import Partition, blocks, check_clusters

if TYPE_CHECKING:
    import dask.array as da
    import dask.bag as db
    import networkx as nx
    import scipy.sparse as sp
    import xarray as xr
    from distributed import Client


class Graph:
    """A graph divided into clusters of nodes.

    Make one with a constructor: `from_edges`, `from_dataframe`, `from_parquet`, `from_bag`,
    `from_arrays`, `from_scipy`, `from_networkx`, `read_imsuite`, `read_edge_list`, `read_matrix_market`.
    With a Dask client, the workers build the clusters and keep them; without one, this process does.

    The same rules hold for every source. A graph is undirected unless ``directed=True``. Self-loops are
    dropped. Duplicate edges (of an undirected graph: in either direction) are merged and keep the
    smallest weight. Weights that are not finite and edges to missing nodes are errors.

    Attributes
    ----------
    directed
        Whether rows hold out-edges only.
    weight_dtype
        Dtype of the weights, or None.
    partition
        Which cluster owns which node. Its `order` is the order of the nodes in `indptr` and `uid`.
    entries
        Number of adjacency entries of each cluster.
    chosen
        Whether the user chose the clusters, so that a run keeps them.
    attrs
        Values that kernels take as defaults of their parameters, such as ``root``.
    labels
        Labels of the nodes (`partition.labels.Labels`, a sequence), if the source had any.
    identified
        Whether the source gave the nodes identifiers; otherwise these are the node ids.
    cache
        Results of checks and counts of the whole graph; see `partition.checks.once`.
    placed
        Futures of clusters of this process that a run has sent to workers.
    name
        Unique name, with which the keys of the clusters begin where the graph is a Dask collection.
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
        self.cache: dict[str, Any] = {}
        self.placed: dict[Any, Any] = {}
        self.name = f"cluster-{uuid.uuid4().hex}"

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
        """The clusters: `Cluster` objects in this process, or futures of them.

        Raises
        ------
        RunError
            A cluster was lost with its worker, or the client that built it is closed.
        """
        for k, part in enumerate(self._parts):
            if isinstance(part, Cluster) or part.status in ("pending", "finished"):
                continue
            if part.status == "error":
                part.result()
            raise RunError(f"cluster {k} of the graph is {part.status}; build the graph again")
        return self._parts

    @property
    def client(self) -> Client | None:
        """The client whose workers hold the clusters; None if this process does."""
        return None if self.local else self._parts[0].client

    @property
    def weighted(self) -> bool:
        """Whether edges have weights."""
        return self.weight_dtype is not None

    @property
    def local(self) -> bool:
        """Whether this process holds the clusters, not workers."""
        return all(isinstance(part, Cluster) for part in self._parts)

    def __repr__(self) -> str:
        return display.line(self)

    def _repr_html_(self) -> str:
        return display.table(self)

    # ---- the clusters as Dask collections

    @property
    def clusters(self) -> db.Bag:
        """A Dask bag with one `Cluster` per partition."""
        return dask_views.bag(self)

    @property
    def indptr(self) -> da.Array:
        """Row pointers (int64), one chunk per cluster: from 0, with one entry more than it has nodes."""
        dtype = build.id_dtype(max(self.entries))
        sizes = np.diff(self.partition.offsets) + 1
        return dask_views.array(self, "indptr", sizes, dtype).astype(np.int64)

    @property
    def indices(self) -> da.Array:
        """Neighbours as node ids (int32 where they fit), ascending in each row, one chunk per cluster."""
        dtype = build.id_dtype(self.n)
        return dask_views.array(self, "indices", self.entries, dtype)

    @property
    def weights(self) -> da.Array | None:
        """Weight of each entry of `indices`, or None."""
        if not self.weighted:
            return None
        return dask_views.array(self, "weights", self.entries, self.weight_dtype)

    @property
    def uid(self) -> da.Array:
        """Identifier of each node (int64), one chunk per cluster."""
        sizes = np.diff(self.partition.offsets)
        return dask_views.array(self, "uid", sizes, np.int64)

    @property
    def degree(self) -> da.Array:
        """Number of edges of each node (int32), one chunk per cluster, in the order of the partition. Edges
        that leave and edges that come in count, as in networkx.
        """
        return self.out_degree + self.in_degree if self.directed else self.out_degree

    @property
    def out_degree(self) -> da.Array:
        """Number of edges that leave each node (int32), one chunk per cluster."""
        return self._degrees("out_degree")

    @property
    def in_degree(self) -> da.Array:
        """Number of edges that come in at each node (int32), one chunk per cluster."""
        return (views.incoming(self) if self.directed else self)._degrees("in_degree")

    def _degrees(self, name: str) -> da.Array:
        sizes = np.diff(self.partition.offsets)
        return dask_views.array(self, name, sizes, np.int32)

    # ---- the graph as a Dask collection, whose chunks are the clusters

    @spanned()
    def persist(self, client: Client | None = None) -> Graph:
        """The same graph on the workers of a client.

        Parameters
        ----------
        client
            By default the current client. Without one the graph stays in this process.

        Returns
        -------
        Graph
            A graph that is on workers already is returned as it is.

        Raises
        ------
        RunError
            A worker was lost.
        """
        client = queries.current_client(client)
        if client is None or not self.local:
            return self
        moved = self.like(dask_views.on_workers(self, client), self.entries)
        moved.cache = self.cache
        return moved

    def compute(self) -> Graph:
        """The same graph in this process.

        Raises
        ------
        RunError
            A worker was lost.
        """
        if self.local:
            return self
        here = self.like(self.gather(), self.entries)
        here.cache = self.cache
        return here

    def visualize(self, filename: str | None = "graph", **options: Any) -> Any:
        """Draw the tasks that stand for the clusters; `options` are those of `dask.visualize`."""
        import dask

        return dask.visualize(self, filename=filename, **options)

    def __dask_graph__(self) -> Any:
        return dask_views.tasks(self)

    def __dask_keys__(self) -> list[Any]:
        return dask_views.keys(self)

    def __dask_layers__(self) -> tuple[str]:
        return (self.name,)

    def __dask_tokenize__(self) -> str:
        return self.name

    def __dask_postcompute__(self) -> tuple[Any, tuple[Any, ...]]:
        return dask_views.computed, (self._empty(),)

    def __dask_postpersist__(self) -> tuple[Any, tuple[Any, ...]]:
        return dask_views.rebuilt, (self._empty(),)

    def _empty(self) -> Graph:
        """The graph without its clusters, but with its name."""
        empty = self.like([], self.entries)
        empty.name = self.name
        return empty

    @staticmethod
    def __dask_optimize__(tasks: Any, keys: Any, **options: Any) -> Any:
        return tasks  # nothing can be merged or left out

    @staticmethod
    def __dask_scheduler__(*arguments: Any, **options: Any) -> Any:
        from dask.threaded import get

        return get(*arguments, **options)

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
        """Make a graph from a list of edges.

        Parameters
        ----------
        src, dst
            Ends of each edge: integers from 0, or identifiers with ``relabel=True``. NumPy arrays or lists,
            Dask arrays, or Dask Series; or one (Dask or pandas) DataFrame as `src`, with columns ``src``,
            ``dst`` and optionally ``weight``.
        n
            Number of nodes; by default the largest id plus one.
        weights
            A number for each edge, in a collection of the same type as `src`; by default none.
        directed
            Whether edges have a direction.
        uid
            Identifiers of the nodes, distinct integers, shape (n,); by default the node ids. Or a function
            that maps an array of node ids to identifiers. It is called where the clusters are built, and
            nobody checks that its results are distinct.
        clusters
            Number of clusters; by default that of the partition, else one per worker with a client, else
            one. Clusters beyond the number of nodes are empty.
        partition
            "nodes" (blocks of equally many nodes), "edges" (blocks of about equally many edge ends),
            "hash" (nodes at random), "metis" (few edges between clusters; computed by one process),
            an array with the cluster of each node, or a `Partition`.
        client
            Dask client whose workers build the graph; by default the current client, else this process
            builds it. This process always builds from lists and arrays of up to 2^17 edges.
        attrs
            Default values of kernel parameters, such as ``root``.
        labels
            Names of the nodes, in the order of node ids: distinct, of any hashable type, not None. Results
            are labelled by them, and parameters such as ``root`` take them.
        relabel
            Whether the ends of edges are identifiers: 64-bit integers, text, or objects of one type that
            has an order, such as UUIDs. The nodes are the identifiers that edges name, numbered in
            ascending order, and the identifiers become the labels.
        source, target, weight
            Column names of a DataFrame. Only the default ``weight`` may be missing.

        Returns
        -------
        Graph
            With a client, its clusters are on the workers. Neighbours are int32 where node ids fit.

        Raises
        ------
        InputError
            An edge names a missing node, a weight is not finite, lengths differ, the graph would
            have no node, nearly all nodes would have no edge although `n` is not given (see
            `partition.edges.SPARSE`), or an option is unknown.
        RunError
            A worker was lost.

        Notes
        -----
        A Dask collection is computed a second time to find `n`, if not given, or the identifiers, and
        once more for ``partition="edges"``. Every worker gets the sorted identifiers.

        Examples
        --------
        >>> from dgsuite import Graph
        >>> Graph.from_edges([0, 1, 2], [1, 2, 0], weights=[7, 8, 9])
        <dgsuite.Graph: 3 nodes, 3 edges, undirected, weights int64; 1 clusters in this process>
        """
        client = queries.current_client(client)
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
        how = cutting.cut(pieces, n, directed, partition, clusters, client, workers)
        ids = None if uid is None else cutting.check_identifiers(uid, n)
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
            chosen=clusters is not None or not isinstance(partition, str),
        )

    @classmethod
    def from_scipy(cls, matrix: sp.sparray | sp.spmatrix, **options: Any) -> Graph:
        """Make a graph from a sparse adjacency matrix.

        Parameters
        ----------
        matrix
            Shape (n, n): a stored entry (i, j) is an edge from i to j. It must be symmetric unless
            ``directed=True``. Entries become weights unless all are one (or True). Entries that a COO
            matrix stores twice are summed, as everywhere in SciPy.
        options
            As for `from_edges`. With ``relabel=True``, rows and columns without entries are not nodes, and
            the labels of the others are their numbers.

        Raises
        ------
        InputError
            The matrix is not square or, for an undirected graph, not symmetric; an entry is not
            finite.
        """
        found = conversion.of_scipy(matrix, options.get("directed", False))
        if options.get("relabel"):
            del found["n"]
        return cls.from_edges(**{**found, **options})

    @classmethod
    def from_networkx(cls, graph: nx.Graph, *, weight: str = "weight", **options: Any) -> Graph:
        """Make a graph from a networkx graph.

        Parameters
        ----------
        graph
            Nodes are numbered in the order of iteration, and networkx's nodes become labels: see `labels`
            of `from_edges`. Parallel edges of a multigraph are duplicates.
        weight
            Edge attribute that holds the weights. Edges without it have weight 1, as everywhere in
            networkx; if no edge has it, the graph has no weights.
        options
            As for `from_edges`, except `n`, `directed` and `labels`.

        Raises
        ------
        InputError
            The argument is not a networkx graph, it has no node, or weights are not numbers.
        """
        found = conversion.of_networkx(graph, weight)
        return cls.from_edges(directed=graph.is_directed(), **{**found, **options})

    @classmethod
    def from_dataframe(
        cls,
        frame: Any,
        source: Hashable = "source",
        target: Hashable = "target",
        weight: Hashable | None = None,
        *,
        relabel: bool | None = None,
        **options: Any,
    ) -> Graph:
        """Make a graph from a dataframe with an edge in each row.

        Parameters
        ----------
        frame
            A Dask dataframe, whose partitions the workers read, or a pandas dataframe.
        source, target
            Names of the columns with the ends of edges.
        weight
            Name of the column with weights; by default there are none.
        relabel
            Whether the ends of edges are identifiers: see `from_edges`. By default those of 64-bit integers,
            text and other types are, and smaller integers are node ids. With `n` or `labels` all are node
            ids.
        options
            As for `from_edges`.

        Raises
        ------
        InputError
            It is no dataframe, a column is missing, or as `from_edges` says.

        Notes
        -----
        The dataframe is computed here, twice if the ends are identifiers. Dask makes text of columns of
        objects such as UUIDs, unless its setting ``dataframe.convert-string`` is False.

        Examples
        --------
        >>> import pandas as pd
        >>> from dgsuite import Graph
        >>> frame = pd.DataFrame({"from": ["ann", "bob"], "to": ["bob", "cid"], "cost": [1.5, 2.5]})
        >>> graph = Graph.from_dataframe(frame, "from", "to", weight="cost")
        >>> graph
        <dgsuite.Graph: 3 nodes, 2 edges, undirected, weights float64; 1 clusters in this process>
        >>> list(graph.labels)
        ['ann', 'bob', 'cid']
        """
        columns = source, target, weight
        named = frames.identifiers(frame, columns)
        if relabel is None:
            relabel = named and not {"n", "labels"} & set(options)
        made = edges.Pieces(edges.pieces(frame, None, None, columns))
        return cls.from_edges(made, relabel=relabel, **options)

    @classmethod
    def from_parquet(
        cls,
        path: str | os.PathLike[str],
        source: str = "source",
        target: str = "target",
        weight: str | None = None,
        **options: Any,
    ) -> Graph:
        """Make a graph from Parquet files with an edge in each row.

        Parameters
        ----------
        path
            A file or a folder of files, a pattern such as ``part*.parquet``, or a URL of fsspec.
        source, target, weight, options
            As for `from_dataframe`.

        Raises
        ------
        InputError
            A file does not exist or cannot be read, or as `from_dataframe` says.
        """
        from partition.readers import read_parquet, refusing_damage

        with refusing_damage(path):
            frame = read_parquet(path, (source, target, weight))
            return cls.from_dataframe(frame, source, target, weight, **options)

    @classmethod
    def from_bag(
        cls,
        bag: db.Bag | Iterable[Any],
        items: str = "edges",
        *,
        relabel: bool | None = None,
        **options: Any,
    ) -> Graph:
        """Make a graph from a Dask bag.

        Parameters
        ----------
        bag
            A Dask bag, whose partitions the workers compute, or any iterable.
        items
            What an item is. "edges": a pair (source, target), or a triple (source, target, weight).
            "adjacency": a pair (node, neighbours), where neighbours are a list, or a mapping from neighbours
            to weights.
        relabel
            Whether nodes have identifiers: see `from_edges`. By default they have, unless `n` or `labels` are
            given.
        options
            As for `from_edges`.

        Raises
        ------
        InputError
            An item is something else (the message names it), or as `from_edges` says.

        Examples
        --------
        >>> import dask.bag as db
        >>> from dgsuite import Graph
        >>> Graph.from_bag(db.from_sequence([("ann", ["bob", "cid"]), ("dan", [])]), "adjacency")
        <dgsuite.Graph: 4 nodes, 2 edges, undirected; 1 clusters in this process>
        """
        if relabel is None:
            relabel = not {"n", "labels"} & set(options)
        return cls.from_edges(bags.pieces(bag, items), relabel=relabel, **options)

    @classmethod
    @spanned()
    def from_arrays(
        cls,
        indptr: Any,
        indices: Any,
        weights: Any = None,
        uid: Any = None,
        *,
        directed: bool = False,
        partition: Partition | None = None,
        client: Client | None = None,
        attrs: dict[str, Any] | None = None,
        labels: Iterable[Hashable] | None = None,
    ) -> Graph:
        """Make a graph from its adjacency in CSR, such as the arrays of the same names of another graph.

        Parameters
        ----------
        indptr
            Row pointers. Dask array: each chunk is a cluster; it starts from 0 and has one entry more than
            the cluster has nodes. NumPy array: there is one cluster.
        indices
            Neighbours of each node as node ids, shape (entries,), with as many chunks as `indptr`. An
            undirected edge is there at both its ends.
        weights
            Weight of each entry of `indices`; by default none.
        uid
            Identifiers of the nodes, distinct integers, shape (n,); by default the node ids.
        directed
            Whether rows hold out-edges only.
        partition
            Which chunk has which nodes; by default they are numbered in the order of the chunks.
        client, attrs, labels
            As for `from_edges`. The workers build clusters from Dask arrays, this process from NumPy arrays.

        Raises
        ------
        InputError
            Chunks do not match, an entry is wrong (the message names its chunk), or the adjacency of an
            undirected graph is not symmetric.
        RunError
            A worker was lost.

        Notes
        -----
        The arrays are computed here.

        Examples
        --------
        >>> from dgsuite import Graph
        >>> Graph.from_arrays([0, 1, 3, 4], [1, 0, 2, 1])
        <dgsuite.Graph: 3 nodes, 2 edges, undirected; 1 clusters in this process>
        """
        client = queries.current_client(client)
        arrays = {"indptr": indptr, "indices": indices, "weights": weights, "uid": uid}
        parts, how, entries, dtype = chunks.construct(arrays, partition, directed, client)
        return cls(
            parts,
            how,
            entries=entries,
            directed=directed,
            weight_dtype=dtype,
            attrs=attrs,
            labels=None if labels is None else Labels(labels, how.n),
            identified=uid is not None,
            chosen=hasattr(indptr, "dask"),
        )

    @spanned()
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the graph to files, from which `load` makes it again.

        Parameters
        ----------
        path
            A folder, which is made if it is not there, or a URL of fsspec. A graph that is there is replaced.
            Workers that hold clusters write them, so they and this process must reach it.

        Raises
        ------
        InputError
            A file cannot be written, or something other than a graph is there; a label, or a value in
            `attrs`, is of a type that a file cannot hold (see `partition.labels.to_json`).
        RunError
            A worker was lost.

        Notes
        -----
        There is a file for each cluster, one for what is known of all nodes, and ``graph.json`` with the
        SHA-256 of these: see `partition.storage`. A function as `uid` is stored as what it returns. If a save
        is interrupted, a graph that was there stays.
        """
        storage.save(self, path)

    @classmethod
    @spanned()
    def load(
        cls,
        path: str | os.PathLike[str],
        clusters: int | None = None,
        client: Client | None = None,
    ) -> Graph:
        """Read a graph that `save` wrote.

        Parameters
        ----------
        path
            The folder, or a URL of fsspec.
        clusters
            Number of clusters: see `repartition`. By default it stays the same, whatever the number of
            workers.
        client
            Dask client whose workers read the clusters, which each of them must reach; by default the current
            client, else this process reads them.

        Returns
        -------
        Graph
            With the same nodes, edges, labels, identifiers, `attrs` and partition.

        Raises
        ------
        InputError
            A file is missing or damaged: the message names it.
        RunError
            A worker was lost.
        """
        client = queries.current_client(client)
        parts, partition, options = storage.load(path, client)
        graph = cls(parts, partition, **options)
        return graph if clusters is None else graph.repartition(clusters, client)

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
            The kernel that it is an input of ("bf", "lcr", "mis", ...), which decides its sections.
        options
            As for `from_edges`.

        Raises
        ------
        InputError
            The message names the file, the line, and what was expected.
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
        """Read a Matrix Market file; a "general" matrix must be symmetric unless ``directed=True``.

        The rules are those of `from_scipy`, the options those of `from_edges`. This process reads the
        file.

        Raises
        ------
        InputError
            The file does not exist, is not in Matrix Market format, or its matrix is not square or not
            symmetric.
        """
        from partition.readers import read_matrix_market

        return cls.from_scipy(read_matrix_market(path), **options)

    @classmethod
    def read_edge_list(cls, path: str | os.PathLike[str], **options: Any) -> Graph:
        """Read an edge list, text or Parquet, in parallel by chunk.

        A text file has one edge per line: two node ids and optionally a weight, separated by blanks, tabs
        or commas. # starts a comment. ``.gz`` files are decompressed. Weights are int64, or uint64, if
        all are integers, float64 otherwise. A Parquet file has columns ``src``, ``dst`` and optionally
        ``weight``, or those named by `source`, `target` and `weight`.

        Nodes are 0 to the largest id, or to ``n - 1``. With ``relabel=True`` they are the identifiers that
        edges name; those of a text file are text unless both ends of the first edge are integers.

        A pattern such as ``part*.txt`` names several files; fsspec opens URLs. Options are those of
        `from_edges`. With a client, the workers must be able to read the files.

        Raises
        ------
        InputError
            A file does not exist, or a line is not an edge: the message names file, line and text.
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

    # ---- other partitions, views and exports

    def like(self, parts: Sequence[Any], entries: Sequence[int], **changes: Any) -> Graph:
        """A graph with the same nodes and other clusters; `changes` are arguments of the constructor."""
        same = {
            "partition": self.partition,
            "directed": self.directed,
            "weight_dtype": self.weight_dtype,
            "attrs": self.attrs,
            "labels": self.labels,
            "identified": self.identified,
            "chosen": self.chosen,
        }
        return Graph(parts, entries=entries, **{**same, **changes})

    @spanned()
    def repartition(self, clusters: int, client: Client | None = None) -> Graph:
        """The same graph in another number of contiguous blocks of equally many nodes.

        The new clusters are where the old ones were, in this process or on the workers.

        Raises
        ------
        InputError
            The graph was built with a node-to-cluster map, which fixes the number of clusters.
        """
        k = check_clusters(clusters)
        if k == len(self.parts):
            return self
        if self.partition.order is not None:
            raise InputError(
                f"the graph has a partition of its own with {len(self.parts)} clusters; "
                f"build it again to have {k}"
            )
        how = blocks(self.n, k)
        client = client or self.client
        parts, entries = distribute.recut(
            self.parts, self.partition, how, self.directed, self.weight_dtype, client
        )
        recut = self.like(parts, entries, partition=how, chosen=True)
        recut.cache = self.cache
        return recut

    @spanned()
    def reversed(self) -> Graph:
        """The graph with all edges reversed, made where the clusters are; an undirected graph itself.

        Nodes, labels, weights and clusters stay the same.
        """
        if not self.directed:
            return self
        return self.like(*views.reversed_clusters(self))

    @spanned()
    def to_undirected(self) -> Graph:
        """The graph without the directions of its edges, made where the clusters are.

        As in networkx, an edge in either direction is an edge of the result. It keeps its weight; of two
        weights, one in each direction, the smaller one stays, as everywhere in dgsuite. Nodes, labels
        and clusters stay the same. An undirected graph is returned as it is.
        """
        if not self.directed:
            return self
        return self.like(*views.undirected_clusters(self), directed=False)

    @spanned()
    def subgraph(self, nodes: Iterable[Hashable] | ArrayLike) -> Graph:
        """The graph of some nodes and all edges between them, made where the clusters are.

        Parameters
        ----------
        nodes
            Labels, where the graph has labels, else node ids; in any order, repeats do not count. Or an array
            of truth values, shape (n,), such as an output of a kernel.

        Returns
        -------
        Graph
            Its nodes have the order, the identifiers and the labels that they had; without labels, their
            former node ids become labels. It has as many clusters, in equal blocks, and no `attrs`.

        Raises
        ------
        InputError
            One of them is not a node, or there are none.

        Examples
        --------
        >>> from dgsuite import Graph
        >>> Graph.from_edges([0, 1, 2, 3], [1, 2, 0, 4]).subgraph([4, 3, 1])
        <dgsuite.Graph: 3 nodes, 1 edges, undirected; 1 clusters in this process>
        """
        return selection.induced(self, selection.named(self, nodes))

    @spanned()
    def component(self, node: Hashable | None = None) -> Graph:
        """The component of a node, or by default the one with the most nodes, as a graph.

        Edges of a directed graph join their ends either way: its weakly connected components. Of equally
        large ones it is the one with the first node.

        Parameters
        ----------
        node
            A label, where the graph has labels, else a node id.

        Returns
        -------
        Graph
            As `subgraph` makes it; a connected graph itself.

        Raises
        ------
        InputError
            There is no such node.
        """
        chosen = selection.in_component(self, node)
        return self if chosen.all() else selection.induced(self, chosen)

    @spanned()
    def degree_statistics(self) -> xr.Dataset:
        """How many edges the nodes have.

        Returns
        -------
        xarray.Dataset
            Over ``edges``, "all" and for directed graphs "out" and "in": ``mean``, ``min`` and ``max`` of the
            degrees, ``isolated`` (nodes without such edges), and ``nodes``, the number of nodes of each
            degree that occurs, also over ``degree``.
        """
        return degrees.statistics(self)

    def gather(self) -> list[Cluster]:
        """Bring all clusters into this process."""
        if self.client is None:
            return self.parts
        return Watch(self.client, "gathering the graph", inputs=self.parts).gather(self.parts)

    def to_scipy(self) -> sp.csr_array:
        """The adjacency matrix, in this process.

        The data are ones (int64) if there are no weights, and float32 for weights of float16, which SciPy
        does not have.
        """
        return conversion.to_scipy(self.gather(), self.partition)

    def to_networkx(self) -> nx.Graph:
        """A networkx graph with the original labels, in this process."""
        matrix = self.to_scipy()
        return conversion.to_networkx(matrix, self.labels, self.directed, self.weighted)
