"""What clocked runs take over each transport, MPI included: two workers each, taking turns."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from dgsuite import genval
from dgsuite.core.results.dataset import variable
from dgsuite.core.running.runner import run
from dgsuite.kernels.bsp import Kernel, Output, Program, Round, State, unicast, vote
from dgsuite.partition.clusters.cluster import Cluster
from dgsuite.partition.graph.graph import Graph
from dgsuite.studies.transports import carriers

WORD = 8
"""Bytes of a word of a message."""


@dataclass(frozen=True)
class Swap(Kernel):
    """Two nodes send each other a message of some words each round, or, with none, only meet."""

    rounds: int = 100
    words: int = 0

    name = "swap"
    outputs = {"nothing": Output("zeros")}
    fields = {"content": np.int64}

    def widths(self, n: int) -> dict[str, int]:
        return {"content": max(1, self.words)}

    def program(self, net: Any) -> Program:
        for _ in range(self.rounds):
            reply = yield Round(self.swap)
            if not reply.any:
                return

    def start(self, c: Cluster) -> State:
        return State(nothing=c.zeros())

    def swap(self, c: Cluster, s: State, inbox: Any) -> Any:
        if not self.words:
            return vote(any=True)
        content = np.zeros((c.size, self.words), np.int64)
        return vote(any=True), unicast(1 - c.ids, content=content)


class Workers:
    """Two workers for each transport."""

    def __init__(self, protocols: Sequence[str], stack: ExitStack) -> None:
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore", UserWarning)  # a port is taken, and another found
        self.clients = {p: stack.enter_context(carriers.workers(p, 2)) for p in protocols}

    def run(self, protocol: str, kernel: Any, graph: Graph, **parameters: Any) -> xr.Dataset:
        """Run a kernel over a transport."""
        with carriers.chosen(protocol):
            client = self.clients[protocol]
            return run(kernel, graph, style="clocked", client=client, **parameters)


@contextmanager
def workers(protocols: Sequence[str]) -> Iterator[Workers]:
    """Two workers for each transport, all there at the same time."""
    with ExitStack() as stack:
        yield Workers(protocols, stack)


def rounds(
    there: Workers, sizes: Sequence[int], repeats: int
) -> Iterator[tuple[int, int, int, float]]:
    """Seconds of a round in which each of two workers sends that many bytes to the other.

    Yields
    ------
    protocol, size, repeat : int
        Which of them.
    seconds : float
        Median of the rounds of a run.
    """
    graph = Graph.from_edges(np.array([0]), np.array([1]), n=2, clusters=2)
    for s, size in enumerate(sizes):
        count = int(np.clip((1 << 26) // max(size, 1), 5, 500))
        for r in range(repeats):
            for p, protocol in enumerate(there.clients):
                ds = there.run(protocol, Swap, graph, rounds=count, words=size // WORD)
                each = (ds.compute_seconds + ds.exchange_seconds).isel(cluster=0)
                yield p, s, r, float(each.median())


def measure(
    there: Workers, kernels: Sequence[str], nodes: int, repeats: int, degree: int = 16
) -> xr.Dataset:
    """Seconds of the rounds of kernels on a random graph of that many nodes.

    Returns
    -------
    xarray.Dataset
        ``kernel_seconds(protocol, kernel, repeat)`` and its medians, ``kernel_median_seconds``.
    """
    seconds = np.full((len(there.clients), len(kernels), repeats), np.nan)
    graphs = {
        protocol: genval.graph(
            "er", nodes, m=nodes * degree // 2, seed=1, clusters=2, client=client
        )
        for protocol, client in there.clients.items()
    }
    for k, kernel in enumerate(kernels):
        for protocol, graph in graphs.items():
            there.run(protocol, kernel, graph)
        for r in range(repeats):
            for p, (protocol, graph) in enumerate(graphs.items()):
                seconds[p, k, r] = there.run(protocol, kernel, graph).attrs["seconds"]
    dims, median = ("protocol", "kernel", "repeat"), np.median(seconds, axis=-1)
    return xr.Dataset(
        {
            "kernel_seconds": variable(dims, seconds, "time of rounds", "s"),
            "kernel_median_seconds": variable(dims[:2], median, "median time of rounds", "s"),
        },
        {"protocol": list(there.clients), "kernel": list(kernels)},
    )
