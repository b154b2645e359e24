"""Kernels for questions that people bring beside other libraries, in turns: whole calls, and our rounds.

python benchmarks/questions.py [--parts communities similarity samples distances structure]
    [--graphs road web] [--kernels bridges] [--nodes 1000000] [--edges 10000000] [--small 10000] [--turns 3]

Ours runs in style "clocked" on two workers with one thread each. A peer has the graph in its own form, and is
timed from call to result. In a round that does not count answers are compared; another one is an error.
The planted partition has communities of 100 nodes; in the graph that is like those of Lancichinetti,
Fortunato and Radicchi (2008, LFR) degrees and sizes of communities follow power laws. In both three of ten
edges are of any two nodes. Where peers search from every node, or are in Python, graphs are small.
Peers that are not installed are left out: pip install 'dgsuite[bench]'.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Sequence
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
from common import Options, cluster, in_turns, record, skip
from questions_cases import PARTS, Case
from questions_graphs import GRAPHS
from questions_peers import Forms, Peer, TooLargeError


def timed(peer: Peer) -> tuple[float, Any]:
    """Milliseconds of a call, and what it returned."""
    begin = perf_counter()
    found = peer.call()
    return 1e3 * (perf_counter() - begin), found


def of_peers(case: Case, forms: Forms) -> dict[str, Peer]:
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


def chosen(n: int, count: int) -> list[int]:
    """Different nodes, at most a quarter of all."""
    return np.random.default_rng(9).permutation(n)[: min(count, n // 4)].tolist()


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
    forms.starts = chosen(graph.n, case.starts)
    on = {"graph": case.graph, "kernel": named(case, len(forms.starts))}
    options = case.options | ({"sources": forms.starts} if case.starts else {})

    def run() -> Any:
        if case.method:
            return getattr(graph, case.kernel)(forms.starts, **case.options)
        ds = dgsuite.run(case.kernel, graph, style="clocked", **options)
        rounds.append(1e3 * float(ds.attrs["seconds"]))
        return ds

    def measure(name: str, peer: Peer) -> float:
        took, found = timed(peer)
        if case.answer and name not in answers:  # in the round that does not count
            answers[name] = peer.answer(found)
            check(case, name, answers[name], answers["ours"])
        return took

    who = {"ours": Peer(run, lambda ds: case.answer(ds, graph))} | of_peers(case, forms)
    times = in_turns(
        {name: partial(measure, name, peer) for name, peer in who.items()}, given.turns
    )
    ours = {"whole call": times.pop("ours")} | ({"rounds": rounds[1:]} if rounds else {})
    for what, some in (ours | times).items():
        record(what, some, "ms", **on)
    for name, value in answers.items() if case.score else ():
        record(f"{case.score}, {name}", value, "", **on)
    if not times:
        return
    middle = {name: statistics.median(some) for name, some in times.items()}
    best = case.over if case.over in middle else min(middle, key=middle.__getitem__)
    bounds = {"rounds": case.rounds, "whole call": case.call}
    for what, some in ours.items():
        ratio = statistics.median(some) / middle[best]
        record(what, ratio, "x", most=None if given.tiny else bounds[what], peer=best, **on)
    if case.behind is not None:
        less = answers[best] - answers["ours"]
        bound = None if given.tiny else case.behind
        record(f"{case.score}, less than {best}'s", less, "", most=bound, **on)


def check(case: Case, name: str, answer: Any, ours: Any) -> None:
    """Refuse an answer that is another than ours."""
    if np.shape(answer) != np.shape(ours) or not np.allclose(answer, ours, case.near, case.near):
        what = f"{case.kernel} on {case.graph}: {name} finds {answer}"
        raise ValueError(f"{what}, and ours {ours}")


def named(case: Case, starts: int) -> str:
    """A kernel with its options, and how many nodes it starts from."""
    options = case.options | ({"sources": starts} if starts else {})
    name = f"Graph.{case.kernel}" if case.method else case.kernel
    return ", ".join([name, *(f"{k}={v}" for k, v in options.items())])


def error_of_sketches(graph: Any, which: str) -> None:
    """How far HyperBall's harmonic centralities are off, beside exact ones."""
    import dgsuite

    ds = dgsuite.run("hyperball", graph)
    exact = dgsuite.run("harmonic", graph).harmonic.values
    error = np.sqrt(np.mean((ds.harmonic.values / exact - 1) ** 2))
    bound = 1.5 * ds.attrs["relative_standard_error"]
    record("error of harmonic centrality", error, "", most=bound, graph=which, kernel="hyperball")


def measure_all(part: str, given: argparse.Namespace, client: Any) -> None:
    """The cases of a part, graph by graph, of which one is there at a time."""
    cases = [case for case in PARTS[part] if case.kernel in given.kernels]
    for which in dict.fromkeys(case.graph for case in cases):
        if which not in given.graphs:
            continue
        graph = GRAPHS[which](given, client)
        record("edges", graph.m, "", graph=which)
        forms = Forms(graph)
        for case in cases:
            if case.graph == which:
                compare(case, graph, forms, given)
        if part == "distances" and which == "small web":
            error_of_sketches(graph, which)
        del graph, forms


def main(arguments: Sequence[str] | None = None) -> None:
    options = Options(__file__, __doc__)
    kernels = [*dict.fromkeys(case.kernel for cases in PARTS.values() for case in cases)]
    options.add_argument("--parts", nargs="+", choices=PARTS, default=[*PARTS])
    options.add_argument("--kernels", nargs="+", choices=kernels, default=kernels)
    options.add_argument("--graphs", nargs="+", choices=GRAPHS, default=[*GRAPHS])
    options.size("--nodes", 1_000_000, 600)
    options.size("--edges", 10_000_000, 3_000)
    options.size("--small", 10_000, 200)
    options.size("--turns", 3, 1)
    with options.recorded(arguments) as given, cluster(2) as client:
        for part in given.parts:
            measure_all(part, given, client)


if __name__ == "__main__":
    main()
