"""Many runs of each kernel on workers with threads: none may differ from a serial run.

    python -m tests.many_runs --shapes 1x4 2x2 1x8 --times 60 --budget 60

prints, for each shape of workers x threads, kernel and style, how many runs were made, how long they took,
and how many differed in outputs, rounds or messages. It fails if one did.
"""

import argparse
import hashlib
import sys
import time
from typing import Any

import numpy as np
import xarray as xr
from distributed import Client

import dgsuite
from dgsuite import Graph, genval
from tests.cards.ranks import RANKS
from tests.support.cases import NAMES, RINGS
from tests.support.clusters import client_of

CLUSTERS = 8
WEIGHTED = ("by", "dr", "dp", "eccentricity", "mst")

SLOW = ("dp", "dr", "by", "kc", "mst", "louvain", "eccentricity", *RINGS)
"""Kernels whose rounds or messages grow fast with the nodes: these have some hundred."""

SHORT: dict[str, dict[str, Any]] = {
    **{name: {"iterations": 5, "tolerance": None} for name in RANKS},
    **{key: {"samples": 16} for key in ("closeness", "harmonic")},
    **{key: {"sources": 4} for key in ("all_pairs", "bfs_many")},
    "random_walks": {"length": 5},
    "cdlp": {"iterations": 5},
    "kc": {"k": 8},
}
"""Parameters that keep a run short."""


def arguments() -> argparse.Namespace:
    how = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=how)
    parser.add_argument("--shapes", nargs="+", default=["1x4", "2x2", "1x8"])
    parser.add_argument("--kernels", nargs="+", default=NAMES)
    parser.add_argument("--styles", nargs="+", default=["clocked", "finish_async"])
    parser.add_argument("--nodes", type=int, default=80_000, help="of most kernels' graphs")
    parser.add_argument("--times", type=int, default=60, help="runs of each")
    parser.add_argument("--budget", type=float, default=60, help="seconds for the runs of each")
    return parser.parse_args()


def graph_of(name: str, nodes: int, client: Client | None) -> Graph:
    """An input of a kernel: a ring, a tree, or a random graph, with weights."""
    n = min(nodes, 200) if name in SLOW else nodes
    where = {"clusters": CLUSTERS, "client": client, "seed": 1}
    if name in RINGS or name == "vc":
        return genval.graph("tree" if name == "vc" else "ring", n, **where)
    if name in WEIGHTED:
        weights = 1000 if name == "dr" else True
        return genval.graph("spmax", n, m=3 * n, weights=weights, **where)
    return genval.graph("er", n, m=4 * n, weights=100, directed=name == "scc", **where)


def digest(ds: xr.Dataset) -> str:
    """Of all outputs, the rounds and the messages of each round."""
    found = hashlib.blake2b(digest_size=8)
    counts = ("messages", "remote_messages", "bytes", "active")
    for name in map(str, sorted(ds.data_vars)):
        if name in counts or ds[name].dims[:1] != ("round",):
            found.update(name.encode() + np.ascontiguousarray(ds[name]).tobytes())
    return found.hexdigest()


def main() -> int:
    given = arguments()
    differing = 0
    expected: dict[str, str] = {}
    for shape in given.shapes:
        workers, threads = map(int, shape.split("x"))
        with client_of(workers, threads=threads) as client:
            for name in given.kernels:
                few = SHORT.get(name, {})
                if name not in expected:
                    ds = dgsuite.run(name, graph_of(name, given.nodes, None), style="serial", **few)
                    expected[name] = digest(ds)
                graph = graph_of(name, given.nodes, client)
                for style in given.styles:
                    begun, runs, wrong = time.monotonic(), 0, 0
                    while runs < given.times and time.monotonic() - begun < given.budget:
                        ds = dgsuite.run(name, graph, style=style, client=client, **few)
                        wrong += digest(ds) != expected[name]
                        runs += 1
                    took = time.monotonic() - begun
                    found = f"{runs} runs in {took:.1f} s, {wrong} differ"
                    print(f"{shape} {name} {style}: {found}", flush=True)
                    differing += wrong
    return differing > 0


if __name__ == "__main__":
    sys.exit(main())
