"""Bytes that a run takes in each process, by the sizes of the arrays that its code makes.

Nothing here looks at edges. So where they lead is assumed: nodes are in no order, and each process reads all
nodes of the others. A graph whose neighbours are mostly in the same process takes less.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, NamedTuple, get_type_hints

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.thresholds import is_large
from dgsuite.kernels.bsp import Kernel
from dgsuite.partition.construction import build, spool
from dgsuite.partition.graph.size import adjacency, width
from dgsuite.partition.sources.edges import step_of

if TYPE_CHECKING:
    from dgsuite.partition.graph.graph import Graph

HEADS = 4
"""As in `dgsuite.partition.arrays._compiled.pulling`, which is not imported for its size."""

ARRAY = re.compile(r"NDArray\[np\.(\w+?)_?\]")
"""Type of a field of a state whose dtype it says."""

WORD = 8
"""Bytes of an entry where nothing says how many."""

PACKED = 3.0
"""Bytes of an end of an edge that is packed, at most."""

SORTED, SPLIT, SHORT = 3 * WORD, 4 * WORD, 2
"""Bytes of an edge end while it is sorted, of an edge while its piece is split, and of a row in a band."""


class Shape(NamedTuple):
    """What is known of a graph before it is looked at.

    Attributes
    ----------
    n
        Number of nodes.
    nodes, entries
        int64, shape (clusters,): nodes of each cluster, and entries of its adjacency.
    weight
        Bytes of a weight; 0 without.
    directed
        Whether edges have directions.
    identifier
        Bytes of a node's identifier; 0 where it is the node id.
    mapped
        Whether an array says which node is where.
    """

    n: int
    nodes: NDArray[np.int64]
    entries: NDArray[np.int64]
    weight: int = 0
    directed: bool = False
    identifier: int = 0
    mapped: bool = False

    @classmethod
    def of(cls, graph: Graph) -> Shape:
        """That of a graph."""
        weight = 0 if graph.weight_dtype is None else np.dtype(graph.weight_dtype).itemsize
        return cls(
            graph.n,
            np.diff(graph.partition.offsets),
            np.array(graph.entries, np.int64),
            weight,
            graph.directed,
            8 * graph.identified,
            graph.partition.order is not None,
        )

    @classmethod
    def even(cls, n: int, m: int, clusters: int, weight: int = 0, directed: bool = False) -> Shape:
        """A graph of n nodes and m edges, in clusters of equally many nodes and entries."""
        total = m if directed else 2 * m
        cuts = np.arange(clusters + 1)
        return cls(
            n,
            np.diff(cuts * n // clusters),
            np.diff([int(k) * total // clusters for k in cuts]).astype(np.int64),
            weight,
            directed,
        )

    def graph(self, compress: float | None = None) -> NDArray[np.int64]:
        """Bytes of each cluster; `compress` are those of an entry, if edges are packed."""
        extra = self.weight if compress is None else self.weight + compress - int(width(self.n))
        return adjacency(self.n, self.nodes, self.entries, extra) + self.identifier * self.nodes


class Site(NamedTuple):
    """Clusters of a process.

    Attributes
    ----------
    clusters, own, entries
        How many clusters, nodes and entries it has.
    slots
        Places for values of nodes: of its own, and of those that it reads of other processes.
    away
        Entries that are nodes of other processes, about.
    """

    clusters: int
    own: int
    entries: int
    slots: int
    away: int


def packed(graph: Graph) -> float | None:
    """Bytes of an entry of a graph whose edges are packed, at most; None of one whose edges are not."""
    if not graph.compress:
        return None
    entries = sum(graph.entries)
    if not graph.local or not entries:
        return PACKED
    shape = Shape.of(graph)
    rest = int(shape._replace(identifier=0).graph(0.0).sum())
    return (sum(part.nbytes for part in graph.parts) - rest) / entries


def sites_of(shape: Shape, bounds: NDArray[np.int64]) -> list[Site]:
    """The processes: the s-th has clusters ``bounds[s]`` to ``bounds[s + 1]``."""
    found = []
    for a, b in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        own, entries = int(shape.nodes[a:b].sum()), int(shape.entries[a:b].sum())
        away = 0 if not shape.n else entries * (shape.n - own) // shape.n
        found.append(Site(b - a, own, entries, shape.n, away))
    return found


def construction(
    shape: Shape, bounds: NDArray[np.int64], disk: bool = False
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Bytes of each process at the peak of making the graph, in memory and on disk.

    In memory is first a piece that is split, and what waits to be sent; then the clusters, unless their edges
    are to be on disk, and a block of edge ends that is sorted. On disk are all edge ends. See
    `dgsuite.partition.construction`.
    """
    ends = np.add.reduceat(shape.entries, bounds[:-1])
    total = int(shape.entries.sum())
    edges = total if shape.directed else total // 2
    block = np.minimum(ends, np.maximum(build.BLOCK, ends // build.PARTS)) * (SORTED + shape.weight)
    piece = min(edges, step_of(edges)) * (SPLIT + shape.weight)
    graph = np.add.reduceat(shape.graph(), bounds[:-1])
    spooled = ends * (SHORT + int(width(shape.n)) + shape.weight)
    kept = np.minimum(spooled, spool.ROOM)
    splitting = piece + np.minimum(spooled, spool.ROOM + spool.PASSING * (len(ends) > 1))
    there = spooled - kept
    if disk:
        entries = ends * (int(width(shape.n)) + shape.weight)
        graph, there = graph - entries, there + entries
    return np.maximum(splitting, graph + block + kept), there


def parts(
    kernel: Kernel, shape: Shape, bounds: NDArray[np.int64], compress: float | None = None
) -> dict[str, NDArray[np.int64]]:
    """Bytes of each process in a run, by what they are for.

    Returns
    -------
    dict
        ``graph``: the clusters. ``view``: what a kernel needs besides of a directed graph. ``edges``: copies
        of the adjacency in which nodes are places, and in tiles. ``halo``: lists of nodes. ``state``: of the
        kernel. ``messages``: what a phase sends and receives. Each int64, shape (processes,).
    """
    sites = sites_of(shape, bounds)
    found = {
        "graph": np.add.reduceat(shape.graph(compress), bounds[:-1]),
        "view": [_view(kernel, shape, site) for site in sites],
        "edges": [
            _edges(kernel, shape, site, compress) + _weights(kernel, shape, site) for site in sites
        ],
        "halo": [_halo(kernel, shape, site) for site in sites],
        "state": [state(kernel, shape, site) for site in sites],
        "messages": [_messages(kernel, shape, site, len(sites)) for site in sites],
    }
    return {name: np.array(each, np.int64) for name, each in found.items()}


def mapped(
    kernel: Kernel, shape: Shape, bounds: NDArray[np.int64], compress: float | None = None
) -> dict[str, NDArray[np.int64]]:
    """What of the `parts` is in mapped files where the edges are on disk: arrays with an element an entry.

    None of a kernel that does not stream: what it holds itself is as large.
    """
    if not kernel.streams:
        return {}
    sites = sites_of(shape, bounds)
    rows = shape._replace(entries=np.zeros_like(shape.entries))
    pointers = (shape.nodes + 1) * (width(shape.entries) - width(rows.entries)) + rows.graph()
    return {
        "graph": np.add.reduceat(shape.graph(compress) - pointers, bounds[:-1]),
        "view": np.array([_view(kernel, shape, s) - _pointers(kernel, shape, s) for s in sites]),
        "edges": np.array([_edges(kernel, shape, site, compress) for site in sites]),
    }


def divided(
    kernel: Kernel,
    shape: Shape,
    bounds: NDArray[np.int64],
    compress: float | None,
    disk: bool,
) -> tuple[dict[str, NDArray[np.int64]], dict[str, NDArray[np.int64]]]:
    """The `parts` in memory, and those that are mapped from disk, if edges are there."""
    found = parts(kernel, shape, bounds, compress)
    there = mapped(kernel, shape, bounds, compress) if disk else {}
    return found | {name: found[name] - part for name, part in there.items()}, there


def _looks(kernel: Kernel, shape: Shape) -> bool:
    """Whether a kernel has a view of a directed graph."""
    return shape.directed and (kernel.pulls or kernel.both_ways)


def _pointers(kernel: Kernel, shape: Shape, site: Site) -> int:
    """Row pointers of the view."""
    return (site.own + site.clusters) * int(width(site.entries)) * _looks(kernel, shape)


def _pulls(kernel: Kernel, shape: Shape) -> bool:
    """Whether nodes read what others broadcast."""
    return kernel.broadcasts and (not shape.directed or kernel.pulls or kernel.both_ways)


def _view(kernel: Kernel, shape: Shape, site: Site) -> int:
    """The edges that come in, or each edge at both ends."""
    node = int(width(shape.n))
    if not _looks(kernel, shape):
        return 0
    each = 2 * (node + 1 + 2 * shape.weight) if kernel.both_ways else node + shape.weight
    return _pointers(kernel, shape, site) + site.entries * each


def _ways(kernel: Kernel, shape: Shape, site: Site) -> tuple[int, int, int]:
    """In how many ways the halo has the edges, and the entries and those of other processes of each."""
    if not shape.directed:
        return 1, site.entries, site.away
    return (
        (1, 2 * site.entries, 2 * site.away) if kernel.both_ways else (2, site.entries, site.away)
    )


def _edges(kernel: Kernel, shape: Shape, site: Site, compress: float | None) -> int:
    """Entries in copies: by slot, by sender from other processes, in tiles, which packed edges do not get."""
    if not _pulls(kernel, shape):
        return 0
    node = int(width(shape.n))
    ways, entries, away = _ways(kernel, shape, site)
    each = node if compress is None or shape.mapped else compress
    found = ways * (away * node + int(entries * each) * (site.clusters > 1 or shape.mapped))
    if is_large(entries):
        tiled = kernel.adds_all and compress is None
        found += entries * (4 * tiled + node * kernel.looks_at_hubs)
    return found


def _weights(kernel: Kernel, shape: Shape, site: Site) -> int:
    """Weights in copies, which are in memory wherever the edges are."""
    ways, entries, away = _ways(kernel, shape, site)
    if not (kernel.takes_offers and _pulls(kernel, shape) and is_large(entries)):
        return 0
    return ways * (entries * (site.clusters > 1) + away) * shape.weight


def _halo(kernel: Kernel, shape: Shape, site: Site) -> int:
    """Lists with an entry for each slot or own node."""
    if not _pulls(kernel, shape):
        return 0
    node, pointer = int(width(shape.n)), int(width(site.entries))
    ways, _, _ = _ways(kernel, shape, site)
    found = ways * ((site.slots - site.own + 1) * pointer + 4 * site.own)
    found += ways * (site.own + 1) * pointer * (site.clusters > 1)
    found += WORD * site.slots * shape.mapped
    if is_large(site.entries):
        found += site.own * HEADS * node * kernel.looks_for_first
        found += site.own * (WORD + node + 1 + WORD) * kernel.takes_offers
    return found


def _messages(kernel: Kernel, shape: Shape, site: Site, sites: int) -> int:
    """What a phase sends and receives: a value for each slot, and what is made of them for each node."""
    size = payload(kernel, shape.n)
    if not _pulls(kernel, shape):
        along = site.entries if kernel.broadcasts and shape.directed else site.own
        return along * size
    stored = (site.slots + 1) * (1 + size) + site.slots // 8
    travels = 0 if sites == 1 else site.slots * size
    return stored + travels + site.own * size


def payload(kernel: Kernel, n: int) -> int:
    """Bytes of a message that has all fields."""
    return sum(dtype.itemsize for dtype in kernel.dtypes(n).values())


def state(kernel: Kernel, shape: Shape, site: Site) -> int:
    """The declared fields, an entry for each node, and what the kernel says that it has besides."""
    found = site.own * per_node(kernel, shape.n) + kernel.extra_bytes(
        shape.n, site.own, site.entries
    )
    if getattr(kernel, "graph_form", None) == "replicated":
        whole = int(shape.entries.sum())
        found += 4 * (shape.n + 1) + whole * (4 + (WORD if shape.weight else 0))
    return found


def per_node(kernel: Kernel, n: int) -> int:
    """Bytes of a node in the fields of a kernel's state, on a graph of n nodes.

    Fields that may be None are left out. An output with more dimensions has their length.
    """
    declared = getattr(kernel, "state", None)
    if declared is None:
        with suppress(NameError):  # of a type that is there for type checkers alone
            declared = get_type_hints(type(kernel).start).get("return")
    if not isinstance(declared, type) or not is_dataclass(declared):
        return 0
    return sum(_width(str(f.type), n) * _times(kernel, f.name, n) for f in fields(declared))


def _times(kernel: Kernel, name: str, n: int) -> int:
    """How many entries a field has for a node."""
    found = 1
    for dim in kernel.outputs[name].dims[1:] if name in kernel.outputs else ():
        listed = kernel.values(dim)
        if dim not in kernel.numbered:
            listed = kernel.axis(dim, n) if listed is None else listed
            found *= n if listed is None else len(listed)
    return found


def _width(kind: str, n: int) -> int:
    """Bytes of an entry of a field of some type."""
    if "None" in kind or kind in ("int", "float", "bool"):
        return 0
    if "Subset" in kind:
        return 1
    if "NodeIds" in kind:
        return int(width(n))
    found = ARRAY.fullmatch(kind)
    if found:
        with suppress(TypeError):  # of an abstract type, such as signedinteger
            return np.dtype(found[1]).itemsize
    return WORD
