"""MPI for what clocked runs exchange, and workers that have it.

MPI cannot carry all of Dask: its processes start together and end together, waiting for a message means
polling, and a process that fails ends all others. The exchanges of clocked runs fit: the partners are known,
and each gets one message per phase. So workers started by mpiexec use Dask's comms for everything
else, and with ``dask.config.set({"dgsuite.clocked.transport": "mpi"})`` their clocked
runs exchange by MPI. During a run its tasks poll for messages without pause, as MPI does.
"""

from __future__ import annotations

import asyncio
import logging
import os
import pickle
import shutil
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from distributed import Client, LocalCluster, Worker
from distributed.comm import get_address_host

from dgsuite.base.errors import InputError, RunError
from dgsuite.base.extras import pip_install
from dgsuite.core.engine.program import reduce_votes
from dgsuite.core.exchange.channels import cancelling
from dgsuite.core.exchange.mesh import Mesh
from dgsuite.core.workers.plugin import RunPlugin

ASK = 50
"""Polls of MPI between two checks for cancellation of the run."""

TAGS = (1 << 15) - 1
"""The standard has at least so many tags."""

SOCKETS = {
    "MPIR_CVAR_NOLOCAL": "1",  # MPICH: processes of a host do not share memory
    "MPIR_CVAR_CH4_NETMOD": "ofi",
    "FI_PROVIDER": "tcp",
    "OMPI_MCA_pml": "ob1",  # Open MPI
    "OMPI_MCA_btl": "tcp,self",
}
"""Environment in which MPI sends over TCP sockets, also between processes of a host."""


def pack(message: Any) -> np.ndarray:
    """A message as bytes: how many buffers, how long they are, what is pickled, the buffers."""
    buffers: list[pickle.PickleBuffer] = []
    pickled = pickle.dumps(message, 5, buffer_callback=buffers.append)
    views = [memoryview(pickled), *(buffer.raw() for buffer in buffers)]
    sizes = [view.nbytes for view in views]
    header = struct.pack(f"<{1 + len(sizes)}Q", len(sizes), *sizes)
    return np.frombuffer(bytearray().join((header, *views)), np.uint8)


def unpack(data: np.ndarray) -> Any:
    """The message."""
    view = data.data
    (count,) = struct.unpack_from("<Q", view)
    sizes = struct.unpack_from(f"<{count}Q", view, 8)
    ends = accumulate(sizes, initial=8 * (1 + count))
    pickled, *buffers = (view[a:b] for a, b in pairwise(ends))
    return pickle.loads(pickled, buffers=buffers)


class Job:
    """The processes that mpiexec started together."""

    here: ClassVar[Job | None] = None

    def __init__(self) -> None:
        from mpi4py import MPI

        self.mpi = MPI
        self.world = MPI.COMM_WORLD
        if MPI.Query_thread() < MPI.THREAD_SERIALIZED:
            raise RunError("this MPI serves its first thread alone; Dask tasks run in others")
        self.name = self.world.bcast(np.random.SeedSequence().entropy)

    def address(self) -> str:
        """Of this process, told to peers."""
        return f"{self.name}/{self.world.rank}"


class MPIMesh(Mesh):
    """A mesh whose messages MPI carries."""

    can_be_kept, in_rounds = False, True

    async def open(
        self, plugin: RunPlugin, key: str, connect_args: dict[str, Any], listen_args: dict[str, Any]
    ) -> None:
        job = Job.here
        if job is None:
            raise RunError(
                f"worker {self.places[self.rank]} has no MPI; start workers by "
                "`mpiexec -n 2 dgsuite transports mpi-worker ADDRESS`"
            )
        self._job = job
        self._tag = int(self.run, 16) % TAGS
        self._ranks: dict[int, int] = {}
        self._sending: list[Any] = []
        plugin.enter(key, self.run, job.address(), cancelling())
        for peer, place in enumerate(self.places):
            if peer == self.rank:
                continue
            name, _, rank = (await self._meet(peer, connect_args)).partition("/")
            if name != str(job.name):
                raise RunError(f"worker {place} was started by another mpiexec, or by none")
            self._ranks[int(rank)] = peer

    async def exchange(
        self,
        parcels: Mapping[int, Any],
        vote: Any,
        combine: Callable[[Sequence[Any]], Any] = reduce_votes,
    ) -> tuple[dict[int, Any], Any]:
        mpi, world = self._job.mpi, self._job.world
        self.number += 1
        await asyncio.sleep(0)  # lets the run be cancelled
        # what is sent must stay as it is until it has left
        packed = [
            (rank, pack((self.number, vote, parcels.get(p)))) for rank, p in self._ranks.items()
        ]
        self._sending = [world.Isend([data, mpi.BYTE], rank, self._tag) for rank, data in packed]
        self.channels.wire += sum(data.nbytes for _, data in packed)
        found: dict[int, Any] = {}
        votes: dict[int, Any] = {self.rank: vote}
        missing = dict(self._ranks)
        while missing:
            for rank, peer in list(missing.items()):
                data = await self._receive(rank, ASK if len(missing) == 1 else 1)
                if data is None:
                    continue
                theirs, votes[peer], parcel = unpack(data)
                del missing[rank]
                self._check_number(peer, theirs)
                if parcel is not None:
                    found[peer] = parcel
        while not mpi.Request.Testall(self._sending):
            await asyncio.sleep(0)
        self._sending = []
        return found, combine([votes[peer] for peer in sorted(votes)])

    async def _receive(self, rank: int, times: int) -> np.ndarray | None:
        """The next message of a process, if it is there soon."""
        mpi, world = self._job.mpi, self._job.world
        status = mpi.Status()
        for _ in range(times):
            message = world.Improbe(rank, self._tag, status)
            if message is not None:
                data = np.empty(status.Get_count(mpi.BYTE), np.uint8)
                request = message.Irecv([data, mpi.BYTE])
                while not request.Test():
                    await asyncio.sleep(0)
                return data
        await asyncio.sleep(0)
        return None

    async def close(self) -> None:
        """Nothing is open."""

    def abort(self) -> None:
        """Take back what has not left yet."""
        for request in getattr(self, "_sending", []):
            request.Cancel()
            request.Free()


async def work(address: str, threads: int) -> None:
    """Be a Dask worker among those that mpiexec started, until the scheduler ends it."""
    Job.here = Job()
    at = get_address_host(address)
    host = at if at.startswith("127.") else None  # only this host can reach such a scheduler
    async with Worker(address, host=host, nthreads=threads, dashboard=False) as worker:
        await worker.finished()


def mpiexec() -> str | None:
    """The program that starts MPI's processes, if there is one."""
    beside = str(Path(sys.executable).parent)
    return shutil.which("mpiexec", path=beside) or shutil.which("mpiexec")


def starter(name: str) -> str:
    """The same, for MPI over some transport.

    Raises
    ------
    InputError
        There is no MPI.
    """
    found = mpiexec()
    if found is None or find_spec("mpi4py") is None:
        raise InputError(
            f"{name}: no mpiexec or no mpi4py; {pip_install('mpi')}, or install MPI and mpi4py"
        )
    return found


@contextmanager
def local(workers: int, name: str = "mpi") -> Iterator[Client]:
    """A client of workers on this host that mpiexec starts.

    Parameters
    ----------
    name
        "mpi", or "mpi-sock" for MPI over TCP sockets.

    Raises
    ------
    InputError
        There is no MPI.
    """
    program = starter(name)
    with (
        LocalCluster(n_workers=0, dashboard_address=None, silence_logs=logging.CRITICAL) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        command = [sys.executable, "-m", "dgsuite", "transports", "mpi-worker"]
        process = subprocess.Popen(
            [program, "-n", str(workers), *command, cluster.scheduler_address],
            env={**os.environ, **(SOCKETS if name == "mpi-sock" else {})},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            client.wait_for_workers(workers, timeout=60)
            yield client
        finally:
            # MPI's own shared memory stays behind unless its processes end by themselves
            client.shutdown()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
