"""What each mechanism that exists for speed is worth: the same calls with it and without it.

python benchmarks/mechanisms.py
python benchmarks/mechanisms.py --only "binding to processors" --times 20

Calls with and without alternate on one cluster, so that both have the same machine. What a mechanism gains
is the geometric mean, over all its calls and pairs, of the time without it over the time with it. It is worth
its code if the lower end of the 95 % interval of that is above 1.05.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import common
import dask
import numpy as np
from common import Options, in_turns, record
from kernels_for_benchmarks import Empty, replace, restore
from numpy.typing import NDArray
from scipy import stats

WORTH = 1.05
"""Least lower end of what a mechanism gains."""

Call = Callable[[Any], float]
"""Makes a call with a client; returns its milliseconds."""


class Switch(NamedTuple):
    """How a mechanism is switched off: by settings of Dask, and by attributes here and on the workers."""

    shape: str
    """Workers x threads on which it is measured."""
    calls: tuple[str, ...]
    settings: Mapping[str, Any] = {}
    attributes: Mapping[str, Any] = {}
    """By ``module:object``, where the last name is replaced."""
    anew: bool = False
    """Whether all calls open their meshes anew, as the mechanism is part of a mesh."""


ROUNDS = ("empty rounds", "bfs", "mis", "pagerank", "sssp", "wcc")
ALL = ("small call", *ROUNDS)

SWITCHES = {
    "shared memory and its barrier": Switch("2x1", ALL, {"dgsuite.clocked.transport": "comm"}),
    "broadcasts in shared memory": Switch(
        "2x1", ROUNDS, attributes={"dgsuite.core.executors.clocked:READ_ELSEWHERE": 1e9}
    ),
    "looking out before sleep": Switch(
        "2x1",
        ROUNDS,
        attributes={"dgsuite.core.exchange.gate:Gate.look_out": lambda gate, _: gate.is_open()},
    ),
    "meshes that are kept": Switch("2x1", ("small call",), {"dgsuite.clocked.keep": "0s"}),
    "binding to processors": Switch("2x1", ROUNDS, {"dgsuite.clocked.bind": False}),
    "votes by a tree, comms as needed": Switch(
        "8x1 tcp",
        ("empty rounds", "small call"),
        attributes={"dgsuite.core.exchange.mesh:MAX_ALL_TO_ALL": 99},
        anew=True,
    ),
    "results with the message": Switch(
        "2x1",
        ("small call",),
        attributes={"dgsuite.core.workers.outputs:CARRIED": -1},
    ),
    "lists of messages that are kept": Switch(
        "2x1",
        ("small call", "pagerank of few"),
        attributes={
            "dgsuite.core.engine.broadcasts:Broadcasts._list": lambda some: some._list_all()
        },
    ),
    "bundles that are released later": Switch(
        "2x1",
        ("mis in tasks",),
        attributes={"dgsuite.core.executors.finish_async:HOLD": 1},
    ),
    "tiles": Switch(
        "2x1",
        ("pagerank",),
        attributes={
            "dgsuite.partition.clusters.halo:Halo.tiles": property(  # also of halos that have them
                lambda halo: None, lambda halo, tiles: None
            )
        },
    ),
    "compiled loops": Switch(
        "2x1", ROUNDS[1:], attributes={"dgsuite.base.thresholds:compile_from": 1 << 60}
    ),
}


def main(arguments: Sequence[str] | None = None) -> None:
    options = Options(__file__, __doc__)
    options.size("--only", [*SWITCHES], ["tiles"], nargs="+", metavar="NAME", help="mechanisms")
    options.size("--scale", 18, 8, help="2^scale nodes, 8 edges for each")
    options.size("--times", 20, 2, help="pairs of calls")
    with options.recorded(arguments) as given:
        shapes: dict[str, list[str]] = {}
        for name in given.only:
            shapes.setdefault(SWITCHES[name].shape, []).append(name)
        for shape, names in shapes.items():
            size, _, protocol = shape.partition(" ")
            workers, threads = map(int, size.split("x"))
            with common.cluster(workers, protocol or None, threads) as client:
                made = calls(client, workers * threads, given.scale)
                for name in names:
                    logs = np.array([*gains(name, shape, made, client, given.times)])
                    gain, low, high = interval(logs.mean(axis=0))
                    record("gain", [low, gain, high], "x", mechanism=name)
                    record("lower end", low, "x", mechanism=name, least=WORTH)


def interval(logs: NDArray[np.float64]) -> tuple[float, float, float]:
    """The geometric mean of numbers with some logarithms, and the ends of its 95 % interval (Student)."""
    error = stats.sem(logs) * stats.t.ppf(0.975, len(logs) - 1)
    middle = logs.mean()
    return tuple(np.exp([middle, middle - error, middle + error]).tolist())


def gains(
    name: str, shape: str, made: Mapping[str, Call], client: Any, times: int
) -> Iterator[NDArray[np.float64]]:
    """Of each call of a switch, the logarithms of how many times as long it takes without the mechanism."""
    switch = SWITCHES[name]
    for what in switch.calls:
        call = partial(made[what], client)
        # without a change it sends the workers two requests, too
        nothing = switch._replace(settings={}, attributes={})
        both = {"with": nothing, "without": switch}
        with dask.config.set({"dgsuite.clocked.keep": "0s"} if switch.anew else {}):
            took = in_turns({k: partial(off, s, client, call) for k, s in both.items()}, times)
        on = {"mechanism": name, "call": what, "shape": shape}
        for which, values in took.items():
            record(which, values, "ms", **on)
        logs = np.log(took["without"]) - np.log(took["with"])
        gain, low, high = interval(logs)
        record("gain of a call", [low, gain, high], "x", **on)
        yield logs


def off(switch: Switch, client: Any, call: Callable[[], float]) -> float:
    """A call without a mechanism."""
    with switched_off(switch, client):
        return call()


@contextmanager
def switched_off(switch: Switch, client: Any) -> Iterator[None]:
    """Have the calls of a client do without a mechanism."""
    with dask.config.set(dict(switch.settings)):
        replace(switch.attributes)
        client.run(partial(replace, dict(switch.attributes)))
        try:
            yield
        finally:
            restore()
            client.run(restore)


def calls(client: Any, clusters: int, scale: int) -> dict[str, Call]:
    """The calls that are timed, by name: whole calls on small graphs, rounds on large ones."""
    from dgsuite import genval

    n = 2**scale
    large = genval.graph("rmat", n, m=8 * n, weights=100, clusters=clusters, client=client)
    small = genval.graph("er", 100, m=300, clusters=clusters, client=client)
    middle = genval.graph("er", 2000, m=6000, clusters=clusters, client=client)
    rounds = partial(timed, graph=large, whole=False)
    hub = int(large.degree.argmax().compute())
    return {
        "small call": partial(timed, "bfs", graph=small, whole=True),
        "empty rounds": partial(timed, Empty(rounds=1000), graph=small, whole=False),
        "mis in tasks": partial(timed, "mis", graph=middle, whole=True, style="finish_async"),
        "pagerank of few": partial(timed, "pagerank", graph=middle, whole=False),
        "bfs": partial(rounds, "bfs", root=hub),
        "mis": partial(rounds, "mis"),
        "pagerank": partial(rounds, "pagerank", iterations=10, weighted=False),
        "sssp": partial(rounds, "sssp", root=hub),
        "wcc": partial(rounds, "wcc"),
        "triangles": partial(rounds, "triangles"),
    }


def timed(
    kernel: Any, client: Any, *, graph: Any, whole: bool, style: str = "clocked", **options: Any
) -> float:
    """Milliseconds of a whole call, or of its rounds."""
    import dgsuite

    begin = time.perf_counter()
    ds = dgsuite.run(kernel, graph, style=style, client=client, **options)
    took = time.perf_counter() - begin
    return 1e3 * (took if whole else ds.attrs["seconds"])


if __name__ == "__main__":
    main()
