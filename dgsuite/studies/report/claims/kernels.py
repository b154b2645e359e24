"""Checks of what IMSuite says of its kernels, forms, inputs and complexity."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.csgraph import connected_components

import dgsuite
from dgsuite import genval
from dgsuite.core.engine.workload import Workload
from dgsuite.genval import imsuite
from dgsuite.kernels import bsp
from dgsuite.kernels.imsuite.leader_lcr.faithful import FaithfulLCR
from dgsuite.partition import arrange
from dgsuite.studies.experiment.model import SEED, Experiment
from dgsuite.studies.report.claims import formulas, verdicts
from dgsuite.studies.report.claims.data import Claim, claims
from dgsuite.studies.report.claims.evidence import RINGS, SUITE, Evidence, N, clocked
from dgsuite.studies.report.claims.relations import FORMS
from dgsuite.studies.report.claims.verdicts import Verdict, check, compared, condition

KINDS = {
    "complete": "cplt", "sparse": "spmax", "random": "rn", "SP-Min": "spmin", "SP-Max": "spmax",
    "Star": "star", "Chain": "chain", "Random": "rn", "ring": "ring",
}  # fmt: skip
"""Our names of the paper's graphs; "sparse" is, with any number of edges, a tree with edges added."""

SIZES = 16, 32, 64
"""Numbers of nodes over which growth is seen."""

SEEDS = 24
"""Runs of a kernel whose rounds are chance, of which the mean counts."""

STEEPER = 0.15
"""How much larger an exponent of n may be than its bound's."""


@check
def form_counts(claim: Claim, evidence: Evidence) -> Verdict:
    """Programs that are here, as the paper counts its own, by form and style."""
    found: dict[str, int] = {}
    for form, kernels in FORMS.items():
        mine = [k for k in SUITE if k in kernels]
        clocks = sum(clocked(k, form) for k in mine)
        found |= {f"{form}_serial": len(mine), f"{form}_fa": len(mine), f"{form}_fac": clocks}
        found[form] = 2 * len(mine) + clocks
    total, serial = (sum(found[f"{f}{end}"] for f in FORMS) for end in ("", "_serial"))
    ours = {
        **found, "total": total, "algorithms": len(SUITE),
        "parallel_programs_per_language": total - serial, "languages": 2,
    }  # fmt: skip
    told = {name: ours[name] for name in claim.data["values"] if name != "languages"}
    holds = all(ours[name] == value for name, value in claim.data["values"].items())
    return compared(claim, holds, told, "X10's and HJ's programs are the same here")


@check
def forms(claim: Claim, evidence: Evidence) -> Verdict:
    """Which kernel has which form; with clocks all run here, also where the paper has none."""
    absent, more = [], []
    styles = ("serial", "X10-FA", "X10-FAC")
    for (kernel, row), form, style in product(claim.table().items(), FORMS, styles):
        has = kernel in FORMS[form]
        if row[f"{form} {style}"] and not has:
            absent.append(f"{form} {kernel}")
        elif has and not row[f"{form} {style}"]:
            more.append(f"{form} {kernel} {style}")
    return compared(claim, not absent, absent or "all", f"beside the paper's: {', '.join(more)}")


@check
def algorithms(claim: Claim, evidence: Evidence) -> Verdict:
    """Each kernel solves its problem on the paper's inputs, as its validator says."""
    wrong = [kernel for kernel in claim.table() if not valid(kernel, evidence.run(kernel, "Mx"))]
    return compared(claim, not wrong, wrong or "all valid", "DS's set is independent, too")


def valid(kernel: str, ran: xr.Dataset) -> bool:
    """Whether a run on Mx-In has solved its kernel's problem."""
    graph = genval.graph("mx", N, family="paper", kernel=kernel)
    return bool(genval.validate(kernel, graph, ran).ok)


@check
def lcr(claim: Claim, evidence: Evidence) -> Verdict:
    """What nodes send in each round, beside Figure 4 from its initial values on, and who leads at the end."""
    uid, to, sent, leader = _messages_of_lcr()
    came = np.roll(sent, 1, axis=1)
    follows = np.where(came > uid, came, sent)
    mailboxes = [np.bincount(receivers).max() for receivers in to]
    holds = [
        len(sent) == N, (to == (np.arange(N) + 1) % N).all(),
        max(mailboxes) == claim.data["mailbox_size"], (sent[0] == uid).all(),
        (sent[1:] == follows[:-1]).all(), ((leader == uid) == (came == uid).any(axis=0)).all(),
    ]  # fmt: skip
    return verdicts.seen(claim, holds)


def _messages_of_lcr() -> tuple[NDArray, NDArray, NDArray, NDArray]:
    """Identifiers of a run of LCR; by round, to whom a node sends, and what; and the leader of each node."""
    graph = genval.graph("mx", N, family="paper", kernel="lcr")
    made: list[tuple[NDArray, NDArray]] = []

    class Noted(FaithfulLCR):
        def transmit(self, c: bsp.Cluster, s: Any, inbox: bsp.Inbox) -> bsp.Unicast:
            sent = super().transmit(c, s, inbox)
            made.append((sent.dst, np.array(sent.fields["uid"])))
            return sent

    leader = dgsuite.run(Noted(), graph, style="serial", clusters=1).leader.values
    to, sent = map(np.stack, zip(*made, strict=True))
    return np.asarray(graph.uid), to, sent, leader


@check
def workload(claim: Claim, evidence: Evidence) -> Verdict:
    """Work that can be put into a task, and what the paper left for later."""
    made = Workload(operations=1, cache_bytes=1, packets=1, bytes=1)
    return compared(claim, bool(made), str(made), "the future work, cache and packets, too")


@check
def generator(claim: Claim, evidence: Evidence) -> Verdict:
    """The default seed, and for each kernel whether a file is the same when made again, and of a seed."""
    seeds, odd = Experiment().seed, []
    for kernel in SUITE:
        one, again, other = (imsuite.generate(kernel, N, seed=seed) for seed in (101, 101, 7))
        if one != again or one == other:
            odd.append(kernel)
    holds = seeds == [claim.data["default_seed"]] and not odd
    told = f"seed {seeds[0]}; {verdicts.all_but(odd)} the same again, and others by another seed"
    return compared(claim, holds, told, "parallel, and in Python")


@check
def graph_types(claim: Claim, evidence: Evidence) -> Verdict:
    """Graphs of each kind for each kernel: whether they are what its name says."""
    odd = [
        f"{kernel} {name}"
        for kernels, _, types, _ in claim.data["rows"] for kernel, name in product(kernels, types)
        if not _is_of(name, *_generated(name, kernel))
    ]  # fmt: skip
    return compared(claim, not odd, {"kinds of graph": verdicts.all_but(odd)})


CHILDREN = 3
"""What a node of a random tree may have."""


def _generated(name: str, kernel: str) -> tuple[int, NDArray[np.int64], bool]:
    """Edges of a graph of a kind, neighbours of each node, and whether the graph is connected."""
    options: dict[str, Any] = {"family": "imsuite", "kernel": kernel}
    if name == "sparse":
        options = {"m": 2 * N}
    elif name == "Random":
        options["max"] = CHILDREN
    graph = genval.graph(KINDS[name], N, **options)
    matrix = graph.to_scipy().astype(bool)
    return graph.m, np.asarray(matrix.sum(1)).ravel(), connected_components(matrix)[0] == 1


def _is_of(name: str, m: int, degrees: NDArray[np.int64], connected: bool) -> bool:
    """Whether edges, degrees and connection are those of a kind; edges at random are half of all pairs."""
    pairs, many, most = N * (N - 1) / 2, N * np.log2(N), degrees.max()
    tree = connected and m == N - 1
    shapes = {
        "ring": connected and {*degrees} == {2},
        "Star": tree and most == N - 1,
        "Chain": tree and most == 2,
        "Random": tree and most <= CHILDREN + 1,
        "complete": m == pairs,
        "sparse": connected and N - 1 < m < many,
        "random": abs(2 * m / pairs - 1) < 0.1,
        "SP-Min": tree,
        "SP-Max": connected and abs(m - many) <= 1,
    }
    return bool(shapes[name])


@check
def sparse(claim: Claim, evidence: Evidence) -> Verdict:
    """Edges of the limiting graphs, and whether one is in the other."""
    few, many = (genval.graph(i, N, family="paper", kernel="bf") for i in ("mn", "mx"))
    inside = (few.to_scipy().astype(bool) > many.to_scipy().astype(bool)).nnz == 0
    ours = {"SP-Min": few.m, "SP-Max": many.m, "one in the other": inside}
    holds = few.m == N - 1 and many.m == N * int(np.log2(N)) and inside
    added_to_a_tree = few.m == N - 1 and many.m - few.m == N * int(np.log2(N)) - N
    return compared(claim, holds, ours, results=added_to_a_tree)


def joins_of_trees() -> dict[str, list[int]]:
    """Joins of VC on a chain, random trees and a star."""
    found: dict[str, list[int]] = {}
    for kind, seed in (("chain", 101), ("rn", 101), ("rn", 7), ("rn", 2024), ("star", 101)):
        graph = genval.graph(kind, N, seed=seed, family="imsuite", kernel="vc")
        ran = dgsuite.run("vc", graph, style="serial", count_as="finish_async", faithful=True)
        found.setdefault(kind, []).append(int(ran.finishes.sum()))
    return found


@check
def inputs(claim: Claim, evidence: Evidence) -> Verdict:
    """What Mn-In and Mx-In are here."""
    odd = []
    for kernels, mx, mn in claim.data["rows"]:
        for kernel, (name, theirs) in product(kernels, (("mx", mx), ("mn", mn))):
            ours = imsuite.paper(kernel, name)[0]
            if ours != KINDS[theirs.split()[0]]:
                odd.append(f"{kernel} {name}: {ours}")
    return compared(claim, not odd, odd or "all so")


@cache
def growth(kernel: str, sizes: tuple[int, ...]) -> dict[str, tuple[float, float]]:
    """Exponents of n of a kernel's joins and messages, and of Figure 2's bounds on the same graphs."""
    bounds = claims()["imsuite.fig2.complexity"].table()[kernel]
    kind = {"vc": "rn"}.get(kernel, "ring" if kernel in RINGS else "spmax")
    options: dict[str, Any] = {"k": 3} if kernel == "kc" else {}
    how: dict[str, Any] = {"style": "serial", "count_as": "finish_async", "faithful": True}
    ours, bound = [], []
    for n in sizes:
        counts = []
        for seed in range(SEEDS) if kernel == "mis" else (SEED,):  # its rounds are chance
            graph = genval.graph(kind, n, family="imsuite", kernel=kernel, seed=seed, **options)
            ran = dgsuite.run(kernel, graph, seed=seed, **how)
            counts.append((int(ran.finishes.sum()), int(ran.messages.sum())))
        at = formulas.of(graph, kernel)
        ours.append(np.mean(counts, axis=0))
        bound.append([formulas.value(bounds[name], at) for name in ("time", "messages")])
    columns = zip(np.transpose(ours), np.transpose(bound), strict=True)
    time, messages = ((slope(sizes, made), slope(sizes, least)) for made, least in columns)
    return {"time": time, "messages": messages}


def slope(sizes: tuple[int, ...], values: ArrayLike) -> float:
    """Exponent of n."""
    return float(np.polyfit(np.log(sizes), np.log(np.maximum(values, 1)), 1)[0])


@check
def complexity(claim: Claim, evidence: Evidence) -> Verdict:
    """Growth from 16 to 64 nodes beside the bounds."""
    odd = {
        f"{kernel} {name}": (ours, bound) for kernel in claim.table()
        for name, (ours, bound) in growth(kernel, SIZES).items() if ours > bound + STEEPER
    }  # fmt: skip
    text = {name: f"n^{ours:.2f} for n^{bound:.2f}" for name, (ours, bound) in odd.items()}
    within = f"{STEEPER} in an exponent"
    return compared(claim, not odd, text or "all within", within, odd)


@check
def by_grows_most(claim: Claim, evidence: Evidence) -> Verdict:
    """How rounds of BY grow with the nodes, as joins, and whether messages of no kernel grow as fast."""
    grown = {kernel: growth(kernel, SIZES) for kernel in SUITE}
    powers = {kernel: found["messages"][0] for kernel, found in grown.items()}
    most, joins = max(powers, key=lambda kernel: powers[kernel]), grown["by"]["time"][0]
    told = f"joins of BY as n^{joins:.2f}; most messages: {most} as n^{powers[most]:.2f}"
    return compared(claim, most == "by" and joins > 0, told)


@condition
def floods_in_each_iteration(odd: Mapping[str, tuple[float, float]]) -> bool:
    """Whether BY alone grows faster than its bounds, and not in one of its n/8 + 1 iterations."""
    iterations = slope(SIZES, [n // 8 + 1 for n in SIZES])
    return all(
        name.startswith("by ") and ours - iterations <= bound + STEEPER
        for name, (ours, bound) in odd.items()
    )


@check
def partners(claim: Claim, evidence: Evidence) -> Verdict:
    """To how many clusters of 16 one sends in breadth-first search, by the ways to cut the graph."""
    rows = genval.graph("rmat", 1024, m=16384).repartition(16)
    most = {}
    for cut, kernel, graph in (("1-D", "bfs", rows), ("2-D", "bfs2d", arrange(rows))):
        sent = dgsuite.run(kernel, graph, style="serial", trace=True).traffic.values.sum(0) > 0
        most[cut] = int((sent & ~np.eye(16, dtype=bool)).sum(1).max())
    return compared(claim, most["2-D"] == 6 < most["1-D"], most)


@check
def bfs_distances(claim: Claim, evidence: Evidence) -> Verdict:
    """Distances of breadth-first search from its source, validated."""
    graph = genval.graph("rmat", 256, m=1024)
    ran = dgsuite.run("bfs", graph, style="serial")
    return compared(claim, genval.validate("bfs", graph, ran).ok, "valid")
