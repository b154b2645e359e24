"""What a Fock build costs between two workers besides messages: a fetch from the counter, and its set-up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from distributed import Client

OPERATIONS = 300
"""Counter operations that are timed."""


def _own(run: str, place: str, epoch: str) -> None:
    """Have a counter on the worker of this task, as long as its key lives."""
    from dgsuite.studies.chem.counters import counter

    counter(run, place, epoch, 0)


def _ask(run: str, place: str, epoch: str) -> float:
    """Seconds of a fetch from a counter at another worker, from a task."""
    from dgsuite.studies.chem.counters import counter

    ask = counter(run, place, epoch, 0)
    return float(np.median(timed(lambda: ask()(), OPERATIONS)))


def timed(call: Callable[[], object], times: int) -> NDArray:
    """Seconds of some calls."""
    taken = np.empty(times)
    for i in range(times):
        begin = perf_counter()
        call()
        taken[i] = perf_counter() - begin
    return taken


def fetch(client: Client, places: Sequence[str], repeats: int = 5) -> float:
    """Least seconds of a fetch by one worker from a counter at another; both do nothing else."""
    from dgsuite.core.workers.placement import new_run
    from dgsuite.partition.client.session import Session
    from dgsuite.partition.client.waiting import Watch
    from dgsuite.studies.chem.counters import install

    watch = Watch(client, "timing fetches", places)
    install(client)
    epoch = Session.of(client).workers()[places[0]]["epoch"]

    def once() -> float:
        asked = (new_run(), places[0], epoch)
        owner = client.submit(_own, *asked, workers=[places[0]], pure=False)
        watch.wait([owner])
        asks = client.submit(_ask, *asked, workers=[places[1]], pure=False)
        return float(watch.gather([asks])[0])

    return min(once() for _ in range(repeats))


def _nothing(density: NDArray) -> NDArray:
    return density


def setup(client: Client, density: NDArray, places: Sequence[str]) -> float:
    """Least seconds of a build without units: density there, and a matrix back."""
    from dgsuite.partition.client.waiting import Watch

    watch = Watch(client, "timing a build", places)

    def build() -> None:
        watch.gather([client.submit(_nothing, density, workers=[places[0]], pure=False)])

    return float(timed(build, 20).min())
