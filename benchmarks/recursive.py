"""Recursive kernels on two worker processes: wide, deep, and beside the iterative form."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import common  # before networkx, which finds the installed dgsuite
import networkx as nx
from common import Options, record, repeated

import dgsuite
from dgsuite import genval
from dgsuite.partition.graph.graph import Graph


def main(arguments: Sequence[str] | None = None) -> None:
    options = Options(__file__, __doc__)
    options.size("--nodes", 10_000, 200, help="of the wide graph")
    options.size("--deep", 10_000, 50, help="length of the chain")
    kernels = ("bf", "dst", "by", "dr", "mst")
    options.size("--kernels", kernels, ("bf",), nargs="+", choices=kernels, help="on small inputs")
    options.size("--times", 5, 1)
    options.size("--runs", 100, 3, help="whose tasks are counted")
    with options.recorded(arguments) as given, common.cluster(2) as client:
        measure(given, client)


def measure(given: argparse.Namespace, client: Any) -> None:
    """All figures."""

    def run(kernel: str, graph: Any, form: str, style: str) -> Any:
        return dgsuite.run(kernel, graph, form=form, style=style, client=client)

    def seconds(
        kernel: str, graph: Any, form: str, style: str, times: int = given.times
    ) -> list[float]:
        return repeated(
            lambda: float(run(kernel, graph, form, style).attrs["seconds"]), times=times
        )

    wide = genval.graph("spmax", given.nodes, clusters=8)
    for form, style, bound in (
        ("recursive", "finish_async", 20),
        ("recursive", "clocked", None),
        ("iterative", "finish_async", None),
        ("iterative", "clocked", None),
    ):
        on = {"input": f"SP-Max, n = {wide.n:,}, m = {wide.m:,}", "form": form}
        record(f"bf, {style}", seconds("bf", wide, form, style), "s", most=bound, **on)
    chain = nx.path_graph(given.deep + 1)
    for how in ("nodes", "hash"):
        graph = Graph.from_networkx(chain, clusters=8, partition=how)
        on = {"input": f"chain {given.deep:,} deep, cut by {how}", "form": "recursive"}
        for style in ("serial", "finish_async", "clocked"):
            record(f"bf, {style}", seconds("bf", graph, "recursive", style, times=1), "s", **on)
    for kernel in given.kernels:
        graph = genval.graph("mx", 64, family="paper", kernel=kernel, clusters=8)
        for form, style in (
            ("recursive", "finish_async"),
            ("recursive", "clocked"),
            ("iterative", "clocked"),
        ):
            took = [1e3 * s for s in seconds(kernel, graph, form, style)]
            on = {"input": "Mx-In, n = 64", "form": form, "style": style}
            record(kernel, took, "ms", **on)
    graph = genval.graph("mx", 64, family="paper", kernel="bf", clusters=8)
    runs = (run("bf", graph, "recursive", "finish_async") for _ in range(given.runs))
    tasks = [int(found.asyncs.sum()) for found in runs]
    record(f"tasks of bf, Mx-In, n = 64, {given.runs} runs of finish_async", tasks, "")


if __name__ == "__main__":
    main()
