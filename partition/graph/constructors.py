"""The constructors of a graph: from edges, matrices, tables and collections of this process or of Dask."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Self

from numpy.typing import ArrayLike

from dgsuite.base.errors import InputError, one_of
from dgsuite.base.names import Edges
from dgsuite.partition.arrays import mapped
from dgsuite.partition.client import session
from dgsuite.partition.client.workers import worker_addresses
from dgsuite.partition.clusters import cutting
from dgsuite.partition.clusters.cluster import Identify
from dgsuite.partition.clusters.cutting import How
from dgsuite.partition.clusters.partitioners import Partition
from dgsuite.partition.construction import distribute
from dgsuite.partition.construction import relabel as numbering
from dgsuite.partition.construction.build import Plan
from dgsuite.partition.graph import conversion
from dgsuite.partition.graph.data import GraphData
from dgsuite.partition.graph.rows import ends_of_rows
from dgsuite.partition.labels.labels import Labels
from dgsuite.partition.sources import bags
from dgsuite.partition.sources import duplicates as repeated
from dgsuite.partition.sources import edges as sources

if TYPE_CHECKING:
    import dask.bag as db
    import networkx as nx
    import scipy.sparse as sp
    from distributed import Client


class Constructors(GraphData):
    """The constructors of `dgsuite.partition.graph.graph.Graph` that read no files."""

    @classmethod
    def from_edges(
        cls,
        src: Any,
        dst: Any = None,
        *,
        n: int | None = None,
        nodes: Any = None,
        weights: Any = None,
        directed: bool = False,
        uid: ArrayLike | Identify | None = None,
        clusters: int | None = None,
        partition: How = "nodes",
        client: Client | None = None,
        attrs: dict[str, Any] | None = None,
        labels: Iterable[Hashable] | None = None,
        relabel: bool = False,
        duplicates: str | None = None,
        loops: str = "drop",
        missing: str = "error",
        edges: Edges = "memory",
        rows: str = "drop",
        source: Hashable = "source",
        target: Hashable = "target",
        weight: Hashable | None = "weight",
    ) -> Self:
        """Make a graph from a list of edges.

        Parameters
        ----------
        src, dst
            Ends of each edge: integers from 0, or identifiers with ``relabel=True``. NumPy arrays or lists,
            Dask arrays, or Dask Series; or one (Dask or pandas) DataFrame as `src`, with columns ``source``,
            ``target`` and optionally ``weight``. Self-loops are dropped unless `loops` says otherwise;
            ``graph.built`` counts them, and there is a warning unless `duplicates` is given.
        n
            Number of nodes; by default the largest id plus one.
        nodes
            Nodes that the graph has, whether edges name them or not: ids, or with ``relabel=True``
            identifiers, as a list, an array or a column of any library. A number is taken for `n`.
        weights
            A number for each edge, in a collection of the same type as `src`; by default none.
        directed
            Whether edges have a direction.
        uid
            Identifiers of the nodes, distinct integers, shape (n,); by default the node ids. Or a function
            that maps an array of node ids to identifiers. It is called where the clusters are built, and
            its results are not checked for being distinct.
        clusters
            Number of clusters; by default that of the partition, else one per worker with a client, else
            one. Clusters beyond the number of nodes are empty.
        partition
            "nodes" (blocks of equally many nodes), "edges" (blocks of about equally many edge ends),
            "hash" (nodes at random), "metis" (few edges between clusters; computed by one process), an array
            with the cluster of each node, or a `Partition`.
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
            has an order, such as UUIDs. The nodes are the identifiers that edges or `nodes` name, numbered in
            ascending order, and the identifiers become the labels. Integers of any width are the same.
            Columns that Arrow holds, nullable ones and categories are what they hold; each row must have a
            value.
        duplicates
            Which weight an edge has that several rows name; of an undirected graph, also in the other
            direction. "sum", "min", "max"; "first": of the first row, where partitions of a Dask collection
            follow each other; "error": repeated edges are refused. By default the smallest weight stays,
            with a warning that counts the others. Sums of integers are int64 or uint64;
            floats are added in 64 bits, in the order of the rows.
        loops
            What becomes of self-loops: "drop", or "keep". Those that are kept are merged by the same rule.
            They are apart from the edges: the adjacency, degrees and ``graph.m`` are without them, and of
            the kernels only `pagerank`, `katz`, `eigenvector`, `hits`, `leiden` and `louvain` count them.
        missing
            What becomes of rows without a value: None, NaN, NaT or NA as an end or as a weight. "error", or
            "drop", which ``graph.built`` counts; of `nodes`, too.
        edges
            Where the clusters have their edges: in "memory", or in mapped files on a local "disk", for graphs
            that are larger than memory. The files are in the folder of the worker, or in Dask's
            ``temporary-directory``, and go with the graph.
        rows
            With "keep" the graph knows which rows of the table each edge came from: see `Graph.rows_of`. That
            takes 16 bytes a row in this process, and a Dask collection is computed once more. Files of the
            graph do not have it.
        source, target, weight
            Column names of a DataFrame. Only the default ``weight`` may be missing.

        Returns
        -------
        Graph
            With a client, its clusters are on the workers. Neighbours are int32 where node ids fit. Its
            `built` says how many rows were read, merged and dropped.

        Raises
        ------
        InputError
            An edge names a missing node, a weight is not finite, a row has no value, lengths differ, the
            graph would have no node, nearly all nodes would have no edge although `n` is not given (see
            `dgsuite.partition.sources.edges.SPARSE`), or an option is unknown. Of `duplicates`: an edge is
            repeated where that is an error, a sum does not fit 64 bits, or there are no weights to add.
        RunError
            A worker was lost.

        Notes
        -----
        A Dask collection is computed once if its ends are identifiers. Else it is computed a second time to
        find `n`, if not given, and once more for ``partition="edges"``.

        Examples
        --------
        >>> from dgsuite import Graph
        >>> Graph.from_edges([0, 1, 2], [1, 2, 0], weights=[7, 8, 9])
        <dgsuite.Graph: 3 nodes, 3 edges, undirected, weights int64; 1 clusters in this process>

        A table of records, of which one has no pair:

        >>> graph = Graph.from_edges(["ann"], ["bob"], nodes=["ann", "bob", "cid"], relabel=True)
        >>> graph.n, list(graph.labels)
        (3, ['ann', 'bob', 'cid'])

        A row for each payment, and the sum for each pair:

        >>> graph = Graph.from_edges([0, 1, 0], [1, 2, 1], weights=[7, 8, 9], duplicates="sum")
        >>> print(graph.built)
        3 rows read, 1 merged (weights summed), 0 self-loops dropped
        >>> graph.weights.compute()
        array([16, 16,  8,  8])
        """
        disk = mapped.wanted(edges)
        rule, keep = repeated.check(duplicates), repeated.keeps(loops)
        drop = drops({"missing": missing})
        one_of("rows", rows, ("drop", "keep"))
        if rows == "keep" and drop:
            raise InputError(
                "rows='keep' numbers the rows of the table as it is; drop rows before, as with "
                "table.dropna(subset=[...]), and leave out missing='drop'"
            )
        client = session.current_client(client)
        pieces = sources.pieces(src, dst, weights, (source, target, weight), drop)
        count, names, naming = len(pieces), None, [*pieces.naming]
        if nodes is not None and n is not None:
            raise InputError("n and nodes both say which nodes there are; leave one out")
        if sources.is_number(nodes):
            n = nodes
        elif nodes is not None:
            naming += sources.naming(nodes, drop)
        pieces = sources.Pieces([*pieces, *naming])
        if relabel:
            if n is not None or labels is not None:
                raise InputError("relabel=True finds the nodes itself: leave out n and labels")
            pieces, names = numbering.relabel(pieces, client)
            n = len(names)
        elif naming:
            sources.check_named(naming, client)
        n = sources.count_nodes(pieces, n, client)
        pieces = sources.Pieces(pieces[:count])
        # before the pieces are used up
        traced = ends_of_rows(pieces, client) if rows == "keep" else None
        if labels is not None:
            names = Labels(labels, n)
        workers = worker_addresses(client) if client is not None else []
        how = cutting.cut(pieces, n, directed, partition, clusters, client, workers)
        ids = None if uid is None else cutting.check_identifiers(uid, n)
        plan = Plan(directed, rule, keep, disk)
        made = distribute.construct(pieces, how, ids, plan, client, workers)
        graph = cls(
            made.parts,
            how,
            entries=made.entries,
            directed=directed,
            weight_dtype=made.dtype,
            attrs=attrs or {},
            labels=names,
            identified=uid is not None,
            chosen=clusters is not None or not isinstance(partition, str),
        )
        graph.keeps_loops, graph.edges = keep, edges
        graph.built = repeated.built(made.tally, graph, duplicates)
        graph.rows = traced
        return graph

    @classmethod
    def from_scipy(cls, matrix: sp.sparray | sp.spmatrix, **options: Any) -> Self:
        """Make a graph from a sparse adjacency matrix.

        Parameters
        ----------
        matrix
            Shape (n, n): a stored entry (i, j), also a zero, is an edge from i to j. It must be symmetric
            unless ``directed=True``; a zero may be stored on one side alone. Entries are weights; those of a
            matrix of bool only say which edges there are. Entries that a COO matrix stores twice are merged
            by the rule `duplicates`, which is "sum" here, as everywhere in SciPy. The two entries of an
            undirected edge are one row.
        options
            As for `from_edges`. With ``relabel=True``, rows and columns without entries are not nodes, and
            the labels of the others are their numbers.

        Raises
        ------
        InputError
            The matrix is not square or, for an undirected graph, not symmetric; an entry is not
            finite, or a sum of entries does not fit the matrix's dtype.

        Examples
        --------
        >>> import numpy as np
        >>> import scipy.sparse as sp
        >>> from dgsuite import Graph
        >>> Graph.from_scipy(sp.csr_array(np.array([[0, 2], [2, 0]])))
        <dgsuite.Graph: 2 nodes, 1 edges, undirected, weights int64; 1 clusters in this process>
        """
        given = options.pop("duplicates", None)
        rule = repeated.check(given or "sum")
        keep = repeated.keeps(options.get("loops", "drop"))
        found, rows, loops = conversion.of_scipy(matrix, options.get("directed", False), rule, keep)
        if options.get("relabel"):
            del found["n"]
        graph = cls.from_edges(**{**found, **options, "duplicates": repeated.DEFAULT})
        loops = graph.built.loops if keep else loops
        merged = rows - loops - graph.m
        graph.built = repeated.Built(rows, merged, loops, rule, graph.weighted, keep)
        if given is None:  # entries that are there twice are one sum, as everywhere in SciPy
            repeated.warn_of(graph.built._replace(merged=0))
        return graph

    @classmethod
    def from_networkx(cls, graph: nx.Graph, *, weight: str = "weight", **options: Any) -> Self:
        """Make a graph from a networkx graph.

        Parameters
        ----------
        graph
            Nodes are numbered in the order of iteration, and networkx's nodes become labels: see `labels`
            of `from_edges`. Parallel edges of a multigraph are repeated edges: see `duplicates` there.
        weight
            Edge attribute that holds the weights. Edges without it have weight 1, as everywhere in
            networkx; if no edge has it, the graph has no weights.
        options
            As for `from_edges`, except `n`, `directed` and `labels`.

        Raises
        ------
        InputError
            The argument is not a networkx graph, it has no node, or weights are not numbers.

        Examples
        --------
        >>> import networkx as nx
        >>> from dgsuite import Graph
        >>> graph = Graph.from_networkx(nx.path_graph(['ann', 'bob', 'cid']))
        >>> list(graph.labels)
        ['ann', 'bob', 'cid']
        """
        found = conversion.of_networkx(graph, weight, drops(options))
        return cls.from_edges(directed=graph.is_directed(), **{**found, **options})

    @classmethod
    def from_dataframe(
        cls,
        frame: Any,
        source: Hashable = "source",
        target: Hashable = "target",
        weight: Hashable | None = "weight",
        *,
        relabel: bool | None = None,
        **options: Any,
    ) -> Self:
        """Make a graph from a dataframe with an edge in each row.

        Parameters
        ----------
        frame
            A Dask dataframe, whose partitions the workers read, a pandas dataframe, or a table of any library
            that offers Arrow's stream or the dataframe protocol, such as Polars, DuckDB and Arrow itself.
        source, target
            Names of the columns with the ends of edges.
        weight
            Name of the column with weights; None for no weights. Only the default may be missing.
        relabel
            Whether the ends of edges are identifiers: see `from_edges`. By default they are, unless `n` or
            `labels` is given; with ``relabel=False`` they are node ids.
        options
            As for `from_edges`, such as `directed` (by default edges have no direction) and `duplicates`
            (which weight an edge has that is in several rows).

        Raises
        ------
        InputError
            It is no dataframe, a column is missing, or as `from_edges` says.

        Notes
        -----
        A Dask dataframe is computed here, once if the ends are identifiers. Dask makes text of columns of
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

        A table of Arrow; one of Polars, or ``duckdb.sql("select ...")``, does as well:

        >>> import pyarrow as pa
        >>> table = pa.table({"source": [1, 2], "target": [2, 3]})
        >>> Graph.from_dataframe(table)
        <dgsuite.Graph: 3 nodes, 2 edges, undirected; 1 clusters in this process>
        """
        pieces = sources.pieces(frame, None, None, (source, target, weight), drops(options))
        return cls._named(pieces, relabel, **options)

    @classmethod
    def _named(cls, pieces: sources.Pieces, relabel: bool | None = None, **options: Any) -> Self:
        """Make a graph of edges whose ends are identifiers, unless an option says that they are node ids."""
        if relabel is None:
            given = {name for name, value in options.items() if value is not None}
            relabel = not {"n", "labels"} & given and not sources.is_number(options.get("nodes"))
        return cls.from_edges(pieces, relabel=relabel, **options)

    @classmethod
    def from_bag(
        cls,
        bag: db.Bag | Iterable[Any],
        items: str = "edges",
        *,
        relabel: bool | None = None,
        **options: Any,
    ) -> Self:
        """Make a graph from a Dask bag.

        Parameters
        ----------
        bag
            A Dask bag, whose partitions the workers compute, or any iterable.
        items
            What an item is. "edges": a pair (source, target), or a triple (source, target, weight).
            "adjacency": a pair (node, neighbours), where neighbours are a list, or a mapping from neighbours
            to weights. An undirected edge may be there at one end or at both; the smallest weight
            stays unless `duplicates` says otherwise.
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
        if items == "adjacency":
            options = {"duplicates": repeated.DEFAULT, **options}
        return cls._named(bags.pieces(bag, items, drops(options)), relabel, **options)

    @classmethod
    def from_arrays(
        cls,
        indptr: Any,
        indices: Any,
        weights: Any = None,
        uid: Any = None,
        *,
        partition: Partition | None = None,
        **options: Any,
    ) -> Self:
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
            Identifiers of the nodes, distinct integers, shape (n,), in the order of `indptr`; by default
            the node ids.
        partition
            Which chunk has which nodes; by default they are numbered in the order of the chunks.
        options
            As for `from_edges`. A self-loop is one entry of its row. This process reads the arrays.

        Raises
        ------
        InputError
            Chunks do not match, an entry is wrong (the message names its chunk), or the adjacency of an
            undirected graph is not symmetric.

        Examples
        --------
        >>> from dgsuite import Graph
        >>> Graph.from_arrays([0, 1, 3, 4], [1, 0, 2, 1])
        <dgsuite.Graph: 3 nodes, 2 edges, undirected; 1 clusters in this process>
        """
        arrays = {"indptr": indptr, "indices": indices, "weights": weights, "uid": uid}
        found = conversion.of_arrays(arrays, partition, options.get("directed", False))
        graph = cls.from_edges(**found, **options)
        graph.chosen = hasattr(indptr, "dask")
        return graph


def drops(options: Mapping[str, Any]) -> bool:
    """Whether options of `from_edges` say that rows without a value are dropped.

    Raises
    ------
    InputError
        `missing` is neither "error" nor "drop".
    """
    missing = options.get("missing", "error")
    one_of("missing", missing, ("error", "drop"))
    return bool(missing == "drop")
