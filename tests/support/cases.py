"""Small random inputs for every kernel, and a random way to cut each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import strategies as st

from dgsuite.kernels import KERNELS, Kernel
from dgsuite.kernels.analytics.similarity import MEASURES
from dgsuite.kernels.lab.state_model import ONE, Daemon
from dgsuite.partition.graph.graph import Graph
from dgsuite.partition.graph.views import incoming

COMMUNITIES = ("leiden", "louvain")
"""Kernels of communities, whose clusters ship, so that messages are those of the cut."""

NAMES = sorted(
    [*(name for name, kernel in KERNELS.items() if not kernel.obeys.ships), *COMMUNITIES]
)
"""Kernels that run on any cut, with the same messages but for those of communities."""

RANKS = ("eigenvector", "hits", "katz", "pagerank")
"""Kernels that repeat a step until real values hardly change."""

STABLE = ("stable_bfs", "stable_colouring", "stable_matching", "stable_mis")
"""Kernels that recover from any state, on any graph."""

DAEMONS = get_args(Daemon)
"""Which nodes move in a step."""

RINGS = ("hs", "lcr", "token_ring")
"""Kernels of rings."""

TYPICAL = (
    *("all_pairs", "bc", "bfs", "bfs2d", "by", "cliques", "colouring", "hits", "hs", "mis"),
    *("phase_king", "sssp", "vc", "wcc"),
)
"""Kernels that use all of the engine between them, as `tests/dgsuite/engine/test_typical.py` shows. Tests of
what the engine alone decides try these; with other kernels they are long.
"""

Make = Callable[..., Graph]


@st.composite
def trees(draw, n: int) -> np.ndarray:
    """Parents with smaller ids of nodes 1 to n - 1."""
    reach = draw(st.sampled_from([1, 2, n]))
    return np.array(
        [draw(st.integers(max(0, v - reach), v - 1)) for v in range(1, n)], np.int64
    ).reshape(-1)


@st.composite
def edges(draw, n: int, connected: bool) -> tuple[np.ndarray, np.ndarray]:
    """Ends of edges, some of them perhaps twice, or loops."""
    pair = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1))
    more = np.array(draw(st.lists(pair, max_size=2 * n)), np.int64).reshape(-1, 2)
    src, dst = more[:, 0], more[:, 1]
    if connected:
        label = np.array(draw(st.permutations(range(n))), np.int64)
        src = np.concatenate([src, label[1:]])
        dst = np.concatenate([dst, label[draw(trees(n))]])
    return src, dst


@st.composite
def inputs(draw, name: str, max_nodes: int = 20) -> tuple[Kernel, Make]:
    """A kernel, and how to make its graph with any number of clusters or a map to them."""
    n = draw(st.integers(1, max_nodes))
    faithful = draw(st.booleans())
    options: dict[str, Any] = {"seed": draw(st.integers(0, 5)), "faithful": faithful}
    uid = np.array(draw(st.permutations(range(1, n + 1))), np.int64)
    weights = None
    if name in RINGS:
        src = np.arange(n)
        dst = (src + 1) % n
    elif "complete" in KERNELS[name].needs:
        src, dst = np.triu_indices(n, 1)
    elif name == "vc":
        label = np.arange(n)
        if draw(st.booleans()):
            label = np.array(draw(st.permutations(range(n))), np.int64)
        up = draw(trees(n))
        src, dst = label[1:], label[up]
        parents = np.zeros(n, np.int64)
        parents[src] = dst
        if (label != np.arange(n)).any():
            options |= {"root": int(label[0]), "parents": parents}
    elif name == "floodset" and draw(st.booleans()):  # of a complete graph
        src, dst = np.triu_indices(n, 1)
        options |= {"f": draw(st.integers(0, 4)), "early": draw(st.booleans())}
    else:
        connected = name in ("beta", "by", "dr", "dp", "eccentricity", "gossip", "push_sum")
        src, dst = draw(edges(n, connected))
    some = st.lists(st.integers(0, n - 1), min_size=1, unique=True)
    if name in ("all_pairs", "bfs_many"):
        options["sources"] = draw(st.one_of(st.none(), st.integers(1, n), some))
    elif name in ("closeness", "harmonic"):
        options["samples"] = draw(st.one_of(st.none(), st.integers(1, n)))
    if name == "eccentricity":
        options["of"] = draw(st.sampled_from(["nodes", "diameter", "radius"]))
    if name == "hyperball":
        options["log2m"] = draw(st.integers(4, 8))
    if name == "random_walks":
        options |= {"length": draw(st.integers(1, 5)), "p": draw(st.sampled_from([1.0, 0.5]))}
        options |= {"restart": draw(st.sampled_from([0.0, 0.3])), "weighted": draw(st.booleans())}
    if name == "benor":
        options["model"] = draw(st.sampled_from(["crash", "byzantine"]))
    if name in ("benor", "phase_king"):
        bits = st.lists(st.integers(0, 1), min_size=n, max_size=n)
        halves = st.permutations([v % 2 for v in range(n)])
        options["inputs"] = draw(st.one_of(st.none(), bits, halves))
    if name == "token_ring":
        options |= {
            "k": draw(st.sampled_from([None, max(n, 2), 2 * n])),
            "after": draw(st.integers(0, 5)),
        }
        options["begin"] = draw(st.sampled_from(["arbitrary", "legitimate"]))
        options["daemon"] = draw(st.sampled_from(["synchronous", "distributed", "central"]))
        options |= {"probability": draw(st.sampled_from([0.2, 1.0])), "repeat": draw(st.booleans())}
    if name in STABLE:
        options["daemon"] = draw(st.sampled_from(DAEMONS))
        options |= {"repeat": draw(st.booleans()), "after": draw(st.sampled_from([0, 2]))}
        options["faults"] = draw(st.sampled_from([None, {3: 0.5}, {1: 0.2, 9: 1.0}]))
        other = {"stable_mis": "shukla", "stable_matching": "hsu-huang"}.get(name)
        if other and options["daemon"] in ONE and draw(st.booleans()):
            options["protocol"] = other
    if name in ("neighbourhood", "sample"):
        some = st.lists(st.integers(0, n - 1), min_size=1, unique=True)
        options["sources"] = draw(st.one_of(st.none(), st.integers(1, n), some))
    if name == "neighbourhood":
        options |= {"hops": draw(st.integers(0, 4)), "nearest": draw(st.booleans())}
    if name == "sample":
        fanouts = st.lists(st.integers(-1, 4), min_size=1, max_size=3)
        options |= {"fanouts": draw(fanouts), "replace": draw(st.booleans())}
        options["weighted"] = draw(st.booleans())
    if name == "fastrp":
        options |= {"dimensions": draw(st.integers(1, 9)), "normalise": draw(st.booleans())}
        options |= {"beta": draw(st.sampled_from([-0.5, 0.0])), "weighted": draw(st.booleans())}
        options["powers"] = draw(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=1, max_size=3))
    if name == "similarity":
        options["measure"] = draw(st.sampled_from([*MEASURES]))
        node = st.integers(0, n - 1)
        pairs = st.lists(st.tuples(node, node), max_size=2 * n)
        way = draw(st.sampled_from(["edges", "pairs", "k"]))
        if way == "pairs":
            options["pairs"] = np.array(draw(pairs), np.int64).reshape(-1, 2)
        elif way == "k":
            options["k"] = draw(st.integers(1, 4))
        options["weighted"] = MEASURES[options["measure"]].weighted is not None and draw(
            st.booleans()
        )
    if name == "floodset":
        own = st.lists(st.integers(0, 63), min_size=n, max_size=n)
        options["inputs"] = draw(st.one_of(st.integers(1, 64), own))
        options["default"] = draw(st.integers(0, 63))
        options["opt"] = not options.get("early") and draw(st.booleans())
        options.setdefault("f", n)
    if name == "densest":
        options["epsilon"] = draw(st.sampled_from([0.0, 0.1, 1.0]))
    if name == "cdlp":
        options["iterations"] = draw(st.sampled_from([1, 2, 3, 10]))
        options["weighted"] = draw(st.booleans())
        options["labels"] = draw(
            st.one_of(st.none(), st.lists(st.integers(-1, n - 1), min_size=n, max_size=n))
        )
        options["fixed"] = draw(st.one_of(st.none(), st.lists(st.integers(0, n - 1), unique=True)))
    if name in COMMUNITIES:
        options["resolution"] = draw(st.sampled_from([0.2, 1.0, 3.0]))
        options["objective"] = draw(st.sampled_from(["modularity", "cpm"]))
        options["levels"] = draw(st.booleans())
        options["weighted"] = draw(st.booleans())
    if name in ("alpha", "beta"):
        options |= {"rounds": draw(st.integers(1, 4)), "high": draw(st.sampled_from([1, 5, 900]))}
        options["delay"] = draw(st.sampled_from([2, "uniform", "geometric", "weight"]))
        if options["delay"] == "weight":
            weights = np.minimum(src, dst) * 7 % 5
    if name == "bfs":
        options["direction"] = draw(st.sampled_from(["optimising", "top-down"]))
        options["cutoff"] = draw(st.one_of(st.none(), st.integers(0, 4)))
    if name == "snapshot":
        own = st.lists(st.integers(0, 50), min_size=n, max_size=n)
        options |= {"inputs": draw(st.one_of(st.integers(0, 99), own))}
        options["after"] = draw(st.integers(0, 5))
    if name == "dijkstra_scholten":
        options["work"] = draw(st.integers(1, 6))
    if name == "distance_vector":
        options |= {
            "infinity": draw(st.sampled_from([1, 3, 16])),
            "timeout": draw(st.integers(1, 3)),
        }
        options["split"] = draw(st.sampled_from(["none", "horizon", "poisoned"]))
        options["least"] = draw(st.sampled_from([0, 9]))
    if name == "floodmax":
        options |= {"iterations": draw(st.sampled_from([None, n])), "opt": draw(st.booleans())}
    if name == "gossip":
        options["mode"] = draw(st.sampled_from(["push", "pull", "push-pull"]))
    if name == "push_sum":
        options["iterations"] = draw(st.integers(1, 30))
        options["tolerance"] = draw(st.sampled_from([0.0, 0.01, 0.1]))
        some = st.lists(st.floats(-1e3, 1e3, width=32), min_size=n, max_size=n)
        options["inputs"] = draw(st.one_of(st.none(), some))
    if name == "echo":
        options["value"] = draw(st.sampled_from(["degree", "uid"]))
    if name in (
        "beta",
        "bf",
        "bfs",
        "dijkstra_scholten",
        "distance_vector",
        "dst",
        "echo",
        "gossip",
        "stable_bfs",
    ):
        options["root"] = draw(st.integers(0, n - 1))
    elif name == "cliques":
        options["k"] = draw(st.integers(3, 5))
    elif name == "kc":
        options["k"] = draw(st.integers(1, 5))
    if name == "sssp":
        options["delta"] = draw(st.sampled_from([0.5, 1.0, 2.5, float("inf")]))
        options["root"] = draw(st.integers(0, n - 1))
        options["sources"] = draw(st.one_of(st.none(), some))
    if name == "bellman_ford":
        options |= {
            "root": draw(st.integers(0, n - 1)),
            "sources": draw(st.one_of(st.none(), some)),
        }
    if name in RANKS:
        options["iterations"] = draw(st.integers(1, 5))
        options["tolerance"] = draw(st.sampled_from([None, 0.01]))
        options["weighted"] = draw(st.booleans())
    if name == "katz":
        options["alpha"] = draw(st.sampled_from([0.01, 0.5]))
        options["normalised"] = draw(st.booleans())
    if name == "pagerank":
        options["damping"] = draw(st.sampled_from([0.0, 0.5, 0.85, 1.0]))
        options["sinks"] = draw(st.sampled_from(["spread", "lost"]))
        if draw(st.booleans()):
            options["personalisation"] = {draw(st.integers(0, n - 1)): 0.1, n - 1: 3.0}
    weigh = ("bellman_ford", "cdlp", "dr", "fastrp", "random_walks", "sample", "similarity", "sssp")
    if name in (*weigh, *COMMUNITIES, *RANKS) and draw(st.booleans()):
        low, high = np.minimum(src, dst), np.maximum(src, dst)
        weights = (low * 7 + high * 3) % draw(st.integers(1, 6))
        if draw(st.booleans()):
            weights = weights / 2
    if name == "mst":
        low, high = np.minimum(src, dst), np.maximum(src, dst)
        apart = draw(st.sampled_from([104729, 5]))  # distinct, or many the same
        weights = (low * n + high) * 7919 % apart - draw(st.sampled_from([0, 2, 50000]))
        if draw(st.booleans()):
            weights = weights / 8

    directed = KERNELS[name].pulls and draw(st.booleans())
    if name == "bellman_ford" and directed:  # around a cycle heights add up to 0
        height = np.array(draw(st.permutations(range(n))), np.int64)
        weights = draw(st.integers(0, 3)) + height[src] - height[dst]

    def make(clusters: int = 1, owner: np.ndarray | None = None, **more: Any) -> Graph:
        how = {"partition": owner} if owner is not None else {}
        graph = Graph.from_edges(
            *(src, dst),
            n=n,
            weights=weights,
            uid=uid,
            directed=directed,
            clusters=clusters,
            **how,
            **more,
        )
        return incoming(graph) if directed else graph

    kernel = KERNELS[name](**options)
    return kernel.suited(make()) if name in COMMUNITIES else kernel, make


def edge_lists(most=15):
    """A number of nodes, and some edges with whole weights."""
    return st.integers(1, most).flatmap(
        lambda n: st.tuples(
            st.just(n),
            st.lists(
                st.tuples(st.integers(0, n - 1), st.integers(0, n - 1), st.integers(-3, 3)),
                max_size=40,
            ),
        )
    )


@st.composite
def graphs(draw, directed=False, max_nodes=24):
    """Edges of a small random graph, and a random way to cut it."""
    n = draw(st.integers(1, max_nodes))
    pairs = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1))
    edges = draw(st.lists(pairs, max_size=3 * n))
    src = np.array([u for u, _ in edges], np.int64)
    dst = np.array([v for _, v in edges], np.int64)
    clusters = draw(st.sampled_from([1, 2, 3, 8, n]))
    owner = draw(
        st.one_of(
            st.none(),
            st.lists(st.integers(0, clusters - 1), min_size=n, max_size=n).map(np.array),
        )
    )

    def make(k=None):
        how = {"clusters": 1} if k is None else {"clusters": k}
        if k is not None and owner is not None:
            how["partition"] = owner
        return Graph.from_edges(src, dst, n=n, directed=directed, **how)

    return make(), make(clusters)


@st.composite
def cuts(draw, n: int) -> dict[str, Any]:
    """A number of clusters, perhaps with a map."""
    clusters = draw(st.sampled_from([1, 2, 3, 8, n]))
    owner = st.lists(st.integers(0, clusters - 1), min_size=n, max_size=n).map(np.array)
    return {"clusters": clusters, "owner": draw(st.one_of(st.none(), owner))}


def in_turn(names, ways, always=None):
    """Cases of each name with each way. One way of each name is always tried, the next way for the next
    name; the others are long, and so are all of names that are not `always` tried.
    """
    first = [name for name in names if always is None or name in always]
    return [
        pytest.param(
            *(name, way),
            marks=[]
            if name in first and (k - first.index(name)) % len(ways) == 0
            else pytest.mark.long,
        )
        for name in names
        for k, way in enumerate(ways)
    ]


def typical(cases):
    """Cases by a kernel's name, or a tuple that begins with it; those of kernels that are not `TYPICAL` are
    long.
    """
    rows = [case if isinstance(case, tuple) else (case,) for case in cases]
    return [pytest.param(*row, marks=[] if row[0] in TYPICAL else pytest.mark.long) for row in rows]
