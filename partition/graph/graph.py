"""The graph: adjacency in clusters, in this process or on the workers of a Dask cluster."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from dgsuite.base.errors import InputError, RunError
from dgsuite.base.names import Edges
from dgsuite.partition.arrays import mapped
from dgsuite.partition.client import session
from dgsuite.partition.clusters.cluster import Cluster
from dgsuite.partition.clusters.partitioners import Partition, blocks, check_clusters
from dgsuite.partition.construction import distribute
from dgsuite.partition.graph import (
    conversion,
    dask_views,
    display,
    growing,
    recovery,
    selection,
    views,
)
from dgsuite.partition.graph.checks import components, once
from dgsuite.partition.graph.dask_views import Collection
from dgsuite.partition.graph.growing import Growing
from dgsuite.partition.graph.libraries import Libraries
from dgsuite.partition.graph.nearby import Nearby
from dgsuite.partition.graph.readers import Readers
from dgsuite.partition.graph.rows import Traced
from dgsuite.partition.labels.nodes import node_ids
from dgsuite.partition.store import storage

if TYPE_CHECKING:
    import networkx as nx
    import scipy.sparse as sp
    from distributed import Client


class Graph(Readers, Libraries, Growing, Traced, Collection, Nearby):
    """A graph divided into clusters of nodes.

    Make one with a constructor: `from_edges`, `from_dataframe`, `from_parquet`, `from_csv`, `from_delta`,
    `from_bag`, `from_arrays`, `from_scipy`, `from_networkx`, `from_igraph`, `from_graphblas`,
    `from_edge_index`, `read_imsuite`, `read_edge_list`, `read_matrix_market`, or `load` of what `save` wrote.
    With a Dask client, the workers build the clusters and keep them; without one, this process does.

    The same rules hold for every source. A graph is undirected unless ``directed=True``. Self-loops are
    dropped, or kept apart from the edges with ``loops="keep"``. Repeated edges (of an undirected graph: in
    either direction) are merged by the rule that ``duplicates=`` names; by default they keep the smallest
    weight, with a warning. `built` says how many rows were read, merged and dropped. Weights that are not
    finite and edges to missing nodes are errors.

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
        Labels of the nodes (`dgsuite.partition.labels.labels.Labels`, a sequence), if the source had any.
    identified
        Whether the source gave the nodes identifiers; otherwise these are the node ids.
    cache
        Results of checks and counts of the whole graph; see `dgsuite.partition.graph.checks.once`. The same
        graph elsewhere or in other clusters shares them.
    derived
        What was made of the graph where its clusters are: views of a directed graph, and futures of what
        runs have sent to workers. The same graph in other clusters there shares them.
    built
        How many rows of a table were read, merged and dropped
        (`dgsuite.partition.sources.duplicates.Built`); None where the graph was not made of a table, such
        as a subgraph.
    rows
        Node ids of both ends of each row of that table, where they were kept, else None: see `rows_of`.
    keeps_loops
        Whether self-loops are kept (``loops="keep"``), apart from the edges: see `Cluster.loops`.
    edges
        Where its edges are: in "memory", or in mapped files on "disk".
    saved
        The files of the graph, if it was saved or loaded.
    name
        Unique name, with which the keys of the clusters begin where the graph is a Dask collection.

    Examples
    --------
    >>> from dgsuite import Graph
    >>> Graph.from_edges([0, 1, 2], [1, 2, 3], weights=[5, 1, 2])
    <dgsuite.Graph: 4 nodes, 3 edges, undirected, weights int64; 1 clusters in this process>

    >>> graph = Graph.from_edges([0, 1, 2], [1, 2, 3], weights=[5, 1, 2], clusters=2)
    >>> graph.n, graph.m, graph.weighted, graph.local, graph.client
    (4, 3, True, True, None)
    >>> [part.ids for part in graph.parts]
    [array([0, 1]), array([2, 3])]
    >>> graph.indptr.compute(), graph.indices.compute(), graph.weights.compute()
    (array([0, 1, 3, 0, 2, 3]), array([1, 0, 2, 1, 3, 2], dtype=int32), array([5, 5, 1, 1, 2, 2]))
    >>> graph.uid.compute(), graph.degree.compute()
    (array([0, 1, 2, 3]), array([1, 2, 2, 1], dtype=int32))
    >>> (graph.in_degree + graph.out_degree).compute()
    array([2, 4, 4, 2], dtype=int32)
    >>> graph.clusters.npartitions, graph.nbytes
    (2, 96)
    """

    @property
    def parts(self) -> list[Any]:
        """The clusters: `Cluster` objects in this process, or futures of them.

        Clusters that were lost with their worker are made again.

        Raises
        ------
        RunError
            They cannot be made again, or the client that built the graph is closed.
        """
        if self._missing():
            with self.derived.lock:
                self._restore()
        return self._parts

    @property
    def recoverable(self) -> bool:
        """Whether clusters that are lost with their worker can be made again: from files, or by the
        scheduler, which is asked, from what they were made of. Clusters in this process cannot be lost.

        The next call that needs lost clusters, such as a run, makes them again.

        Raises
        ------
        RunError
            The scheduler is gone or does not answer.

        Examples
        --------
        >>> from dgsuite import Graph
        >>> Graph.from_edges([0, 1], [1, 2]).recoverable
        True
        """
        return self.saved is not None or recovery.recoverable(self._parts)

    def _missing(self) -> list[Any]:
        """Futures of clusters that have no result and will get none."""
        return [part for part in self._parts if not recovery.there(part)]

    def _restore(self) -> None:
        """Make clusters again that were lost, if another thread has not done so meanwhile."""
        missing = self._missing()
        for part in missing:
            if part.status == "error":
                part.result()
        if not missing:
            return
        if self._parts[0].client.status != "running":
            raise RunError(
                "the client that the graph was built with is closed; build the graph again"
            )
        self.homes = []
        recovery.restore(self, self._parts)

    __repr__ = display.line
    _repr_html_ = display.table

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

        Examples
        --------
        >>> from dgsuite import Graph
        >>> Graph.from_edges([0, 1], [1, 2]).persist()  # without a client it stays here
        <dgsuite.Graph: 3 nodes, 2 edges, undirected; 1 clusters in this process>
        """
        client = session.current_client(client)
        if client is None or not self.local:
            return self
        moved = self.like(dask_views.on_workers(self, client), self.entries)
        moved.cache, moved.saved = self.cache, self.saved
        return moved

    def session(self, client: Client | None = None) -> Any:
        """A session: runs on this graph one after another, over connections that the workers keep.

        Parameters
        ----------
        client
            Dask client to run on; by default that of the graph, or the current one. Without one, runs are in
            this process.

        Returns
        -------
        dgsuite.core.running.session.GraphSession
            It has `run` and `run_each`, and is closed by ``with``.

        Raises
        ------
        InputError
            `client` is no client.

        Examples
        --------
        >>> from dgsuite import Graph
        >>> with Graph.from_edges([0, 1], [1, 2]).session() as session:
        ...     session.run("wcc").component.values
        array([0, 0, 0])
        """
        from dgsuite.core.running.session import GraphSession

        return GraphSession(self, client)

    def compute(self) -> Graph:
        """The same graph in this process.

        Raises
        ------
        RunError
            A worker was lost.

        Examples
        --------
        >>> from dgsuite import Graph
        >>> Graph.from_edges([0, 1], [1, 2]).compute().local
        True
        """
        if self.local:
            return self
        labels = self.labels.here() if self.labels is not None else None
        here = self.like(self.gather(), self.entries, labels=labels)
        here.cache = self.cache
        return here

    def repartition(self, clusters: int, client: Client | None = None) -> Graph:
        """The same graph in another number of contiguous blocks of equally many nodes.

        The new clusters are where the old ones were, in this process or on the workers.

        Parameters
        ----------
        clusters
            Their number, from 1 on.
        client
            Whose workers make the clusters; by default that of the graph.

        Raises
        ------
        InputError
            The graph was built with a node-to-cluster map, which fixes the number of clusters.

        Examples
        --------
        >>> from dgsuite import Graph
        >>> graph = Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3])
        >>> graph.repartition(2)
        <dgsuite.Graph: 4 nodes, 4 edges, undirected; 2 clusters in this process>
        """
        k = check_clusters(clusters)
        if k == len(self.parts):
            return self
        if self.partition.order is not None:
            raise InputError(
                f"the graph has a partition of its own with {len(self.parts)} clusters; "
                f"build it again to have {k}"
            )
        return self.recut(blocks(self.n, k), client)

    def recut(self, how: Partition, client: Client | None = None) -> Graph:
        """The same graph in other clusters, or itself.

        The new clusters are where the old ones were, in this process or on the workers.

        Parameters
        ----------
        how
            Has nodes in the same order.
        client
            Whose workers make the clusters; by default that of the graph.

        Examples
        --------
        >>> from dgsuite import Graph
        >>> from dgsuite.partition import blocks
        >>> Graph.from_edges([0, 1, 2], [1, 2, 3]).recut(blocks(4, 2))
        <dgsuite.Graph: 4 nodes, 3 edges, undirected; 2 clusters in this process>
        """
        if how.offsets.tolist() == self.partition.offsets.tolist():
            return self
        kind = self.directed, self.weight_dtype
        client = None if self.local else client or self.client
        parts, entries = distribute.recut(self.parts, self.partition, how, *kind, client)
        recut = self.like(parts, entries, partition=how, chosen=True)
        recut.cache, recut.derived = self.cache, self.derived
        return recut

    def reversed(self) -> Graph:
        """The graph with all edges reversed, made where the clusters are; an undirected graph itself.

        Nodes, labels, weights and clusters stay the same.

        Examples
        --------
        >>> from dgsuite import Graph
        >>> graph = Graph.from_edges([0, 1], [1, 2], directed=True)
        >>> graph.reversed().to_scipy().toarray()
        array([[0, 0, 0],
               [1, 0, 0],
               [0, 1, 0]])
        """
        if not self.directed:
            return self
        rows = None if self.rows is None else self.rows.set_axis(["target", "source"], axis=1)
        return self.like(*views.exchanged(self, views.turned), rows=rows)

    def to_undirected(self) -> Graph:
        """The graph without the directions of its edges, made where the clusters are.

        As in networkx, an edge in either direction is an edge of the result. It keeps its weight; of two
        weights, one in each direction, the smaller one stays, as everywhere in dgsuite. Nodes, labels
        and clusters stay the same. An undirected graph is returned as it is.

        Examples
        --------
        >>> from dgsuite import Graph
        >>> Graph.from_edges([0, 1], [1, 2], directed=True).to_undirected()
        <dgsuite.Graph: 3 nodes, 2 edges, undirected; 1 clusters in this process>
        """
        if not self.directed:
            return self
        return self.like(*views.undirected_clusters(self), directed=False, built=None)

    def subgraph(self, nodes: Iterable[Hashable] | ArrayLike) -> Graph:
        """The graph of some nodes and all edges between them, made where the clusters are.

        Parameters
        ----------
        nodes
            Labels, where the graph has labels, else node ids, in any collection or column; in any order,
            repeats do not count. One node, which is no tuple. Or an array of truth values, shape (n,), such
            as an output of a kernel.

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

    def reordered(self, order: str | ArrayLike) -> Graph:
        """The same graph with its nodes numbered in another order, made where the clusters are.

        Nodes keep their labels; without labels, their former node ids become labels. Values that a
        run reads together may then be close in memory.

        Parameters
        ----------
        order
            "degree": nodes with most edges first. Or all node ids in the order that they are to have.

        Raises
        ------
        InputError
            There is no such order, an id is missing or there twice, or the graph has a map of nodes to
            clusters.

        Examples
        --------
        >>> from dgsuite import Graph
        >>> graph = Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3]).reordered("degree")
        >>> list(graph.labels)
        [2, 0, 1, 3]
        """
        return selection.reordered(self, order)

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

        Examples
        --------
        >>> from dgsuite import Graph
        >>> Graph.from_edges([0, 1, 3], [1, 2, 4]).component()
        <dgsuite.Graph: 3 nodes, 2 edges, undirected; 1 clusters in this process>
        """
        found = components(self)
        if node is None:
            chosen = np.bincount(found).argmax()
        else:
            chosen = found[node_ids([node], self.n, self.labels, "node")[0]]
        nodes = np.flatnonzero(found == chosen)
        return self if len(nodes) == self.n else selection.induced(self, nodes)

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
            `attrs`, is of a type that a file cannot hold (see `dgsuite.partition.labels.labels.to_json`).
        RunError
            A worker was lost.

        Notes
        -----
        There is a file for each cluster, one for what is known of all nodes, and ``graph.json`` with the
        SHA-256 of these: see `dgsuite.partition.store.storage`. If a save is interrupted, a graph that was
        there stays.

        Examples
        --------
        >>> from dgsuite import Graph
        >>> graph = Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3])
        >>> graph.save("graph")
        >>> Graph.load("graph")
        <dgsuite.Graph: 4 nodes, 4 edges, undirected; 1 clusters in this process>
        """
        self.saved = storage.save(self, path, growing.Lineage.of(self).identity)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        clusters: int | None = None,
        client: Client | None = None,
        edges: Edges = "memory",
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
        edges
            With "disk" the files are mapped, and a run reads what it needs of them, so the graph may be
            larger than memory. Files that are not on a local disk are copied to one first: to the folder of
            the worker, or to Dask's ``temporary-directory``.

        Returns
        -------
        Graph
            With the same nodes, edges, labels, identifiers, `attrs` and partition.

        Raises
        ------
        InputError
            A file is missing or damaged (the message names it), or there is no room on the disk.
        RunError
            A worker was lost.

        Examples
        --------
        >>> from dgsuite import Graph
        >>> graph = Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3])
        >>> graph.save("graph")
        >>> Graph.load("graph", clusters=2)
        <dgsuite.Graph: 4 nodes, 4 edges, undirected; 2 clusters in this process>
        """
        client = session.current_client(client)
        parts, partition, options, identity = storage.load(path, client, mapped.wanted(edges))
        graph = cls(parts, partition, **options)
        once(graph, growing.LINEAGE, lambda _: growing.Lineage(identity))
        return graph if clusters is None else graph.repartition(clusters, client)

    def gather(self) -> list[Cluster]:
        """Bring all clusters into this process.

        Examples
        --------
        >>> from dgsuite import Graph
        >>> graph = Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3])
        >>> [cluster.size for cluster in graph.gather()]
        [4]
        """
        if self.client is None:
            return self.parts
        return distribute.gathered(self.parts, self.partition, self.client)

    def to_scipy(self) -> sp.csr_array:
        """The adjacency matrix, in this process.

        Self-loops that the graph keeps are on the diagonal. The data are ones (int64) if there are no
        weights, and float32 for weights of float16, which SciPy does not have.

        Examples
        --------
        >>> from dgsuite import Graph
        >>> graph = Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3])
        >>> graph.to_scipy().toarray()
        array([[0, 1, 1, 0],
               [1, 0, 1, 0],
               [1, 1, 0, 1],
               [0, 0, 1, 0]])
        """
        return conversion.to_scipy(self.gather(), self.partition)

    def to_networkx(self) -> nx.Graph:
        """A networkx graph with the original labels, and the self-loops that are kept, in this process.

        Examples
        --------
        >>> from dgsuite import Graph
        >>> graph = Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3])
        >>> sorted(graph.to_networkx().edges)
        [(0, 1), (0, 2), (1, 2), (2, 3)]
        """
        matrix = self.to_scipy()
        return conversion.to_networkx(matrix, self.labels, self.directed, self.weighted)
