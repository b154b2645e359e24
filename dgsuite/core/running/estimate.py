"""What a run takes in memory: `estimate`, and whether it fits into its workers' memory."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, get_type_hints

import numpy as np
from dask.utils import format_bytes
from numpy.typing import DTypeLike, NDArray

from dgsuite.base.errors import InputError
from dgsuite.core.parameters import unsuited
from dgsuite.kernels.bsp import Kernel
from dgsuite.partition.arrays.mapped import wanted
from dgsuite.partition.client.session import current_client
from dgsuite.partition.client.workers import cluster_ranges, worker_addresses
from dgsuite.partition.graph.data import adjacency, width
from dgsuite.partition.graph.graph import Graph
from dgsuite.partition.sources.piece import MOST_NODES

MAX_SIZES = {"n": MOST_NODES, "m": 10**15, "workers": MOST_NODES}
"""Largest values of an estimate, whose bytes are numbers of 64 bits."""

ARRAY = re.compile(r"NDArray\[np\.(\w+?)_?\]")
"""Type of a field of a state whose dtype it says."""

WORD = 8
"""Bytes of an entry where nothing says how many."""


@dataclass(frozen=True, eq=False)
class Estimate:
    """What a run takes in memory, about.

    Attributes
    ----------
    kernel
        Its short name.
    n, m
        Nodes and edges of the graph.
    parts
        Bytes of each process, by what they are for: "graph", "halo" (copies of edges, and lists of nodes that
        processes read of each other), "state" and "messages".

    Examples
    --------
    >>> import dgsuite
    >>> found = dgsuite.estimate("pagerank", 1_000_000, 10_000_000, workers=2)
    >>> found.memory < found.total, sorted(found.parts)
    (True, ['graph', 'halo', 'messages', 'state'])
    """

    kernel: str
    n: int
    m: int
    parts: Mapping[str, list[int]]

    @property
    def memory(self) -> int:
        """Bytes of the process that takes most."""
        return max(map(sum, zip(*self.parts.values(), strict=True)))

    @property
    def total(self) -> int:
        """Bytes of all processes."""
        return sum(map(sum, self.parts.values()))

    def __repr__(self) -> str:
        count = len(self.parts["graph"])
        where = "one process" if count == 1 else f"{count} processes"
        return (
            f"{self.kernel} on {self.n:,} nodes and {self.m:,} edges, in {where}: about "
            f"{format_bytes(self.memory)} in the largest, {format_bytes(self.total)} in all\n"
            f"({_listed({name: sum(part) for name, part in self.parts.items()})})"
        )


def estimate(
    kernel: str | type[Kernel] | Kernel,
    n: int | Graph,
    m: int = 0,
    *,
    workers: int | None = None,
    directed: bool = False,
    weights: DTypeLike | None = None,
    form: str | None = None,
    edges: str = "memory",
    **parameters: Any,
) -> Estimate:
    """What a run of a kernel would take in memory, about.

    Parameters
    ----------
    kernel
        As for `dgsuite.run`.
    n, m
        Number of nodes and of edges, of which an undirected one counts once; or a graph alone.
    workers
        Number of worker processes; without, those of the current client or of the graph, else one process.
    directed, weights, edges
        Of a graph that is not there: whether edges have directions, the dtype of their weights, and whether
        they are in "memory", or in mapped files on "disk".
    form
        "iterative" (default), "block" or "recursive".
    parameters
        Those of the kernel.

    Notes
    -----
    Nodes are taken to be in random order, so that processes read all nodes of each other; a graph whose
    neighbours are mostly in one process takes less. Python takes 100 to 200 MB more in each process. State
    that a kernel makes as it goes is known of some kernels only.

    Examples
    --------
    >>> import dgsuite
    >>> found = dgsuite.estimate("bfs", 2**26, 2**30, workers=2)
    >>> 4e9 < found.memory < 1.2e10
    True
    >>> dgsuite.estimate("bfs", 2**26, 2**30, workers=2, edges="disk").memory < 2e9
    True
    """
    if isinstance(n, Graph):
        if workers is None:
            client = current_client(None) or n.client
            workers = 1 if client is None else len(worker_addresses(client))
        made = unsuited(kernel, n.n, n.attrs, n.labels, None, parameters, form)
        return Estimate(made.name, n.n, n.m, parts_of(made, n, workers, True))
    workers = 1 if workers is None else workers
    for name, value, least in (("n", n, 1), ("m", m, 0), ("workers", workers, 1)):
        if type(value) is not int or not least <= value <= MAX_SIZES[name]:
            numbers = f"{least} to {MAX_SIZES[name]:,}"
            raise InputError(f"{name} must be a whole number from {numbers}, got {value!r}")
    made = unsuited(kernel, n, {}, None, None, parameters, form)
    cuts = range(workers + 1)
    nodes, ends = (np.diff([k * x // workers for k in cuts]) for x in (n, m * (2 - directed)))
    how = weights, directed, wanted(edges), 0, True
    return Estimate(made.name, n, m, _parts(made, n, nodes, ends, *how))


def parts_of(kernel: Kernel, graph: Graph, workers: int, halo: bool) -> dict[str, list[int]]:
    """Bytes of each process in a run on a graph; without `halo`, what it takes however the graph is cut."""
    first = cluster_ranges(len(graph.entries), workers)[:-1]
    nodes = np.add.reduceat(np.diff(graph.partition.offsets), first)
    ends = np.add.reduceat(np.array(graph.entries, np.int64), first)
    how = graph.weight_dtype, graph.directed, graph.edges == "disk", WORD * graph.identified, halo
    return _parts(kernel, graph.n, nodes, ends, *how)


def _parts(
    kernel: Kernel,
    n: int,
    nodes: NDArray[np.int64],
    ends: NDArray[np.int64],
    weights: DTypeLike | None,
    directed: bool,
    disk: bool,
    identifier: int,
    halo: bool,
) -> dict[str, list[int]]:
    """Bytes by what they are for, of processes with so many nodes and edge ends."""
    there = ends * (not (disk and kernel.streams))  # the others are mapped
    weight = 0 if weights is None else np.dtype(weights).itemsize
    rows = adjacency(n, nodes, there, weight) + identifier * nodes
    size = sum(dtype.itemsize for dtype in kernel.dtypes(n).values())
    own = zip(nodes.tolist(), ends.tolist(), strict=True)
    state = nodes * _per_node(kernel, n) + [kernel.extra_bytes(n, *each) for each in own]
    if getattr(kernel, "graph_form", None) == "replicated":
        state = state + 4 * (n + 1) + int(ends.sum()) * (4 + WORD * (weight > 0))
    found = {"graph": rows, "halo": 0 * nodes, "state": state, "messages": nodes * size}
    if halo and (not directed or kernel.pulls or kernel.both_ways):
        views = directed * (1 + kernel.both_ways)  # edges that come in, or all twice
        found["graph"] = rows * (1 + views)
        if kernel.broadcasts:  # edges once more, and a value for each slot
            found["halo"] = there * width(n) * (1 + directed) + WORD * n
            found["messages"] = (nodes + n * min(len(nodes), 2)) * size
    return {name: part.tolist() for name, part in found.items()}


def _per_node(kernel: Kernel, n: int) -> int:
    """Bytes of a node in the declared fields of a kernel's state that are always there."""
    declared = getattr(kernel, "state", None)
    if declared is None:
        with suppress(NameError):  # of a type that is there for type checkers alone
            declared = get_type_hints(type(kernel).start).get("return")
    found = 0
    for field in fields(declared) if is_dataclass(declared) else ():
        kind, each = str(field.type), WORD
        if "None" in kind or kind in ("int", "float", "bool"):
            continue
        if "Subset" in kind:
            each = 1
        elif "NodeIds" in kind:
            each = int(width(n))
        elif array := ARRAY.fullmatch(kind):
            with suppress(TypeError):  # of an abstract type, such as signedinteger
                each = np.dtype(array[1]).itemsize
        dims = kernel.outputs[field.name].dims[1:] if field.name in kernel.outputs else ()
        for dim in dims:  # an output with more dimensions has their length
            if dim not in kernel.numbered:
                values = kernel.values(dim)
                listed = kernel.axis(dim, n) if values is None else values
                each *= n if listed is None else len(listed)
        found += each
    return found


def check_fits(kernel: Kernel, graph: Graph, limits: Mapping[str, int | None]) -> None:
    """Refuse a run that needs more memory than workers may use, whatever the halo adds.

    Parameters
    ----------
    limits
        Bytes that each worker may use, by address; None or 0 if it has no limit.

    Raises
    ------
    InputError
        The message names the worker, its limit, and what is needed at least.
    """
    needed = parts_of(kernel, graph, len(limits), False)
    for (worker, limit), *sizes in zip(limits.items(), *needed.values(), strict=False):
        each = {name: size for name, size in zip(needed, sizes, strict=True) if name != "halo"}
        if limit and sum(each.values()) > limit:
            whole = graph.edges == "disk" and not kernel.streams
            why = "; it holds all edges in memory, also where the graph has them on disk" * whole
            raise InputError(
                f"kernel {kernel.name!r}: worker {worker} may use {format_bytes(limit)}, and its part of the "
                f"run needs at least {format_bytes(sum(each.values()))} ({_listed(each)}){why}; start more "
                f"workers, or workers with more memory"
            )


def _listed(parts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {format_bytes(size)}" for name, size in parts.items())
