"""Graphs of files, and sources of searches in a graph: random nodes that have a neighbour."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.base.names import Edges
from dgsuite.partition.clusters.cluster import Cluster
from dgsuite.partition.graph.checks import of_clusters
from dgsuite.partition.graph.graph import Graph
from dgsuite.partition.sources import imsuite
from dgsuite.partition.sources.readers import nodes_of
from dgsuite.partition.sources.tables import CSV, PARQUET
from dgsuite.suites.options import Reading

if TYPE_CHECKING:
    from distributed import Client


def able(graph: Graph) -> NDArray[np.bool_]:
    """Whether each node has an edge that leaves it, shape (n,)."""
    masks = np.concatenate(of_clusters(graph, _able, "looking for sources"))
    if graph.partition.order is None:
        return masks
    ordered = np.empty_like(masks)
    ordered[graph.partition.order] = masks
    return ordered


def _able(cluster: Cluster) -> NDArray[np.bool_]:
    return np.diff(cluster.indptr) > 0


def choose(able: NDArray[np.bool_], count: int, seed: int) -> list[int]:
    """Distinct random nodes that are able, `count` or as many as there are."""
    nodes = np.flatnonzero(able)
    rng = np.random.default_rng(seed)
    return [int(r) for r in rng.choice(nodes, min(count, len(nodes)), replace=False)]


def read(
    path: str,
    client: Client | None,
    how: Reading,
    kernel: str = "",
    nodes: str | None = None,
    columns: str | None = None,
) -> Graph:
    """The graph of a file: an edge list in text or Parquet, Matrix Market by its ending, or IMSuite's input.

    Of CSV with `columns`, the ends are identifiers, as in all tables with names.

    Parameters
    ----------
    how
        How it is read.
    kernel
        Name of the kernel that is to run, which decides the sections of an input of IMSuite's.
    nodes
        Nodes of an edge list that edges need not name: see `dgsuite.partition.sources.readers.nodes_of`.
    columns
        Columns of a table, separated by commas: source, target and perhaps weight.

    Raises
    ------
    InputError
        It cannot be read; or it is an input of IMSuite's, and the kernel is none of IMSuite's, or it is to be
        read in some way, or `nodes` is given; or `nodes` with Matrix Market; or `columns` without a
        table.
    """
    # workers may have another working directory
    if path.endswith(".nc"):
        raise InputError(
            f"{path}: is a result, not a graph; a graph is an edge list or Matrix Market"
        )
    path = path if "://" in path else os.path.abspath(path)
    chosen = {} if columns is None else _columns(path, columns)
    if imsuite.recognised(path):
        has_options = any((how.directed, how.relabel, how.duplicates, nodes))
        return _imsuite(path, client, has_options, kernel, how.edges)
    given: dict[str, Any] = how.model_dump(include={*Reading.model_fields}) | {"client": client}
    if path.endswith((".mtx", ".mtx.gz")):
        if nodes is None:
            return Graph.read_matrix_market(path, **given)
        raise InputError(f"--nodes is for edge lists: the matrix {path} says how many nodes it has")
    given |= {"nodes": None if nodes is None else nodes_of(nodes), **chosen}
    if chosen and path.endswith(CSV):
        return Graph.from_csv(path, **{"weight": None, **given, "relabel": how.relabel or None})
    return Graph.read_edge_list(path, **given)


def _columns(path: str, given: str) -> dict[str, Any]:
    """The columns of a table by what they are."""
    names = [name.strip() for name in given.split(",")]
    if len(names) not in (2, 3) or not all(names):
        raise InputError(
            f"--columns: expected SOURCE,TARGET or SOURCE,TARGET,WEIGHT, got {given!r}"
        )
    if not (path.endswith((*PARQUET, *CSV)) or "://" in path or os.path.isdir(path)):
        raise InputError(f"--columns is for Parquet and CSV, and {path} is neither")
    return dict(zip(("source", "target", "weight"), names, strict=False))


def _imsuite(
    path: str, client: Client | None, has_options: bool, kernel: str, edges: Edges
) -> Graph:
    what = f"{path}: is an input of IMSuite's, since its first line is one number"
    if kernel not in imsuite.KERNELS:
        raise InputError(
            f"{what}; these are for `dgsuite kernel` with one of {', '.join(imsuite.KERNELS)}. "
            f"An edge list has two node ids in a line, and perhaps a weight"
        )
    if has_options:
        raise InputError(
            f"{what}; it is undirected, its nodes are from 0 and no edge is there twice, so it takes none of "
            f"--directed, --relabel, --duplicates and --nodes"
        )
    try:
        return Graph.read_imsuite(path, kernel, client=client, edges=edges)
    except InputError as error:
        raise InputError(f"{error}; is it an input of another kernel than {kernel}?") from None
