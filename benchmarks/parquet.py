"""From Parquet to Parquet: PageRank and components of edges between names, on two workers or in one process.

python benchmarks/parquet.py [--nodes N] [--edges M] [--files F]

The peer reads with pandas, numbers the names with `pandas.factorize`, and computes with igraph, in a process
of its own. Memory is as in construction.py, over what the edges take as a dataframe of pandas: 13 bytes of
text and an offset of 8 for each end. Over the text alone it is 1.6 times that.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import common
import numpy as np
import pandas as pd
import psutil
from common import Options, record
from construction import SAMPLER, Watch

Steps = dict[str, dict[str, float]]
"""Of each step: seconds, and processor time of this process and of the workers."""


def write(folder: Path, nodes: int, edges: int, files: int) -> int:
    """Write random edges between names of 13 characters; returns their bytes as dataframes."""
    rng = np.random.default_rng(1)
    names = pd.array([f"user-{i:08d}" for i in rng.permutation(10 * nodes)[:nodes]], dtype="str")
    size = 0
    for number in range(files):
        src, dst = rng.integers(0, nodes, (2, edges // files))
        frame = pd.DataFrame({"source": names[src], "target": names[dst]})
        frame.to_parquet(folder / f"part-{number:03}.parquet")
        size += int(frame.memory_usage(index=False, deep=True).sum())
    return size


def processor() -> tuple[float, float]:
    """Processor time of this process, and of the workers, but not of what samples the memory."""
    own = psutil.Process()
    sampler = {child.pid for child in multiprocessing.active_children() if child.name == SAMPLER}
    below = [one for one in own.children(recursive=True) if one.pid not in sampler]
    return sum(own.cpu_times()[:2]), sum(sum(one.cpu_times()[:2]) for one in below)


@contextmanager
def timed(what: str, steps: Steps) -> Iterator[None]:
    """Note what a step takes."""
    begin, (client, workers) = time.perf_counter(), processor()
    yield
    took, (client_end, workers_end) = time.perf_counter() - begin, processor()
    steps[what] = {"seconds": took, "client": client_end - client, "workers": workers_end - workers}


def ours(source: Path, target: Path) -> Steps:
    """All steps on the workers of the current client."""
    import dgsuite

    steps: Steps = {}
    with timed("graph", steps):
        graph = dgsuite.Graph.from_parquet(source)
    with timed("pagerank", steps):
        ranks = dgsuite.run("pagerank", graph)
    with timed("components", steps):
        components = dgsuite.run("wcc", graph)
    with timed("Parquet", steps):
        both = ranks.assign(component=components.component)
        dgsuite.to_dataframe(both).to_parquet(target)
    return steps


def theirs(source: Path, target: Path) -> Steps:
    """All steps in this process."""
    import igraph

    steps: Steps = {}
    with timed("graph", steps):
        frame = pd.read_parquet(source)
        codes, names = pd.factorize(pd.concat([frame.source, frame.target], ignore_index=True))
        ends = codes.reshape(2, -1)
        graph = igraph.Graph(n=len(names), edges=ends.T, directed=False)
    with timed("pagerank", steps):
        rank = graph.pagerank()
    with timed("components", steps):
        component = graph.connected_components().membership
    with timed("Parquet", steps):
        pd.DataFrame({"node": names, "rank": rank, "component": component}).to_parquet(target)
    return steps


def measured(run: Callable[[Path, Path], Steps], source: Path, target: Path) -> dict[str, Any]:
    """What a run takes, and the peak of memory meanwhile, of all processes and of this one alone."""
    with Watch() as watch:
        begin = time.perf_counter()
        steps = run(source, target)
        took = time.perf_counter() - begin
    return {"seconds": took, "steps": steps, "peak": watch.peak, "peak_client": watch.own}


def two_workers(folder: Path) -> dict[str, Any]:
    """Our run, after a small one, so that loops are compiled and packages imported."""
    with common.cluster(2):
        ours(folder / "few", folder / "few-ours")
        return measured(ours, folder / "edges", folder / "ours")


def one_process(folder: Path) -> dict[str, Any]:
    """The peer's run, after a small one."""
    theirs(folder / "few", folder / "few-theirs")
    return measured(theirs, folder / "edges", folder / "theirs")


LARGE = 10_000_000
"""Edges from which on memory has bounds."""

RUNS = {"two workers": two_workers, "one process": one_process}


def show(name: str, found: dict[str, Any], size: int, on: dict[str, Any], bounded: bool) -> None:
    """Note the figures of a run."""
    on = on | {"who": name}
    bounds = (4, 1e3) if bounded else (None, None)
    record("time", found["seconds"], "s", **on)
    for who in ("client", "workers"):
        spent = sum(took[who] for took in found["steps"].values())
        record(f"processor time, {who}", spent, "s", **on)
    record("peak of all processes", found["peak"] / 1e6, "MB", **on)
    record("peak of all processes", found["peak"] / size, "x", most=bounds[0], peer="edges", **on)
    record("peak of the client", found["peak_client"] / 1e6, "MB", most=bounds[1], **on)
    for step, took in found["steps"].items():
        record("time", took["seconds"], "s", **on, step=step)
        record("processor time", took["client"] + took["workers"], "s", **on, step=step)


def main(arguments: Sequence[str] | None = None) -> None:
    options = Options(__file__, __doc__)
    options.size("--nodes", 2_000_000, 1_000)
    options.size("--edges", 20_000_000, 10_000)
    options.size("--files", 20, 2)
    options.add_argument("--run", choices=RUNS, help="make one of the runs only")
    options.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    asked = options.parse_args(arguments)
    if asked.folder is not None:  # in a process of its own
        print(json.dumps(RUNS[asked.run](asked.folder)))
        return
    with options.recorded(arguments) as given:
        compare(given)


def compare(given: argparse.Namespace) -> None:
    """Make the runs, one after the other, each in a process of its own."""
    folder = Path(tempfile.mkdtemp())
    try:
        for name in ("few", "edges"):
            (folder / name).mkdir()
        write(folder / "few", min(10_000, given.nodes), min(100_000, given.edges), 2)
        size = write(folder / "edges", given.nodes, given.edges, given.files)
        on, found = {"nodes": given.nodes, "edges": given.edges}, {}
        for name in RUNS if given.run is None else [given.run]:
            command = [sys.executable, __file__, "--run", name, "--folder", str(folder)]
            output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
            found[name] = json.loads(output)
            large = given.edges >= LARGE  # of less, most memory is that of packages
            show(name, found[name], size, on, name == "two workers" and large)
        if given.run is None:
            ratio = found["two workers"]["seconds"] / found["one process"]["seconds"]
            record("time", ratio, "x", most=1, peer="one process", **on, who="two workers")
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
