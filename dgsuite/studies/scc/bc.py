"""Betweenness centrality of "X10 on the SCC": Table 1, Figures 8, 9 and 10.

As in the original every place makes the whole graph itself, searches from its share of the sources, and
adds its sums to those of the others.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import product
from time import thread_time
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from dgsuite import genval
from dgsuite.core.results.dataset import variable
from dgsuite.core.running.runner import run as run_kernel
from dgsuite.kernels.analytics.replicated import Searcher, falling, gathered
from dgsuite.partition.client.workers import worker_addresses
from dgsuite.partition.graph.graph import Graph
from dgsuite.studies.scc import chip, dealing, ledger
from dgsuite.studies.scc.ledger import Ledger, Transport, block, cyclic
from dgsuite.studies.scc.options import Betweenness, Common, Workload, buffers, present
from dgsuite.studies.scc.simulate import Simulation
from dgsuite.studies.transports import carriers
from dgsuite.studies.transports.kernels import workers

CHECKS = {
    "measured_seconds": "measured time of the rounds of some of the sampled sources",
    "measured_busy": "measured processor time of the busiest place in them",
    "predicted_seconds": "simulated time of what was measured",
    "predicted_busy": "simulated processor time of its busiest place",
}
"""Variables of what is run as well as simulated."""

RUN = 4
"""One of so many sampled sources is run with others, to compare its simulation with."""

ENTRY = 16
"""Bytes of an edge on its way: both ends and a weight."""


@dataclass(frozen=True)
class Case:
    """A workload, measured.

    Attributes
    ----------
    sources
        Those that were measured, ascending.
    degree
        Their out-edges.
    spread
        How many sources each stands for.
    hold
        Seconds to put the graph together from the clusters' rows.
    held
        Bytes that a place holds: the graph, its sums, and what a search needs.
    """

    graph: Graph
    weighted: bool
    sources: NDArray[np.int64]
    degree: NDArray[np.int64]
    spread: int
    hold: float
    ledger: Ledger
    held: int = 0


def run(common: Common, options: Betweenness, on_step: Callable[[str], None]) -> xr.Dataset:
    """Measure and simulate.

    Parameters
    ----------
    on_step
        Called with a line of progress as each step begins.

    Returns
    -------
    Dataset with dims workload, deal, transport, places and measured; ``simulated_seconds`` is simulated.
    """
    cases = {}
    for name, workload in options.workload.items():
        on_step(f"units of {name}")
        cases[name] = measure(workload, common)
    here, absent = present(common.protocols)
    for why in absent.values():
        on_step(f"left out: {why}")
    on_step("transports")
    with buffers(common.buffers) as pieces:
        with workers(here) as pairs:
            by = {t.name: t for t in ledger.transports(pairs, common.repeats, pieces)}
        columns = [p for p in common.protocols if p not in absent]
        transports = [by[p] if p in by else chip.transport(p) for p in columns]
        shape = (len(cases), len(options.deals), len(columns))
        simulated = np.full((*shape, len(common.places)), np.nan)
        checks = np.full((len(CHECKS), *shape, len(common.measured)), np.nan)
        for t, transport in enumerate(transports):
            with ExitStack() as stack:
                clients = {
                    count: stack.enter_context(carriers.workers(transport.name, count))
                    for count in (dict.fromkeys(common.measured) if transport.name in by else ())
                }
                each = product(enumerate(cases.items()), enumerate(options.deals))
                for (w, (name, case)), (d, deal) in each:
                    on_step(f"{name}, {deal}, {transport.name}")
                    for k, places in enumerate(common.places):
                        if not transport.why_not(places, case.held):
                            replayed = simulate(case, places, transport, deal)
                            simulated[w, d, t, k] = replayed.elapsed
                    if (w > 0) + (d > 0) + (t > 0) > 1:  # each once, beside the first of the others
                        continue
                    for m, places in enumerate(common.measured):
                        if places in clients:
                            with carriers.chosen(transport.name):
                                took = once(case, deal, clients[places], common)
                            replayed = as_measured(case, places, transport, deal)
                            planned = replayed.elapsed, replayed.busy.max()
                            checks[:, w, d, t, m] = *took, *planned
    ds = _dataset(common, options, cases, transports, checks, simulated)
    ds.attrs["left_out"] = "; ".join(absent.values())
    return ds


def measure(workload: Workload, common: Common) -> Case:
    """What a workload costs on one place."""
    shares = {share: getattr(workload, share) for share in "abcd"}
    made = []
    for _ in range(common.repeats):
        begin = thread_time()
        graph = genval.rmat(workload.scale, **shares, seed=common.seed)
        middle = thread_time()
        held = gathered(graph.gather(), workload.weighted)
        made.append((middle - begin, thread_time() - middle))
    generate, hold = np.min(made, 0)
    sample = min(workload.sample, graph.n)
    luck = np.random.default_rng(common.seed).integers(0, sample, graph.n // sample)
    sources = np.arange(len(luck)) * sample + luck
    search = Searcher(held, workload.weighted)
    units = ledger.units(
        lambda i: search(sources[i : i + 1]), len(sources), common.repeats, thread_time
    )
    costs = Ledger(np.repeat(units, sample), generate + hold, 2 * 8 * graph.n)
    degree = held.degree[sources]
    return Case(
        graph, workload.weighted, sources, degree, sample, float(hold), costs, search.nbytes
    )


def once(case: Case, deal: str, client: Any, common: Common) -> tuple[float, float]:
    """Seconds of a run on some of the sources that were measured, and processor time of the busiest place;
    means of some runs.
    """
    count = len(worker_addresses(client))

    def one(sources: NDArray) -> tuple[float, float]:
        if deal == "dynamic":
            dealt = dealing.run(case.graph, client, sources.tolist(), case.weighted)
            return dealt.seconds, max(dealt.cpu.values())
        given = {"deal": deal, "sources": sources.tolist(), "weighted": case.weighted}
        found = run_kernel("bc", case.graph, clusters=count, client=client, **given)
        return found.attrs["seconds"], float(found.cpu_seconds.sum("round").max())

    one(case.sources[:count])  # workers have imported what they need
    elapsed, busy = np.mean([one(case.sources[::RUN]) for _ in range(common.repeats)], 0)
    return float(elapsed), float(busy)


def simulate(case: Case, places: int, transport: Transport, deal: str) -> Simulation:
    """The original's program: every place makes the graph, searches, and sums are added up."""
    simulation = Simulation(places, transport)
    simulation.broadcast(0)
    simulation.compute(case.ledger.setup)
    degree = np.repeat(case.degree, case.spread)
    return _searched(simulation, case.ledger, degree, deal)


def as_measured(case: Case, places: int, transport: Transport, deal: str) -> Simulation:
    """The run that `once` measures: the graph is exchanged, and only some sources searched from."""
    costs = case.ledger
    units = costs.units[:: case.spread][::RUN]
    simulation = Simulation(places, transport)
    if deal != "dynamic":
        simulation.exchange(ENTRY * case.graph.m / places)
    simulation.compute(case.hold)
    searches = Ledger(units, 0, costs.payload)
    return _searched(simulation, searches, case.degree[::RUN], deal)


def _searched(simulation: Simulation, costs: Ledger, degree: NDArray, deal: str) -> Simulation:
    places = simulation.places
    if deal == "dynamic":
        count = dealing.chunks(places)
        bounds = len(costs.units) * np.arange(count + 1) // count
        done = np.concatenate([[0], np.cumsum(costs.units[falling(degree)])])
        service = simulation.transport.task or None  # a counter where Dask has no scheduler
        simulation.dynamic(np.diff(done[bounds]), service=service)
        simulation.reduce(costs.payload)
        return simulation
    owner = block(len(costs.units), places) if deal == "block" else cyclic(falling(degree), places)
    simulation.static(costs.units, owner)
    simulation.exchange(costs.payload / places)
    return simulation


def _dataset(
    common: Common,
    options: Betweenness,
    cases: dict[str, Case],
    transports: list[Transport],
    checks: NDArray,
    simulated: NDArray,
) -> xr.Dataset:
    of_all = ("workload", "deal", "transport")
    costs = [case.ledger for case in cases.values()]
    unit_seconds = np.full((len(cases), max(len(c.sources) for c in cases.values())), np.nan)
    for row, case in zip(unit_seconds, cases.values(), strict=True):
        row[: len(case.sources)] = case.ledger.units[:: case.spread]
    balance = np.array(
        [
            [[_balance(case, deal, p) for p in common.places] for deal in options.deals]
            for case in cases.values()
        ]
    )
    every, simulations = cases.values(), "simulated elapsed time, a processor a place"
    paper = [workload.edges or -1 for workload in options.workload.values()]
    of_workloads = [
        ("setup_seconds", [c.setup for c in costs], "measured time to make the graph", "s"),
        ("work_seconds", [c.units.sum() for c in costs], "time of all searches", "s"),
        ("edges", [c.graph.m for c in every], "edges", "1"),
        ("paper_edges", paper, "edges, in the paper", "1"),
        ("sample", [c.spread for c in every], "sources that one measured stands for", "1"),
        ("held_bytes", [c.held for c in every], "what a place holds", "B"),
    ]
    of_transports = [
        ("chunk_bytes", [t.chunk for t in transports], "bytes sent at a time, 0 for any", "B"),
        ("message_seconds", [t.message for t in transports], "measured time of a message", "s"),
        ("byte_seconds", [t.byte for t in transports], "measured time of a byte more", "s"),
        ("task_seconds", [t.task for t in transports], "measured time of an empty task", "s"),
    ]
    table: list[tuple[Any, ...]] = [
        ((*of_all, "places"), "simulated_seconds", simulated, simulations, "s"),
        ((*of_all[:2], "places"), "balance", balance, "mean over largest work of the places", "1"),
        (("workload", "unit"), "unit_seconds", unit_seconds, "measured time of a search", "s"),
        *(("workload", *row) for row in of_workloads),
        *(("transport", *row) for row in of_transports),
        *(
            ((*of_all, "measured"), name, values, long_name, "s")
            for (name, long_name), values in zip(CHECKS.items(), checks, strict=True)
        ),
    ]
    variables = {
        name: variable(dims, np.asarray(values), long_name, units)
        for dims, name, values, long_name, units in table
    }
    coords = {
        "workload": list(cases),
        "deal": list(options.deals),
        "transport": [t.name for t in transports],
        "places": common.places,
        "measured": common.measured,
    }
    return xr.Dataset(variables, coords, {"program": "bc", "seed": common.seed})


def _balance(case: Case, deal: str, places: int) -> float:
    """Mean over largest work, of a deal alone."""
    free = Transport("none", 0.0, 0.0)
    costs = Ledger(case.ledger.units, 0.0, 0)
    found = _searched(Simulation(places, free), costs, np.repeat(case.degree, case.spread), deal)
    return float(found.busy.mean() / found.elapsed)
