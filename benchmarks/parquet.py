"""From Parquet to Parquet: PageRank and components of edges between names, on two workers or in one process.

python benchmarks/parquet.py [--nodes N] [--edges M] [--files F]

The peer reads with pandas, numbers the names with `pandas.factorize`, and computes with igraph. Memory is
as in construction.py.
"""

from __future__ import annotations

import argparse
import gc
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import common
import numpy as np
import pandas as pd
from common import line
from construction import Watch


def write(folder: Path, nodes: int, edges: int, files: int) -> int:
    """Write random edges between names of 13 characters; returns the bytes of their text."""
    rng = np.random.default_rng(1)
    names = pd.array([f"user-{i:08d}" for i in rng.permutation(10 * nodes)[:nodes]], dtype="str")
    for number in range(files):
        src, dst = rng.integers(0, nodes, (2, edges // files))
        frame = pd.DataFrame({"source": names[src], "target": names[dst]})
        frame.to_parquet(folder / f"part-{number:03}.parquet")
    return 2 * 13 * edges


@contextmanager
def timed(what: str) -> Iterator[None]:
    """Print what a step took."""
    begin = time.perf_counter()
    yield
    line(f"  {what}", time.perf_counter() - begin, "s")


def ours(source: Path, target: Path) -> None:
    """All steps on the workers of the current client."""
    import dgsuite

    with timed("graph"):
        graph = dgsuite.Graph.from_parquet(source)
    with timed("pagerank"):
        ranks = dgsuite.run("pagerank", graph)
    with timed("components"):
        components = dgsuite.run("wcc", graph)
    with timed("Parquet"):
        both = ranks.assign(component=components.component)
        dgsuite.to_dataframe(both).to_parquet(target)


def theirs(source: Path, target: Path) -> None:
    """All steps in this process."""
    import igraph

    with timed("graph"):
        frame = pd.read_parquet(source)
        codes, names = pd.factorize(pd.concat([frame.source, frame.target], ignore_index=True))
        ends = codes.reshape(2, -1)
        graph = igraph.Graph(n=len(names), edges=ends.T, directed=False)
    with timed("pagerank"):
        rank = graph.pagerank()
    with timed("components"):
        component = graph.connected_components().membership
    with timed("Parquet"):
        pd.DataFrame({"node": names, "rank": rank, "component": component}).to_parquet(target)


def main() -> None:
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    options.add_argument("--nodes", type=int, default=2_000_000)
    options.add_argument("--edges", type=int, default=20_000_000)
    options.add_argument("--files", type=int, default=20)
    given = options.parse_args()
    folder = Path(tempfile.mkdtemp())
    try:
        for name in ("few", "edges"):
            (folder / name).mkdir()
        write(folder / "few", 10_000, 100_000, 2)
        size = write(folder / "edges", given.nodes, given.edges, given.files)
        seconds = {}
        with common.cluster(2):
            print("a small one first, so that loops are compiled and packages imported")
            ours(folder / "few", folder / "few-ours")
            gc.collect()
            with Watch() as watch:
                begin = time.perf_counter()
                ours(folder / "edges", folder / "ours")
                seconds["two workers"] = time.perf_counter() - begin
        line("two workers", seconds["two workers"], "s")
        line("peak of all processes over the text of the edges", watch.peak / size, "x", 4)
        begin = time.perf_counter()
        theirs(folder / "edges", folder / "theirs.parquet")
        seconds["one process"] = time.perf_counter() - begin
        line("pandas and igraph, one process", seconds["one process"], "s")
        line(
            "two workers over one process", seconds["two workers"] / seconds["one process"], "x", 1
        )
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
