"""`genval.graph`: one function for all generators."""

from __future__ import annotations

from typing import Any

from dgsuite.base.errors import InputError
from dgsuite.base.names import Edges
from dgsuite.genval.families import plan
from dgsuite.genval.imsuite import generate, paper
from dgsuite.partition.clusters.cutting import How
from dgsuite.partition.construction import distribute
from dgsuite.partition.graph.graph import Graph
from dgsuite.partition.sources.edges import Pieces


def graph(
    kind: str,
    n: int,
    *,
    seed: int = 101,
    family: str = "fast",
    kernel: str | None = None,
    m: int | None = None,
    weights: bool | int | str = False,
    directed: bool = False,
    clusters: int | None = None,
    client: Any = None,
    partition: How = "nodes",
    edges: Edges = "memory",
    **options: Any,
) -> Graph:
    """Generate a graph.

    Parameters
    ----------
    kind
        In the fast family: "ring", "star", "chain", "tree" or "spmin" (random, option `max`), "spmax" (a
        tree and more edges; `max`, `m`), "cplt" (complete), "rn" (half of all pairs), "er" (`m`), "rmat"
        (`m`, `a`, `b`, `c`), "grid" (`columns`), "road" (`columns`), "web" (`degree`), "powerlaw" (`m`,
        `exponent`) or "geometric" (`degree`); see `dgsuite.genval.families`. In family "imsuite": as for
        `genval.generate`.
    n
        Number of nodes.
    seed
        The same seed gives the same graph, for any clusters and client.
    family
        "fast"; "imsuite": the graph that IMSuite's generator makes for a kernel; or "paper": as "imsuite",
        with the kinds "mn", "mx" and "ring" of the paper's figures, and the paper's options.
    kernel
        The kernel whose IMSuite generator is used; the fast family needs none.
    m
        Number of edges, for kinds of the fast family with this option.
    weights
        Fast family: True for distinct weights, int64 from 1 to 2^63 - 1; or the largest weight, up to
        2^32, for weights that may be equal. IMSuite: "weq" or "wrn" for "dr"; "dr" and "mst" always have
        weights.
    directed
        Fast family: whether edges lead from the first end that is generated to the second. The graph
        without these directions is the undirected one.
    clusters, client, partition, edges
        As for `Graph.from_edges`. With a client, the workers generate graphs of the fast family.
    options
        Options of the kind.

    Returns
    -------
    Graph
        In the fast family, the identifiers are 1 to n in random order and attrs is ``{"root": 0}``. In the
        others, both are those of the file.

    Raises
    ------
    InputError
        The message names the argument and what would be right.

    Examples
    --------
    >>> from dgsuite import genval
    >>> genval.graph("grid", 12, columns=4)
    <dgsuite.Graph: 12 nodes, 17 edges, undirected; 1 clusters in this process>
    """
    place: dict[str, Any] = {
        "clusters": clusters,
        "client": client,
        "partition": partition,
        "edges": edges,
    }
    if family in ("imsuite", "paper"):
        if kernel is None:
            raise InputError(f"kernel must be given with family={family!r}, such as kernel='mis'")
        if family == "paper":
            kind, chosen_options = paper(str(kernel).lower(), kind)
            weights = chosen_options.pop("weights", weights)
            options = {**chosen_options, **options}
        if m is not None:
            raise InputError("m has no meaning with family='imsuite'; the kind fixes it")
        if directed:
            raise InputError(f"directed=True has no meaning with family={family!r}")
        if weights is True and str(kernel).lower() not in ("dr", "mst"):
            raise InputError(f"weights must be False for {kernel}; 'dr' and 'mst' have weights")
        chosen = None if isinstance(weights, bool) else weights
        text = generate(kernel, n, kind, seed, weights=chosen, **options)
        return Graph.read_imsuite(text, kernel, **place)
    if family != "fast":
        raise InputError(f"family must be 'fast', 'imsuite' or 'paper', got {family!r}")
    made = plan(kind, n, seed=seed, weights=weights, m=m, **options)  # type: ignore[arg-type]
    how: dict[str, Any] = {
        "n": made.n,
        "uid": made.uid,
        "attrs": {"root": 0},
        "directed": directed,
        "duplicates": "min",  # equal weights, since a pair of nodes has one
        **place,
    }
    if made.m > distribute.SMALL:
        return Graph.from_edges(Pieces.of(made.edges, made.bounds()), **how)
    src, dst, values = made.edges(0, made.items)
    return Graph.from_edges(src, dst, weights=values, **how)
