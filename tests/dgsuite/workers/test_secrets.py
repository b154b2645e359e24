"""Who may join the tasks of a run: those that know its secret, over any transport."""

from __future__ import annotations

import asyncio
import os
import secrets
from concurrent.futures import ThreadPoolExecutor
from itertools import product

import dask
import numpy as np
import psutil
import pytest
from distributed.comm import CommClosedError, parse_address
from distributed.comm.inproc import global_manager
from distributed.comm.registry import get_backend

import dgsuite
from dgsuite import genval
from dgsuite.core.exchange.comms import SECRET, Listener, connected
from dgsuite.core.transports import fastest
from tests.support.clusters import client_of
from tests.support.comms import SCC, SCC_SECTIONS, run

local = pytest.mark.skipif(fastest() != "mpb", reason="these transports need Linux")
SCHEMES = ["tcp", "inproc", "ws", "throttle+tcp"]
LOCAL = ["uds", "mpb", "rcce", "mpimpb", "throttle+uds", "throttle+mpb"]


class Loud:
    """Says when it is unpickled."""

    heard = False

    def __reduce__(self):
        return _hear, ()


def _hear():
    Loud.heard = True


async def stranger(address):
    """A comm that has sent nothing yet."""
    scheme, where = parse_address(address)
    return await get_backend(scheme).get_connector().connect(where, deserialize=True)


async def refused(comm, *messages):
    """Send some messages, and wait until the other end closes the comm, without a word."""

    async def talk():
        for message in messages:
            await comm.write(message)
        await comm.read()

    with pytest.raises(CommClosedError):
        await asyncio.wait_for(talk(), 40)
    comm.abort()


@pytest.mark.parametrize("settings", [{}, {**SCC, **SCC_SECTIONS}], ids=["", "SCC"])
@pytest.mark.parametrize(
    "scheme", [*SCHEMES, *(pytest.param(scheme, marks=local) for scheme in LOCAL)]
)
def test_who_does_not_know_the_secret_is_refused(scheme, settings):
    """Who says nothing, too; what comes without the secret is no message of the run."""

    async def main():
        came = asyncio.Queue()
        place = (
            f"inproc://{global_manager.new_address()}"
            if scheme == "inproc"
            else f"{scheme}://127.0.0.1:1"
        )

        async def welcome(comm):
            came.put_nowait((comm, await comm.read()))

        listener, other = Listener(welcome), Listener(welcome)
        for each in (listener, other):
            await each.start(scheme, place, {})
        address, secret = listener.where
        if scheme != "ws":  # its server does not end with the loop while a connection says nothing
            with dask.config.set({"distributed.comm.timeouts.connect": "100ms"}):
                await refused(await stranger(address))
        await refused(await stranger(address), {"rank": 1, "loud": Loud()})
        for wrong in (other.where[1], secrets.token_bytes(SECRET)):
            await refused(await connected(address, wrong, {}))
        comm = await connected(address, secret, {})
        await comm.write({"rank": 1})
        there, said = await asyncio.wait_for(came.get(), 10)
        assert said == {"rank": 1}
        await there.write("welcome")
        assert await comm.read() == "welcome"
        assert came.empty()
        for each in (comm, there):
            each.abort()
        listener.stop()
        other.stop()

    Loud.heard = False
    with dask.config.set(settings):
        run(main())
    assert Loud.heard == (scheme == "ws")  # Dask's shows whole messages alone


def meshes(dask_worker):
    """On a worker: how many meshes it keeps."""
    return len(dask_worker.plugins["dgsuite"].meshes)


def sockets(processes, scheme):
    """Addresses of the sockets of processes on which they listen."""
    start = f"@dgsuite-{scheme}-"
    names = [c.laddr for pid in processes for c in psutil.Process(pid).net_connections("unix")]
    return {f"{scheme}://127.0.0.1:{n.rpartition('-')[2]}" for n in names if n.startswith(start)}


@local
@pytest.mark.few(1)
@pytest.mark.parametrize(("protocol", "scheme"), [("tcp", "mpb"), ("uds", "uds")])
def test_strangers_do_not_disturb_a_run(protocol, scheme):
    """They say that they are each of its tasks, and leave."""
    graph = genval.graph("er", 300, m=900, clusters=4, client=None)
    expected = dgsuite.run("matching", graph, style="serial")

    async def intrude(addresses):
        async def one(address, rank):
            await refused(await stranger(address), {"rank": rank, "more": "x" * SECRET})

        await asyncio.gather(*(one(*each) for each in product(addresses, range(4))))

    with client_of(4, set_as_default=False, protocol=protocol) as client:
        pids = client.run(os.getpid)
        first = dgsuite.run("matching", graph, style="clocked", client=client)
        assert set(client.run(meshes).values()) == {1}
        there = (
            sockets(pids.values(), scheme) - pids.keys()
        )  # a mesh of four listens as long as it is kept
        assert len(there) == 4
        with ThreadPoolExecutor(1) as pool:
            intruding = pool.submit(run, intrude(there))
            found = [first]
            while not intruding.done():
                found.append(dgsuite.run("matching", graph, style="clocked", client=client))
            intruding.result()
        found.append(dgsuite.run("matching", graph, style="clocked", client=client))
        assert sockets(pids.values(), scheme) - pids.keys() == there
    for ds in found:
        np.testing.assert_array_equal(ds.mate, expected.mate)
