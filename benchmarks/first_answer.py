"""Processor time of a first answer: import, read a table, run a kernel, on a fresh machine and afterwards.

python benchmarks/first_answer.py [--edges 100000] [--kernels pagerank wcc ...]

Each answer is given by a process of its own: at first where no compiled loops are kept, then where those of
the first are.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import common
import numpy as np

KERNELS = ("pagerank", "wcc", "bfs", "leiden", "degrees")

ANSWER = """
import sys
import pandas as pd
import dgsuite

table, kernel = sys.argv[1:]
graph = dgsuite.Graph.from_dataframe(pd.read_csv(table), "source", "target")
if kernel == "leiden":
    graph = graph.to_undirected()
if kernel == "degrees":
    print(graph.degree.compute())
else:
    print(dgsuite.run(kernel, graph))
"""


def answer(table: Path, kernel: str, loops: str) -> float:
    """Seconds of processor time of a process that reads a table and runs a kernel."""
    before = common.used()
    subprocess.run(
        [sys.executable, "-c", ANSWER, str(table), kernel],
        env=os.environ | {"NUMBA_CACHE_DIR": loops},
        stdout=subprocess.DEVNULL,
        check=True,
    )
    return common.used() - before


def write(table: Path, edges: int) -> None:
    """A table of edges among a fifth as many nodes, some of them much more often than others."""
    drawn = np.random.default_rng(1).random((edges, 2)) ** 2
    ends = (drawn * (edges / 5)).astype(int)
    np.savetxt(table, ends, "%d", ",", header="source,target", comments="")


def main(arguments: Sequence[str] | None = None) -> None:
    options = common.Options(__file__, __doc__)
    options.size("--edges", 100_000, 100)
    options.size("--kernels", KERNELS, ("degrees",), nargs="*")
    options.size("--times", 1, 1)
    with options.recorded(arguments) as given, tempfile.TemporaryDirectory() as folder:
        table = Path(folder, "edges.csv")
        write(table, given.edges)
        for kernel in given.kernels:
            first, second = [], []
            for _ in range(given.times):
                with tempfile.TemporaryDirectory() as loops:
                    first.append(answer(table, kernel, loops))
                    second.append(answer(table, kernel, loops))
            on = {"kernel": kernel, "edges": given.edges}
            common.record("nothing compiled", first, "s", most=5.0, **on)
            common.record("compiled before", second, "s", most=1.5, **on)


if __name__ == "__main__":
    main()
