"""The workers of a client, and which clusters each of them holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from partition.client import installed
from partition.client.queries import seen
from partition.errors import InputError

if TYPE_CHECKING:
    from distributed import Client


def workers(client: Client) -> list[str]:
    """Addresses of the client's workers, in a fixed order.

    Raises
    ------
    InputError
        There are none, or one of them, or the scheduler, has another dgsuite or none.
    """
    installed.check(client, {})
    info = seen(client)
    if not info:
        raise InputError(
            f"the scheduler at {client.scheduler.address} has no workers; start some first"  # type: ignore[union-attr]
        )
    installed.check(client, info)
    return sorted(info, key=lambda address: (str(info[address]["name"]).zfill(8), address))


def runs(clusters: int, places: int) -> NDArray[np.int64]:
    """Which clusters each worker holds: runs of equally many, in order.

    Returns
    -------
    Shape (used + 1,): worker w holds clusters ``runs[w]`` to ``runs[w + 1]``; with fewer clusters
    than workers, only as many workers are used.
    """
    used = min(places, clusters)
    return np.arange(used + 1) * clusters // used


def home(cluster: int, clusters: int, places: Sequence[str]) -> str:
    """The worker that holds a cluster."""
    bounds = runs(clusters, len(places))
    return places[int(np.searchsorted(bounds, cluster, side="right")) - 1]
