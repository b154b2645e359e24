"""What a run would take, before it is made: `estimate`, and `Graph.estimate`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from dgsuite.base.errors import InputError
from dgsuite.core.parameters import unsuited
from dgsuite.core.running import measured, sizes
from dgsuite.core.running.bounds import bounds
from dgsuite.core.running.sizes import Shape
from dgsuite.kernels.bsp import Kernel, Weighted
from dgsuite.partition.arrays.mapped import wanted
from dgsuite.partition.client.session import current_client
from dgsuite.partition.client.workers import cluster_ranges, worker_addresses
from dgsuite.partition.sources.piece import MOST_NODES

if TYPE_CHECKING:
    from distributed import Client

    from dgsuite.partition.labels.labels import Labels

MOST_EDGES = 10**15
"""Edges of an estimate, at most, so that their bytes are numbers of 64 bits."""

MEANINGS = {
    "graph": "rows of the clusters",
    "view": "edges that come in, of a directed graph",
    "edges": "copies of the edges, in tiles or by places of nodes",
    "halo": "lists of nodes that processes read of each other",
    "state": "what the kernel knows of its nodes",
    "messages": "what a phase sends and receives",
}


@dataclass(frozen=True, eq=False)
class Estimate:
    """What a graph and a run on it take, as `dgsuite.estimate` works it out.

    Attributes
    ----------
    kernel
        Its short name.
    n, m
        Nodes and edges of the graph.
    clusters
        Number of clusters.
    parts
        Bytes of each process in a run, by what they are for: each int64, shape (processes,).
    mapped
        The same of what is on disk, and mapped from there.
    construction, spooled
        Bytes in memory at the peak of making the graph, and on disk, of each process that holds a part of it:
        int64, shape (processes,).
    saved
        Bytes of the files that `Graph.save` would write, about.
    bounds
        By "Rounds" and "Messages": what the kernel says of them, and the number; None where that depends on
        more than the graph's sizes.
    beside
        What was measured of such runs.

    Examples
    --------
    >>> import dgsuite
    >>> found = dgsuite.estimate("pagerank", 1_000_000, 10_000_000, workers=2, iterations=20)
    >>> found.processes, found.memory < found.total, found.peak >= found.memory
    (2, True, True)
    >>> found.disk, found.bounds["Rounds"][1]
    (0, 20)
    >>> sorted(found.parts), found.to_dict()["kernel"]
    (['edges', 'graph', 'halo', 'messages', 'state', 'view'], 'pagerank')
    """

    kernel: str
    n: int
    m: int
    clusters: int
    parts: Mapping[str, NDArray[np.int64]]
    mapped: Mapping[str, NDArray[np.int64]]
    construction: NDArray[np.int64]
    spooled: NDArray[np.int64]
    saved: int
    bounds: Mapping[str, tuple[str, int | None]]
    beside: Sequence[str]

    @property
    def processes(self) -> int:
        """How many processes hold a part of the graph."""
        return len(self.construction)

    @property
    def memory(self) -> int:
        """Bytes of the process that takes most in the run."""
        return int(_sum(self.parts).max())

    @property
    def total(self) -> int:
        """Bytes of all processes in the run."""
        return int(_sum(self.parts).sum())

    @property
    def peak(self) -> int:
        """Bytes of the process that takes most, in the run or while the graph is made."""
        return max(self.memory, int(self.construction.max()))

    @property
    def disk(self) -> int:
        """Bytes on disk that the run needs."""
        return int(sum(part.sum() for part in self.mapped.values()))

    def to_dict(self) -> dict[str, Any]:
        """Everything as numbers, lists and text, such as for JSON."""
        return {
            "kernel": self.kernel,
            "n": self.n,
            "m": self.m,
            "clusters": self.clusters,
            "processes": self.processes,
            "memory": {name: part.tolist() for name, part in self.parts.items()},
            "disk": {name: part.tolist() for name, part in self.mapped.items()},
            "construction": self.construction.tolist(),
            "spooled": self.spooled.tolist(),
            "saved": self.saved,
            **{what.lower(): number for what, (_, number) in self.bounds.items()},
            "measured": [*self.beside],
        }

    def _rows(self) -> list[tuple[str, str, str]]:
        """What is shown: a name, of the process that takes most, and of all."""
        from dask.utils import format_bytes

        def row(name: str, part: NDArray[np.int64]) -> tuple[str, str, str]:
            return name, format_bytes(int(part.max())), format_bytes(int(part.sum()))

        shown = [row(f"{name}: {MEANINGS[name]}", p) for name, p in self.parts.items() if p.any()]
        shown.append(row("a run, in memory", _sum(self.parts)))
        if self.mapped:
            shown.append(row("a run, mapped from disk", _sum(self.mapped)))
        shown.append(row("making the graph, at the peak", self.construction))
        shown.append(row("making the graph, on disk", self.spooled))
        return [*shown, ("the graph, saved", "", format_bytes(self.saved))]

    def _said(self) -> list[str]:
        """Sentences on rounds and messages, and what was measured."""
        lines = []
        for what, (sentence, number) in self.bounds.items():
            lines.append(
                f"{what}: {sentence}{'' if number is None else f' Here at most {number:,}.'}"
            )
        return [*lines, *(f"Measured: {text}" for text in self.beside)]

    @property
    def _title(self) -> str:
        where = "in one process" if self.processes == 1 else f"in {self.processes} processes"
        return f"{self.kernel} on {self.n:,} nodes and {self.m:,} edges, {where}"

    def __repr__(self) -> str:
        rows = [("", "largest process", "all"), *self._rows()]
        wide = [max(len(row[k]) for row in rows) for k in range(3)]
        lines = [f"{a:<{wide[0]}}  {b:>{wide[1]}}  {c:>{wide[2]}}" for a, b, c in rows]
        return "\n".join([self._title, *lines, *self._said()])

    def _repr_html_(self) -> str:
        from dgsuite.base import markup

        rows = [*self._rows(), *((*line.split(": ", 1), "") for line in self._said())]
        return markup.table(self._title, rows, ("", "largest process", "all"))


def _sum(parts: Mapping[str, NDArray[np.int64]]) -> NDArray[np.int64]:
    found: NDArray[np.int64] = np.sum([*parts.values()], axis=0)
    return found


def estimate(
    kernel: str | type[Kernel] | Kernel,
    n: int,
    m: int,
    *,
    workers: int | None = None,
    clusters: int | None = None,
    directed: bool = False,
    weights: DTypeLike | None = None,
    form: str | None = None,
    edges: str = "memory",
    **parameters: Any,
) -> Estimate:
    """What a graph and a run of a kernel on it would take: memory, disk, rounds and messages.

    Parameters
    ----------
    kernel
        As for `dgsuite.run`.
    n, m
        Number of nodes and of edges; an undirected edge counts once.
    workers
        Number of worker processes; without, one process holds all.
    clusters
        Number of clusters; by default one for each process.
    directed
        Whether edges have directions.
    weights
        Dtype of the weights, such as ``"float64"``; None without weights.
    form
        "iterative" (default), "block" or "recursive".
    edges
        Where the edges are, as `Graph.from_edges` takes it: in "memory", or in mapped files on "disk". What
        is on disk is in ``mapped``, not in ``parts``.
    parameters
        Those of the kernel.

    Returns
    -------
    Estimate
        It is shown as a table, also in notebooks.

    Raises
    ------
    InputError
        There is no such kernel, or a value cannot be.

    Notes
    -----
    The bytes are those of the arrays that the code makes, for nodes in random order and processes that send
    each other values; those of one host may share memory, and take less. Python and its libraries take 100
    to 200 MB more in each process. State that a kernel makes as it goes is known of some kernels only: for
    the others an estimate is what a run takes at least.

    Examples
    --------
    >>> import dgsuite
    >>> found = dgsuite.estimate("bfs", 2**26, 2**30, workers=2)
    >>> 4e9 < found.memory < 8e9
    True
    >>> dgsuite.estimate("bfs", 2**26, 2**30, workers=2, edges="disk").memory < 2e9
    True
    """
    for name, value, least in (("n", n, 1), ("m", m, 0), ("workers", workers, 1)):
        if value is not None and (isinstance(value, bool) or int(value) != value or value < least):
            raise InputError(f"{name} must be a whole number from {least} on, got {value!r}")
    if n > MOST_NODES:
        raise InputError(f"a graph has at most {MOST_NODES:,} nodes, got n={n:,}")
    if m > MOST_EDGES:
        raise InputError(f"an estimate is of at most {MOST_EDGES:,} edges, got m={m:,}")
    count = workers or 1
    shape = Shape.even(
        int(n),
        int(m),
        count if clusters is None else clusters,
        0 if weights is None else np.dtype(weights).itemsize,
        directed,
    )
    return _estimate(kernel, shape, int(m), count, form, edges, {}, None, parameters)


def of_graph(
    graph: Any,
    kernel: str | type[Kernel] | Kernel,
    client: Client | None = None,
    workers: int | None = None,
    form: str | None = None,
    edges: str | None = None,
    **parameters: Any,
) -> Estimate:
    """The estimate for a graph that is there; see `Graph.estimate`."""
    if workers is None:
        client = current_client(client) or graph.client
        workers = 1 if client is None else len(worker_addresses(client))
    shape, known = Shape.of(graph), (graph.attrs, graph.labels)
    where = graph.edges if edges is None else edges
    return _estimate(kernel, shape, graph.m, workers, form, where, *known, parameters)


def _estimate(
    kernel: str | type[Kernel] | Kernel,
    shape: Shape,
    m: int,
    workers: int,
    form: str | None,
    edges: str,
    attrs: Mapping[str, Any],
    labels: Labels | None,
    parameters: Mapping[str, Any],
) -> Estimate:
    made = unsuited(kernel, shape.n, attrs, labels, None, parameters, form)
    if isinstance(made, Weighted):  # as `Weighted.suited` does
        made = replace(made, weighted=bool(shape.weight) and made.weighted is not False)
    bounds_of = cluster_ranges(len(shape.nodes), workers)
    parts, mapped = sizes.divided(made, shape, bounds_of, wanted(edges))
    return Estimate(
        made.name,
        shape.n,
        m,
        len(shape.nodes),
        parts,
        mapped,
        *sizes.construction(shape, bounds_of, wanted(edges)),
        int(shape.graph().sum()),
        bounds(made, shape.n, m, shape.directed),
        measured.beside(made.name),
    )
