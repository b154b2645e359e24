"""What clocked runs take over each transport, MPI included: two workers each, taking turns."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import xarray as xr
from distributed import Client

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


@contextmanager
def workers(protocols: Sequence[str]) -> Iterator[dict[str, Client]]:
    """Clients of two workers for each transport, all there at the same time."""
    with ExitStack() as stack:
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore", UserWarning)  # a port is taken, and another found
        yield {p: stack.enter_context(carriers.workers(p, 2)) for p in protocols}


def ran(protocol: str, client: Client, kernel: Any, graph: Graph, **parameters: Any) -> xr.Dataset:
    """A run of a kernel over a transport."""
    with carriers.chosen(protocol):
        return run(kernel, graph, style="clocked", client=client, **parameters)


def rounds(
    clients: Mapping[str, Client], sizes: Sequence[int], repeats: int
) -> Iterator[tuple[str, int, int, float]]:
    """Seconds of a round in which each of two workers sends that many bytes to the other.

    Yields
    ------
    protocol : str
    size, repeat : int
        Which of them.
    seconds : float
        Median of the rounds of a run.
    """
    graph = Graph.from_edges(np.array([0]), np.array([1]), n=2, clusters=2)
    for s, size in enumerate(sizes):
        count = int(np.clip((1 << 26) // max(size, 1), 5, 500))
        for r in range(repeats):
            for protocol, client in clients.items():
                ds = ran(protocol, client, Swap, graph, rounds=count, words=size // WORD)
                each = (ds.compute_seconds + ds.exchange_seconds).isel(cluster=0)
                yield protocol, s, r, float(each.median())


def measure(
    clients: Mapping[str, Client], kernels: Sequence[str], nodes: int, repeats: int
) -> xr.Dataset:
    """Seconds of the rounds of kernels on a random graph of that many nodes, and eight edges for each.

    Returns
    -------
    xarray.Dataset
        ``kernel_seconds(protocol, kernel, repeat)`` and its medians, ``kernel_median_seconds``.
    """
    seconds = np.full((len(clients), len(kernels), repeats), np.nan)
    made = partial(genval.graph, "er", nodes, m=8 * nodes, seed=1, clusters=2)
    there = [(protocol, client, made(client=client)) for protocol, client in clients.items()]
    for k, kernel in enumerate(kernels):
        for protocol, client, graph in there:
            ran(protocol, client, kernel, graph)
        for r in range(repeats):
            for p, (protocol, client, graph) in enumerate(there):
                seconds[p, k, r] = ran(protocol, client, kernel, graph).attrs["seconds"]
    dims, median = ("protocol", "kernel", "repeat"), np.median(seconds, axis=-1)
    return xr.Dataset(
        {
            "kernel_seconds": variable(dims, seconds, "time of rounds", "s"),
            "kernel_median_seconds": variable(dims[:2], median, "median time of rounds", "s"),
        },
        {"protocol": list(clients), "kernel": list(kernels)},
    )
