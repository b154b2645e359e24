"""Small graphs that each kernel takes, networks of each kind, and what becomes of a run on them.

As a program it runs kernels whose nodes lie, each with some lies and cuts, and writes what is under way, as
compiled loops that index with a lie may end the process: ``python -m tests.support.networks [--every]``.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

import dgsuite
from dgsuite import Byzantine, Crash, DgsuiteError, Network
from dgsuite.kernels import KERNELS
from dgsuite.partition.graph.graph import Graph
from tests.support.cases import RINGS

PARAMETERS: dict[str, dict[str, Any]] = {
    **{name: {"iterations": 4} for name in ("eigenvector", "hits", "pagerank", "push_sum")},
    **{name: {"rounds": 3, "delay": "uniform"} for name in ("alpha", "beta")},
    "katz": {"alpha": 0.01, "iterations": 4},
    "kc": {"k": 3},
    "neighbourhood": {"sources": 3, "hops": 2},
    "sample": {"sources": 4, "fanouts": (3, 3)},
    "all_pairs": {"sources": 2},
    "floodset": {"f": 2, "inputs": 9},
    "abd": {"think": 3, "patience": 6},
    "chandra_toueg": {"beat_ticks": 2, "patience": 6},
    "paxos": {"proposers": 2, "patience": 4},
    "raft": {"patience": 4, "beat": 2, "ticks": 60},
    **{name: {"think": 3, "stay": 1} for name in ("lamport_mutex", "ricart_agrawala")},
}
"""Parameters of kernels whose defaults take long, or find little on a small graph."""

WEIGHTED = ("alpha", "beta", "dr", "mst", "sssp", "bellman_ford")

CUTS = {"clusters": 1}, {"clusters": 2, "partition": "hash"}, {"clusters": 3}

NETWORKS = {
    "loss": Network(loss=0.3, drops=[(0, 0, 1), (1, 2, 1)], seed=2),
    "crashes": Network(crashes=[Crash(1, 0), Crash(2, 1, partial=True), Crash(5, 2)], seed=2),
    "recovery": Network(
        crashes=[Crash(1, 1, until=3), Crash(0, 0, until=2), Crash(3, 1, until=2, memory=False)]
    ),
    "churn": Network(churn=[(0, 2, 1), (1, 4, 0, 1), (1, 3, 4)]),
    "liars": Network(byzantine=Byzantine([1, 4, 6], "random"), seed=5),
    "duplicates": Network(duplicates=0.5, partitions=[(0, 2, [1, 2], True)], seed=4),
    "delays": Network(delay=("uniform", 1, 4), seed=3),
}
"""A network of each kind."""


def graph(name: str, n: int = 10, **how: Any) -> Graph:
    """A small graph that a kernel takes."""
    rng = np.random.default_rng(7)
    needs = KERNELS[name].needs
    nodes = np.arange(n)
    if name in RINGS:
        ends = nodes, (nodes + 1) % n
    elif "complete" in needs:
        ends = np.triu_indices(n, 1)
    elif "tree" in needs:
        ends = rng.integers(0, nodes[1:]), nodes[1:]
    else:
        more = rng.integers(0, n, (2, n))
        ends = np.append(more[0], nodes[1:]), np.append(more[1], nodes[:-1])
    weights = np.arange(1, len(ends[0]) + 1) % 5 + 1 if name in WEIGHTED else None
    return Graph.from_edges(*ends, n=n, weights=weights, duplicates="min", client=None, **how)


def outcome(name: str, network: Network, cut: dict[str, Any]) -> dict[str, Any]:
    """What is the same for any cut: the outputs and counts of a run, or where it fails."""
    how = {"style": "serial", "max_rounds": 30, **PARAMETERS.get(name, {})}
    try:
        ds = dgsuite.run(name, graph(name, **cut), network=network, **how)
    except DgsuiteError as error:
        return {"error": f"{type(error).__name__}: {str(error).partition(', cluster')[0]}"}
    counts = [c for c in ("messages", "active", "lost", "crashed", "virtual_time") if c in ds]
    found = {name: ds[name].values.tolist() for name in (*KERNELS[name].outputs, *counts)}
    return {**found, "terminated": ds.attrs.get("terminated")}


def everywhere(value):
    """Nodes that lie say that every field has a value, which is another one for each kind of dtype."""

    def lie(sent):
        return {name: _like(field, value) for name, field in sent.fields.items()}

    return lie


def by_turns(sent):
    """The greatest and the least number of 64 bits, by sender and receiver."""
    odd = (sent.src + sent.dst) % 2 == 1
    return {
        name: np.where(odd.reshape(-1, *[1] * (field.ndim - 1)), _like(field, 1e30), -1e30)
        for name, field in sent.fields.items()
    }


def words(sent):
    """Any bits."""
    return {
        name: np.broadcast_to(sent.luck.reshape(-1, *[1] * (field.ndim - 1)), field.shape)
        for name, field in sent.fields.items()
    }


def _like(field, value):
    return np.full(field.shape, value)


LIES = {
    "constant": "constant",
    "random": "random",
    "two-faced": "two-faced",
    "-1": everywhere(-1),
    "most": everywhere(2**63 - 1),
    "every bit": everywhere(np.uint64(2**64 - 1)),
    "least": everywhere(-(2**63)),
    "nan": everywhere(np.nan),
    "inf": everywhere(np.inf),
    "-inf": everywhere(-np.inf),
    "by turns": by_turns,
    "words": words,
}
"""What nodes that lie say, by name."""


def main() -> None:
    """Run kernels whose nodes lie, and write what is under way, and which results depend on the cut."""
    takers = sorted(name for name in KERNELS if "liars" not in KERNELS[name]().unfit())
    every = "--every" in sys.argv
    lies = list(LIES)
    for k, name in enumerate(takers):
        some = lies if every else [lies[(k + j * len(lies) // 2) % len(lies)] for j in (0, 1)]
        for lie in some:
            network = Network(byzantine=Byzantine([1, 4, 6], LIES[lie]), seed=5)
            found = []
            for cut in CUTS:
                print("under way:", name, lie, cut, flush=True)
                found.append(outcome(name, network, cut))
            if any(one != found[0] for one in found[1:]):
                print("WRONG", name, lie, *found, flush=True)
    print("END", flush=True)


if __name__ == "__main__":
    main()
