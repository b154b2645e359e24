"""Kernels for questions that people bring beside other libraries, in turns: whole calls, and our rounds.

python benchmarks/questions.py [--parts communities] [--nodes 1000000] [--edges 10000000] [--turns 3]

Ours runs in style "clocked" on two workers with one thread each. A peer has the graph in its own form, and is
timed from call to result. In a round that does not count answers are compared; another one is an error.
The planted partition has communities of 100 nodes; in the graph that is like those of Lancichinetti,
Fortunato and Radicchi (2008, LFR) degrees and sizes of communities follow power laws. In both three of ten
edges are of any two nodes. Peers that are not installed are left out: pip install 'dgsuite[bench]'.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable, Sequence
from functools import partial
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import questions_peers as peers
from analytics_peers import Forms, TooLargeError
from common import Options, cluster, in_turns, record, skip

MIXING = 0.3
"""Share of edges that are of any two nodes."""


def communities(n: int, m: int, degrees: np.ndarray, sizes: np.ndarray, client: Any) -> Any:
    """A graph whose edges have ends in proportion to `degrees`, most of them in the same community.

    Parameters
    ----------
    degrees
        Of each node.
    sizes
        Of the communities, at least n nodes in all; the last one is cut.
    """
    import dgsuite

    rng = np.random.default_rng(5)
    last = np.minimum(np.cumsum(sizes), n)
    group = np.searchsorted(last, np.arange(n), side="right")
    before = np.concatenate([[0], np.cumsum(degrees)])
    low, high = before[np.append(0, last[:-1])], before[last]
    u, v = (np.searchsorted(before, before[-1] * rng.random(m), side="right") - 1 for _ in "uv")
    home, inner = group[u], rng.random(m) >= MIXING
    at = (low[home] + (high - low)[home] * rng.random(m))[inner]
    v[inner] = np.searchsorted(before, at, side="right") - 1
    ends = rng.permutation(n)[np.minimum([u, v], n - 1)]  # so that numbers tell nothing
    return dgsuite.Graph.from_edges(*ends, n=n, client=client, duplicates="first")


def power(count: int, exponent: float, least: int, most: int) -> np.ndarray:
    """Numbers in a range by a power law."""
    low, high = (end ** (1.0 - exponent) for end in (least, most))
    there = np.random.default_rng(6).random(count)
    return (low + there * (high - low)) ** (1 / (1.0 - exponent))


def planted(given: argparse.Namespace, client: Any) -> Any:
    n = given.nodes
    return communities(n, given.edges, np.ones(n), np.full(n // 100 + 1, 100), client)


def lfr(given: argparse.Namespace, client: Any) -> Any:
    n = given.nodes
    mean = 2 * given.edges / n
    sizes = power(n // 20 + 1, 1.5, 20, max(n // 100, 40)).astype(int)
    return communities(n, given.edges, power(n, 2.5, 1, mean * 20), sizes, client)


GRAPHS: dict[str, Callable[[argparse.Namespace, Any], Any]] = {
    "planted partition": planted,
    "like LFR": lfr,
}


class Case(NamedTuple):
    """A kernel on a graph, what it is compared with, and how much it may take of the time of that."""

    graph: str
    kernel: str
    peers: dict[str, peers.Prepare]
    answer: Callable[[Any, Any], Any]
    """What of our dataset, and the graph, is compared."""
    options: dict[str, Any] = {}
    near: float = 0.0
    """Most difference of answers, absolute and relative."""
    rounds: float | None = None
    call: float | None = None
    over: str | None = None
    """The peer that the bounds are for; by default the fastest."""
    score: str | None = None
    """What the answer is, if it is to be told, and the greater the better."""
    behind: float | None = None
    """How much less than that of the peer our score may be."""


def of_communities(ds: Any, graph: Any) -> float:
    return peers.modularity(graph, ds.community)


LEIDEN = {"leidenalg": peers.leiden_leidenalg, "igraph": peers.leiden_igraph}
LOUVAIN = {"igraph": peers.louvain_igraph, "networkit": peers.louvain_networkit}
MODULARITY = {"near": 0.05, "score": "modularity", "behind": 0.005}

PARTS: dict[str, list[Case]] = {
    "communities": [
        case
        for graph in ("planted partition", "like LFR")
        for case in (
            Case(
                *(graph, "leiden", LEIDEN, of_communities),
                **MODULARITY,
                call=0.5,
                over="leidenalg",
            ),
            Case(*(graph, "louvain", LOUVAIN, of_communities), **MODULARITY),
        )
    ],
}


def timed(peer: peers.Peer) -> tuple[float, Any]:
    """Milliseconds of a call, and what it returned."""
    begin = perf_counter()
    found = peer.call()
    return 1e3 * (perf_counter() - begin), found


def of_peers(case: Case, forms: Forms) -> dict[str, peers.Peer]:
    """The peers of a case that are installed and can take the graph."""
    found = {}
    for name, prepare in case.peers.items():
        try:
            found[name] = prepare(forms)
        except ImportError:
            skip(name, "not installed: pip install 'dgsuite[bench]'")
        except TooLargeError as error:
            skip(f"{name}, {case.kernel} on {case.graph}", str(error))
    return found


def compare(case: Case, graph: Any, forms: Forms, given: argparse.Namespace) -> None:
    """Time a case, in turns, and note its figures.

    Raises
    ------
    ValueError
        Answers are different.
    """
    import dgsuite

    rounds: list[float] = []
    answers: dict[str, Any] = {}
    on = {"graph": case.graph, "kernel": named(case)}

    def run() -> Any:
        ds = dgsuite.run(case.kernel, graph, style="clocked", **case.options)
        rounds.append(1e3 * float(ds.attrs["seconds"]))
        return ds

    def measure(name: str, peer: peers.Peer) -> float:
        took, found = timed(peer)
        if name not in answers:  # in the round that does not count
            answers[name] = peer.answer(found)
            if not np.allclose(answers[name], answers["ours"], case.near, case.near):
                what = f"{named(case)} on {case.graph}: {name} finds {answers[name]}"
                raise ValueError(f"{what}, and ours {answers['ours']}")
        return took

    who = {"ours": peers.Peer(run, lambda ds: case.answer(ds, graph))} | of_peers(case, forms)
    times = in_turns(
        {name: partial(measure, name, peer) for name, peer in who.items()}, given.turns
    )
    ours = {"rounds": rounds[1:], "whole call": times.pop("ours")}
    for what, some in (ours | times).items():
        record(what, some, "ms", **on)
    for name, value in answers.items() if case.score else ():
        record(f"{case.score}, {name}", value, "", **on)
    if not times:
        return
    middle = {name: statistics.median(some) for name, some in times.items()}
    best = case.over if case.over in middle else min(middle, key=middle.__getitem__)
    for (what, some), bound in zip(ours.items(), (case.rounds, case.call), strict=True):
        ratio = statistics.median(some) / middle[best]
        record(what, ratio, "x", most=None if given.tiny else bound, peer=best, **on)
    if case.score:
        less = answers[best] - answers["ours"]
        bound = None if given.tiny else case.behind
        record(f"{case.score}, less than {best}'s", less, "", most=bound, **on)


def named(case: Case) -> str:
    """A kernel with its options."""
    return ", ".join([case.kernel, *(f"{k}={v}" for k, v in case.options.items())])


def measure_all(cases: Sequence[Case], given: argparse.Namespace, client: Any) -> None:
    """The cases of a part, graph by graph, of which one is there at a time."""
    for which in dict.fromkeys(case.graph for case in cases):
        graph = GRAPHS[which](given, client)
        record("edges", graph.m, "", graph=which)
        forms = Forms(graph)
        for case in cases:
            if case.graph == which:
                compare(case, graph, forms, given)
        del graph, forms


def main(arguments: Sequence[str] | None = None) -> None:
    options = Options(__file__, __doc__)
    options.add_argument("--parts", nargs="+", choices=PARTS, default=[*PARTS])
    options.size("--nodes", 1_000_000, 600)
    options.size("--edges", 10_000_000, 3_000)
    options.size("--turns", 3, 1)
    with options.recorded(arguments) as given, cluster(2) as client:
        for part in given.parts:
            measure_all(PARTS[part], given, client)


if __name__ == "__main__":
    main()
