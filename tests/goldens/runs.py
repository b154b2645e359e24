"""Runs of each kernel, and digests of what they give."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

import dgsuite
from dgsuite.core.engine.log import TIMES
from dgsuite.core.engine.program import COUNTED
from dgsuite.core.parameters import make_kernel
from dgsuite.kernels import BLOCK, KERNELS, RECURSIVE
from dgsuite.kernels.bsp.kernel import EXCHANGED
from dgsuite.partition import arrange
from dgsuite.partition.graph.graph import Graph
from dgsuite.partition.graph.views import both_ways, incoming
from tests.support.cases import RINGS
from tests.support.networks import NETWORKS, PARAMETERS, WEIGHTED
from tests.support.sites import simulate

FILES = {n: Path(__file__).with_name(f"{n}.json") for n in (200, 70_000)}
"""Where the digests are, by the size of the graphs."""

KINDS = ("sparse", "skewed", "deep")
"""Graphs: a random one, one whose first nodes have most edges, and a grid."""

SCALE = (
    *("bellman_ford", "bfs", "bfs_many", "bipartite", "cdlp", "colouring", "core_number", "echo"),
    *("eigenvector", "floodmax", "gossip", "hits", "matching", "mis", "pagerank", "push_sum"),
    *("sample", "scc", "sssp", "stable_mis", "topological", "wcc"),
)
"""Kernels that are run on large graphs: those that end soon, each kind of message among them."""

STRUCK = ("loss", "churn", "crashes", "recovery", "liars", "delays")
"""Networks of large graphs; `drops` is part of "loss"."""

ROUNDS = 60
"""Rounds of a run on a network, at most."""


def graph(name: str, kind: str, n: int, clusters: int) -> Graph:
    """A graph that a kernel takes."""
    rng = np.random.default_rng([n, KINDS.index(kind)])
    needs, nodes = KERNELS[name].needs, np.arange(n)
    if name in RINGS:
        ends = nodes, (nodes + 1) % n
    elif "complete" in needs:
        ends = np.triu_indices(12 + KINDS.index(kind), 1)
        n = 12 + KINDS.index(kind)
    elif "tree" in needs:
        least = nodes[1:] // 2 if kind == "skewed" else nodes[:-1] if kind == "deep" else 0
        ends = rng.integers(least, nodes[1:]), nodes[1:]
    elif kind == "deep":
        width = min(n // 8, 250)
        right, down = nodes[:-1][nodes[1:] % width != 0], nodes[:-width]
        ends = np.append(right, down), np.append(right + 1, down + width)
    else:
        chain = rng.permutation(n)
        more = rng.random((2, n))
        more = (more**3 if kind == "skewed" else more) * n
        ends = np.append(more[0].astype(int), chain[1:]), np.append(more[1].astype(int), chain[:-1])
    weights = rng.integers(1, 30, len(ends[0])) if name in WEIGHTED else None
    directed = kind == "skewed" and not KERNELS[name].undirected and KERNELS[name].pulls
    made = Graph.from_edges(
        *ends,
        n=n,
        weights=weights,
        uid=rng.permutation(n) + 1,
        duplicates="min",
        directed=directed,
        clusters=clusters,
        client=None,
    )
    return arrange(made) if name == "bfs2d" else made


def digest(values: Mapping[str, Any]) -> str:
    """A short digest of arrays, their names and dtypes."""
    found = sha256()
    for name in sorted(values):
        array = np.asarray(values[name])
        found.update(f"{name} {array.dtype.str} {array.shape} ".encode())
        found.update(array.tobytes() if array.dtype != object else repr(array.tolist()).encode())
    return found.hexdigest()[:12]


def of_run(name: str, on: Graph, **how: Any) -> str:
    """The digest of the dataset of a run in this process, but for its times; of an error, its kind."""
    try:
        ds = dgsuite.run(name, on, style="serial", seed=3, check=False, progress=False, **how)
    except dgsuite.DgsuiteError as error:
        return type(error).__name__
    timed = [v for v in ds.variables if v.endswith("seconds") or "time_" in v or v in TIMES]
    timed += (*EXCHANGED, "struck", "fault", "lies")  # what follows from messages, votes and faults
    return digest({v: ds[v].values for v in ds.variables if v not in timed})


def of_sites(name: str, on: Graph, **how: Any) -> str:
    """The digest of outputs and log of a run on two sites that exchange messages."""
    kernel = make_kernel(name, on, 3, PARAMETERS.get(name, {}))
    if on.directed:
        on = both_ways(on) if kernel.both_ways else incoming(on) if kernel.pulls else on
    outputs, log = simulate(kernel, on, 2, **how)
    columns = {c: log[c] for c in ("round", "turn", "position", "last", *COUNTED)}
    return digest({**outputs, **columns, "votes": np.array([repr(v) for v in log.votes])})


def digests(name: str, kind: str, n: int) -> Iterator[tuple[str, str]]:
    """The digests of all runs of a kernel on a graph: what runs, and the digest. Those on sites are the same
    by messages and in shared memory.
    """
    own = PARAMETERS.get(name, {})
    whole, cut = (graph(name, kind, n, clusters) for clusters in (1, 5))
    yield "serial", of_run(name, whole, **own)
    yield "sites", of_sites(name, cut)
    yield "sites", of_sites(name, cut, shared=True)
    for form, kernels in (("recursive", RECURSIVE), ("block", BLOCK)):
        if name in kernels and (form == "block" or n == min(FILES)):
            yield form, of_run(name, cut, form=form, **own)
    if n == min(FILES) and ".imsuite." in KERNELS[name].__module__:
        yield "faithful", of_run(name, cut, faithful=True, **own)
    for network in STRUCK:
        how = {"network": NETWORKS[network], "max_rounds": ROUNDS, **own}
        yield network, of_run(name, cut, **how)


def cases(n: int) -> list[tuple[str, str]]:
    """The kernels that run on graphs of a size, with each kind of graph."""
    names = sorted(KERNELS) if n == min(FILES) else SCALE
    return [(name, kind) for name in names for kind in KINDS]


def kept(n: int) -> dict[str, dict[str, str]]:
    """The digests that are kept, by kernel and graph."""
    found: dict[str, dict[str, str]] = json.loads(FILES[n].read_text())
    return found


def write(n: int) -> None:
    """Write the digests of all cases of a size."""
    lines = [
        f"  {json.dumps(f'{name} {kind}')}: {json.dumps(dict(digests(name, kind, n)))}"
        for name, kind in cases(n)
    ]
    FILES[n].write_text("{\n" + ",\n".join(lines) + "\n}\n")
