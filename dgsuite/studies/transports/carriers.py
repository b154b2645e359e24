"""Transports by name, MPI included: whether one can be had here, and workers that use it."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

import dask
from distributed import Client

from dgsuite.partition.client.settings import setting
from dgsuite.studies.experiment.clusters import check_protocol, local
from dgsuite.studies.transports import mpi

MPI = ("mpi", "mpi-sock")
"""MPI by its own choice of transport, and over TCP sockets; it carries clocked runs alone."""


def check(name: str) -> None:
    """Make sure that workers can use a transport.

    Raises
    ------
    InputError
        There is none of the name, or it is not set up.
    """
    if name in MPI:
        mpi.starter(name)
    else:
        check_protocol(name)


def workers(name: str, count: int) -> AbstractContextManager[Client]:
    """A client of so many workers of this host, each with a thread."""
    return mpi.local(count, name) if name in MPI else local(count, 1, "0", scheme(name))


def scheme(name: str) -> str:
    """The scheme of a comm by the name of its transport: ``mpb`` is ``rcce`` with the chip's buffers."""
    return "rcce" if name == "mpb" and setting("dgsuite.rcce.places") else name


def chosen(name: str) -> AbstractContextManager[Any]:
    """Have clocked runs use a transport; its workers must have been started for it."""
    return dask.config.set({"dgsuite.clocked.transport": "mpi" if name in MPI else "comm"})
