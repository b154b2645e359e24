"""Peak memory of a Graph500 run, all its processes together, over the size of its graph.

python benchmarks/graph500_memory.py [--scales 18,20,22]
"""

from __future__ import annotations

import argparse

from common import line
from construction import Watch


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scales", default="18,20,22")
    given = parser.parse_args()
    from dgsuite import transports
    from dgsuite.experiment import clusters as schedulers
    from dgsuite.graph500 import problem, search
    from dgsuite.workers import plugin as worker

    worker.keep_no_memory()  # as the command line does
    for scale in map(int, given.scales.split(",")):
        with schedulers.local(2, 1, "0", transports.fastest()) as client:
            problem.build(6, client)  # workers have imported what they need
            with Watch() as building:
                made = problem.build(scale, client)
            roots = problem.choose_roots(made, 4)
            with Watch() as searching:
                search.search(made, roots, client, check=False)
        csr = 4 * sum(made.graph.entries) + 4 * made.graph.n
        bound = 3 if scale >= 22 else None  # the interpreters alone exceed it on smaller graphs
        line(f"scale {scale}: graph (CSR)", csr / 2**20, "MiB")
        line("  processes with nothing built", building.idle / 2**20, "MiB")
        line("  peak of construction, over the graph", building.peak / csr, "x", bound)
        line("    of which above idle", (building.peak - building.idle) / csr, "x")
        line("  peak of searching, over the graph", searching.peak / csr, "x", bound)
        line("    of which above idle", (searching.peak - building.idle) / csr, "x")


if __name__ == "__main__":
    main()
