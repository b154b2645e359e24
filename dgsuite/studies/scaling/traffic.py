"""Counted traffic: what a program sends on any number of clusters, from one run.

What the nodes send in each phase does not depend on how they are divided into clusters. So it is recorded
once, and each number of clusters takes one pass over the edges of the senders.
"""

from __future__ import annotations

import operator
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.core import traces
from dgsuite.core.engine.announcements import AnnouncementBatch
from dgsuite.core.engine.broadcast_store import BroadcastRecord
from dgsuite.core.engine.lists import NodeLists
from dgsuite.core.engine.program import Step
from dgsuite.core.engine.unicasts import UnicastBatch
from dgsuite.core.executors import serial
from dgsuite.core.parameters import make_kernel
from dgsuite.core.results.dataset import variable
from dgsuite.kernels.bsp import Kernel
from dgsuite.partition.clusters.cluster import Cluster
from dgsuite.partition.clusters.grid import near_square
from dgsuite.partition.clusters.halo import reads_all, reads_few
from dgsuite.partition.clusters.partitioners import blocks
from dgsuite.partition.clusters.subset import INDEX, encoded_size
from dgsuite.partition.graph.checks import check_graph
from dgsuite.partition.graph.graph import Graph

FOUND = 8
"""Bytes of a node that the grid search found, with its parent."""

TEXTS = {
    "out_bytes": ("bytes sent by the busiest cluster", "B", np.int64),
    "in_bytes": ("bytes received by the busiest cluster", "B", np.int64),
    "partners": ("clusters that the busiest cluster sends to", "1", np.int64),
    "total_bytes": ("bytes between clusters", "B", np.int64),
    "share": ("part of the work that the busiest cluster has", "1", np.float64),
}
"""What is counted of each exchange: what it is, its unit and type."""


class Exchange(NamedTuple):
    """What clusters send each other in one exchange.

    Attributes
    ----------
    pairs
        Items from each cluster to each, shape (clusters, clusters).
    nbytes
        Their bytes.
    work
        What each cluster has to do with what it gets: messages or entries.
    """

    pairs: NDArray[np.int64]
    nbytes: NDArray[np.int64]
    work: NDArray[np.int64]


@dataclass
class Recording:
    """What the nodes of a run said, phase by phase."""

    cluster: Cluster
    steps: list[Step]
    sent: list[Any]
    compute: NDArray[np.float64]


def trace(
    kernel: str | Kernel,
    graph: Graph,
    *,
    clusters: Sequence[int],
    seed: int | None = None,
    processes_per_node: int = 1,
    in_turn: bool = False,
    warmup: int = 1,
    on_clusters: Callable[[int], None] = lambda p: None,
    **parameters: Any,
) -> xr.Dataset:
    """Run a kernel once, in this process, and count its traffic on any numbers of clusters.

    Parameters
    ----------
    kernel, seed
        As for `dgsuite.run`; "bfs2d" is counted on grids as near to a square as can be.
    graph
        Undirected. It is gathered here: memory is that of the graph, and of a square matrix of the largest
        number of clusters (int64).
    clusters
        Numbers of clusters, such as ``[4, 64, 4096]``; each deals the nodes in blocks.
    processes_per_node
        Successive clusters that share a link. Bytes are then those of the busiest link, without what its
        clusters send each other.
    in_turn
        Whether clusters are dealt to the nodes in turn, as many to each; then they are not successive.
    warmup
        Runs before the one that is counted. A phase takes the least of all its times.
    on_clusters
        Called as each number of clusters begins.
    parameters
        Of the kernel.

    Returns
    -------
    xarray.Dataset
        With dims ``clusters`` and ``step`` (an exchange): ``out_bytes`` and ``in_bytes`` of the busiest
        cluster, the ``partners`` that the busiest cluster sends to, ``total_bytes``, and ``share``, the
        part of the step's work that the busiest cluster has; and ``compute_seconds(step)`` of all of it.

    Raises
    ------
    InputError
        A number of clusters or processes below 1, or a graph or parameter that does not fit.

    Examples
    --------
    >>> import dgsuite
    >>> from dgsuite.studies.scaling import trace
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> found = trace("bfs", graph, clusters=[2, 4])
    >>> found.partners.sel(clusters=4).values
    array([0, 2, 2, 1])
    """
    check_graph(graph)
    try:
        ps = [operator.index(p) for p in clusters]
    except TypeError:
        ps = []
    if not ps or any(p < 1 for p in ps):
        raise InputError(
            f"clusters must be integers of at least 1, such as [4, 64], got {clusters!r}"
        )
    if processes_per_node < 1 or (in_turn and any(p % processes_per_node for p in ps)):
        raise InputError(
            "processes_per_node must be at least 1 and, with in_turn, divide each of "
            f"{ps}, got {processes_per_node}"
        )
    grid = isinstance(kernel, str) and kernel == "bfs2d"
    if grid:
        parameters["direction"] = "top-down"
    chosen = make_kernel("bfs" if grid else kernel, graph, seed, parameters)
    recorded = record(chosen, graph, warmup)
    rows: list[list[Sequence[float]]] = []
    for p in ps:
        on_clusters(p)
        exchanges = (_on_grid if grid else _in_blocks)(recorded, p)
        found = [_busiest(e, processes_per_node, in_turn) for e in exchanges]
        *columns, share = zip(*found, strict=True)
        # what one exchange brings is worked on before the next
        rows.append([*columns, (1 / p, *share[:-1])])
    compute = recorded.compute
    steps = [(step.round, step.phase) for step in recorded.steps]
    if grid:  # two exchanges a level: edges are looked at between them
        compute = np.stack([np.zeros(len(compute)), np.append(compute[1:], 0)], axis=1).ravel()
        steps = [(r, phase) for r, _ in steps for phase in ("expand", "fold")]
    attrs = {"kernel": "bfs2d" if grid else chosen.name, "n": graph.n, "m": graph.m, "counted": 1}
    return _dataset(ps, rows, compute, steps, attrs)


def from_trace(trace: xr.Dataset | str | os.PathLike[str]) -> xr.Dataset:
    """The traffic of a traced run, in the form that `what_if` takes.

    Parameters
    ----------
    trace
        Of `dgsuite.run(..., trace=...)`: the file, or what `dgsuite.core.traces.read` gives.

    Returns
    -------
    xarray.Dataset
        As `dgsuite.studies.scaling.trace` gives, for one number of clusters: that of the run. Bytes are the
        payload of all messages of the algorithm. The engine sends fewer where it combines messages or
        shares broadcast values, which `dgsuite.studies.scaling.trace` counts. ``share`` is the measured one
        of the cluster that computed longest.

    Raises
    ------
    InputError
        Not a trace.

    Examples
    --------
    >>> import dgsuite
    >>> from dgsuite.studies.scaling import from_trace
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3], clusters=2)
    >>> ds = dgsuite.run("bf", graph, trace="bf.nc")
    >>> from_trace("bf.nc").total_bytes.values
    array([[0, 4, 4, 0]])
    """
    if not isinstance(trace, xr.Dataset):
        trace = traces.read(trace)
    p, phases = int(trace.sizes["cluster"]), int(trace.sizes["phase"])
    sent, got, partners = np.zeros((3, phases, p), np.int64)
    for k, (source, destination, nbytes) in enumerate(traces.between(trace)):
        np.add.at(sent[k], source, nbytes)
        np.add.at(got[k], destination, nbytes)
        np.add.at(partners[k], source, 1)
    compute = trace.compute_seconds.values
    total = compute.sum(axis=1)
    share = np.divide(compute.max(axis=1), total, out=np.full(phases, 1 / p), where=total > 0)
    columns = (sent.max(1), got.max(1), partners.max(1), sent.sum(1), share)
    steps = list(zip(trace["round"].values, trace["name"].values, strict=True))
    attrs = {name: trace.attrs[name] for name in ("kernel", "n", "m") if name in trace.attrs}
    return _dataset([p], [columns], total, steps, attrs)


def _dataset(
    clusters: Sequence[int],
    rows: Sequence[Sequence[Any]],
    compute: NDArray[np.float64],
    steps: Sequence[tuple[int, str]],
    attrs: Mapping[str, Any],
) -> xr.Dataset:
    """Traffic by numbers of clusters and steps, each a round and a phase; of `rows` each has `TEXTS`."""
    dims = ("clusters", "step")
    columns = dict(zip(TEXTS, zip(*rows, strict=True), strict=True))
    rounds, phases = (list(names) for names in zip(*steps, strict=True)) if steps else ([], [])
    return xr.Dataset(
        {
            "compute_seconds": variable("step", compute, "time computing, all clusters", "s"),
            **{
                name: variable(dims, np.array(columns[name], dtype), text, unit)
                for name, (text, unit, dtype) in TEXTS.items()
            },
        },
        {
            "clusters": clusters,
            "step": np.arange(len(steps)),
            "round": ("step", rounds),
            "phase": ("step", phases),
        },
        attrs,
    )


def record(kernel: Kernel, graph: Graph, warmup: int = 1) -> Recording:
    """Run a kernel on one cluster and keep what its nodes say."""
    if graph.directed:
        raise InputError(
            "traffic is counted on undirected graphs alone; graph.to_undirected() makes one"
        )
    (cluster,) = graph.repartition(1, None).gather()
    sent: list[Any] = []

    def recorder(step: Step, what: Any) -> None:
        sent[-1] = what

    times = [serial.run(kernel, [cluster])[1]["compute"] for _ in range(warmup)]
    _, log = serial.run(
        kernel, [cluster], before_phase=lambda site: sent.append(None), recorder=recorder
    )
    compute = np.min([*times, log["compute"]], axis=0)[:, 0]
    return Recording(cluster, [*log.steps], sent, compute)


def _busiest(
    e: Exchange, processes_per_node: int, in_turn: bool
) -> tuple[int, int, int, int, float]:
    """Most bytes out and in of a link, most partners, bytes of all links, and largest share of the work."""
    p = len(e.work)
    total = int(e.work.sum())
    first, links = np.arange(0, p, processes_per_node), e.nbytes
    if in_turn:
        dealt = np.arange(p).reshape(processes_per_node, -1).T.ravel()
        links = links[np.ix_(dealt, dealt)]
    links = np.add.reduceat(np.add.reduceat(links, first, axis=0), first, axis=1)
    np.fill_diagonal(links, 0)
    return (
        int(links.sum(axis=1).max()),
        int(links.sum(axis=0).max()),
        int(np.count_nonzero(e.pairs, axis=1).max()),
        int(links.sum()),
        float(e.work.max() / total) if total else 1 / p,
    )


def _in_blocks(recorded: Recording, p: int) -> Iterator[Exchange]:
    """Exchanges on blocks of nodes, as the engine packs them."""
    from dgsuite.studies.scaling import _compiled

    c = recorded.cluster
    owner = _owner(c.n, p)
    halo = np.zeros((p, p), np.int64)
    silent = Exchange(halo * 0, halo * 0, np.zeros(p, np.int64))
    everyone = np.arange(c.n)
    _compiled.broadcast_pairs(c.indptr, c.indices, everyone, owner, halo, silent.work.copy())
    sizes = np.bincount(owner, minlength=p)
    whole = reads_all(halo, sizes[:, None])
    np.fill_diagonal(whole, False)
    few = whole & reads_few(halo, sizes[:, None])
    all_values = np.where(whole & ~few, sizes[:, None], halo)
    halo = np.where(whole, sizes[:, None], halo)
    away = owner[c.indices] != np.repeat(owner, np.diff(c.indptr))
    before = np.concatenate([[0], np.cumsum(away)])
    crosses = before[c.indptr[1:]] > before[c.indptr[:-1]]  # nodes with a neighbour elsewhere
    crossing = np.bincount(owner[crosses], minlength=p)
    for sent in recorded.sent:
        if sent is None:
            yield silent
        elif isinstance(sent, BroadcastRecord):
            pairs, work = np.zeros((p, p), np.int64), np.zeros(p, np.int64)
            _compiled.broadcast_pairs(c.indptr, c.indices, sent.rows, owner, pairs, work)
            if not sent.travels:
                yield silent._replace(work=work)
                continue
            said = np.bincount(owner[sent.rows], minlength=p)
            pairs = np.where(whole, said[:, None], pairs)
            heads = encoded_size(halo, pairs)
            everyone = np.bincount(owner[sent.rows[crosses[sent.rows]]], minlength=p) == crossing
            pairs = np.where(everyone[:, None], all_values, pairs)
            heads[everyone] = 0
            yield Exchange(pairs, pairs * sent.itemsize + heads, work)
        elif isinstance(sent, UnicastBatch):
            yield _letters(sent, owner, p)
        elif isinstance(sent, AnnouncementBatch):
            each = (sent.nbytes * sizes / max(c.n, 1)).astype(np.int64)
            nbytes = np.repeat(each[:, None], p, axis=1)
            np.fill_diagonal(nbytes, 0)
            yield Exchange(nbytes, nbytes, sizes)
        elif isinstance(sent, NodeLists):
            raise InputError("traffic of lists that nodes share is not counted")
        else:
            raise InputError("items to clusters depend on the clusters; only 'bfs2d' is counted")


def _letters(sent: UnicastBatch, owner: NDArray, p: int) -> Exchange:
    """Messages to given nodes: combined ones travel once a cluster and receiver."""
    assert sent.src is not None
    source, to = owner[sent.src].astype(np.int64), owner[sent.dst].astype(np.int64)
    work = np.bincount(to, minlength=p)
    itemsize = sum(v.itemsize * int(np.prod(v.shape[1:])) for v in sent.fields.values())
    ids = sent.dst.itemsize + (0 if sent.combines_early else sent.src.itemsize)
    if sent.combines_early:
        key = np.unique(source * len(owner) + sent.dst)
        source, to = key // len(owner), owner[key % len(owner)].astype(np.int64)
    pairs = np.bincount(source * p + to, minlength=p * p).reshape(p, p)
    np.fill_diagonal(pairs, 0)
    return Exchange(pairs, pairs * (itemsize + ids), work)


def _on_grid(recorded: Recording, p: int) -> Iterator[Exchange]:
    """Exchanges of the two-dimensional search, top-down: expand and fold at each level."""
    from dgsuite.studies.scaling import _compiled

    c = recorded.cluster
    columns = near_square(p)[1]
    owner = _owner(c.n, p)
    sizes = np.bincount(owner, minlength=p)
    seen = np.zeros((c.n, columns), bool)
    clusters = np.arange(p)
    same = clusters[:, None] % columns == clusters[None, :] % columns
    np.fill_diagonal(same, False)
    for sent in recorded.sent:
        assert sent is None or isinstance(sent, BroadcastRecord)
        nodes = np.empty(0, np.int64) if sent is None else sent.rows
        said = np.bincount(owner[nodes], minlength=p)
        words = np.minimum(said, -(-sizes // 32) + 1) * INDEX
        nbytes = np.where(same, words[:, None], 0)
        # what a block has to look at it gets here, though it is counted with what it finds
        found, work = np.zeros((p, p), np.int64), np.zeros(p, np.int64)
        _compiled.fold_pairs(c.indptr, c.indices, nodes, owner, columns, seen, found, work)
        yield Exchange(nbytes, nbytes, work)
        yield Exchange(found, found * FOUND, sizes * 0)


def _owner(n: int, p: int) -> NDArray[np.int32]:
    """Cluster of each node."""
    return np.repeat(np.arange(p, dtype=np.int32), np.diff(blocks(n, p).offsets))
