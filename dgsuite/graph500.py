"""Graph500: a Kronecker graph, breadth-first searches from random roots, every tree validated.

The rules are those of the specification (graph500.org, version 2.0): kernel 1 builds the graph from a
list of edge tuples, kernel 2 is a search, timed; TEPS are the tuples in the searched component, self-loops
and repetitions included, over the time. Heavy imports come late, so that ``--help`` takes no time.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from partition.errors import DgsuiteError, InputError, RunError

if TYPE_CHECKING:
    from distributed import Client
    from numpy.typing import NDArray

    from partition.graph import Graph

EDGE_FACTOR = 16
"""Edge tuples a node."""

COMPARED = ("scipy", "graphblas", "networkit")
"""Peers that can run beside ours."""


@dataclass
class Problem:
    """A Graph500 problem: the graph, and how many tuples leave each node.

    Attributes
    ----------
    graph
        The graph, on the workers.
    tuples
        int64, shape (n,): edge tuples that begin at each node.
    degree
        Neighbours of each node.
    generation, construction
        Seconds: of the tuples alone, and of all of kernel 1 (which makes them once more).
    grid
        Rows and columns of a two-dimensional partition.
    """

    scale: int
    graph: Graph
    tuples: NDArray
    degree: NDArray
    generation: float
    construction: float
    grid: tuple[int, int] | None = None


@dataclass
class Searches:
    """What the searches measured: one entry a root."""

    roots: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    edges: list[int] = field(default_factory=list)
    wire: list[int] = field(default_factory=list)
    checks: list[float] = field(default_factory=list)
    peers: dict[str, list[float]] = field(default_factory=dict)


def need(scale: int) -> int:
    """Bytes that building a graph takes, about: three times its final size."""
    return 3 * 2**scale * (2 * EDGE_FACTOR * 4 + 8)


def check_scale(scale: int) -> None:
    """Refuse a scale that is not at least 1, or whose graph would not fit into memory."""
    import psutil

    if scale < 1:
        raise InputError(f"scale must be at least 1, got {scale}")
    room = psutil.virtual_memory().available
    if need(scale) > room:
        raise InputError(
            f"scale {scale} needs about {need(scale) / 2**30:.1f} GiB, and {room / 2**30:.1f} GiB "
            f"are free; the largest that fits is {_largest(room)}"
        )


def build(
    scale: int, client: Client, seed: int = 101, grid: tuple[int, int] | None = None
) -> Problem:
    """Kernel 1: generate the tuples and build the graph on the workers, in a grid if one is given.

    Raises
    ------
    InputError
        The scale is not at least 1, or the graph would not fit into memory.
    """
    import numpy as np
    from distributed import wait

    import genval
    from genval.families import plan
    from partition import distribute
    from partition.grid import arrange

    check_scale(scale)
    n, m = 2**scale, EDGE_FACTOR * 2**scale
    begin = time.perf_counter()
    tuples = plan("rmat", n, m=m, seed=seed)
    bounds = tuples.bounds()
    places = distribute.workers(client)
    shares = [
        client.submit(_count, tuples, bounds, w, len(places), workers=[place], pure=False)
        for w, place in enumerate(places)
    ]
    counts = np.sum(client.gather(shares), axis=0)
    generation = time.perf_counter() - begin
    begin = time.perf_counter()
    clusters = None if grid is None else grid[0] * grid[1]
    graph = genval.graph("rmat", n, m=m, seed=seed, client=client, clusters=clusters)
    if grid is not None:
        graph = arrange(graph, *grid)
        if not graph.local:
            with client.as_current():
                wait(graph.parts)
    construction = time.perf_counter() - begin
    if graph.local:
        degrees = [part.degree for part in graph.parts]
    else:
        degrees = client.gather([client.submit(_degree, part, pure=False) for part in graph.parts])
    degree = np.concatenate(degrees)
    return Problem(scale, graph, counts, degree, generation, construction, grid)


def _largest(room: int) -> int:
    scale = 1
    while need(scale + 1) <= room:
        scale += 1
    return scale


def _count(tuples: Any, bounds: Sequence[int], mine: int, workers: int) -> NDArray:
    """Tuples that begin at each node, of a worker's share."""
    import numpy as np

    total = np.zeros(tuples.n, np.int64)
    for k in range(mine, len(bounds) - 1, workers):
        total += np.bincount(tuples.edges(bounds[k], bounds[k + 1])[0], minlength=tuples.n)
    return total


def _degree(cluster: Any) -> NDArray:
    return cluster.degree  # type: ignore[no-any-return]


def choose_roots(problem: Problem, count: int, seed: int = 101) -> list[int]:
    """Distinct random nodes that have a neighbour."""
    import numpy as np

    able = np.flatnonzero(problem.degree)
    rng = np.random.default_rng(seed)
    return [int(r) for r in rng.choice(able, min(count, len(able)), replace=False)]


def search(
    problem: Problem,
    roots: Sequence[int],
    client: Client,
    *,
    direction: str | None = "optimising",
    check: bool = True,
    peers: dict[str, Callable[[int], object]] | None = None,
    on_root: Callable[[int], None] = lambda done: None,
) -> Searches:
    """Kernel 2 from every root, each tree validated, each peer run once after each of ours.

    Raises
    ------
    RunError
        A tree is wrong.
    """
    import numpy as np

    import dgsuite
    from genval import validate

    found = Searches(peers={name: [] for name in peers or {}})

    def tree(root: int) -> Any:
        if problem.grid is not None:
            return dgsuite.run("bfs2d", problem.graph, client=client, root=root)
        return dgsuite.run("bfs", problem.graph, client=client, root=root, direction=direction)

    tree(roots[0])
    for peer in (peers or {}).values():
        peer(roots[0])
    for done, root in enumerate(roots):
        on_root(done)
        ds = tree(root)
        found.roots.append(root)
        found.seconds.append(float(ds.attrs["seconds"]))
        found.edges.append(int(problem.tuples[np.asarray(ds.level) >= 0].sum()))
        found.wire.append(int(ds.wire_bytes.sum()))
        for name, peer in (peers or {}).items():
            begin = time.perf_counter()
            peer(root)
            found.peers[name].append(time.perf_counter() - begin)
        if check:
            begin = time.perf_counter()
            report = validate("bfs", problem.graph, ds)
            found.checks.append(time.perf_counter() - begin)
            if not report.ok:
                raise RunError(f"the tree from root {root} is wrong: {report}")
    return found


def make_peers(names: Sequence[str], graph: Graph) -> dict[str, Callable[[int], object]]:
    """Breadth-first searches of other libraries on the same graph, in this process."""
    from dgsuite import peers

    matrix = graph.to_scipy() if names else None
    return {name: peers.PEERS[name](matrix) for name in names}


def statistics(values: Sequence[float]) -> dict[str, float]:
    """Minimum, quartiles, maximum, mean and standard deviation, as the specification has them."""
    import numpy as np

    v = np.asarray(values, float)
    names = ("min", "firstquartile", "median", "thirdquartile", "max")
    found = dict(zip(names, np.quantile(v, [0, 0.25, 0.5, 0.75, 1]).tolist(), strict=True))
    found["mean"] = float(v.mean())
    found["stddev"] = float(v.std(ddof=1)) if len(v) > 1 else 0.0
    return found


def harmonic(teps: Sequence[float]) -> tuple[float, float]:
    """Harmonic mean, and its standard error (Norris 1940, as the specification asks)."""
    import numpy as np

    inverse = 1 / np.asarray(teps, float)
    mean = 1 / inverse.mean()
    if len(inverse) < 2:
        return float(mean), 0.0
    return float(mean), float(inverse.std(ddof=1) * mean**2 / np.sqrt(len(inverse) - 1))


def summary(problem: Problem, found: Searches, options: argparse.Namespace) -> dict[str, Any]:
    """All figures as one mapping."""
    teps = [m / t for m, t in zip(found.edges, found.seconds, strict=True)]
    mean, error = harmonic(teps)
    return {
        "scale": problem.scale,
        "edge_factor": EDGE_FACTOR,
        "roots": len(found.roots),
        "workers": options.workers,
        "partition": options.partition,
        "direction": options.direction,
        "generation_seconds": problem.generation,
        "construction_seconds": problem.construction,
        "median_seconds": statistics(found.seconds)["median"],
        "harmonic_mean_teps": mean,
        "harmonic_stddev_teps": error,
        "time": statistics(found.seconds),
        "nedge": statistics(found.edges),
        "teps": statistics(teps),
        "validated": len(found.checks),
        "wire_bytes": int(sum(found.wire) / len(found.wire)),
        "compare": {
            name: {"median_seconds": statistics(seconds)["median"]}
            for name, seconds in found.peers.items()
        },
    }


def report(figures: dict[str, Any]) -> str:
    """The figures in the specification's output format."""
    lines = [
        f"SCALE: {figures['scale']}",
        f"edgefactor: {figures['edge_factor']}",
        f"NBFS: {figures['roots']}",
        f"graph_generation: {figures['generation_seconds']:g}",
        f"num_mpi_processes: {figures['workers']}",
        f"construction_time: {figures['construction_seconds']:g}",
    ]
    for name, label in (("time", "time"), ("nedge", "nedge"), ("teps", "TEPS")):
        values = dict(figures[name])
        if name == "teps":
            del values["mean"], values["stddev"]
            values["harmonic_mean"] = figures["harmonic_mean_teps"]
            values["harmonic_stddev"] = figures["harmonic_stddev_teps"]
        lines += [f"bfs  {what}_{label}: {value:g}" for what, value in values.items()]
    lines.append(f"bfs  validated: {figures['validated']} of {figures['roots']}")
    lines.append(f"bfs  mean_wire_bytes: {figures['wire_bytes']}")
    for name, peer in figures["compare"].items():
        ratio = figures["median_seconds"] / peer["median_seconds"]
        lines.append(f"{name}  median_time: {peer['median_seconds']:g} (ours is {ratio:.2f} of it)")
    return "\n".join(lines)


def parser() -> argparse.ArgumentParser:
    """The command line."""
    p = argparse.ArgumentParser(
        prog="python -m dgsuite.graph500",
        description="Graph500 on Dask: build a Kronecker graph of 2^SCALE nodes, search it from "
        "random roots, validate every tree, and report as the specification asks.",
    )
    p.add_argument("--scale", type=int, required=True, help="logarithm of the number of nodes")
    p.add_argument("--workers", type=int, default=2, help="worker processes (default: 2)")
    p.add_argument("--scheduler", metavar="ADDRESS", help="run on the Dask cluster at this address")
    p.add_argument("--partition", choices=["1d", "2d"], default="1d", help="how edges are dealt")
    p.add_argument(
        "--grid",
        metavar="RxC",
        help="shape of the grid (2d; default: two by two or more, near-square)",
    )
    p.add_argument(
        "--direction",
        choices=["optimising", "top-down"],
        help="default: optimising with 1d, top-down with 2d, which has no other",
    )
    p.add_argument("--roots", type=int, default=64, help="searches (default: 64)")
    p.add_argument("--root", type=int, help="search from this node alone")
    p.add_argument("--seed", type=int, default=101)
    p.add_argument("--compare", default="", metavar="PEERS", help=f"of {', '.join(COMPARED)}")
    p.add_argument("--no-validate", action="store_true", help="do not check the trees")
    p.add_argument("--json", action="store_true", help="print one JSON object")
    return p


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    options = parser().parse_args(arguments)
    try:
        figures = _run(options)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    except DgsuiteError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2 if isinstance(error, InputError) else 1
    print(json.dumps(figures) if options.json else report(figures))
    return 0


def _grid(options: argparse.Namespace) -> tuple[int, int] | None:
    """The grid asked for, and the direction that goes with it."""
    from partition.grid import near_square

    if options.partition == "1d":
        if options.grid:
            raise InputError("--grid needs --partition 2d")
        options.direction = options.direction or "optimising"
        return None
    if options.direction == "optimising":
        raise InputError("--partition 2d searches top-down; --direction optimising needs 1d")
    options.direction = "top-down"
    if options.grid is None:
        return near_square(max(4, options.workers))
    try:
        rows, columns = (int(part) for part in options.grid.lower().split("x"))
    except ValueError:
        raise InputError(f"--grid {options.grid}: must be ROWSxCOLUMNS, such as 2x2") from None
    if rows < 1 or columns < 1 or rows * columns < options.workers:
        raise InputError(
            f"--grid {options.grid} does not match {options.workers} workers: it must have a block "
            f"for each"
        )
    return rows, columns


def _run(options: argparse.Namespace) -> dict[str, Any]:
    from rich.console import Console
    from rich.progress import track

    from dgsuite import sweep

    names = [name for name in options.compare.split(",") if name]
    for name in names:
        if name not in COMPARED:
            raise InputError(f"--compare {name}: unknown peer; one of {', '.join(COMPARED)}")
    for name in ("workers", "roots"):
        if getattr(options, name) < 1:
            raise InputError(f"--{name} must be at least 1, got {getattr(options, name)}")
    check_scale(options.scale)
    n = 2**options.scale
    grid = _grid(options)
    if options.root is not None and not 0 <= options.root < n:
        raise InputError(f"--root {options.root} is not a node: nodes are 0 to {n - 1}")
    console = Console(stderr=True)
    with ExitStack() as stack:
        client = stack.enter_context(
            sweep.connect(options.scheduler)
            if options.scheduler
            else sweep.local(options.workers, 1, "0")
        )
        problem = build(options.scale, client, options.seed, grid)
        roots = [options.root]
        if options.root is None:
            roots = choose_roots(problem, options.roots, options.seed)
        peers = make_peers(names, problem.graph)
        bar = iter(
            track(
                roots, "searching", console=console, transient=True, disable=not console.is_terminal
            )
        )
        found = search(
            problem,
            roots,
            client,
            direction=options.direction,
            check=not options.no_validate,
            peers=peers,
            on_root=lambda done: next(bar, None),
        )
    return summary(problem, found, options)


if __name__ == "__main__":
    sys.exit(main())
