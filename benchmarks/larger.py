"""Kronecker graphs near the memory of the machine and beyond: edges in memory and on disk.

python benchmarks/larger.py [--scales S ...] [--ways WAY ...] [--limit MB] [--cold] [--gap FOLDER]

Each way has a cluster of its own, which builds the graph and then runs each kernel twice; the second run
counts. Memory is what the processes cannot give back (anonymous and shared pages, each by its share),
summed over this process and all below it, the scheduler and nannies included; a process of its own samples
it. Pages of mapped files are counted apart. With --cold the system's page cache is emptied before each run,
which needs root, and the disk's speed of reading in order is measured before.

FOLDER has GAP's programs (https://github.com/sbeamer/gapbs), which then run at the largest of the scales that
--gap-scale allows.
"""

from __future__ import annotations

import multiprocessing
import os
import re
import subprocess
import tempfile
import time
from collections.abc import Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType
from typing import Any

import common
import psutil
from common import Options, record, skip

KERNELS: dict[str, dict[str, Any]] = {
    "bfs": {},
    "wcc": {},
    "pagerank": {"iterations": 10, "tolerance": None},
}

WAYS: dict[str, dict[str, Any]] = {
    "memory": {"edges": "memory"},
    "disk": {"edges": "disk"},
}

BOUNDS = {"bfs": 3.0, "wcc": 2.0, "pagerank": 2.0}
"""Times of a run in memory that one from disk may take."""

CONSTRUCTION, ROOM = 1.4, 20e3
"""Peak of building above idle, over the graph; and MB that all processes may take."""

GAP = {"bfs": "bfs", "wcc": "cc", "pagerank": "pr"}
"""GAP's programs."""

EVERY = 0.1
"""Seconds between two samples."""

BLOCK = 1 << 22
"""Bytes that are read at a time."""


def memory(process: psutil.Process) -> tuple[int, int]:
    """Bytes of a process and all below it, but for the one that asks: their own, and mapped pages."""
    own = files = 0
    for one in (process, *process.children(recursive=True)):
        try:
            lines = Path(f"/proc/{one.pid}/smaps_rollup").read_text().splitlines()[1:]
        except OSError:
            continue
        if one.pid != os.getpid():
            found = {name: int(size) << 10 for name, size, *_ in map(str.split, lines)}
            own += found["Pss_Anon:"] + found["Pss_Shmem:"]
            files += found["Pss_File:"]
    return own, files


def sample(process: int, pipe: Connection) -> None:
    """Send the memory now; then, when told to stop, the peaks meanwhile."""
    watched = psutil.Process(process)
    peaks = list(memory(watched))
    pipe.send(tuple(peaks))
    took = 0.0
    while not pipe.poll(max(EVERY, 9 * took)):
        begin = time.perf_counter()
        peaks = list(map(max, peaks, memory(watched)))
        took = time.perf_counter() - begin
    pipe.send(tuple(peaks))


class Watch:
    """Memory when it was entered, and its peak until the end."""

    def __enter__(self) -> Watch:
        self._pipe, end = multiprocessing.Pipe()
        spawn = multiprocessing.get_context("spawn")
        self._process = spawn.Process(target=sample, args=(os.getpid(), end))
        self._process.start()
        self.idle = self._pipe.recv()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._pipe.send(None)
        self.peak = self._pipe.recv()
        self._process.join()


def emptied() -> bool:
    """Empty the system's page cache, if that may be done."""
    os.sync()
    try:
        Path("/proc/sys/vm/drop_caches").write_text("1")
    except OSError:
        return False
    return True


def reading(nbytes: int) -> float:
    """Bytes per second that the disk gives in order, of a file of some bytes."""
    with tempfile.NamedTemporaryFile(buffering=0) as file:
        for _ in range(0, nbytes, BLOCK):
            file.write(os.urandom(BLOCK))
        emptied()
        begin = time.perf_counter()
        file.seek(0)
        while file.read(BLOCK):
            pass
        return nbytes / (time.perf_counter() - begin)


def measure(
    scale: int,
    way: str,
    workers: int,
    threads: int,
    limit: int | None,
    kernels: Sequence[str],
    speed: float | None,
) -> dict[str, float]:
    """Build one graph in one way, and run the kernels on it; returns the seconds of their rounds.

    Where the speed of reading in order is given, in bytes per second, the page cache is emptied before.
    """
    import dgsuite
    from dgsuite import genval
    from dgsuite.partition.arrays.mapped import let_go

    cold, seconds = speed is not None, {}
    on: dict[str, Any] = {"scale": scale, "edges": way, "workers": workers}
    if limit is not None:
        on["limit"] = limit
    most = "0" if limit is None else f"{limit}MB"
    with common.cluster(workers, threads=threads, limit=most) as client:
        genval.graph(
            "rmat", 1 << 10, m=1 << 14, client=client
        )  # workers have imported what they need
        with Watch() as watch:
            begin = time.perf_counter()
            m = 16 << scale
            graph = genval.graph("rmat", 1 << scale, m=m, client=client, **WAYS[way])
            took = time.perf_counter() - begin
        arcs = sum(graph.entries)
        record("build", took, "s", **on)
        record("build", 1e9 * took / m, "ns/edge", **on)
        record("arcs", arcs, "", **on)
        size = sum(client.gather([client.submit(_nbytes, part) for part in graph.parts]))
        record("adjacency", size / arcs, "bytes/arc", **on)
        record("peak of building", watch.peak[0] / 1e6, "MB", most=ROOM, **on)
        record(
            "peak of building, above idle",
            (watch.peak[0] - watch.idle[0]) / size,
            "x",
            peer="adjacency",
            most=CONSTRUCTION,
            **on,
        )
        root = int(graph.degree.argmax().compute(scheduler=client))
        for name in kernels:
            parameters = KERNELS[name] | ({"root": root} if name == "bfs" else {})
            for turn in range(2):
                if cold and turn:
                    client.run(let_go)  # what a process has mapped stays in the page cache
                    if not emptied():
                        skip("the cold page cache", "it takes root to empty it")
                with Watch() as watch:
                    begin = time.perf_counter()
                    ds = dgsuite.run(name, graph, client=client, progress=False, **parameters)
                    took = time.perf_counter() - begin
            rounds = seconds[name] = float(ds.attrs["seconds"])
            record(name, rounds, "s", cold=cold, **on)
            record(f"{name}, whole call", took, "s", cold=cold, **on)
            record(f"peak of {name}", watch.peak[0] / 1e6, "MB", most=ROOM, cold=cold, **on)
            record(f"mapped in {name}", watch.peak[1] / 1e6, "MB", cold=cold, **on)
            if name == "pagerank":
                record("pagerank", 1e9 * rounds / arcs / 10, "ns/arc/iteration", cold=cold, **on)
            if speed is not None:
                once = watch.peak[1] / speed
                record(name, rounds / once, "x", peer="reading what is mapped once", **on)
            del ds
    return seconds


def peer(folder: str, scale: int) -> None:
    """GAP's programs on its own Kronecker graph, with two threads: building, and one trial."""
    for name, program in GAP.items():
        found = subprocess.run(
            [f"{folder}/{program}", "-g", str(scale), "-n", "1"]
            + (["-i", "10", "-t", "0"] if program == "pr" else []),
            capture_output=True,
            text=True,
            check=True,
            env=os.environ | {"OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "active"},
        ).stdout

        def number(pattern: str, text: str = found) -> float:
            match = re.search(pattern, text)
            if match is None:
                raise ValueError(f"{pattern!r} is not in what GAP printed:\n{text}")
            return float(match[1])

        on = {"scale": scale, "edges": "GAP"}
        arcs = 2 * number(r"and (\d+) undirected edges")
        took = number(r"Trial Time: *([\d.]+)")
        record(name, took, "s", **on)
        if name == "bfs":
            build = number(r"Generate Time: *([\d.]+)") + number(r"Build Time: *([\d.]+)")
            record("build", build, "s", **on)
        if name == "pagerank":
            record("pagerank", 1e9 * took / arcs / 10, "ns/arc/iteration", **on)


def _nbytes(cluster: Any) -> int:
    return int(cluster.nbytes)


def main(arguments: Sequence[str] | None = None) -> None:
    options = Options(__file__, __doc__)
    options.size("--scales", [20, 22], [8], type=int, nargs="+")
    options.add_argument("--ways", choices=WAYS, nargs="+", default=[*WAYS])
    options.add_argument("--workers", type=int, default=2)
    options.add_argument("--threads", type=int, default=1)
    options.add_argument("--limit", type=int, metavar="MB", help="memory of each worker")
    options.add_argument("--kernels", choices=KERNELS, nargs="+", default=[*KERNELS])
    options.add_argument("--cold", action="store_true", help="empty the page cache before each run")
    options.add_argument("--gap", metavar="FOLDER", help="where GAP's programs are")
    options.add_argument("--gap-scale", type=int, default=25, help="the largest for GAP")
    with options.recorded(arguments) as given:
        speed = reading(1 << 31) if given.cold else None
        if speed is not None:
            record("reading in order", speed / 1e6, "MB/s")
        for scale in given.scales:
            found = {}
            for way in given.ways:
                place = given.workers, given.threads, given.limit
                found[way] = measure(scale, way, *place, given.kernels, speed)
            for name, took in found.get("disk", {}).items():
                if "memory" in found and speed is None:
                    over = took / found["memory"][name]
                    record(name, over, "x", peer="in memory", most=BOUNDS[name], scale=scale)
        if given.gap:
            peer(given.gap, min(max(given.scales), given.gap_scale))


if __name__ == "__main__":
    main()
