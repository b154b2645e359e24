"""Validators: whether an output has the property that defines a right answer.

None compares with an algorithm of our own. Each rule is local: it is checked cluster by cluster, on
the workers where the clusters are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from genval.report import LISTED, Found, Report, Violation
from partition.cluster import Cluster
from partition.errors import InputError
from partition.graph import Graph

Outputs = dict[str, NDArray]


def validate(kernel: str, graph: Graph, results: Any) -> Report:
    """Check the output of a kernel.

    Parameters
    ----------
    kernel
        Its name.
    graph
        The graph it ran on, in this process or on workers.
    results
        A mapping, such as the dataset of a run, from each output's name to one value a node. An
        attribute or entry ``root`` says where a search started; otherwise the graph's, else 0.

    Returns
    -------
    Report, which lists the first violations and counts all.

    Raises
    ------
    InputError
        No validator for this kernel; an output is missing, has the wrong length, or is of a kind
        that no output of this kernel is; the root is not a node.
    """
    if kernel not in VALIDATORS:
        raise InputError(f"no validator for kernel {kernel!r}; there are {', '.join(VALIDATORS)}")
    names, check, close = VALIDATORS[kernel]
    outputs = {name: _output(kernel, graph.n, name, results) for name in names}
    facts = getattr(results, "attrs", results if isinstance(results, Mapping) else {})
    root = facts.get("root", graph.attrs.get("root", 0))
    if not isinstance(root, int | np.integer) or not 0 <= root < graph.n:
        raise InputError(f"root {root!r} is not a node: nodes are 0 to {graph.n - 1}")
    rule = partial(check, outputs=outputs, root=root)
    report = Report(kernel)
    if graph.local:
        found = [rule(part) for part in graph.parts]
    else:
        client = graph.parts[0].client
        (shared,) = client.scatter([outputs], broadcast=True, hash=False)
        futures = [
            client.submit(check, part, outputs=shared, root=root, pure=False)
            for part in graph.parts
        ]
        found = client.gather(futures)
    for part in found:
        report.add(part)
    if close is not None:
        witnessed = np.concatenate([part.witnessed for part in found])
        report.add(close(outputs, root, witnessed))
    return report


def _output(kernel: str, n: int, name: str, results: Any) -> NDArray:
    """One output as whole numbers or flags, one a node."""
    if name not in results:
        raise InputError(f"the results of {kernel!r} have no {name!r}")
    values = np.asarray(results[name])
    if values.shape != (n,):
        raise InputError(
            f"{name!r} must have one value for each of {n} nodes, its shape is {values.shape}"
        )
    if values.dtype.kind not in "biu":
        raise InputError(f"{name!r} must be whole numbers or flags, its dtype is {values.dtype}")
    return values


Rule = tuple[str, NDArray, Callable[[int], str], Callable[[int], str]]
"""What it is about, a mask of the nodes that break it, what was expected there, what was found."""


def _collect(ids: NDArray, *rules: Rule) -> Found:
    """Violations of some rules by the nodes `ids`."""
    count = 0
    first: list[Violation] = []
    for what, broken, expected, found in rules:
        where = np.flatnonzero(broken)
        count += len(where)
        first += [
            Violation(what, int(ids[i]), expected(i), found(i)) for i in where[:LISTED].tolist()
        ]
    return Found(count, first)


def _ends(c: Cluster) -> tuple[NDArray, NDArray]:
    """Both ends of each edge: the row in the cluster, and the other end's node id."""
    return np.repeat(np.arange(c.size, dtype=c.indices.dtype), c.degree), c.indices


def _any(c: Cluster, rows: NDArray) -> NDArray:
    """Nodes of the cluster that occur in `rows`."""
    out = np.zeros(c.size, bool)
    out[rows] = True
    return out


def _first(row: NDArray, i: int, among: NDArray) -> int:
    """The first edge of a row that is among some."""
    return int(np.argmax((row == i) & among))


def mis(c: Cluster, outputs: Outputs, root: int) -> Found:
    """Maximal independent set: no two members are neighbours; everyone else has one as neighbour."""
    value = outputs["in_mis"]
    member = value != 0
    mine = member[c.ids]
    row, other = _ends(c)
    members = member[other]
    near = _any(c, row[members])
    stated = value[c.ids]
    return _collect(
        c.ids,
        (
            "flag",
            mine & (stated != 1),
            lambda i: "0 or 1",
            lambda i: str(stated[i]),
        ),
        (
            "independence",
            mine & near,
            lambda i: "no neighbour in the set",
            lambda i: f"node {other[_first(row, i, members)]}",
        ),
        (
            "domination",
            ~mine & ~near,
            lambda i: "itself or a neighbour in the set",
            lambda i: "neither",
        ),
    )


def bf(c: Cluster, outputs: Outputs, root: int) -> Found:
    """Hop distances: 0 at the root alone; an edge from a reached node leads to one that is reached,
    at most one hop farther.
    """
    distance = outputs["distance"].astype(np.int64)
    mine = distance[c.ids]
    row, other = _ends(c)
    theirs = distance[other]
    at_root = c.ids == root
    reached = mine >= 0
    # rows are out-edges: they say what holds at the other end, and who is reached through whom
    skips = reached[row] & ((theirs < 0) | (theirs > mine[row] + 1))
    found = _collect(
        c.ids,
        ("root", at_root & (mine != 0), lambda i: "distance 0", lambda i: str(mine[i])),
        (
            "distance",
            (mine < -1) | (~at_root & (mine == 0)),
            lambda i: "at least 1, or -1",
            lambda i: str(mine[i]),
        ),
        (
            "edge",
            _any(c, row[skips]),
            lambda i: f"neighbours at most {mine[i] + 1} hops away",
            lambda i: "node {} at {}".format(*(a[_first(row, i, skips)] for a in (other, theirs))),
        ),
    )
    nearer = other[reached[row] & (theirs == mine[row] + 1)]
    return found._replace(witnessed=np.unique(nearer))


def bf_predecessors(outputs: Outputs, root: int, witnessed: NDArray) -> Found:
    """Whoever is d hops away has a neighbour d - 1 hops away."""
    distance = outputs["distance"]
    lacks = distance > 0
    lacks[witnessed] = False
    return _collect(
        np.arange(len(distance)),
        (
            "predecessor",
            lacks,
            lambda i: f"a neighbour {distance[i] - 1} hops away",
            lambda i: "none",
        ),
    )


def lcr(c: Cluster, outputs: Outputs, root: int) -> Found:
    """Leader election: everyone names the same leader, and nobody's identifier is larger."""
    leader = outputs["leader"]
    mine, agreed = leader[c.ids], leader[0]
    found = _collect(
        c.ids,
        (
            "agreement",
            mine != agreed,
            lambda i: f"leader {agreed}, as node 0 says",
            lambda i: str(mine[i]),
        ),
        (
            "largest",
            c.uid > agreed,
            lambda i: f"no identifier above the leader's, {agreed}",
            lambda i: f"identifier {c.uid[i]}",
        ),
    )
    return found._replace(witnessed=c.ids[c.uid == agreed])


def lcr_exists(outputs: Outputs, root: int, witnessed: NDArray) -> Found:
    """The leader is one of the nodes."""
    agreed = outputs["leader"][0]
    return _collect(
        np.zeros(1, np.int64),
        (
            "existence",
            np.array([len(witnessed) == 0]),
            lambda i: f"a node with the leader's identifier, {agreed}",
            lambda i: "none",
        ),
    )


Check = Callable[..., Found]

VALIDATORS: dict[str, tuple[tuple[str, ...], Check, Check | None]] = {
    "bf": (("distance",), bf, bf_predecessors),
    "lcr": (("leader",), lcr, lcr_exists),
    "mis": (("in_mis",), mis, None),
}
"""For each kernel: the outputs it needs, the check of one cluster, and the rule over all of them."""
