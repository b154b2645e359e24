"""The Dask cluster that a command runs on: one at an address, or its own."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from partition.errors import InputError

if TYPE_CHECKING:
    from distributed import Client

CONNECT = 8
"""Seconds to wait for a scheduler, and again for its workers."""


def reach(address: str) -> None:
    """Make sure that something answers at a scheduler's address.

    Raises
    ------
    InputError
        Nothing does, within `CONNECT` seconds.
    """
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
    except (OSError, ValueError, RuntimeError) as error:
        raise InputError(
            f"no scheduler answers at {address} within {CONNECT} s ({error})"
        ) from None


@contextmanager
def connect(address: str) -> Iterator[Client]:
    """A client of a running scheduler."""
    from distributed import Client

    with Client(address, timeout=CONNECT, set_as_default=False) as client:
        try:
            client.wait_for_workers(1, timeout=CONNECT)
        except TimeoutError:
            raise InputError(f"the scheduler at {address} has no workers") from None
        yield client


@contextmanager
def local(
    workers: int, threads: int, memory_limit: str, protocol: str | None = None
) -> Iterator[Client]:
    """A client of a cluster of our own, which ends with it."""
    import logging
    from importlib.util import find_spec

    from distributed import Client, LocalCluster

    with (
        warnings.catch_warnings(),
        LocalCluster(
            n_workers=workers,
            threads_per_worker=threads,
            processes=True,
            memory_limit=memory_limit,
            protocol=protocol,
            dashboard_address=":0" if find_spec("bokeh") else None,
            silence_logs=logging.CRITICAL,
        ) as cluster,
        # on one host results need not pass through the scheduler, which would hold them, too
        Client(cluster, set_as_default=False, direct_to_workers=True) as client,
    ):
        yield client
