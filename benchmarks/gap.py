"""GAP's six kernels on six graphs beside GAP's own C++ and other libraries, in turns, all on two processors.

python benchmarks/gap.py [--graphs kron urand twitter web road grid] [--scale 20] [--turns 5] [--gap FOLDER]

FOLDER has GAP's programs (https://github.com/sbeamer/gapbs); without it they are left out. They read the same
graphs with the same weights from files. Our times are those of the rounds, GAP's those of its trials. GAP's
`sssp` runs with the bucket width of four that is fastest. Triangles of directed graphs are counted without
directions.
Peers that are not installed are left out: pip install 'dgsuite[bench]'.
"""

from __future__ import annotations

import os
import re
import statistics
import subprocess
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import analytics_peers as peers
import numpy as np
from common import Options, cluster, in_turns, record, skip
from distributed import Client

import dgsuite
from dgsuite import Graph
from dgsuite.suites import gap, running
from dgsuite.suites.gap import graphs, trials
from dgsuite.suites.gap.options import BENCHMARKS

GRAPHS = ("kron", "urand", "twitter", "web", "road", "grid")
DELTAS = (2, 16, 64, 256)
ARGUMENTS = {"pr": ["-i", "1000", "-t", "1e-4"], "bc": ["-i", "4"]}
"""Of GAP's programs."""

BOUNDS = dict.fromkeys(BENCHMARKS, 1.0) | {"sssp": 1.2}
"""How many times as long as GAP's ours may take."""
ROAD_PAGERANK = 1.5
"""The same of PageRank on roads. GAP's takes fewer iterations there, since it updates ranks in place."""

PEERS: dict[str, dict[str, Callable[[peers.Forms], peers.Call]]] = {
    "bfs": {"scipy": peers.bfs_scipy, "networkit": peers.bfs_networkit},
    "sssp": {"scipy": peers.sssp_scipy, "networkit": peers.sssp_networkit},
    "pr": {
        "scipy": peers.pagerank_scipy,
        "graphblas": peers.pagerank_graphblas,
        "networkit": peers.pagerank_networkit,
        "igraph": peers.pagerank_igraph,
    },
    "cc": {
        "scipy": peers.wcc_scipy,
        "graphblas": peers.wcc_graphblas,
        "networkit": peers.wcc_networkit,
    },
    "bc": {},
    "tc": {
        "graphblas": peers.triangles_graphblas,
        "networkit": peers.triangles_networkit,
        "igraph": peers.triangles_igraph,
    },
}
"""Other libraries that have the kernel; on undirected graphs alone."""


def write(graph: Graph, file: Path) -> None:
    """Write a graph as GAP's programs read it: all numbers of the machine, in one piece."""
    matrix = graph.to_scipy()
    with open(file, "wb") as out:
        out.write(bytes([graph.directed]))
        out.write(np.array([matrix.nnz, matrix.shape[0]], np.int64).tobytes())
        for rows in (matrix, matrix.T.tocsr()) if graph.directed else (matrix,):
            rows.sort_indices()
            out.write(rows.indptr.astype(np.int64).tobytes())
            ends = rows.indices.astype(np.int32)
            if file.suffix == ".wsg":
                ends = np.column_stack([ends, rows.data.astype(np.int32)])
            out.write(ends.tobytes())


def theirs(program: Path, file: Path, count: int, *arguments: str) -> float:
    """Milliseconds of a trial of GAP's, the median of some."""
    command = [str(program), "-f", str(file), "-n", str(count), *arguments]
    found = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"OMP_NUM_THREADS": "2"},
    )
    return 1e3 * statistics.median(map(float, re.findall(r"Trial Time:\s+(\S+)", found.stdout)))


def ours(client: Client, name: str, graph: Graph, how: dict, each: Iterator[dict]) -> float:
    """Milliseconds of the rounds of a trial, the median of some."""
    some = next(each)
    runs = running.trials(BENCHMARKS[name].kernel, graph, some, client, len(some), **how)
    return 1e3 * statistics.median(float(ds.attrs["seconds"]) for ds in runs)


def timed(call: Callable[[], object]) -> float:
    """Milliseconds of a call."""
    begin = perf_counter()
    call()
    return 1e3 * (perf_counter() - begin)


def of_peers(name: str, graph: Graph, forms: peers.Forms) -> dict[str, Callable[[], float]]:
    """How other libraries are measured."""
    found = {}
    for peer, prepare in PEERS[name].items():
        try:
            found[peer] = partial(timed, prepare(forms))
        except ImportError as error:
            skip(peer, str(error))
    return found


def compare(client: Client, which: str, given, folder: Path) -> None:
    """All kernels on a graph."""
    options = gap.options.Options(graph=which, scale=given.scale, trials=given.turns + 1)
    begin = perf_counter()
    graph = graphs.make(options, client)
    record("construction", perf_counter() - begin, "s", graph=which)
    picked = trials.pick(graph, options)
    files: dict[tuple, Path] = {}
    for name, each in trials.plans(picked, options).items():
        if name not in given.kernels:
            continue
        on, how = trials.task(name, graph, options.seed)
        kernel = BENCHMARKS[name].kernel
        try:
            first = dgsuite.run(kernel, on, client=client, **each[0], **how)
        except dgsuite.RunError as error:  # a grid has more shortest paths than a float64 counts
            skip(f"{name} on {which}", str(error))
            continue
        running.check(kernel, on, first, f"{name} on {which}")
        del first
        measures = {"ours": partial(ours, client, name, on, how, iter([[one] for one in each]))}
        if given.gap:
            key = on.directed, on.weighted
            if key not in files:
                files[key] = folder / f"{which}{len(files)}.{'wsg' if on.weighted else 'sg'}"
                write(on, files[key])
            program = partial(theirs, Path(given.gap, name), files[key])
            arguments = ARGUMENTS.get(name, [])
            if name == "sssp":
                deltas = {delta: program(2, "-d", str(delta)) for delta in DELTAS}
                arguments = ["-d", str(min(deltas, key=deltas.__getitem__))]
            measures["GAP"] = partial(program, 3, *arguments)
        if not on.directed and which in given.peers:
            measures |= of_peers(name, on, peers.Forms(on))
        found = in_turns(measures, given.turns)
        for who, times in found.items():
            record(who, times, "ms", graph=which, kernel=name)
        if "GAP" in found:
            bound = ROAD_PAGERANK if (which, name) == ("road", "pr") else BOUNDS[name]
            bound = None if given.tiny else bound
            ratio = statistics.median(found["ours"]) / statistics.median(found["GAP"])
            record("ours", ratio, "x", most=bound, peer="GAP", graph=which, kernel=name)


def main(arguments: Sequence[str] | None = None) -> None:
    options = Options(__file__, __doc__)
    options.size("--graphs", [*GRAPHS], ["kron", "web", "grid"], nargs="+", choices=GRAPHS)
    options.size("--kernels", [*BENCHMARKS], [*BENCHMARKS], nargs="+", choices=BENCHMARKS)
    options.size("--peers", ["kron", "urand", "road", "grid"], ["kron"], nargs="*", help="graphs")
    options.size("--scale", 20, 6)
    options.size("--turns", 5, 1)
    options.add_argument("--gap", metavar="FOLDER", help="GAP's programs")
    with options.recorded(arguments) as given, cluster(2) as client, TemporaryDirectory() as folder:
        if not given.gap:
            skip("GAP", "no --gap FOLDER")
        for which in given.graphs:
            compare(client, which, given, Path(folder))


if __name__ == "__main__":
    main()
