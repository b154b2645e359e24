"""Conversion from and to networkx graphs and SciPy's sparse matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.partition.clusters.cluster import Cluster
from dgsuite.partition.clusters.partitioners import Partition
from dgsuite.partition.labels.labels import Labels
from dgsuite.partition.sources import duplicates
from dgsuite.partition.sources.edges import together
from dgsuite.partition.sources.piece import as_piece, check_edges, check_ids

if TYPE_CHECKING:
    import networkx as nx
    import scipy.sparse as sp


def of_scipy(
    matrix: sp.sparray | sp.spmatrix, directed: bool, rule: str, keep: bool = False
) -> tuple[dict[str, Any], int, int]:
    """Arguments of `Graph.from_edges` for a sparse adjacency matrix; see `Graph.from_scipy`.

    Parameters
    ----------
    rule
        By which entries that are stored several times are merged.
    keep
        Whether self-loops are to be kept, so that the rule holds for them, too.

    Returns
    -------
    arguments
        Each edge once, and self-loops.
    rows, loops
        Number of entries that are stored, and of those among them on the diagonal. Of an undirected graph,
        entries below the diagonal are not counted.
    """
    import scipy.sparse as sp

    coo = sp.coo_array(matrix)
    if coo.ndim != 2 or coo.shape[0] != coo.shape[1]:
        raise InputError(f"an adjacency matrix must be square, got shape {coo.shape}")
    if coo.data.dtype.kind == "f" and not np.isfinite(coo.data).all():
        at = np.argmin(np.isfinite(coo.data))
        i, j = (int(axis[at]) for axis in coo.coords)
        raise InputError(f"entry ({i}, {j}) of the matrix is {coo.data[at]}, not finite")
    rows, columns = coo.coords
    count = int(len(rows) if directed else np.count_nonzero(rows <= columns))
    loops = int(np.count_nonzero(rows == columns))
    coo = _merged(coo, rule, keep)
    rows, columns = coo.coords
    weights = None if coo.dtype == bool else coo.data
    if not directed:
        differs = (coo.tocsr() != coo.T.tocsr()).tocoo()
        if differs.nnz:
            i, j = (int(axis[0]) for axis in differs.coords)
            raise InputError(
                f"the matrix is not symmetric: entries ({i}, {j}) and ({j}, {i}) differ; "
                f"pass directed=True for a directed graph"
            )
        once = _one_side(coo)
        count += int(np.count_nonzero(rows[once] > columns[once]))
        rows, columns = rows[once], columns[once]
        weights = None if weights is None else weights[once]
    return {"src": rows, "dst": columns, "n": coo.shape[0], "weights": weights}, count, loops


def of_arrays(
    arrays: dict[str, Any], partition: Partition | None, directed: bool
) -> dict[str, Any]:
    """Arguments of `Graph.from_edges` for an adjacency in CSR; see `Graph.from_arrays`.

    Parameters
    ----------
    arrays
        ``indptr``, ``indices``, ``weights`` and ``uid``; the last two may be None.
    """
    import dask

    given = {name: array for name, array in arrays.items() if array is not None}
    of_dask = [hasattr(array, "dask") for array in given.values()]
    if any(of_dask) != all(of_dask):
        raise InputError(f"{', '.join(given)} must all be Dask arrays, or none of them")
    if wrong := [name for name, array in given.items() if np.ndim(array) != 1]:
        raise InputError(f"{wrong[0]} must be one-dimensional")
    lazy = [a.to_delayed().ravel().tolist() if all(of_dask) else [a] for a in given.values()]
    read = dict(zip(given, map(list, dask.compute(*lazy)), strict=True))
    if len({*map(len, read.values())}) > 1:
        text = ", ".join(f"{name} has {len(chunks)}" for name, chunks in read.items())
        raise InputError(
            f"a chunk of each array is a cluster, so there must be equally many: {text}"
        )
    sizes = [len(chunk) - 1 for chunk in read["indptr"]]
    if min(sizes) < 0 or not sum(sizes):
        raise InputError("a graph needs at least one node, and each chunk of indptr an entry more")
    cut = Partition(np.cumsum([0, *sizes])) if partition is None else partition
    if sizes != np.diff(cut.offsets).tolist():
        raise InputError(
            f"the partition has clusters of {np.diff(cut.offsets).tolist()} nodes, but the chunks of indptr "
            f"are of {sizes}"
        )
    pieces = []
    for k, (own, ends, *more) in enumerate(zip(*list(read.values())[:3], strict=True)):
        where, own = f"chunk {k}: ", np.asarray(own)
        check_ids(own, f"{where}indptr")
        if own[0] or own[-1] != len(ends) or (own[1:] < own[:-1]).any():
            raise InputError(
                f"{where}indptr must start from 0, not decrease, and end at {len(ends)}, the number of "
                f"indices in the chunk"
            )
        if "uid" in read and len(read["uid"][k]) != sizes[k]:
            raise InputError(f"{where}uid has {len(read['uid'][k])} entries for {sizes[k]} nodes")
        weights = more[0] if "weights" in read else None
        pieces.append(as_piece(np.repeat(cut.nodes(k), np.diff(own)), ends, weights, where))
        check_edges(pieces[-1], cut.n, 0, where)
    src, dst, weights = together(pieces)
    if not directed:
        values = np.zeros(len(src)) if weights is None else weights
        one, other = np.lexsort((values, dst, src)), np.lexsort((values, src, dst))
        pairs = (src, dst), (dst, src), (values, values)
        if any((here[one] != back[other]).any() for here, back in pairs):
            raise InputError(
                "the arrays are not symmetric: an edge, or its weight, is there in one direction only; pass "
                "directed=True for a directed graph"
            )
        once = src <= dst
        src, dst, weights = src[once], dst[once], None if weights is None else weights[once]
    uid = np.concatenate(read["uid"])[cut.position(np.arange(cut.n))] if "uid" in read else None
    return {"src": src, "dst": dst, "weights": weights, "n": cut.n, "uid": uid, "partition": cut}


def _one_side(coo: sp.coo_array) -> NDArray:
    """Which entries of a symmetric matrix are its edges, each once: those on and above the diagonal.

    Below it are zeros that are stored there alone: what is not stored is 0, too.
    """
    rows, columns = (axis.astype(np.int64) for axis in coo.coords)
    once: NDArray = rows <= columns
    zeros = np.flatnonzero(~once & (coo.data == 0))
    if len(zeros):
        n = coo.shape[0]
        there = np.isin(columns[zeros] * n + rows[zeros], rows[once] * n + columns[once])
        once[zeros[~there]] = True
    return once


def _merged(coo: sp.coo_array, rule: str, keep: bool) -> sp.coo_array:
    """A matrix that stores each entry once."""
    import scipy.sparse as sp

    rows, columns = coo.coords
    order = np.lexsort((columns, rows))
    rows, columns, values = rows[order], columns[order], coo.data[order]
    fresh = np.ones(len(rows), bool)
    fresh[1:] = (rows[1:] != rows[:-1]) | (columns[1:] != columns[:-1])
    if fresh.all():
        return coo
    number = np.cumsum(fresh) - 1
    rows, columns = rows[fresh], columns[fresh]
    numbers = values.dtype.kind in "iuf"
    _, found, wrong = duplicates.merged(number, values if numbers else None, rule)
    if found is not None:
        values = found.astype(coo.dtype)
        wrong = np.append(wrong, np.flatnonzero(values != found))
    else:
        values = values[fresh]
    if not keep:
        wrong = wrong[rows[wrong] != columns[wrong]]  # self-loops are dropped
    if len(wrong):
        at = wrong.min()
        duplicates.refuse(rule, (int(rows[at]), int(columns[at])))
    return sp.coo_array((values, (rows, columns)), shape=coo.shape)


def to_scipy(clusters: Sequence[Cluster], partition: Partition) -> sp.csr_array:
    """The adjacency matrix of all clusters of a graph, with the self-loops kept; see `Graph.to_scipy`."""
    import scipy.sparse as sp

    ends = np.cumsum([0, *(len(c.indices) for c in clusters)])
    dtype = np.int32 if max(int(ends[-1]), partition.n) < 1 << 31 else np.int64
    indptr = np.concatenate(
        [ends[:1], *(c.indptr[1:] + e for c, e in zip(clusters, ends, strict=False))], dtype=dtype
    )
    indices = np.concatenate([c.indices for c in clusters], dtype=dtype)
    weights = [c.weights for c in clusters if c.weights is not None]
    data = np.concatenate(weights) if weights else np.ones(len(indices), np.int64)
    if data.dtype == np.float16:
        data = data.astype(np.float32)
    matrix = sp.csr_array((data, indices, indptr), shape=(partition.n, partition.n))
    looped = [c.first + c.loops for c in clusters if c.loops is not None]
    if looped:
        matrix = _with_loops(matrix, np.concatenate(looped), clusters, partition)
    return matrix if partition.order is None else matrix[np.argsort(partition.order)]


def _with_loops(
    matrix: sp.csr_array, positions: NDArray, clusters: Sequence[Cluster], partition: Partition
) -> sp.csr_array:
    """A matrix, its rows by position, with entries for the self-loops at some positions."""
    import scipy.sparse as sp

    weights = [c.loop_weights for c in clusters if c.loop_weights is not None]
    own = np.concatenate(weights) if weights else np.ones(len(positions), np.int64)
    coo = matrix.tocoo()
    rows = np.append(coo.row, positions)
    columns = np.append(coo.col, partition.node(positions))
    data = np.append(coo.data, own.astype(coo.dtype, copy=False))
    found = sp.csr_array((data, (rows, columns)), shape=matrix.shape)
    found.sort_indices()
    return found


def of_networkx(graph: nx.Graph, weight: str, drop: bool = False) -> dict[str, Any]:
    """Arguments of `Graph.from_edges` for a networkx graph; see `Graph.from_networkx`."""
    import networkx as nx

    if not isinstance(graph, nx.Graph):
        raise InputError(
            f"graph must be a networkx graph, got {type(graph).__name__}; "
            f"nx.Graph(edges) makes one from a list of edges"
        )
    labels = list(graph.nodes)
    number = {label: i for i, label in enumerate(labels)}
    absent = object()
    edges = list(graph.edges(data=weight, default=absent))
    values = None
    if any(w is not absent for _, _, w in edges):
        for u, v, w in edges:
            if w is None and not drop:
                raise InputError(f"edge ({u!r}, {v!r}) has weight None; weights must be numbers")
        of_truth = bool, np.bool_  # networkx adds them up, too
        values = [int(w) if isinstance(w, of_truth) else 1 if w is absent else w for *_, w in edges]
    whole = all(isinstance(u, int | np.integer) and not isinstance(u, bool) for u in labels)
    ids = whole and labels == list(range(len(labels)))
    return {
        "src": np.fromiter((number[u] for u, _, _ in edges), np.int64, len(edges)),
        "dst": np.fromiter((number[v] for _, v, _ in edges), np.int64, len(edges)),
        "n": len(labels),
        "weights": values,
        "labels": None if ids else labels,
    }


def edges_of(matrix: sp.csr_array, directed: bool) -> tuple[NDArray, NDArray, NDArray]:
    """Sources, targets and data of an adjacency matrix, an undirected edge once."""
    coo = matrix.tocoo()
    rows, columns = coo.coords
    once = slice(None) if directed else rows <= columns
    return rows[once], columns[once], coo.data[once]


def to_networkx(
    matrix: sp.csr_array, labels: Labels | None, directed: bool, weighted: bool
) -> nx.Graph:
    """A networkx graph with an adjacency matrix; see `Graph.to_networkx`."""
    import networkx as nx

    graph = nx.DiGraph() if directed else nx.Graph()
    names = range(matrix.shape[0]) if labels is None else labels.array.tolist()
    graph.add_nodes_from(names)
    source, target, weights = edges_of(matrix, directed)
    ends = [[names[i] for i in side.tolist()] for side in (source, target)]
    if weighted:
        graph.add_weighted_edges_from(zip(*ends, weights.tolist(), strict=True))
    else:
        graph.add_edges_from(zip(*ends, strict=True))
    return graph
