"""Edge lists of networkx graphs and sparse matrices, as `Graph.from_edges` takes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from partition.errors import InputError

if TYPE_CHECKING:
    import networkx as nx
    import scipy.sparse as sp


def of_scipy(matrix: sp.sparray | sp.spmatrix, directed: bool) -> dict[str, Any]:
    """Arguments of `Graph.from_edges` for a sparse adjacency matrix; see `Graph.from_scipy`."""
    import scipy.sparse as sp

    coo = sp.coo_array(matrix)
    if coo.ndim != 2 or coo.shape[0] != coo.shape[1]:
        raise InputError(f"an adjacency matrix must be square, got shape {coo.shape}")
    coo.sum_duplicates()
    if coo.data.dtype.kind == "f" and not np.isfinite(coo.data).all():
        at = np.argmin(np.isfinite(coo.data))
        i, j = (int(axis[at]) for axis in coo.coords)
        raise InputError(f"entry ({i}, {j}) of the matrix is {coo.data[at]}, not finite")
    if not directed:
        differs = (coo.tocsr() != coo.T.tocsr()).tocoo()
        if differs.nnz:
            i, j = (int(axis[0]) for axis in differs.coords)
            raise InputError(
                f"the matrix is not symmetric: entries ({i}, {j}) and ({j}, {i}) differ; "
                f"pass directed=True for a directed graph"
            )
    weights = None if coo.dtype == bool or (coo.data == 1).all() else coo.data
    return {"src": coo.coords[0], "dst": coo.coords[1], "n": coo.shape[0], "weights": weights}


def of_networkx(graph: nx.Graph, weight: str) -> dict[str, Any]:
    """Arguments of `Graph.from_edges` for a networkx graph; see `Graph.from_networkx`."""
    import networkx as nx

    if not isinstance(graph, nx.Graph):
        raise InputError(
            f"graph must be a networkx graph, got {type(graph).__name__}; "
            f"for a list of edges, nx.Graph(edges) makes one"
        )
    labels = list(graph.nodes)
    number = {label: i for i, label in enumerate(labels)}
    absent = object()
    edges = list(graph.edges(data=weight, default=absent))
    values = None
    if any(w is not absent for _, _, w in edges):
        for u, v, w in edges:
            if w is None:
                raise InputError(f"edge ({u!r}, {v!r}) has weight None; weights must be numbers")
        values = [1 if w is absent else w for _, _, w in edges]
    return {
        "src": np.fromiter((number[u] for u, _, _ in edges), np.int64, len(edges)),
        "dst": np.fromiter((number[v] for _, v, _ in edges), np.int64, len(edges)),
        "n": len(labels),
        "weights": values,
        "labels": None if _plain(labels) else labels,
    }


def _plain(labels: list[Any]) -> bool:
    """Whether labels are the numbers that nodes have without any."""
    return labels == list(range(len(labels))) and all(
        isinstance(label, int | np.integer) and not isinstance(label, bool) for label in labels
    )
