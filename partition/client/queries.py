"""What a client asks its scheduler, and how a task waits without keeping its thread."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

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
