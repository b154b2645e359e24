"""The session of a Dask client: requests to its scheduler, and what is kept for it.

Also which client a call uses, and waiting within a task without blocking its thread.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import os
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from dgsuite.base import capabilities
from dgsuite.base.errors import DgsuiteError, InputError, RunError
from dgsuite.base.once import Once
from dgsuite.partition.client import installed
from dgsuite.partition.client.sending import MARK, hurry
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
        Session.of(client).is_inherited = True


if capabilities.has("fork"):
    os.register_at_fork(after_in_child=_mark_inherited)


def current_client(client: Client | None) -> Client | None:
    """The client given, else the current one, else None. A current one that is inherited does not count.

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
        if Session.of(client).is_inherited:
            return None
    if client is not None:
        _check_thread(client)
    return client


def _check_thread(client: Client) -> None:
    if client.asynchronous:
        raise InputError(
            "this call would block the event loop of the client: make it from another thread (not in "
            "on_round), with a client made without asynchronous=True"
        )


def timeout() -> float:
    """Seconds without a heartbeat or an answer after which a wait fails: the setting ``dgsuite.timeout``."""
    from dask.utils import parse_timedelta

    return float(parse_timedelta(setting("dgsuite.timeout"), "s"))


async def _begun[T](request: Callable[[], Awaitable[T]]) -> T:
    """What a request returns. It is no closure, since clearing a frame keeps what its function refers to."""
    return await request()


class Session:
    """All requests to a client's scheduler, and what is kept for the client: the one thing put into it.

    No other code sends requests: all pass through `start`.

    Attributes
    ----------
    client
        Dask's client.
    is_inherited
        Whether the client was made before this process was forked, so that no call of it would return.
    checked
        Worker processes whose dgsuite has been compared with this one.
    installed_over
        The connection over which plugins have been put on the client's workers, if they have; a scheduler
        that has been restarted knows nothing of them.
    kept
        What other modules keep for the client, by name. To make a value may take a request, so the client's
        loop must not ask for one.
    """

    def __init__(self, client: Client) -> None:
        self.client = client
        self.is_inherited = False
        self.checked: set[str] = set()
        self.installed_over: Any = None
        self.kept = Once()
        self._connection: Any = None
        self._marks = 0

    @classmethod
    def of(cls, client: Client) -> Session:
        """The session of a client."""
        found: Session | None = client.__dict__.get("_dgsuite")
        return found if found is not None else client.__dict__.setdefault("_dgsuite", cls(client))

    def start[T](self, request: Callable[[], Awaitable[T]]) -> concurrent.futures.Future[T]:
        """Begin a request on the client's loop. Whoever cancels the future ends the request."""
        _check_thread(self.client)
        coroutine = _begun(request)
        try:
            return asyncio.run_coroutine_threadsafe(coroutine, self.client.loop.asyncio_loop)  # type: ignore[attr-defined]
        except RuntimeError:  # the loop has ended with the client
            coroutine.close()
            raise

    def ask(self, request: str, /, wait: float = 0.0, **arguments: Any) -> Any:
        """Call a handler of the scheduler, such as one of `DgsuiteSchedulerPlugin`, and return its answer.

        Parameters
        ----------
        wait
            Seconds that the handler itself may wait.

        Raises
        ------
        RunError
            The client is closed, or the scheduler is gone or does not answer within `timeout`.
        InputError
            The scheduler has no dgsuite or a different version, or the client is inherited.
        """
        if self.is_inherited:
            raise InputError(
                "the client was made before this process was forked, and works in its parent alone; make a "
                "new Client here, or start processes in another way, such as "
                'multiprocessing.get_context("spawn")'
            )
        client, deadline = self.client, time.monotonic() + timeout() + wait
        cause: Exception | None = None
        try:
            if client.status == "running":
                return self._answer(partial(self._call, request, arguments), deadline)
        except DgsuiteError:
            raise
        except (OSError, RuntimeError) as error:  # TimeoutError is an OSError
            cause = error
        if client.scheduler is None or client.status in ("closing", "closed"):
            raise RunError("the client was closed") from cause
        where = f"the scheduler at {client.scheduler.address}"
        if client.status == "running" and isinstance(cause, TimeoutError):
            raise RunError(
                f"{where} has not answered for {timeout():g} s: frozen or busy"
            ) from cause
        raise RunError(f"{where} is gone") from cause

    def _answer(self, request: Callable[[], Awaitable[Any]], deadline: float) -> Any:
        """What a request returns.

        Raises
        ------
        TimeoutError
            It does not return in time, or the client is not running any more: a call to a scheduler that is
            gone lasts as long as Dask tries to connect.
        """
        begun = self.start(request)
        try:
            while not concurrent.futures.wait([begun], POLL_SECONDS).done:
                if self.client.status != "running" or time.monotonic() > deadline:
                    raise TimeoutError
            return begun.result()
        finally:
            begun.cancel()

    async def _call(self, request: str, arguments: dict[str, Any]) -> Any:
        """A request, on the client's loop."""
        client = self.client
        connection = client.scheduler_comm
        if self._connection is not connection:  # a restarted scheduler has lost the plugin
            from distributed.protocol.pickle import dumps

            from dgsuite.partition.client.scheduler import DgsuiteSchedulerPlugin as Plugin

            answer = await client.run_on_scheduler(installed.probe(), asynchronous=True)
            installed.compare({f"the scheduler at {client.scheduler.address}": answer})  # type: ignore[union-attr]
            await client.scheduler.register_scheduler_plugin(  # type: ignore[union-attr]
                plugin=dumps(Plugin()), name=Plugin.name, idempotent=True
            )
            self._connection = connection
        if arguments.get("keys") and request == "dgsuite_workers":
            arguments["mark"], self._marks = self._marks, self._marks + 1
            # it follows all that the client has for the scheduler
            connection.send({"op": MARK, "number": self._marks})
            hurry(connection)
        return await getattr(client.scheduler, request)(**arguments)

    def workers(self) -> dict[str, dict[str, Any]]:
        """The state of each worker that the scheduler knows, by address.

        This asks the scheduler. ``client.scheduler_info()`` returns what the client stored last, which its
        periodic update may have overwritten with a version without workers.

        Raises
        ------
        RunError
            See `ask`.
        """
        return self.ask("dgsuite_workers")["workers"]  # type: ignore[no-any-return]


@contextmanager
def seceded() -> Iterator[None]:
    """Take the calling task out of its worker's thread pool while it waits; outside a task, do nothing.

    A task that blocked its thread would wait for ever for tasks that need the thread.
    """
    left = False
    if "distributed" in sys.modules:
        from distributed import rejoin, secede

        # ValueError, AttributeError: not in a task; KeyError: the caller has already seceded
        with suppress(ValueError, AttributeError, KeyError):
            secede()
            left = True
    try:
        yield
    finally:
        if left:
            rejoin()
