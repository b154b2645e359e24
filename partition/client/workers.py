"""The workers of a client, and which clusters each of them holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from partition.client import installed
from partition.client.queries import worker_states
from partition.errors import InputError

if TYPE_CHECKING:
    from distributed import Client


def worker_addresses(client: Client) -> list[str]:
    """Addresses of the client's workers, in a fixed order.

    Raises
    ------
    InputError
        There are no workers, or a worker or the scheduler has no dgsuite or a different one.
    """
    installed.check(client, {})
    states = worker_states(client)
    if not states:
        raise InputError(
            f"the scheduler at {client.scheduler.address} has no workers; start some first"  # type: ignore[union-attr]
        )
    installed.check(client, states)
    return sorted(states, key=lambda address: (str(states[address]["name"]).zfill(8), address))


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
