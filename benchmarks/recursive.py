"""Recursive kernels on two worker processes: wide, deep, and beside the iterative form."""

from __future__ import annotations

import networkx as nx
from common import cluster, line, median

import dgsuite
import genval
from partition.graph import Graph

DEEP = 10_000


def main() -> None:
    """Print all figures."""
    with cluster(2) as client:

        def run(kernel, graph, form, style):
            return dgsuite.run(kernel, graph, form=form, style=style, client=client)

        def seconds(kernel, graph, form, style, times=5):
            return median(
                lambda: float(run(kernel, graph, form, style).attrs["seconds"]), times=times
            )

        wide = genval.graph("spmax", 10_000, clusters=8)
        for form, style, bound in (
            ("recursive", "finish_async", 20),
            ("recursive", "clocked", None),
            ("iterative", "finish_async", None),
            ("iterative", "clocked", None),
        ):
            what = f"bf, n = 10,000, m = {wide.m:,}, {form} {style}"
            line(what, seconds("bf", wide, form, style), "s", bound)
        chain = nx.path_graph(DEEP + 1)
        for how in ("nodes", "hash"):
            graph = Graph.from_networkx(chain, clusters=8, partition=how)
            for style in ("serial", "finish_async", "clocked"):
                taken = seconds("bf", graph, "recursive", style, times=1)
                line(f"bf, chain, 10,000 deep, cut by {how}, {style}", taken, "s")
        for kernel in ("bf", "dst", "by", "dr", "mst"):
            graph = genval.graph("mx", 64, family="paper", kernel=kernel, clusters=8)
            for form, style in (
                ("recursive", "finish_async"),
                ("recursive", "clocked"),
                ("iterative", "clocked"),
            ):
                taken = 1e3 * seconds(kernel, graph, form, style)
                line(f"{kernel}, Mx-In, n = 64, {form} {style}", taken, "ms")
        graph = genval.graph("mx", 64, family="paper", kernel="bf", clusters=8)
        runs = (run("bf", graph, "recursive", "finish_async") for _ in range(100))
        tasks = sorted(int(found.asyncs.sum()) for found in runs)
        print(f"bf, Mx-In, tasks: {tasks[0]} to {tasks[-1]}, median {tasks[50]}; in order 1532")


if __name__ == "__main__":
    main()
