"""Transports of this host: messages arrive, waits end, and nothing stays behind."""

import asyncio
import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from unittest.mock import patch

import dask
import numpy as np
import pytest
from distributed.comm import CommClosedError, connect, listen
from distributed.comm.core import FatalCommClosedError
from distributed.protocol.serialize import Serialized, to_serialize

import dgsuite
from dgsuite.core.exchange.comms import room
from dgsuite.core.transports import local
from dgsuite.studies.transports.chip import Buffer
from tests.support.comms import SCC, SCC_SECTIONS, joined, lumps, pair, run
from tests.support.patience import until


async def settled(look):
    """Wait until a value stays as it is over twenty turns of the loop, each with time for other threads."""
    before, same = look(), 0
    while same < 20:
        await asyncio.sleep(0.002)
        same = same + 1 if look() == before else 0
        before = look()


@pytest.mark.few(3)
async def test_messages_arrive_as_they_were(kind):
    async with joined(kind) as (here, there):
        arrays = lumps([0, 1, 159, 160, 161, 5119, 5120, 5121, 1 << 16, 300_001])
        messages = [
            "text",
            {"op": "x", "n": [1, 2, None]},
            *({"one": to_serialize(a), "two": to_serialize(a[::-1].copy())} for a in arrays),
            {"all": [to_serialize(a) for a in arrays]},
        ]

        async def send():
            for message in messages:
                await here.write(message)

        sending = asyncio.create_task(send())
        assert await there.read() == "text"
        assert (await there.read())["op"] == "x"
        for a in arrays:
            got = await there.read()
            np.testing.assert_array_equal(got["one"], a)
            np.testing.assert_array_equal(got["two"], a[::-1])
            got["one"][:] = 0  # what arrives can be written to
        for got, a in zip((await there.read())["all"], arrays, strict=True):
            np.testing.assert_array_equal(got, a)
        await sending
        await here.close()
        with pytest.raises(CommClosedError):
            await there.read()
        assert there.closed()


async def test_bytes_are_counted_as_by_tcp(kind):
    async def size(scheme):
        message = {"a": to_serialize(np.arange(99)), "b": to_serialize(np.ones(1 << 18, np.uint8))}
        async with joined(scheme) as (here, there):
            return (await asyncio.gather(here.write(message), there.read()))[0]

    assert await size(kind) == await size("tcp")


@pytest.mark.few(5)
async def test_a_waiting_end_continues_to_receive(kind):
    """Both ends send more than any buffer holds before either reads."""
    async with joined(kind) as (here, there):
        mine, theirs = lumps([2_000_000, 2_000_000])
        one, two = ({"x": to_serialize(each)} for each in (mine, theirs))
        writes = asyncio.gather(here.write(one), there.write(two))
        if kind != "uds":  # a socket's bytes wait in the system until they are read
            await writes
        first, second = await asyncio.gather(here.read(), there.read())
        await writes
        np.testing.assert_array_equal(first["x"], theirs)
        np.testing.assert_array_equal(second["x"], mine)


async def test_what_fits_is_written_from_both_ends_before_anything_is_read(kind):
    async with joined(kind) as (here, there):
        content = {"x": to_serialize(np.zeros(room(here) // 8))}
        await asyncio.wait_for(asyncio.gather(here.write(content), there.write(content)), 20)
        await asyncio.gather(here.read(), there.read())


BOUNDED = [("mpb", {}), ("mpimpb", {"places": None}), ("rcce", {"places": 2})]


@pytest.mark.parametrize(("scheme", "places"), [*BOUNDED, ("mpimpb", {"places": 2})])
async def test_unread_messages_are_bounded(scheme, places, monkeypatch):
    monkeypatch.setattr("dgsuite.core.transports.mpb.INBOX", 100_000)
    settings = {"buffer": "64 KiB", **places}
    sent, written, done = lumps([50_000] * 20), [], []

    async def send(comm):
        for x in sent:
            await comm.write({"x": to_serialize(x)})
            written.append(len(x))
        done.append(True)

    with dask.config.set({f"dgsuite.{scheme}": settings}):
        async with joined(scheme) as (here, there):
            sending = asyncio.create_task(send(here))
            while not written:  # the first fits into the buffer
                await asyncio.sleep(0.002)
            await settled(lambda: (len(written), there._held))
            assert not done
            assert there._held <= 100_000 + (1 << 16)
            for x in sent:
                np.testing.assert_array_equal((await there.read())["x"], x)
            await sending


async def test_what_was_sent_before_an_end_arrives(kind):
    async with joined(kind) as (here, there):
        (sent,) = lumps([3000])  # fits into all buffers, or is taken out of them
        await here.write({"x": to_serialize(sent)})
        await here.close()
        np.testing.assert_array_equal((await there.read())["x"], sent)
        with pytest.raises(CommClosedError):
            await there.read()
        with pytest.raises(CommClosedError):
            await there.write("x")


@pytest.mark.few(1)
async def test_an_end_wakes_a_waiting_peer(kind):
    async def aborted(comm):
        comm.abort()

    async def ended(waiting, end):
        task = asyncio.create_task(waiting)
        await settled(task.done)
        await end
        with pytest.raises(CommClosedError):
            await task

    async with joined(kind) as (here, there):
        await ended(there.read(), aborted(here))
    async with joined(kind) as (here, there):
        await ended(here.read(), here.close())
    async with joined(kind) as (here, there):
        with patch("dgsuite.core.transports.mpb.INBOX", 0):
            writing = here.write({"x": to_serialize(lumps([200 << 20])[0])})
            await ended(writing, aborted(there))
        with pytest.raises(CommClosedError):
            await here.read()


@pytest.mark.few(3)
async def test_a_comm_that_is_dropped_is_closed(kind, caplog):
    here, there, listener = await pair(kind)
    del here
    gc.collect()
    with pytest.raises(CommClosedError):
        await there.read()
    listener.stop()
    assert "dangling" in caplog.text


@pytest.mark.parametrize("scheme", ["uds", "mpb", "mpimpb"])
async def test_addresses(scheme):
    listener = await listen(f"{scheme}://", lambda comm: None)
    with pytest.raises(OSError, match="in use"):
        await listen(listener.contact_address, lambda comm: None)
    assert listener.contact_address.startswith(f"{scheme}://127.0.0.1:")
    address = listener.contact_address
    listener.stop()
    with pytest.raises(OSError, match="Timed out"):
        await connect(address, timeout=0.1)
    again = await listen(f"{scheme}://localhost:23456", lambda comm: None)
    assert again.contact_address == f"{scheme}://127.0.0.1:23456"
    again.stop()
    with pytest.raises(FatalCommClosedError, match=r"192\.0\.2\.7 is another"):
        await connect(f"{scheme}://192.0.2.7:1", timeout=5)
    with pytest.raises(RuntimeError, match="encryption required"):
        await connect(f"{scheme}://127.0.0.1:1", require_encryption=True)


WRONG = [
    ({"places": 0}, "dgsuite.rcce.places must be at least 1, got 0"),
    ({"buffer": "8 KiB", "places": 128}, "holds but the flags of 128 places"),
    ({"buffer": "large"}, "dgsuite.rcce.buffer: "),
    ({"buffer": 0}, "dgsuite.rcce.buffer must be at least 1 byte, got 0"),
]


@pytest.mark.parametrize(("given", "message"), WRONG)
def test_bad_settings(given, message):
    with dask.config.set({"dgsuite.rcce": given}), pytest.raises(dgsuite.InputError, match=message):
        Buffer.configured("rcce").payload()


def test_buffers_of_the_chip():
    """8 KiB and 48 cores: the paper's payload of 5120 bytes, and the SCC MPI's sections of 160."""
    with dask.config.set(SCC | SCC_SECTIONS):
        assert Buffer.configured("rcce").payload() == 5120
        assert Buffer.configured("mpimpb").section() == 160


INTERVALS = [
    ({}, "2s"),
    ({"DASK_DGSUITE__TRANSPORTS__QUIET": "False"}, "20ms"),
    ({"DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL": "5ms"}, "5ms"),
]


@pytest.mark.few(1)
@pytest.mark.parametrize(("environment", "interval"), INTERVALS)
def test_clocks_are_slowed_unless_set(environment, interval):
    code = (
        "import dask; from distributed.comm.registry import get_backend; "
        "before = dask.config.get('distributed.admin.tick.interval'); get_backend('mpb'); "
        "print(before, dask.config.get('distributed.admin.tick.interval'))"
    )
    command, variables = [sys.executable, "-c", code], os.environ | environment
    before = environment.get("DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL", "20ms")
    assert subprocess.check_output(command, env=variables, text=True).split() == [before, interval]


def maps():
    """What of ours this process has mapped."""
    return [line for line in Path("/proc/self/maps").read_text().splitlines() if "dgsuite-" in line]


def open_files():
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.mark.few(3)
def test_memory_is_its_owners_and_is_given_back(kind):
    if kind == "uds":
        pytest.skip("has no memory")
    before, files = len(maps()), open_files()

    async def main():
        pairs = [await pair(kind) for _ in range(5)]
        for here, there, _ in pairs:
            await asyncio.gather(here.write("x"), there.read())
        found = maps()
        assert len(found) > before
        assert all(f"/memfd:dgsuite-{kind}-{os.geteuid()}-" in line for line in found[before:])
        for fd in Path("/proc/self/fd").iterdir():
            if fd.exists() and "dgsuite-" in os.readlink(fd):
                assert os.stat(fd).st_mode & 0o777 == 0o600
        for here, there, listener in pairs:
            await here.close()
            there.abort()
            listener.stop()

    run(main())
    gc.collect()
    assert len(maps()) == before
    until(lambda: open_files() <= files)  # threads of other tests open some, too


STRANGER = """
import os, socket, sys
os.setuid(65534)
sock = socket.socket(socket.AF_UNIX)
sock.connect("\\0" + sys.argv[1])
print(sock.recv(1))
"""


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="needs a second user")
@pytest.mark.parametrize("scheme", ["uds", "mpb"])
async def test_another_user_is_refused(scheme):
    listener = await listen(f"{scheme}://", lambda comm: None)
    name = local.name(scheme, listener.get_host_port()[1])
    command = [sys.executable, "-c", STRANGER, name[1:]]
    found = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True)
    assert found.stdout.strip() == "b''" or "reset" in found.stderr
    listener.stop()


def _sender(address, config):
    """Send without an end."""
    dask.config.update(dask.config.config, config)

    async def main():
        comm = await connect(address)
        data = {"x": Serialized({}, [np.ones(10_000_000, np.uint8).data])}
        while True:
            await comm.write(data)

    asyncio.run(main())


@pytest.mark.few(1)
@pytest.mark.parametrize("scheme", ["uds", "mpb", "mpimpb"])
async def test_a_peer_killed_in_the_middle_of_a_message(scheme):
    before = len(maps())
    arrived, ends = asyncio.Queue(), asyncio.Queue()

    async def handle(comm):
        got = 0
        try:
            while True:
                await comm.read()
                got += 1
                arrived.put_nowait(got)
        except CommClosedError:
            ends.put_nowait(got)

    listener = await listen(f"{scheme}://", handle, deserialize=False)
    context = multiprocessing.get_context("fork")
    for k in range(6):
        sends = listener.contact_address, dask.config.config
        process = context.Process(target=_sender, args=sends)
        process.start()
        while await arrived.get() <= k:
            pass
        os.kill(process.pid, signal.SIGKILL)
        assert await ends.get() > k
        process.join()
        while not arrived.empty():
            arrived.get_nowait()
    listener.stop()
    gc.collect()
    await settled(lambda: len(maps()))
    assert len(maps()) == before


LOOK_OUT = 50e-6
SHORT = 3000


async def swap(comm, rounds, most, seed):
    """Exchange a message a round, each after a delay about as long as the other end looks out.

    A message may have up to `most` bytes; long ones are written and read side by side.
    """
    rng = np.random.default_rng(seed)
    comm.exchange, comm.allow_offload, comm.look_out = True, False, LOOK_OUT
    delays, sizes = rng.random(rounds), rng.integers(0, most, rounds)
    for number, (delay, size) in enumerate(zip(delays, sizes, strict=True)):
        end = time.perf_counter() + 2 * LOOK_OUT * delay
        while time.perf_counter() < end:
            pass
        if size < SHORT:
            await comm.write((number, bytes(size)))
            came = await comm.read()
        else:
            _, came = await asyncio.gather(comm.write((number, bytes(size))), comm.read())
        assert came[0] == number
    await comm.close()


def _swapper(address, *how):
    async def main():
        await swap(await connect(address), *how, 1)

    asyncio.run(main())


@pytest.mark.few(1)
@pytest.mark.parametrize(("buffer", "most"), [("4 MiB", SHORT), (4096, SHORT), (4096, 10 * SHORT)])
@pytest.mark.parametrize("rounds", [1000, 5000])
async def test_no_end_sleeps_through_a_message(rounds, buffer, most):
    """It is signalled in memory while it polls, and on the socket once it sleeps."""
    done = asyncio.get_running_loop().create_future()

    async def handle(comm):
        await swap(comm, rounds, most, 2)
        done.set_result(comm)

    with dask.config.set({"dgsuite.mpb.buffer": buffer}):
        listener = await listen("mpb://", handle)
        context = multiprocessing.get_context("fork")
        process = context.Process(target=_swapper, args=(listener.contact_address, rounds, most))
        process.start()
        assert (await done).closed()
        process.join()
        assert process.exitcode == 0
        listener.stop()
