"""Requests of a client to its scheduler, and waiting within a task without blocking its thread."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from dgsuite.base.errors import DgsuiteError, InputError, RunError
from dgsuite.partition.client import installed
from dgsuite.partition.client.settings import setting

if TYPE_CHECKING:
    from distributed import Client

POLL_SECONDS = 0.5
"""Seconds between two checks of the workers that a wait depends on."""


def check_client(client: object) -> None:
    """See that what was given as a client is one, or None.

    Raises
    ------
    InputError
        It is something else, such as a cluster or its address.
    """
    if client is None:
        return
    from distributed import Client

    if not isinstance(client, Client):
        raise InputError(
            f"client must be a distributed.Client, got {type(client).__name__}; make one of the "
            f"cluster or its address, such as Client(cluster)"
        )


def _mark_inherited() -> None:
    """In a process that was forked: mark clients of its parent, whose threads are not here."""
    clients = getattr(sys.modules.get("distributed"), "Client", None)
    for client in [] if clients is None else [*clients._instances]:
        client._dgsuite_inherited = True


if hasattr(os, "register_at_fork"):  # not on Windows, where no process is forked
    os.register_at_fork(after_in_child=_mark_inherited)


def inherited(client: Client) -> bool:
    """Whether a client was made before this process was forked, so that no call of it would return."""
    return hasattr(client, "_dgsuite_inherited")


def current_client(client: Client | None) -> Client | None:
    """The client given, else the current one, else None. A current one that is `inherited` does not count.

    Raises
    ------
    InputError
        It is no client; it is asynchronous; or this is its event loop, so that no call may block.
    """
    check_client(client)
    if client is None and "distributed" in sys.modules:
        from distributed import get_client

        try:
            client = get_client()
        except ValueError:
            return None
        if inherited(client):
            return None
    if client is not None and client.asynchronous:
        raise InputError(
            "this call would block the event loop of the client: make it from another thread (not in "
            "on_round), with a client made without asynchronous=True"
        )
    return client


def timeout() -> float:
    """Seconds without a heartbeat or an answer after which a wait fails: the setting ``dgsuite.timeout``."""
    from dask.utils import parse_timedelta

    return float(parse_timedelta(setting("dgsuite.timeout"), "s"))


def ask_scheduler(client: Client, request: str, /, wait: float = 0.0, **arguments: Any) -> Any:
    """Call a handler of `dgsuite.partition.client.scheduler.DgsuiteSchedulerPlugin` and return its answer.

    Parameters
    ----------
    wait
        Seconds that the handler itself may wait.

    Raises
    ------
    RunError
        The client is closed, or the scheduler is gone or does not answer within `timeout`.
    InputError
        The scheduler has no dgsuite or a different version, or the client is `inherited`.
    """
    if inherited(client):
        raise InputError(
            "the client was made before this process was forked, and works in its parent alone; make a new "
            'Client here, or start processes in another way, such as multiprocessing.get_context("spawn")'
        )
    seconds = timeout() + wait

    async def call() -> Any:
        # once per connection: a restarted scheduler has lost the plugin
        connection = client.scheduler_comm
        if getattr(client, "_dgsuite_plugin_connection", None) is not connection:
            await _register_plugin(client)
            client._dgsuite_plugin_connection = connection  # type: ignore[attr-defined]
        return await getattr(client.scheduler, request)(**arguments)

    async def answer() -> Any:
        pending = asyncio.ensure_future(call())
        deadline = time.monotonic() + seconds
        while not (await asyncio.wait([pending], timeout=POLL_SECONDS))[0]:
            # a call to a scheduler that is gone lasts as long as Dask tries to connect
            if client.status != "running" or time.monotonic() > deadline:
                pending.cancel()
                raise TimeoutError
        return pending.result()

    cause: Exception | None = None
    if client.status == "running":
        try:
            return client.sync(answer, callback_timeout=seconds + 2 * POLL_SECONDS)
        except DgsuiteError:
            raise
        except (OSError, RuntimeError) as error:  # TimeoutError is an OSError
            cause = error
    if client.scheduler is None or client.status in ("closing", "closed"):
        raise RunError("the client was closed") from cause
    where = f"the scheduler at {client.scheduler.address}"
    if client.status == "running" and isinstance(cause, TimeoutError):
        raise RunError(
            f"{where} has not answered for {seconds - wait:g} s: frozen or busy"
        ) from cause
    raise RunError(f"{where} is gone") from cause


async def _register_plugin(client: Client) -> None:
    from distributed.protocol.pickle import dumps

    from dgsuite.partition.client.scheduler import DgsuiteSchedulerPlugin as Plugin

    await installed.check_scheduler(client)
    await client.scheduler.register_scheduler_plugin(  # type: ignore[union-attr]
        plugin=dumps(Plugin()), name=Plugin.name, idempotent=True
    )


def worker_states(client: Client, keys: Sequence[str] = ()) -> dict[str, dict[str, Any]]:
    """The state of each worker that the scheduler knows, by address.

    This asks the scheduler. ``client.scheduler_info()`` returns what the client stored last, which its
    periodic update may have overwritten with a version without workers.

    Parameters
    ----------
    keys
        Keys of tasks. A worker that is to run one of them is marked ``"awaited"``.

    Raises
    ------
    RunError
        See `ask_scheduler`.
    """
    states: dict[str, dict[str, Any]] = ask_scheduler(client, "dgsuite_workers", keys=list(keys))
    return states


@contextmanager
def seceded() -> Iterator[None]:
    """Take the calling task out of its worker's thread pool while it waits; outside a task, do nothing.

    A task that blocked its thread would wait for ever for tasks that need the thread.
    """
    left = False
    if "distributed" in sys.modules:
        from distributed import rejoin, secede

        try:
            secede()
            left = True
        except (ValueError, AttributeError):  # not in a task
            pass
        except KeyError:  # the caller has already seceded
            pass
    try:
        yield
    finally:
        if left:
            rejoin()
