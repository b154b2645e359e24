"""Betweenness centrality beside igraph, what dealing changes, and the partitioned form.

python benchmarks/scc.py [--sample 8] [--sizes 14,16,18] [--repeats 3] [--only peers,deals,partitioned]
"""

from __future__ import annotations

import argparse
import resource
import statistics
from time import perf_counter, thread_time

import common
import numpy as np
from common import line

LARGE = {"n": 14}
MEDIUM = {"n": 14, "a": 0.65, "b": 0.1, "c": 0.1, "d": 0.15}


def peak() -> float:
    """Most memory that this process ever held, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def every(n: int, sample: int, seed: int = 1) -> list[int]:
    """One of so many sources, at random."""
    count = n // sample
    return (
        np.arange(count) * sample + np.random.default_rng(seed).integers(0, sample, count)
    ).tolist()


def peers(client, sample: int, repeats: int) -> None:
    """Two workers and igraph take turns on the same sources of "large"."""
    import igraph

    import dgsuite
    import genval

    graph = genval.rmat(**LARGE)
    matrix = graph.to_scipy().tocoo()
    other = igraph.Graph(n=graph.n, edges=np.stack(matrix.coords, 1), directed=True)
    sources = every(graph.n, sample)
    for weighted, bound in ((False, 30), (True, 100)):
        lengths = matrix.data.tolist() if weighted else None
        ours, theirs, busy, alone = [], [], [], []
        for turn in range(repeats + 1):
            ds = dgsuite.run(
                "bc", graph, client=client, weighted=weighted, sources=sources, deal="cyclic"
            )
            begin, cpu = perf_counter(), thread_time()
            right = other.betweenness(directed=True, weights=lengths, sources=sources)
            if turn:  # the first does not count
                ours.append(ds.attrs["seconds"])
                theirs.append(perf_counter() - begin)
                busy.append(float(ds.cpu_seconds.sum("round").max()))
                alone.append(thread_time() - cpu)
        np.testing.assert_allclose(ds.betweenness, right, rtol=1e-9, atol=1e-9)
        what = f"large, {'weighted' if weighted else 'unweighted'}, 1/{sample} of the sources"
        line(f"{what}: 2 workers", statistics.median(ours), "s")
        line("  igraph", statistics.median(theirs), "s", bound / sample * 2)
        line(
            "  2 workers over igraph", statistics.median(ours) / statistics.median(theirs), "x", 0.5
        )
        line("  processor time: busiest worker over igraph", min(busy) / min(alone), "x")
    line("largest worker", max(client.run(peak).values()), "MB")


def deals(client) -> None:
    """How evenly 16 places are busy on "medium"."""
    import dgsuite
    import genval

    graph = genval.rmat(**MEDIUM)
    for deal in ("block", "cyclic"):
        ds = dgsuite.run("bc", graph, client=client, deal=deal, clusters=16)
        cpu = ds.cpu_seconds.sum("round").values
        line(f"medium, {deal}: mean over largest processor time of 16", cpu.mean() / cpu.max(), "x")


def partitioned(client, sizes: list[int], repeats: int) -> None:
    """64 sources of graphs that stay in their clusters, beside the replicated form."""
    import dgsuite
    import genval

    dgsuite.run("bc", genval.rmat(n=8), client=client, graph_form="partitioned", sources=4)
    for n in sizes:
        graph = genval.rmat(n=n, clusters=2)
        for form in ("partitioned", "replicated"):
            for weighted in (False, True):
                options = {
                    "graph_form": form,
                    "weighted": weighted,
                    "sources": 64,
                    "deal": "cyclic",
                }
                runs = [dgsuite.run("bc", graph, client=client, **options) for _ in range(repeats)]
                best = min(runs, key=lambda ds: ds.attrs["seconds"])
                seconds = best.attrs["seconds"]
                kind = "weighted" if weighted else "unweighted"
                line(f"n = {n}, {graph.m} edges, {form}, {kind}", seconds, "s")
                cpu = min(float(ds.cpu_seconds.sum("round").max()) for ds in runs)
                line("  processor time of the busiest worker", cpu, "s")
                line("  between workers", float(best.wire_bytes.sum()) / 1e6, "MB")
                line("  rounds", best.sizes["round"], "")
            line(f"  largest worker so far, {form}", max(client.run(peak).values()), "MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, default=8)
    parser.add_argument("--sizes", default="14,16,18")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", default="peers,deals,partitioned")
    given = parser.parse_args()
    only = given.only.split(",")
    if "peers" in only:
        with common.cluster(2) as client:
            peers(client, given.sample, given.repeats)
    if "deals" in only:
        with common.cluster(2) as client:
            deals(client)
    if "partitioned" in only:
        with common.cluster(2) as client:
            partitioned(client, list(map(int, given.sizes.split(","))), given.repeats)


if __name__ == "__main__":
    main()
