"""Where clusters live: the workers of a client, and which of them holds what."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from partition import installed
from partition.errors import InputError

if TYPE_CHECKING:
    from distributed import Client


def current(client: Client | None) -> Client | None:
    """The client given, else the current one, else None."""
    if client is not None:
        return client
    if "distributed" not in sys.modules:
        return None
    from distributed import get_client

    try:
        return get_client()
    except ValueError:
        return None


def seen(client: Client) -> dict[str, Any]:
    """The workers that the scheduler knows, by address.

    Asked of the scheduler itself: ``client.scheduler_info()`` returns what the client last stored,
    which its own periodic update, without workers, may have overwritten in between.
    """
    identity = client.sync(client.scheduler.identity)  # type: ignore[union-attr]
    found: dict[str, Any] = identity["workers"]
    return found


def workers(client: Client) -> list[str]:
    """Addresses of the client's workers, in a fixed order.

    Raises
    ------
    InputError
        There are none, or one of them, or the scheduler, has another dgsuite or none.
    """
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
