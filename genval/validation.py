"""Validators: they check that an output has the properties that define a correct answer.

They do not compare with results of dgsuite's own algorithms. The rules are in `dgsuite.genval.rules`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.aliases import ALIASES
from dgsuite.base.errors import InputError
from dgsuite.genval.report import Found, Report
from dgsuite.genval.rules import (
    blocks,
    communities,
    components,
    consensus,
    leaders,
    motifs,
    nearby,
    orders,
    paths,
    pulses,
    ranks,
    routing,
    rumours,
    search,
    sets,
    similar,
    stable,
    trees,
    triangles,
    walks,
    waves,
)
from dgsuite.genval.rules.base import Job
from dgsuite.partition.graph.checks import check_graph
from dgsuite.partition.graph.dask_views import here
from dgsuite.partition.graph.graph import Graph
from dgsuite.partition.labels.labels import Labels

NODES = (
    *("parent", "mate", "component", "label", "community", "committee"),
    *("source", "target", "member", "next_hop", "walk"),
)
"""Names of the outputs that hold nodes."""


class Validator(NamedTuple):
    """A rule and the outputs that it needs.

    Attributes
    ----------
    outputs
        Number of dimensions of each output, by name.
    rule
        Function that checks the outputs.
    real
        Names of the outputs that may hold floats.
    identifiers
        Name of the output that holds identifiers. They are nodes if the graph has no identifiers.
    sampled
        Whether the second dimension of outputs may have another length: some nodes only, or steps.
    columns
        Name of an array of the results, for each entry of which outputs may have a column of their own, or
        several.
    table
        Names of the outputs that are columns of a table with any number of rows.
    """

    outputs: dict[str, int]
    rule: Callable[[Job], list[Found]]
    real: tuple[str, ...] = ()
    identifiers: str | None = None
    sampled: bool = False
    columns: str | None = None
    table: tuple[str, ...] = ()


VALIDATORS: dict[str, Validator] = {
    "all_pairs": Validator({"level": 2}, search.all_pairs, sampled=True),
    "alpha": Validator({"time": 1}, pulses.alpha),
    "bc": Validator({"betweenness": 1}, paths.bc, ("betweenness",)),
    "bellman_ford": Validator({"distance": 1, "parent": 1}, search.bellman_ford, ("distance",)),
    "benor": Validator({"decision": 1, "input": 1, "decided": 1}, consensus.benor),
    "beta": Validator({"time": 1, "parent": 1}, pulses.beta),
    "bf": Validator({"distance": 1}, search.bf),
    "bfs": Validator({"level": 1, "parent": 1}, search.bfs),
    "bfs_many": Validator({"distance": 1, "reached": 1, "eccentricity": 1}, paths.bfs_many),
    "bfs2d": Validator({"level": 1, "parent": 1}, search.bfs),
    "bipartite": Validator({"colour": 1, "cycle": 1}, orders.bipartite),
    "biconnected": Validator(
        {"member": 1, "block": 1}, blocks.biconnected, table=("member", "block")
    ),
    "bridges": Validator(
        {"source": 1, "target": 1, "articulation": 1, "component": 1},
        blocks.bridges,
        table=("source", "target"),
    ),
    "by": Validator({"decision": 1, "vote": 1, "traitor": 1}, leaders.by),
    "cdlp": Validator({"label": 1}, communities.cdlp),
    "cliques": Validator({"cliques": 1}, motifs.cliques),
    "closeness": Validator({"closeness": 1}, paths.closeness, ("closeness",)),
    "colouring": Validator({"colour": 1}, sets.colouring),
    "core_number": Validator({"core": 1}, triangles.core_number),
    "densest": Validator({"densest": 1}, triangles.densest),
    "dijkstra_scholten": Validator(
        {"distance": 1, "told": 1, "acknowledged": 1, "last": 1, "announced": 1},
        waves.dijkstra_scholten,
    ),
    "distance_vector": Validator({"distance": 1, "next_hop": 1}, routing.distance_vector),
    "dp": Validator({"leader": 1}, leaders.leader, identifiers="leader"),
    "dr": Validator({"cost": 2, "next_hop": 2}, routing.dr, ("cost",)),
    "ds": Validator({"in_ds": 1}, sets.ds),
    "dst": Validator({"distance": 1, "parent": 1}, search.dst),
    "eccentricity": Validator({"eccentricity": 1, "limit": 1}, paths.eccentricity),
    "echo": Validator({"parent": 1, "level": 1, "size": 1, "total": 1, "decided": 1}, waves.echo),
    "edge_betweenness": Validator(
        {"source": 1, "target": 1, "betweenness": 1},
        paths.edge_betweenness,
        ("betweenness",),
        table=("source", "target", "betweenness"),
    ),
    "eigenvector": Validator({"centrality": 1}, ranks.eigenvector, ("centrality",)),
    "fastrp": Validator({"embedding": 2}, walks.fastrp, ("embedding",), sampled=True),
    "floodmax": Validator({"leader": 1}, leaders.floodmax, identifiers="leader"),
    "floodset": Validator({"decision": 1, "input": 1}, consensus.floodset),
    "gossip": Validator({"informed": 1}, rumours.gossip),
    "harmonic": Validator({"harmonic": 1}, paths.harmonic, ("harmonic",)),
    "hits": Validator({"hub": 1, "authority": 1}, ranks.hits, ("hub", "authority")),
    "hs": Validator({"leader": 1}, leaders.leader, identifiers="leader"),
    "hyperball": Validator(
        {"reached": 1, "distance": 1, "harmonic": 1, "closeness": 1},
        paths.hyperball,
        ("harmonic", "closeness"),
    ),
    "katz": Validator({"centrality": 1}, ranks.katz, ("centrality",)),
    "kc": Validator({"committee": 1}, leaders.kc),
    "ktruss": Validator({"truss": 1}, triangles.ktruss),
    "lcc": Validator({"coefficient": 1}, triangles.lcc, ("coefficient",)),
    "lcr": Validator({"leader": 1}, leaders.leader, identifiers="leader"),
    "leiden": Validator({"community": 1}, communities.leiden, columns="level"),
    "louvain": Validator({"community": 1}, communities.louvain, columns="level"),
    "matching": Validator({"mate": 1}, sets.matching),
    "mis": Validator({"in_mis": 1}, sets.mis),
    "motifs": Validator({"orbits": 2}, motifs.motifs, sampled=True),
    "mst": Validator({"parent": 1}, trees.mst),
    "neighbourhood": Validator(
        {"target": 1, "source": 1, "hop": 1},
        nearby.neighbourhood,
        table=("target", "source", "hop"),
    ),
    "pagerank": Validator({"rank": 1}, ranks.pagerank, ("rank",)),
    "phase_king": Validator({"decision": 1, "input": 1}, consensus.phase_king),
    "push_sum": Validator(
        {"average": 1, "mass": 1, "weight": 1, "input": 1},
        rumours.push_sum,
        ("average", "mass", "weight", "input"),
    ),
    "random_walks": Validator({"walk": 2}, walks.random_walks, sampled=True, columns="number"),
    "sample": Validator(
        {"source": 1, "target": 1, "place": 1, "hop": 1},
        nearby.sample,
        table=("source", "target", "place", "hop"),
    ),
    "scc": Validator({"component": 1}, components.scc),
    "similarity": Validator(
        {"source": 1, "target": 1, "similarity": 1},
        similar.similarity,
        ("similarity",),
        table=("source", "target", "similarity"),
    ),
    "snapshot": Validator(
        {"input": 1, "recorded": 1, "in_transit": 1, "when": 1, "done": 1}, rumours.snapshot
    ),
    "square_clustering": Validator({"coefficient": 1}, motifs.square_clustering, ("coefficient",)),
    "sssp": Validator({"distance": 1, "parent": 1}, search.sssp, ("distance",)),
    "stable_bfs": Validator({"level": 1, "parent": 1, "moves": 1}, stable.stable_bfs),
    "stable_colouring": Validator({"colour": 1, "moves": 1}, stable.stable_colouring),
    "stable_matching": Validator({"mate": 1, "moves": 1}, stable.stable_matching),
    "stable_mis": Validator({"in_mis": 1, "moves": 1}, stable.stable_mis),
    "token_ring": Validator({"value": 1, "moves": 1}, stable.token_ring),
    "topological": Validator({"generation": 1, "cycle": 1}, orders.topological),
    "trial_colouring": Validator({"colour": 1, "settled": 1}, sets.trial_colouring),
    "triangles": Validator({"triangles": 1}, triangles.triangles),
    "vc": Validator({"colour": 1}, sets.vc),
    "wcc": Validator({"component": 1}, components.wcc, columns="threshold"),
}
"""Validators by kernel."""


def validate(kernel: str, graph: Graph, results: Any) -> Report:
    """Check the output of a kernel.

    Parameters
    ----------
    kernel
        Name of the kernel, or of the function of networkx that it answers.
    graph
        The graph it ran on, in this process or on workers.
    results
        A mapping, such as the dataset of a run, from the name of each output to one value per node (for
        "dr" one row per node). Parameters such as ``root`` and ``k`` are taken from it, from its attributes
        or from the attribute ``parameters``; otherwise from the graph. If the graph has labels, they name
        nodes.

    Returns
    -------
    Report, which counts all violations and lists the first.

    Raises
    ------
    InputError
        There is no validator for this kernel; an output is missing or has the wrong shape or dtype; a
        parameter has an invalid value.

    Examples
    --------
    >>> import dgsuite
    >>> from dgsuite import genval
    >>> graph = dgsuite.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> ds = dgsuite.run("mis", graph)
    >>> genval.validate("mis", graph, ds).ok
    True
    >>> ds.in_mis[:] = False
    >>> print(genval.validate("mis", graph, ds).violations[0])
    node 0: domination: expected itself or a neighbour in the set, found neither
    """
    check_graph(graph)
    if not isinstance(results, Mapping):
        raise InputError(
            f"results must be a mapping from names of outputs to values, such as the dataset of a run, "
            f"got {type(results).__name__}"
        )
    if isinstance(kernel, str):
        kernel = ALIASES.get(kernel, kernel)
    if not isinstance(kernel, str) or kernel not in VALIDATORS:
        raise InputError(f"no validator for kernel {kernel!r}; there are {', '.join(VALIDATORS)}")
    asked = VALIDATORS[kernel]
    outputs = {name: _output(kernel, graph, name, results) for name in asked.outputs}
    if len({len(outputs[name]) for name in asked.table}) > 1:
        sizes = ", ".join(f"{name!r} has {len(outputs[name])}" for name in asked.table)
        raise InputError(f"columns of a table must have the same number of rows: {sizes}")
    report = Report(kernel, labels=graph.labels)
    job = Job(graph, outputs, results)
    for found in asked.rule(job):
        report.add(found)
    report.level = "necessary" if job.left_out else "complete"
    return report


def _output(kernel: str, graph: Graph, name: str, results: Any) -> NDArray:
    """One output as numbers, one per node or one per pair of nodes."""
    asked = VALIDATORS[kernel]
    n, dimensions = graph.n, asked.outputs[name]
    if name not in results:
        raise InputError(f"the results of {kernel!r} have no {name!r}")
    values = np.asarray(here(results[name]))
    free = values.ndim == dimensions and (
        name in asked.table or (asked.sampled and len(values) == n)
    )
    if asked.columns is not None and asked.columns in results:
        several = n, np.size(results[asked.columns])
        free |= values.ndim == dimensions + 1 and values.shape[:2] == several
    if values.shape != (n,) * dimensions and not free:
        what = "each" if dimensions == 1 else "each pair"
        raise InputError(
            f"{name!r} must have one value for {what} of {n} nodes, got shape {values.shape}"
        )
    by_label = name in NODES or (name == asked.identifiers and not graph.identified)
    if by_label and graph.labels is not None:
        return _nodes(values, graph.labels)
    if values.dtype.kind not in ("biuf" if name in asked.real else "biu"):
        raise InputError(f"{name!r} must be integers or booleans, got dtype {values.dtype}")
    if values.dtype.kind == "u":  # differences of unsigned numbers wrap
        if values.max(initial=0) > np.iinfo(np.int64).max:
            raise InputError(f"{name!r} must be below 2^63, got {values.max()}")
        return values.astype(np.int64)
    return values


def _nodes(values: NDArray, labels: Labels) -> NDArray[np.int64]:
    """Node ids of labels: -1 for "no node", and -2 for values that are not labels."""
    found = labels.nodes(values, missing=True)
    none = values == None if labels.none is None else values == labels.none  # noqa: E711
    found[(found < 0) & ~none] = -2
    return found
