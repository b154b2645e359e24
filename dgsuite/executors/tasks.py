"""What the two distributed styles share: placing clusters, and waiting for tasks safely."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any, Protocol, TypeVar

import numpy as np
from distributed import Client, Future
from numpy.typing import NDArray

from dgsuite.mesh import PeerLost
from partition.errors import DgsuiteError, RunError
from partition.graph import Graph
from partition.places import runs
from partition.waiting import WATCH, Watch, failed, pending

T = TypeVar("T")

EMBED = 1 << 20
"""Clusters smaller than this (bytes a worker) travel with the task; larger ones are sent once."""

PATIENCE = 5
"""Seconds without any worker after which none is expected to come."""


class Named(Protocol):
    """What tasks are part of, for messages."""

    @property
    def name(self) -> str: ...


def of(kernel: Named) -> str:
    """What to call a kernel in messages."""
    return f"kernel {kernel.name!r}"


def new_run() -> str:
    """A run id."""
    return uuid.uuid4().hex[:12]


def deal(graph: Graph, places: Sequence[str]) -> tuple[list[str], NDArray]:
    """Which workers take part, and which clusters each of them gets.

    Returns
    -------
    places
        As many as there are clusters, at most.
    bounds
        Shape (places + 1,): worker w holds clusters ``bounds[w]`` to ``bounds[w + 1]``.
    """
    bounds = runs(len(graph.parts), len(places))
    return list(places[: len(bounds) - 1]), bounds


def place(graph: Graph, client: Client, places: Sequence[str], bounds: NDArray) -> list[Any]:
    """Each worker's clusters: lists of clusters, or futures of what is on the workers already."""
    groups = [graph.parts[a:b] for a, b in pairwise(bounds)]
    if not graph.local or all(sum(c.nbytes for c in group) < EMBED for group in groups):
        return groups
    key = (client.id, tuple(places), bounds.tobytes())
    placed: list[Any] | None = graph.placed.get(key)
    if placed is None or any(future.status != "finished" for future in placed):
        graph.placed.clear()
        placed = graph.placed[key] = [
            client.scatter([group], workers=[place], hash=False)[0]
            for group, place in zip(groups, places, strict=True)
        ]
    return placed


def joined(names: Iterable[str], results: Sequence[dict[str, NDArray]]) -> dict[str, NDArray]:
    """The outputs of all sites; those of each are given up as they are copied."""
    outputs = {}
    for name in names:
        parts = [found.pop(name) for found in results]
        whole = np.empty((sum(map(len, parts)), *parts[0].shape[1:]), parts[0].dtype)
        end = len(whole)
        while parts:
            part = parts.pop()
            whole[end - len(part) : end] = part
            end -= len(part)
        outputs[name] = whole
    return outputs


def finish(client: Client, futures: Sequence[Future], places: Sequence[str], kernel: Named) -> None:
    """Wait until all tasks are done.

    Raises
    ------
    DgsuiteError
        A task failed, or one of the workers has gone: a task that is tied to it would wait for
        ever.
    """
    Watch(client, of(kernel), places).settle(futures)
    if any(map(failed, futures)):
        raise cause(futures, kernel)


def results(
    client: Client, futures: Sequence[Future], places: Sequence[str], kernel: Named
) -> list[Any]:
    """What tasks return, once all are done.

    Raises
    ------
    DgsuiteError
        As in `finish`; also when a worker goes that has done its task, and has the result.
    """
    finish(client, futures, places, kernel)
    return watched(lambda: client.gather(futures), client, places, kernel)


def finish_anywhere(client: Client, futures: Sequence[Future], kernel: Named) -> None:
    """Wait until all of some tasks are done that are tied to no worker.

    Raises
    ------
    DgsuiteError
        A task failed, what it needs is lost for good, or no worker is left.
    """
    watch, alone = Watch(client, of(kernel)), 0
    while pending(futures, WATCH, "ALL_COMPLETED"):
        if any(map(failed, futures)):
            break
        alone = 0 if watch.look() else alone + 1
        if alone * WATCH > PATIENCE:
            raise RunError(f"{of(kernel)}: no worker is left")
    if any(map(failed, futures)):
        raise cause(futures, kernel)


def watched(call: Callable[[], T], client: Client, places: Sequence[str], kernel: Named) -> T:
    """The result of a request to all workers, which would wait 30 s, or for ever, for one that has just
    gone.
    """
    watch = Watch(client, of(kernel), places)
    found: list[T] = []
    errors: list[Exception] = []

    def ask() -> None:
        try:
            found.append(call())
        except Exception as error:
            errors.append(error)

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    while not found:
        thread.join(WATCH)
        if thread.is_alive():
            watch.look()
        if errors:
            for _ in range(10):  # the scheduler may learn of a loss a moment later
                watch.look()
                time.sleep(0.1)
            raise RunError(f"{of(kernel)}: {errors[0]}") from errors[0]
    return found[0]


def cause(futures: Sequence[Future], kernel: Named) -> Exception:
    """The first cause among failed tasks; that a peer was lost is usually only a consequence."""
    deadline = time.monotonic() + 1
    while time.monotonic() < deadline and any(f.status == "pending" for f in futures):
        time.sleep(0.02)
    errors = [f.exception() for f in futures if f.status == "error"]
    first = sorted(errors, key=lambda e: isinstance(e, PeerLost))
    if not first:
        return RunError(f"{of(kernel)}: its tasks were cancelled")
    if isinstance(first[0], DgsuiteError):
        if isinstance(first[0], PeerLost):
            return RunError(f"{of(kernel)}: {first[0]}")
        return first[0]
    error = RunError(f"{of(kernel)}: {type(first[0]).__name__}: {first[0]}")
    error.__cause__ = first[0]
    return error
