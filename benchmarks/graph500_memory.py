"""Peak memory of a Graph500 run, all its processes together, over the size of its graph.

python benchmarks/graph500_memory.py [--scales 18,20,22]
"""

from __future__ import annotations

from collections.abc import Sequence

from common import Options, record
from construction import Watch


def main(arguments: Sequence[str] | None = None) -> None:
    options = Options(__file__, __doc__)
    options.size("--scales", "18,20,22", "8")
    with options.recorded(arguments) as given:
        measure([*map(int, given.scales.split(","))])


def measure(scales: Sequence[int]) -> None:
    """Peaks of building and of searching."""
    from dgsuite.base.memory import keep_no_memory
    from dgsuite.core import transports
    from dgsuite.studies.experiment import clusters as schedulers
    from dgsuite.suites.graph500 import problem, search

    keep_no_memory()  # as the command line does
    for scale in scales:
        with schedulers.local(2, 1, "0", transports.fastest()) as client:
            problem.build(6, client)  # workers have imported what they need
            with Watch() as building:
                made = problem.build(scale, client)
            roots = problem.sources.choose(made.able, 4, 101)
            with Watch() as searching:
                search.search(made, roots, client, check=False)
        csr = 4 * sum(made.graph.entries) + 4 * made.graph.n
        bound = 3 if scale >= 22 else None  # the interpreters alone exceed it on smaller graphs
        graph = {"peer": "graph", "scale": scale}
        record("graph (CSR)", csr / 2**20, "MiB", scale=scale)
        record("processes with nothing built", building.idle / 2**20, "MiB", scale=scale)
        for what, watch in (("construction", building), ("searching", searching)):
            record(f"peak of {what}", watch.peak / csr, "x", most=bound, **graph)
            record(f"peak of {what}, above idle", (watch.peak - building.idle) / csr, "x", **graph)


if __name__ == "__main__":
    main()
