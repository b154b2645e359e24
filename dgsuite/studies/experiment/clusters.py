"""The Dask cluster that a command runs on: one at an address, or its own."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from multiprocessing import resource_tracker
from typing import TYPE_CHECKING

import psutil

from dgsuite.base import capabilities
from dgsuite.base.errors import InputError, unknown
from dgsuite.core.workers.processor import own_processors
from dgsuite.partition.client.waiting import Watch
from dgsuite.partition.client.workers import worker_addresses

if TYPE_CHECKING:
    from distributed import Client, LocalCluster

CONNECT = 8
"""Seconds to wait for a scheduler, and again for its workers."""


def check_protocol(protocol: str | None) -> None:
    """Make sure that worker processes can talk over a transport; None is Dask's choice.

    Raises
    ------
    InputError
        There is none of the name, it is not set up, or it does not leave a process.
    """
    from importlib.metadata import entry_points

    from distributed.comm import listen
    from distributed.comm.registry import backends
    from distributed.security import Security

    if protocol is None:
        return
    known = {*backends, *entry_points(group="distributed.comm.backends").names}
    if protocol.removesuffix("://") not in known:
        raise InputError(unknown("protocol", protocol, sorted(known)))
    if protocol.startswith("inproc"):
        raise InputError("protocol inproc: it does not leave a process, and each worker is one")
    address = f"{protocol.removesuffix('://')}://127.0.0.1"
    try:
        listen(address, None, **Security().get_listen_args("worker"))
    except Exception as error:  # backends raise what they like
        raise InputError(f"protocol {protocol}: {' '.join(str(error).split())}") from None


def check_memory(limit: str) -> None:
    """Make sure that a limit of a worker's memory is one.

    Raises
    ------
    InputError
        It is not.
    """
    from dask.utils import parse_bytes

    with suppress(ValueError):
        if limit == "auto" or (limit != "" and parse_bytes(limit) >= 0):
            return
    raise InputError(f"memory_limit {limit!r}: must be such as '4 GB', 'auto', or '0' for none")


def _reach(address: str) -> None:
    """Make sure that something answers at a scheduler's address."""
    import asyncio

    from distributed.comm import connect
    from distributed.security import Security

    async def knock() -> None:
        comm = await connect(address, timeout=CONNECT, **Security().get_connection_args("client"))
        comm.abort()

    if ":" not in address.split("://")[-1]:
        raise InputError(f"scheduler {address!r}: an address is like tcp://127.0.0.1:8786")
    try:
        asyncio.run(knock())
    except (OSError, ValueError, RuntimeError, TypeError) as error:  # as of TLS that is not set up
        raise InputError(
            f"no scheduler answers at {address} within {CONNECT} s ({error})"
        ) from None


@contextmanager
def connect(address: str) -> Iterator[Client]:
    """A client of a running scheduler.

    Raises
    ------
    InputError
        Nothing answers there within `CONNECT` seconds, or it has no workers.
    """
    from distributed import Client

    _reach(address)
    with Client(address, timeout=CONNECT, set_as_default=False) as client:
        try:
            client.wait_for_workers(1, timeout=CONNECT)
        except TimeoutError:
            raise InputError(f"the scheduler at {address} has no workers") from None
        yield client


@contextmanager
def terminal_blocked() -> Iterator[None]:
    """Block SIGINT and SIGHUP, which a terminal sends to all processes, in those that start meanwhile, and in
    threads.

    This process ends them. A signal that arrives meanwhile is handled at the end.
    """
    if not capabilities.has("signal masks"):
        yield
        return
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGHUP})
    try:
        resource_tracker.ensure_running()  # if started later, its thread would not block SIGINT
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


@contextmanager
def local(
    workers: int, threads: int, memory_limit: str, protocol: str | None = None
) -> Iterator[Client]:
    """A client of a cluster of our own, which ends with it.

    Runs send over the protocol, if one is given, and otherwise over what is fastest.

    Raises
    ------
    InputError
        Memory or protocol that cannot be; see `check_memory` and `check_protocol`.
    """
    import logging
    from importlib.util import find_spec

    import dask
    from distributed import Client, LocalCluster

    from dgsuite.core.transports import slow_clocks

    check_memory(memory_limit)
    check_protocol(protocol)
    slow_clocks()
    with ExitStack() as stack:
        with terminal_blocked():
            cluster = stack.enter_context(
                LocalCluster(
                    n_workers=workers,
                    threads_per_worker=threads,
                    processes=True,
                    memory_limit=memory_limit,
                    protocol=protocol,
                    dashboard_address="127.0.0.1:0",  # not on other interfaces; any port that is free
                    scheduler_kwargs={"dashboard": find_spec("bokeh") is not None},
                    silence_logs=logging.CRITICAL,
                )
            )
        # on one host results need not pass through the scheduler, which would hold them, too
        client = stack.enter_context(Client(cluster, set_as_default=False, direct_to_workers=True))
        if protocol is not None:
            stack.enter_context(dask.config.set({"dgsuite.clocked.transport": "comm"}))
        try:
            yield client
        except KeyboardInterrupt:
            _kill_workers(cluster)
            raise


LATE = "10 minutes"
"""Time in which processes that share a processor must answer: of 65 on one, some take half a minute."""


@contextmanager
def bound(client: Client, processors: int | None) -> Iterator[None]:
    """Bind all processes of a cluster of our own to the first so many processors.

    With None they stay as they are. This process, whose threads are the scheduler and the client, is one of
    them.
    """
    import dask

    if processors is None:
        yield
        return
    allowed = sorted(own_processors())
    some = frozenset(allowed[:processors])
    watch = Watch(client, "binding processes", worker_addresses(client))
    try:
        watch.call(partial(client.run, _bind, some))
        _bind(some)
        with dask.config.set({"dgsuite.timeout": LATE}):
            yield
        watch.call(partial(client.run, _bind, frozenset(allowed)))
    finally:
        _bind(frozenset(allowed))


def _bind(processors: frozenset[int]) -> None:
    """Bind all threads of this process; those that they start are bound, too."""
    for thread in psutil.Process().threads():
        with suppress(ProcessLookupError):  # it has ended
            os.sched_setaffinity(thread.id, processors)


def _kill_workers(cluster: LocalCluster) -> None:
    """Kill the worker processes of a cluster. To close it then takes no time; to ask them takes seconds."""
    for nanny in cluster.workers.values():
        nanny.close_gracefully("interrupted")  # it does not start another
        if nanny.pid is not None:
            with suppress(psutil.NoSuchProcess):
                psutil.Process(nanny.pid).kill()
