"""What Dask's own tests ask of a comm (distributed/comm/tests/test_comms.py), as far as it applies."""

from __future__ import annotations

import asyncio
import threading
from types import SimpleNamespace

import dask
import numpy as np
import pytest
from distributed.comm import CommClosedError, connect, get_address_host, listen
from distributed.comm.addressing import resolve_address
from distributed.comm.registry import get_backend
from distributed.protocol.serialize import Serialize, Serialized, deserialize, to_serialize

from dgsuite.core.engine.broadcasts import BroadcastBatch
from dgsuite.core.engine.collectives import Contribution
from dgsuite.core.engine.unicasts import UnicastBatch
from dgsuite.core.exchange.channels import Message
from dgsuite.kernels.bsp import Vote
from dgsuite.studies.transports.chip import MPIMPB, RCCE
from tests.support.comms import KINDS, pair, run
from tests.support.patience import PATIENCE


@pytest.fixture(params=KINDS)
def kind(request):
    """A scheme, with the settings of a kind of it."""
    scheme, settings = KINDS[request.param]
    with dask.config.set(settings):
        yield scheme


@pytest.mark.parametrize("kind", [RCCE, MPIMPB])
def test_whose_memory_is_written(kind):
    """That of the peer by `mpimpb` alone."""
    mine, theirs = np.zeros((2, 8), np.uint8)
    end = SimpleNamespace()
    kind._assign(end, mine, theirs)
    read, written = (mine, theirs) if kind is MPIMPB else (theirs, mine)
    assert np.shares_memory(np.asarray(end._out), written)
    assert np.shares_memory(np.asarray(end._in), read)


def test_handshake_and_addresses(kind):
    async def main():
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

    run(main())


@pytest.mark.parametrize("whole", [True, False])
def test_deserialisation_is_a_choice_of_each_end(kind, whole):
    message = {"op": "x", "y": [to_serialize(123), Serialize(np.arange(20_000))]}

    async def main():
        got = []
        done = asyncio.Event()

        async def handle(comm):
            got.append(await comm.read())
            await comm.write(got[-1])
            done.set()

        listener = await listen(f"{kind}://127.0.0.1", handle, deserialize=whole)
        comm = await connect(listener.contact_address, deserialize=whole)
        await comm.write(message)
        for found in (await comm.read(), got[0]):
            y = found["y"]
            if not whole:
                assert all(isinstance(part, Serialized) for part in y)
                y = [deserialize(part.header, part.frames) for part in y]
            assert y[0] == 123
            np.testing.assert_array_equal(y[1], np.arange(20_000))
        await done.wait()
        comm.abort()
        listener.stop()

    run(main())


@pytest.mark.few(3)
def test_many_comms_at_once(kind):
    async def main():
        async def handle(comm):
            while True:
                try:
                    await comm.write(await comm.read())
                except CommClosedError:
                    return

        listeners = [await listen(f"{kind}://127.0.0.1", handle) for _ in range(5)]
        assert len({listener.contact_address for listener in listeners}) == 5

        async def talk(k):
            comm = await connect(listeners[k % 5].contact_address)
            for i in range(5):
                await comm.write({"k": k, "x": to_serialize(np.full(1000 * i, k))})
                back = await comm.read()
                assert back["k"] == k
                np.testing.assert_array_equal(back["x"], np.full(1000 * i, k))
            await comm.close()

        await asyncio.gather(*map(talk, range(20)))
        for listener in listeners:
            listener.stop()

    run(main())


def test_a_read_given_up_closes_the_comm(kind):
    async def main():
        here, there, listener = await pair(kind)
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(here.read(), 0.01)
        assert here.closed()
        with pytest.raises(CommClosedError):
            await there.read()
        listener.stop()

    run(main())


def test_what_cannot_be_sent_leaves_the_comm_as_it_was(kind):
    class Stubborn:
        def __reduce__(self):
            raise TypeError("no")

    async def main():
        here, there, listener = await pair(kind)
        with pytest.raises(TypeError):
            await here.write({"x": to_serialize(Stubborn())}, on_error="raise")
        await here.write("still there")
        assert await there.read() == "still there"
        here.abort()
        there.abort()
        listener.stop()

    run(main())


@pytest.mark.few(3)
def test_arrays_do_not_share_memory(kind):
    """Each large array that arrives can be freed by itself."""

    async def main():
        here, there, listener = await pair(kind)
        sent = {"x": to_serialize(np.ones(200_000)), "y": to_serialize(np.ones(200_000))}
        _, got = await asyncio.gather(here.write(sent), there.read())

        def root(array):
            while isinstance(array, (np.ndarray, memoryview)):
                array = array.base if isinstance(array, np.ndarray) else array.obj
                if isinstance(array, np.ndarray) and array.base is None:
                    return array
            return array

        assert root(got["x"]).nbytes == got["x"].nbytes
        assert root(got["x"]) is not root(got["y"])
        here.abort()
        there.abort()
        listener.stop()

    run(main())


def test_a_silent_peer_does_not_delay_others(kind):
    """A caller that never shakes hands, and one that gives up."""

    async def main():
        import socket

        from dgsuite.core.transports import local

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

    run(main())


@pytest.mark.few(3)
def test_loops_of_two_threads(kind):
    address, got = [], []
    ready, done = threading.Event(), threading.Event()

    def serve():
        async def main():
            async def handle(comm):
                got.append(await comm.read())
                await comm.write("got it")
                done.set()

            listener = await listen(f"{kind}://127.0.0.1", handle)
            address.append(listener.contact_address)
            ready.set()
            await asyncio.to_thread(done.wait, 30)
            await asyncio.sleep(0.1)
            listener.stop()

        asyncio.run(main())

    thread = threading.Thread(target=serve)
    thread.start()
    assert ready.wait(PATIENCE)

    async def main():
        comm = await connect(address[0])
        await comm.write({"x": to_serialize(np.arange(100_000))})
        assert await comm.read() == "got it"
        comm.abort()

    run(main())
    thread.join(PATIENCE)
    np.testing.assert_array_equal(got[0]["x"], np.arange(100_000))


@pytest.mark.parametrize(
    "vote", [Vote(True), Vote(False, 7, -3, 2**62), Vote(True, 2**70), Vote(False, 0, -(2**63))]
)
def test_what_a_run_sends_takes_as_many_bytes_as_over_tcp(kind, vote):
    """Plain values are sent another way than Dask's messages, and arrive as those would."""
    spoke = np.arange(5, dtype=np.int32)
    parcels = [
        None,
        BroadcastBatch(spoke, {}, 9),
        BroadcastBatch(None, {"a": np.arange(9.0)}, 0),
        UnicastBatch(np.arange(3), None, "min", {"a": np.arange(3)}),
    ]

    async def sent(scheme):
        here, there, listener = await pair(scheme)
        sizes, found = [], []
        for comm in (here, there):
            comm.exchange, comm.allow_offload = True, False
        for number, parcel in enumerate(parcels):
            sizes.append(await here.write(Message(number, Contribution(vote), parcel).packed()))
            found.append(Message.unpacked(await there.read()))
        for comm in (here, there):
            comm.abort()
        listener.stop()
        return sizes, found

    async def main():
        sizes, found = await sent(kind)
        assert sizes == (await sent("tcp"))[0]
        for number, (parcel, got) in enumerate(zip(parcels, found, strict=True)):
            assert (got.number, got.said.vote) == (number, vote)
            assert str(got.parcel) == str(parcel)

    run(main())
