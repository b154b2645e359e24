"""Betweenness centrality beside igraph, what dealing changes, and the partitioned form.

python benchmarks/scc.py [--sample 8] [--sizes 14,16,18] [--repeats 3] [--only peers,deals,partitioned]
"""

from __future__ import annotations

import resource
from collections.abc import Sequence
from time import perf_counter, thread_time

import common
import numpy as np
from common import Options, record

MEDIUM = {"a": 0.65, "b": 0.1, "c": 0.1, "d": 0.15}


def peak() -> float:
    """Most memory that this process ever held, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def every(n: int, sample: int, seed: int = 1) -> list[int]:
    """One of so many sources, at random."""
    count = n // sample
    return (
        np.arange(count) * sample + np.random.default_rng(seed).integers(0, sample, count)
    ).tolist()


def peers(client, scale: int, sample: int, repeats: int) -> None:
    """Two workers and igraph take turns on the same sources of "large"."""
    import igraph

    import dgsuite
    from dgsuite import genval

    graph = genval.rmat(n=scale)
    matrix = graph.to_scipy().tocoo()
    other = igraph.Graph(n=graph.n, edges=np.stack(matrix.coords, 1), directed=True)
    sources = every(graph.n, sample)
    for weighted in (False, True):
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
        on = {"workload": "large", "lengths": "weighted" if weighted else "unweighted"}
        fast = record("2 workers", ours, "s", **on)
        slow = record("igraph", theirs, "s", **on)
        record("2 workers", fast / slow, "x", most=0.5, peer="igraph", **on)
        record("processor time, busiest worker", min(busy) / min(alone), "x", peer="igraph", **on)
    record("largest worker", max(client.run(peak).values()), "MB", workload="large")


def deals(client, scale: int) -> None:
    """How evenly 16 places are busy on "medium"."""
    import dgsuite
    from dgsuite import genval

    graph = genval.rmat(n=scale, **MEDIUM)
    for deal in ("block", "cyclic"):
        ds = dgsuite.run("bc", graph, client=client, weighted=False, deal=deal, clusters=16)
        cpu = ds.cpu_seconds.sum("round").values
        balance = cpu.mean() / cpu.max()
        record("mean processor time", balance, "x", peer="largest of 16 places", deal=deal)


def partitioned(client, sizes: list[int], repeats: int) -> None:
    """64 sources of graphs that stay in their clusters, beside the replicated form."""
    import dgsuite
    from dgsuite import genval

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
                on = {"scale": n, "edges": graph.m, "form": form}
                on["lengths"] = "weighted" if weighted else "unweighted"
                record("time", seconds, "s", **on)
                cpu = min(float(ds.cpu_seconds.sum("round").max()) for ds in runs)
                record("processor time of the busiest worker", cpu, "s", **on)
                record("between workers", float(best.wire_bytes.sum()) / 1e6, "MB", **on)
                record("rounds", best.sizes["round"], "", **on)
                record("largest worker so far", max(client.run(peak).values()), "MB", **on)


def main(arguments: Sequence[str] | None = None) -> None:
    options = Options(__file__, __doc__)
    options.size("--scale", 14, 7, help="of the replicated graphs")
    options.size("--sample", 8, 8)
    options.size("--sizes", "14,16,18", "7")
    options.size("--repeats", 3, 1)
    options.add_argument("--only", default="peers,deals,partitioned")
    with options.recorded(arguments) as given:
        parts = {
            "peers": lambda client: peers(client, given.scale, given.sample, given.repeats),
            "deals": lambda client: deals(client, given.scale),
            "partitioned": lambda client: partitioned(
                client, [*map(int, given.sizes.split(","))], given.repeats
            ),
        }
        for name in given.only.split(","):
            with common.cluster(2) as client:
                parts[name](client)


if __name__ == "__main__":
    main()
