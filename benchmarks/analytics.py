"""Kernels of analytics beside other libraries, taking turns on the same graph: medians, ours over the best.

python benchmarks/analytics.py [--kernels pagerank,wcc] [--peers scipy,graphblas | --peers none] [--turns 5]
    [--scale 20] [--random 1000000 10000000] [--graphs kronecker,random] [--workers 1 2]
    [--growth [16 18]] [--processor-time]

Graphs are simple: a Kronecker graph, and so many random edges on so many nodes; for `scc` the edges have a
direction. Ours runs in style "clocked" on two worker processes: its rounds alone, and the whole call of
`dgsuite.run`. With several numbers of workers they take turns as well. With --growth there are rows for
Kronecker graphs of scales 16 to 22, of ours alone. A peer has the graph in its own form, and is timed from
call to result. With --processor-time all times are processor time of this process, which depends less on
other programs: ours runs here, in style "serial" on two clusters, and its rounds are the phases alone; two
workers share it, as two threads share a peer's. Peers that are not installed are left out:
pip install 'dgsuite[bench]'. For `bfs_many` see searches.py.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from math import log2
from typing import Any, NamedTuple

import analytics_peers as peers
import common
import numpy as np
from common import Options, record, skip

GROWTH = (16, 18, 20, 22)
SPEEDUP = {"pagerank": 1.4, "triangles": 1.4, "lcc": 1.4}
"""How many times as fast two workers must be as one."""


class Case(NamedTuple):
    """A kernel, its parameters, what it is compared with, and how long it may take over the best of them."""

    peers: dict[str, Callable[[peers.Forms], peers.Call]]
    options: dict[str, Any] = {}
    rounds: float | None = None
    call: float | None = None
    weighted: bool = False
    directed: bool = False
    over: str | None = None
    """The peer that the bounds are for; by default the fastest."""


CASES = {
    "pagerank": Case(
        {
            "scipy": peers.pagerank_scipy,
            "graphblas": peers.pagerank_graphblas,
            "networkit": peers.pagerank_networkit,
            "igraph": peers.pagerank_igraph,
        },
        {"damping": peers.DAMPING, "tolerance": peers.TOLERANCE},
        0.8,
        1.2,
    ),
    "wcc": Case(
        {
            "scipy": peers.wcc_scipy,
            "networkit": peers.wcc_networkit,
            "graphblas": peers.wcc_graphblas,
        },
        {},
        0.6,
        1.0,
        over="scipy",
    ),
    "scc": Case({"scipy": peers.scc_scipy}, directed=True),
    "triangles": Case(
        {
            "graphblas": peers.triangles_graphblas,
            "networkit": peers.triangles_networkit,
            "igraph": peers.triangles_igraph,
        },
        {},
        1.0,
        1.2,
    ),
    "lcc": Case({"igraph": peers.lcc_igraph, "networkit": peers.lcc_networkit}, {}, 0.5),
    "cdlp": Case(
        {"networkit": peers.cdlp_networkit, "graphblas": peers.cdlp_graphblas},
        {"iterations": peers.ITERATIONS},
        1.0,
    ),
    "sssp": Case(
        {
            "scipy": peers.sssp_scipy,
            "networkit": peers.sssp_networkit,
            "graphblas": peers.sssp_graphblas,
        },
        {},
        0.5,
        weighted=True,
        over="scipy",
    ),
    "similarity": Case(
        {"networkit": peers.similarity_networkit, "igraph": peers.similarity_igraph},
        {"measure": "jaccard"},
        0.5,
    ),
    "core_number": Case(
        {
            "networkit": peers.core_networkit,
            "igraph": peers.core_igraph,
            "networkx": peers.core_networkx,
        },
        {},
        1.0,
    ),
}
"""Kernels by name; `sssp` starts from the node with most neighbours."""


def where(client: Any) -> dict[str, Any]:
    """On workers, or without a client in this process, where processor time is taken."""
    return {"style": "serial" if client is None else "clocked", "client": client}


def clock_of(client: Any) -> Callable[[], float]:
    """What a whole call is timed by."""
    return time.process_time if client is None else time.perf_counter


def in_rounds(ds: Any, client: Any) -> float:
    """Seconds of a run's rounds, or the processor time of its phases."""
    return float(ds.cpu_seconds.sum() if client is None else ds.attrs["seconds"])


def timed(call: peers.Call, clock: Callable[[], float]) -> float:
    begin = clock()
    call()
    return clock() - begin


def prepared(case: Case, forms: peers.Forms, wanted: list[str]) -> dict[str, peers.Call]:
    """The peers of a kernel that are wanted and installed, with the graph in their form."""
    found = {}
    for name, prepare in case.peers.items():
        if wanted and name not in wanted:
            continue
        try:
            found[name] = prepare(forms)
            found[name]()  # makes the form, and does not count
        except ImportError:
            skip(name, "not installed: pip install 'dgsuite[bench]'")
        except peers.TooLargeError as error:
            skip(name, str(error))
    return found


def compare(
    kernel: str,
    case: Case,
    graphs: dict[int, Any],
    clients: dict[int, Any],
    turns: int,
    wanted: list[str],
    forms: Any,
) -> dict[str, float]:
    """Medians of a kernel and its peers, which take turns, in seconds: ours by the number of workers.

    Parameters
    ----------
    graphs, clients
        The same graph on each number of workers, and their clients; None to take processor time.
    forms
        The graph for peers; None for no peers.
    """
    import dgsuite

    clock = clock_of(next(iter(clients.values())))
    root = {"root": hub(graphs[min(graphs)])} if kernel == "sssp" else {}
    rounds: dict[str, list[float]] = {f"rounds, {count}": [] for count in graphs}

    def ours(count: int) -> None:
        client = clients[count]
        ds = dgsuite.run(kernel, graphs[count], **where(client), **case.options, **root)
        rounds[f"rounds, {count}"].append(in_rounds(ds, client))

    calls: dict[str, peers.Call] = {
        f"call, {count}": lambda count=count: ours(count) for count in graphs
    }
    for call in calls.values():
        call()  # loads compiled code, and does not count
    for some in rounds.values():
        some.clear()
    calls |= {} if forms is None else prepared(case, forms, wanted)
    times: dict[str, list[float]] = {name: [] for name in calls}
    for turn in range(turns):
        for name in sorted(calls, reverse=bool(turn % 2)):
            times[name].append(timed(calls[name], clock))
    return {name: statistics.median(some) for name, some in (rounds | times).items()}


def hub(graph: Any) -> int:
    """The node with most neighbours."""
    return int(np.argmax(np.asarray(graph.degree)))


def report(
    kernel: str, case: Case, found: dict[str, float], given: argparse.Namespace, graph: str
) -> None:
    """Note a kernel's figures."""
    workers = given.workers
    beside = {name: found[name] for name in case.peers if name in found}
    most = max(workers)
    on = {"graph": graph, "kernel": kernel}
    for count in workers:
        who = "processor time" if given.processor_time else f"{count} worker{'s' * (count > 1)}"
        record(f"rounds, {who}", 1e3 * found[f"rounds, {count}"], "ms", **on)
        record(f"whole call, {who}", 1e3 * found[f"call, {count}"], "ms", **on)
    for name, seconds in beside.items():
        record(name, 1e3 * seconds, "ms", **on)
    if beside:
        best = case.over if case.over in beside else min(beside, key=beside.__getitem__)
        for what, bound in (("rounds", case.rounds), ("call", case.call)):
            ratio = found[f"{what}, {most}"] / beside[best]
            named = {"call": "whole call"}.get(what, what)
            record(named, ratio, "x", most=bound, peer=best, **on)
    if {1, 2} <= {*workers}:
        speed = found["rounds, 1"] / found["rounds, 2"]
        record("one worker", speed, "x", least=SPEEDUP.get(kernel), peer="two workers", **on)


def cluster(workers: int, given: argparse.Namespace) -> AbstractContextManager[Any]:
    """A client of worker processes; none with --processor-time."""
    return nullcontext() if given.processor_time else common.cluster(workers)


def made(client: Any, weighted: bool, directed: bool, what: Any) -> Any:
    """The graph, on the workers or in this process: of a scale, or of so many nodes and random edges."""
    import dgsuite
    from dgsuite import genval
    from dgsuite.partition.client.workers import worker_addresses

    clusters = peers.THREADS if client is None else len(worker_addresses(client))
    how = {"client": client, "clusters": clusters, "directed": directed}
    if isinstance(what, int):
        most = 255 if weighted else False
        return genval.graph("rmat", 2**what, m=16 * 2**what, weights=most, **how)
    n, m = what
    rng = np.random.default_rng(3)
    ends = rng.integers(0, n, (2, m))
    weights = rng.integers(1, 256, m) if weighted else None
    return dgsuite.Graph.from_edges(*ends, n=n, weights=weights, **how)


def name_of(what: Any) -> str:
    if isinstance(what, int):
        return f"Kronecker, scale {what}"
    return "random, {:,} nodes, {:,} edges".format(*what)


def add_graphs(options: Options) -> None:
    """Options that say on which graphs."""
    options.size("--scale", 20, 8)
    pair = {"type": int, "nargs": 2, "metavar": ("N", "M")}
    options.size("--random", (10**6, 10**7), (500, 2000), **pair)
    options.size("--graphs", "kronecker,random", "random")
    options.add_argument("--processor-time", action="store_true")


def asked(given: argparse.Namespace) -> list[Any]:
    """The graphs that are asked for, as `made` takes them."""
    known = {"kronecker": given.scale, "random": tuple(given.random)}
    return [known[name] for name in given.graphs.split(",")]


def compare_all(given: argparse.Namespace, what: Any, clients: dict[int, Any]) -> dict[str, Any]:
    """All kernels that are asked for on one graph."""
    results: dict[str, Any] = {}
    wanted = given.peers.split(",") if given.peers else []
    alone = given.growth is not None or given.peers == "none"
    for kind in ((False, False), (True, False), (False, True)):
        chosen = {k: CASES[k] for k in given.kernels.split(",")}
        cases = {k: c for k, c in chosen.items() if (c.weighted, c.directed) == kind}
        if not cases:
            continue
        graphs = {count: made(client, *kind, what) for count, client in clients.items()}
        forms = None if alone else peers.Forms(graphs[min(graphs)])
        for kernel, case in cases.items():
            how = (graphs, clients, given.turns, wanted, forms)
            results[kernel] = compare(kernel, case, *how)
            report(kernel, case, results[kernel], given, name_of(what))
        del forms, graphs
    return results


def report_growth(found: dict[str, dict[str, Any]], scales: Sequence[int], workers: int) -> None:
    """As which power of the nodes the time of each kernel grows."""
    for kernel in found[name_of(scales[0])]:
        times = [found[name_of(scale)][kernel][f"rounds, {workers}"] for scale in scales]
        power = log2(times[-1] / times[0]) / (scales[-1] - scales[0])
        record("time, power of n", power, "", kernel=kernel)


def main(arguments: Sequence[str] | None = None) -> None:
    options = Options(__file__, __doc__)
    add_graphs(options)
    options.add_argument("--kernels", default=",".join(CASES))
    options.add_argument("--peers", default="")
    options.size("--turns", 5, 1)
    options.add_argument("--workers", type=int, nargs="+", default=[peers.THREADS])
    options.add_argument("--growth", type=int, nargs="*", metavar="SCALE")
    with options.recorded(arguments) as given, ExitStack() as stack:
        if unknown := {*given.kernels.split(",")} - {*CASES}:
            options.error(f"--kernels: {', '.join(sorted(unknown))}; there are {', '.join(CASES)}")
        if given.processor_time:
            given.workers = [peers.THREADS]
        clients = {k: stack.enter_context(cluster(k, given)) for k in given.workers}
        scales = given.growth or ((6, 8) if given.tiny else GROWTH)
        grows = given.growth is not None
        graphs = scales if grows else asked(given)
        results = {name_of(what): compare_all(given, what, clients) for what in graphs}
        if grows:
            report_growth(results, scales, max(given.workers))


if __name__ == "__main__":
    main()
