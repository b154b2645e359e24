"""The workers of a client, and which clusters each of them holds."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dgsuite.base.errors import InputError
from dgsuite.partition.client import installed
from dgsuite.partition.client.session import POLL_SECONDS, Session, timeout
from dgsuite.partition.client.tasks import submitted
from dgsuite.partition.client.waiting import Watch

if TYPE_CHECKING:
    from distributed import Client

logger = logging.getLogger("dgsuite")

States = Mapping[str, Mapping[str, Any]]
"""State of each worker, by address."""


def worker_addresses(client: Client) -> list[str]:
    """Addresses of the client's workers, in a fixed order; see `ordered_states`."""
    return list(ordered_states(client))


def ordered_states(client: Client) -> dict[str, dict[str, Any]]:
    """As `dgsuite.partition.client.session.Session.workers`, in a fixed order of the client's workers.

    Where there are none, some may be about to come.

    Raises
    ------
    InputError
        No worker comes within `dgsuite.partition.client.session.timeout`, or a worker or the scheduler has
        no dgsuite or a different one.
    """
    states = Session.of(client).workers() or _first_states(client)
    _check(client, states)
    in_order = sorted(states, key=lambda address: (str(states[address]["name"]).zfill(8), address))
    return {address: states[address] for address in in_order}


def _first_states(client: Client) -> dict[str, dict[str, Any]]:
    """The states of workers, once there are some."""
    where = f"the scheduler at {client.scheduler.address} has no workers"  # type: ignore[union-attr]
    deadline = time.monotonic() + timeout()
    logger.warning("%s; waiting for some, for %g s at most", where, timeout())
    # an adaptive cluster starts workers for tasks that wait
    task = submitted(client, received, None)
    try:
        while not (states := Session.of(client).workers()):
            if time.monotonic() > deadline:
                raise InputError(f"{where}, and none came within {timeout():g} s; start some first")
            time.sleep(POLL_SECONDS)
    finally:
        task.release()
    return states


def _check(client: Client, states: Mapping[str, Mapping[str, Any]]) -> None:
    """Refuse workers that have no dgsuite or a different one.

    Each client checks each worker once.

    Parameters
    ----------
    states
        Of the workers, by address, from `dgsuite.partition.client.session.Session.workers`.

    Raises
    ------
    InputError
        The message names the worker, its dgsuite, and what to do.
    RunError
        A worker is gone or does not answer.
    """
    checked = Session.of(client).checked
    new = {address: f"{state['epoch']} {address}" for address, state in states.items()}
    new = {address: key for address, key in new.items() if key not in checked}
    if new:
        watch, probe = Watch(client, "comparing versions", list(new)), installed.probe()
        answers = watch.call(partial(client.run, probe, workers=list(new), on_error="ignore"))
        installed.compare({f"worker {address}": answer for address, answer in answers.items()})
        checked.update(new.values())


def received(value: Any) -> Any:
    """A task that has a value at its worker, so that the worker that sent it may release it."""
    return value


def cluster_ranges(clusters: int, workers: int) -> NDArray[np.int64]:
    """Divide clusters among workers, in order and as evenly as possible.

    Returns
    -------
    Shape (used + 1,): worker w holds clusters ``ranges[w]`` to ``ranges[w + 1]``. With fewer clusters
    than workers, only as many workers as clusters are used.
    """
    used = min(workers, clusters)
    return np.arange(used + 1) * clusters // used


def worker_of(cluster: int, clusters: int, workers: Sequence[str]) -> str:
    """The worker that holds a cluster."""
    ranges = cluster_ranges(clusters, len(workers))
    return workers[int(np.searchsorted(ranges, cluster, side="right")) - 1]
