"""What Dask's own tests ask of a comm (distributed/comm/tests/test_comms.py), as far as it applies."""

import asyncio
import socket
from types import SimpleNamespace

import numpy as np
import pytest
from distributed.comm import CommClosedError, connect, get_address_host, listen
from distributed.comm.addressing import resolve_address
from distributed.comm.registry import get_backend
from distributed.protocol.serialize import to_serialize

from dgsuite.core.engine.broadcasts import BroadcastBatch
from dgsuite.core.engine.collectives import Contribution
from dgsuite.core.engine.unicasts import UnicastBatch
from dgsuite.core.exchange.channels import Message
from dgsuite.core.transports import local
from dgsuite.kernels.bsp import Vote
from dgsuite.studies.transports.chip import MPIMPB, RCCE
from tests.support.comms import joined, pair


@pytest.mark.parametrize("kind", [RCCE, MPIMPB])
def test_whose_memory_is_written(kind):
    """That of the peer by `mpimpb` alone."""
    mine, theirs = np.zeros((2, 8), np.uint8)
    end = SimpleNamespace()
    kind._assign(end, mine, theirs)
    read, written = (mine, theirs) if kind is MPIMPB else (theirs, mine)
    assert np.shares_memory(np.asarray(end._out), written)
    assert np.shares_memory(np.asarray(end._in), read)


async def test_handshake_and_addresses(kind):
    here, there, listener = await pair(kind)
    assert here.peer_address == listener.contact_address == there.local_address
    assert here.local_address.startswith(f"{kind}://127.0.0.1:")
    assert here.same_host
    assert here.handshake_options["compression"] is None
    assert here.remote_info["python"] == there.local_info["python"]
    for comm in (here, there):
        assert comm.local_address in repr(comm)
        assert "closed" not in repr(comm)
    for comm in (here, there):
        comm.abort()
        assert "closed" in repr(comm)
    backend = get_backend(kind)
    location = listener.contact_address.split("://")[1]
    assert backend.get_address_host_port(location) == listener.get_host_port()
    assert get_address_host(listener.contact_address) == "127.0.0.1"
    assert resolve_address(f"{kind}://localhost:99") == f"{kind}://127.0.0.1:99"
    listener.stop()


async def test_a_read_given_up_closes_the_comm(kind):
    async with joined(kind) as (here, there):
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(here.read(), 0.01)
        assert here.closed()
        with pytest.raises(CommClosedError):
            await there.read()


async def test_what_cannot_be_sent_leaves_the_comm_as_it_was(kind):
    class Stubborn:
        def __reduce__(self):
            raise TypeError("no")

    async with joined(kind) as (here, there):
        with pytest.raises(TypeError):
            await here.write({"x": to_serialize(Stubborn())}, on_error="raise")
        await here.write("still there")
        assert await there.read() == "still there"


@pytest.mark.few(3)
async def test_arrays_do_not_share_memory(kind):
    """Each large array that arrives can be freed by itself."""
    async with joined(kind) as (here, there):
        sent = {"x": to_serialize(np.ones(200_000)), "y": to_serialize(np.ones(200_000))}
        _, got = await asyncio.gather(here.write(sent), there.read())

        def root(array):
            """What has the memory."""
            while isinstance(array, memoryview) or array.base is not None:
                array = array.obj if isinstance(array, memoryview) else array.base
            return array

        assert root(got["x"]).nbytes == got["x"].nbytes
        assert root(got["x"]) is not root(got["y"])


async def test_a_silent_peer_does_not_delay_others(kind):
    """A caller that never shakes hands, and one that gives up."""

    async def handle(comm):
        await comm.write("hello")

    listener = await listen(f"{kind}://127.0.0.1", handle)
    mute = socket.socket(socket.AF_UNIX)
    mute.connect(local.name(kind, listener.get_host_port()[1]))
    comm = await connect(listener.contact_address)
    assert await comm.read() == "hello"
    comm.abort()
    mute.close()
    listener.abort_handshaking_comms()
    listener.stop()


VOTES = [Vote(True), Vote(False, 7, -3, 2**62), Vote(True, 2**70), Vote(False, 0, -(2**63))]


@pytest.mark.parametrize("vote", VOTES)
async def test_what_a_run_sends_takes_as_many_bytes_as_over_tcp(kind, vote):
    """Plain values are sent another way than Dask's messages, and arrive as those would."""
    spoke = np.arange(5, dtype=np.int32)
    parcels = [
        None,
        BroadcastBatch(spoke, {}, 9),
        BroadcastBatch(None, {"a": np.arange(9.0)}, 0),
        UnicastBatch(np.arange(3), None, "min", {"a": np.arange(3)}),
    ]

    async def sent(scheme):
        sizes, found = [], []
        async with joined(scheme) as (here, there):
            for comm in (here, there):
                comm.exchange, comm.allow_offload = True, False
            for number, parcel in enumerate(parcels):
                message = Message(number, Contribution(vote), parcel)
                sizes.append(await here.write(message.packed()))
                found.append(Message.unpacked(await there.read()))
        return sizes, found

    sizes, found = await sent(kind)
    assert sizes == (await sent("tcp"))[0]
    for number, (parcel, got) in enumerate(zip(parcels, found, strict=True)):
        assert (got.number, got.said.vote) == (number, vote)
        assert str(got.parcel) == str(parcel)
