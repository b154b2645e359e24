"""Where clusters live: the workers of a client, and which of them holds what."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from partition.client import installed
from partition.errors import DgsuiteError, InputError, RunError

if TYPE_CHECKING:
    from distributed import Client

LOOK = 0.5
"""Seconds between looks at whether what is waited for is still there."""


def current(client: Client | None) -> Client | None:
    """The client given, else the current one, else None.

    Raises
    ------
    InputError
        Nothing can wait for it here: it is asynchronous, or this is its event loop.
    """
    if client is None and "distributed" in sys.modules:
        from distributed import get_client

        try:
            client = get_client()
        except ValueError:
            return None
    if client is not None and client.asynchronous:
        raise InputError(
            "this is the event loop of the client, which must not wait: call it from another thread (not "
            "in on_round), with a client that was made without asynchronous=True"
        )
    return client


def bound() -> float:
    """Seconds without a sign of life after which a wait ends: Dask's setting ``dgsuite.timeout``."""
    import dask
    from dask.utils import parse_timedelta

    return float(parse_timedelta(dask.config.get("dgsuite.timeout", "30s"), "s"))


def ask(client: Client, request: str, /, wait: float = 0.0, **arguments: Any) -> Any:
    """What the scheduler answers to a request, which `partition.client.scheduler.Overseer` handles.

    Parameters
    ----------
    wait
        Seconds that the request itself may take.

    Raises
    ------
    RunError
        The client is closed, or the scheduler is gone, or gives no answer within `bound`.
    InputError
        The scheduler has no dgsuite, or another version.
    """
    patience = bound() + wait

    async def call() -> Any:
        # once a connection: a scheduler that was restarted has nothing of ours
        connection = client.scheduler_comm
        if getattr(client, "_dgsuite_overseen", None) is not connection:
            await _oversee(client)
            client._dgsuite_overseen = connection  # type: ignore[attr-defined]
        return await getattr(client.scheduler, request)(**arguments)

    async def answer() -> Any:
        asking = asyncio.ensure_future(call())
        deadline = time.monotonic() + patience
        while not (await asyncio.wait([asking], timeout=LOOK))[0]:
            # a call to a scheduler that is gone goes on for as long as Dask tries to connect
            if client.status != "running" or time.monotonic() > deadline:
                asking.cancel()
                raise TimeoutError
        return asking.result()

    error: Exception | None = None
    if client.status == "running":
        try:
            return client.sync(answer, callback_timeout=patience + 2 * LOOK)
        except DgsuiteError:
            raise
        except (OSError, RuntimeError) as found:  # TimeoutError is an OSError
            error = found
    if client.scheduler is None or client.status in ("closing", "closed"):
        raise RunError("the client was closed") from error
    where = f"the scheduler at {client.scheduler.address}"
    if client.status == "running" and isinstance(error, TimeoutError):
        raise RunError(f"{where} has not answered for {patience:g} s: frozen or busy") from error
    raise RunError(f"{where} is gone") from error


async def _oversee(client: Client) -> None:
    from distributed.protocol.pickle import dumps

    from partition.client.scheduler import Overseer

    try:
        await client.scheduler.register_scheduler_plugin(  # type: ignore[union-attr]
            plugin=dumps(Overseer()), name=Overseer.name, idempotent=True
        )
    except (ImportError, AttributeError) as error:
        raise InputError(
            f"the scheduler at {client.scheduler.address} has no dgsuite, or another version ({error}); "  # type: ignore[union-attr]
            f"install the same dgsuite there, then start the scheduler anew"
        ) from error


def seen(client: Client, keys: Sequence[str] = ()) -> dict[str, dict[str, Any]]:
    """The state of each worker that the scheduler knows, by address.

    Asked of the scheduler itself: ``client.scheduler_info()`` returns what the client last stored,
    which its own periodic update, without workers, may have overwritten in between.

    Parameters
    ----------
    keys
        Of tasks; workers that are to do one of them are ``"awaited"``.

    Raises
    ------
    RunError
        See `ask`.
    """
    found: dict[str, dict[str, Any]] = ask(client, "dgsuite_workers", keys=list(keys))
    return found


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


@contextmanager
def out_of_the_pool() -> Iterator[None]:
    """Let the worker run other tasks while the calling one waits for them; outside of tasks, nothing.

    A task that kept its thread would wait for ever for tasks that need it.
    """
    seceded = False
    if "distributed" in sys.modules:
        from distributed import rejoin, secede

        try:
            secede()
            seceded = True
        except (ValueError, AttributeError):  # not in a task
            pass
        except KeyError:  # its caller has done so
            pass
    try:
        yield
    finally:
        if seceded:
            rejoin()
