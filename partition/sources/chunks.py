"""Build a graph from its adjacency in chunks, each of which is a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from dgsuite.base.errors import InputError
from dgsuite.base.mixing import GOLDEN, mix
from dgsuite.partition.client.tasks import computed, pinned, submitted
from dgsuite.partition.client.waiting import Watch, letting_go
from dgsuite.partition.client.workers import worker_addresses, worker_of
from dgsuite.partition.clusters.cluster import Cluster
from dgsuite.partition.clusters.cutting import check_identifiers
from dgsuite.partition.clusters.partitioners import Partition
from dgsuite.partition.construction import build
from dgsuite.partition.construction.distribute import Constructed, members, shared, tally_of
from dgsuite.partition.labels.columns import as_array, numpy_column
from dgsuite.partition.sources.duplicates import Tally, merged, ordered, summed, tallied
from dgsuite.partition.sources.edges import BUILDING
from dgsuite.partition.sources.piece import as_piece, check_edges

if TYPE_CHECKING:
    from distributed import Client

Columns = dict[str, list[Any]]
"""By name, the chunks of an array, one a cluster."""


def construct(
    arrays: dict[str, Any],
    partition: Partition | None,
    directed: bool,
    client: Client | None,
    rule: str,
    keep: bool = False,
    disk: bool = False,
) -> tuple[Constructed, Partition]:
    """Make all clusters; see `dgsuite.partition.graph.graph.Graph.from_arrays`.

    Parameters
    ----------
    arrays
        ``indptr``, ``indices``, ``weights`` and ``uid``; the last two may be None.
    rule
        By which repeated entries are merged: one of `dgsuite.base.names.RULES`.
    keep
        Whether self-loops are kept.
    disk
        Whether clusters have their edges in mapped files.

    Returns
    -------
    made
        The clusters.
    partition
        By default blocks of the sizes of the chunks.

    Raises
    ------
    InputError
        An array or a chunk is wrong: the message names it.
    """
    given = {name: array for name, array in arrays.items() if array is not None}
    of_dask = [hasattr(array, "dask") for array in given.values()]
    if any(of_dask) != all(of_dask):
        raise InputError(f"{', '.join(given)} must all be Dask arrays, or none of them")
    here = not all(of_dask)
    if here:
        given = {name: _array(array, name) for name, array in given.items()}
    for name, array in given.items():
        if array.ndim != 1:
            raise InputError(f"{name} must be one-dimensional, got {array.ndim} dimensions")
    if here:
        columns = {name: [array] for name, array in given.items()}
        return _here(columns, partition, directed, rule, keep, disk)
    counts = {name: array.numblocks[0] for name, array in given.items()}
    if len(set(counts.values())) > 1:
        text = ", ".join(f"{name} has {count}" for name, count in counts.items())
        raise InputError(
            f"a chunk of each array is a cluster, so there must be equally many: {text}"
        )
    lazy = {name: array.to_delayed().tolist() for name, array in given.items()}
    if client is not None:
        return _on_workers(lazy, partition, directed, client, rule, keep, disk)
    import dask

    computed = dask.compute(*lazy.values(), scheduler="threads")
    found = dict(zip(lazy, computed, strict=True))
    return _here(found, partition, directed, rule, keep, disk)


def _array(given: Any, name: str) -> NDArray:
    """An array of a graph in this process, as a copy of its own."""
    if isinstance(given, list | tuple):
        given = as_array(given)
    return numpy_column(given, name).copy()


def _here(
    columns: Columns,
    partition: Partition | None,
    directed: bool,
    rule: str,
    keep: bool,
    disk: bool,
) -> tuple[Constructed, Partition]:
    """Make all clusters in this process."""
    partition = _partition(list(map(len, columns["indptr"])), partition)
    made = [
        _cluster(
            k,
            partition,
            directed,
            {name: column[k] for name, column in columns.items()},
            rule,
            keep,
            disk,
        )
        for k in range(partition.clusters)
    ]
    if "uid" in columns:
        _distinct(columns["uid"], partition)
    parts = [*chain.from_iterable(made)]
    tally = tallied(each.tally for each in made)
    return _checked(parts, [_facts(part) for part in parts], tally), partition


@letting_go()
def _on_workers(
    columns: Columns,
    partition: Partition | None,
    directed: bool,
    client: Client,
    rule: str,
    keep: bool,
    disk: bool,
) -> tuple[Constructed, Partition]:
    """Make each cluster on the worker that is to hold it."""
    workers = worker_addresses(client)
    watch = Watch(client, BUILDING, workers)
    with client.as_current(), watch.explain_errors():
        futures = computed(client, list(chain.from_iterable(columns.values())))
        count = len(columns["indptr"])
        there = {name: futures[i * count : (i + 1) * count] for i, name in enumerate(columns)}
        lengths = [submitted(client, len, chunk) for chunk in there["indptr"]]
        partition = _partition(watch.gather(lengths), partition)
        everywhere = shared(partition, watch)
        parts, tallies = [], []
        for k in range(count):
            mine = {name: column[k] for name, column in there.items()}
            worker = worker_of(k, count, workers)
            made = pinned(client, worker, _cluster, k, everywhere, directed, mine, rule, keep, disk)
            parts += members(client, worker, made, 1)
            tallies.append(submitted(client, tally_of, made))
        del made
        facts = watch.gather([submitted(client, _facts, part) for part in parts])
        if "uid" in there:
            watch.gather([submitted(client, _distinct, there["uid"], everywhere)])
        tally = tallied(watch.gather(tallies))
    return _checked(parts, facts, tally), partition


def _partition(lengths: Sequence[int], given: Partition | None) -> Partition:
    """The partition whose clusters have as many nodes as the chunks of ``indptr`` say."""
    if empty := [k for k, length in enumerate(lengths) if not length]:
        raise InputError(
            f"chunk {empty[0]} of indptr is empty: it needs an entry more than its cluster has nodes"
        )
    sizes = np.asarray(lengths, np.int64) - 1
    if not sizes.sum():
        raise InputError("a graph needs at least one node")
    if given is None:
        return Partition(np.concatenate([[0], np.cumsum(sizes)]))
    expected = np.diff(given.offsets)
    if not np.array_equal(expected, sizes):
        raise InputError(
            f"the partition has clusters of {expected.tolist()} nodes, but the chunks of indptr are of "
            f"{sizes.tolist()}"
        )
    return given


def _cluster(
    index: int,
    partition: Partition,
    directed: bool,
    chunks: dict[str, NDArray],
    rule: str,
    keep: bool,
    disk: bool,
) -> build.Assembled:
    """Check the chunks of a cluster, and make it by the rules of `dgsuite.partition.construction.build`."""
    where, n = f"chunk {index}: ", partition.n
    indptr, indices = chunks["indptr"], chunks["indices"]
    nodes = partition.nodes(index)
    for name, values in (("indptr", indptr), ("indices", indices)):
        if values.dtype.kind not in "iu" and len(values):
            raise InputError(f"{where}{name} must be integers, got dtype {values.dtype}")
    indptr = indptr.astype(np.int64)
    lengths = np.diff(indptr)
    if indptr[0] or indptr[-1] != len(indices) or (lengths < 0).any():
        raise InputError(
            f"{where}indptr must start from 0, not decrease, and end at {len(indices)}, the number of "
            f"indices in the chunk; it starts from {indptr[0]} and ends at {indptr[-1]}"
        )
    rows = np.repeat(np.arange(len(nodes)), lengths)
    piece = as_piece(nodes[rows], indices, chunks.get("weights"), where)
    check_edges(piece, n, 0, where)
    _, indices, weights = piece
    indices = indices.astype(build.id_dtype(n), copy=False)
    loops = nodes[rows] == indices
    looped = int(np.count_nonzero(loops))
    tally = Tally(len(loops) - looped, looped)
    looped_rows: NDArray[np.int64] = np.empty(0, np.int64)
    of_loops = None if weights is None else weights[:0]
    keys = rows * n + indices
    if looped or (keys[1:] <= keys[:-1]).any():
        if looped and not keep:
            keys = keys[~loops]
            weights = None if weights is None else weights[~loops]
        if weights is not None and rule == "sum":  # rows of both ends have the same order
            order = np.argsort(weights, kind="stable")
            keys, weights = keys[order], weights[order]
        keys, weights, bad = merged(*ordered(keys, weights, rule), rule)
        if looped and keep:
            loops = nodes[keys // n] == keys % n
            looped_rows = keys[loops] // n
            keys = keys[~loops]
            if weights is not None:
                of_loops, weights = weights[loops], weights[~loops]
        rows, indices = np.divmod(keys, n)
        indptr = np.searchsorted(rows, np.arange(len(nodes) + 1))
        if len(bad):
            edges = zip(nodes[bad // n].tolist(), (bad % n).tolist(), strict=True)
            tally = tally._replace(wrong=min(edges))
    if weights is not None and of_loops is not None:
        weights = weights.astype(summed(weights.dtype, rule), copy=False)
        of_loops = of_loops.astype(weights.dtype, copy=False)
    uid = chunks.get("uid")
    if uid is not None and len(uid) != len(nodes):
        raise InputError(f"{where}uid has {len(uid)} entries for {len(nodes)} nodes")
    cluster = Cluster(
        index,
        partition,
        indptr.astype(build.id_dtype(len(indices))),
        indices.astype(build.id_dtype(n), copy=False),
        weights,
        None if uid is None else uid.astype(np.int64),
        directed,
        loops=looped_rows if keep else None,
        loop_weights=of_loops if keep else None,
        disk=disk,
    )
    tally = tally._replace(kept=len(looped_rows) if keep else None)
    return build.Assembled([cluster], tally)


def _distinct(uid: Sequence[NDArray], partition: Partition) -> None:
    """Check the identifiers of all nodes."""
    by_position = np.concatenate(uid)
    check_identifiers(by_position[partition.position(np.arange(partition.n))], partition.n)


def _facts(cluster: Cluster) -> tuple[int, DTypeLike | None, int]:
    """Number of entries, dtype of the weights, and what the cluster adds to the asymmetry.

    That is the sum of a hash of all entries, less that of the entries with their ends exchanged. The sum over
    all clusters is 0 modulo 2^64 if the adjacency is symmetric; otherwise with a probability of 2^-64.
    """
    weights = cluster.weights
    dtype = None if weights is None else weights.dtype
    if cluster.directed:
        return len(cluster.indices), dtype, 0
    n = np.uint64(cluster.n)
    rows = np.repeat(cluster.ids, np.diff(cluster.indptr)).astype(np.uint64)
    columns = cluster.indices.astype(np.uint64)
    bits: NDArray[np.uint64] = np.zeros(1, np.uint64)
    if weights is not None:
        # 0 is added, since 0.0 and -0.0 are equal
        bits = (weights.astype(f"{weights.dtype.kind}8") + 0).view(np.uint64)
    there = mix(mix(rows * n + columns + GOLDEN) + bits).sum()
    back = mix(mix(columns * n + rows + GOLDEN) + bits).sum()
    return len(cluster.indices), dtype, int(there) - int(back)


def _checked(
    parts: list[Any], facts: Sequence[tuple[int, DTypeLike | None, int]], tally: Tally
) -> Constructed:
    """The clusters, whose facts agree."""
    entries, dtypes, asymmetry = zip(*facts, strict=True)
    if tally.wrong is None and sum(asymmetry) % 2**64:
        raise InputError(
            "the arrays are not symmetric: an edge, or its weight, is there in one direction only; pass "
            "directed=True for a directed graph"
        )
    if len(set(dtypes)) > 1:
        raise InputError(f"chunks of weights have different dtypes: {', '.join(map(str, dtypes))}")
    return Constructed(parts, list(entries), dtypes[0], tally)
