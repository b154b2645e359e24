"""What a lock guards waits while another thread, or another task, holds the lock."""

import asyncio
import threading
import time
from contextlib import ExitStack

import dask
import numpy as np
import pytest

from dgsuite import genval
from dgsuite.base.once import Once
from dgsuite.core.engine.mailbox import Halos
from dgsuite.core.exchange.channels import begun
from dgsuite.core.workers.plugin import MAX_MESHES, KeptMeshes
from dgsuite.partition.graph.data import Cache
from dgsuite.studies.transports.throttle import HERE, Bucket, Limit, Throttle
from tests.support.comms import KINDS, pair, run
from tests.support.patience import PATIENCE


class Mesh:
    closed = False

    def dispose(self):
        self.closed = True


def guarded():
    """Locks, and calls that take them."""
    made, cache, bucket, throttle = Once(), Cache(), Bucket(), Throttle()
    parts = genval.graph("ring", 6, clusters=2, client=None).parts
    halos, bounds = Halos(), np.array([0, 2])
    meshes = KeptMeshes()
    return {
        made.lock: [lambda: made.get("a", lambda: 1)],
        cache.lock: [lambda: cache.get("a", lambda: 1)],
        halos._lock: [lambda: halos.get(parts, bounds, 0, False), lambda: halos.there(bounds, 0)],
        meshes._lock: [lambda: meshes.take("a"), lambda: meshes.keep("b", Mesh(), 9), meshes.close],
        bucket._lock: [lambda: bucket.begin(1.0), lambda: bucket.take(1, 1.0, 1.0)],
        throttle._lock: [lambda: throttle.limit, lambda: setattr(throttle, "limit", Limit())],
    }


def test_threads_wait_for_each_other():
    locks = guarded()
    calls = [call for each in locks.values() for call in each]
    threads = [threading.Thread(target=call, daemon=True) for call in calls]
    with ExitStack() as held:
        for lock in locks:
            held.enter_context(lock)
        for thread in threads:
            thread.start()
        threads[-1].join(0.3)  # longer than any call takes
        did_not_wait = [k for k, thread in enumerate(threads) if not thread.is_alive()]
    for thread in threads:
        thread.join(PATIENCE)
    assert not did_not_wait, [calls[k] for k in did_not_wait]
    assert not any(thread.is_alive() for thread in threads)


def test_meshes_that_are_kept():
    """At most so many, each for its time, and one under a key."""
    made = [Mesh() for _ in range(MAX_MESHES + 2)]
    meshes = KeptMeshes()
    for k, mesh in enumerate(made[:MAX_MESHES]):
        meshes.keep(k, mesh, 60)
    assert len(meshes) == MAX_MESHES
    assert not any(mesh.closed for mesh in made)
    meshes.keep(0, made[0], 60)  # it is used again, so the next one is the oldest
    meshes.keep("more", made[MAX_MESHES], 60)
    assert [mesh.closed for mesh in made[1:3]] == [True, False]
    meshes.keep(2, made[MAX_MESHES + 1], 0)
    assert made[2].closed
    assert not made[MAX_MESHES + 1].closed
    meshes.close(time.monotonic())
    assert meshes.take(2) is None
    assert meshes.take(3) is made[3]
    assert meshes.take(3) is None
    meshes.close()
    assert len(meshes) == 0
    wait_for(lambda: made[MAX_MESHES].closed and made[MAX_MESHES + 1].closed)
    assert not made[3].closed  # it is the caller's


def wait_for(condition):
    for _ in range(6000):
        if condition():
            return
        threading.Event().wait(0.01)
    raise AssertionError("it never came")


async def looks_on(task):
    """Whether a task waits while others run."""
    for _ in range(20):
        await asyncio.sleep(0)
    return not task.done()


@pytest.mark.parametrize("kind", ["uds", "mpb", "rcce", "throttle+tcp"])
def test_messages_leave_one_after_the_other(kind, monkeypatch):
    """And a comm is closed when the last one has left."""
    scheme, settings = KINDS.get(kind, (kind, {}))
    monkeypatch.setattr(HERE, "_limit", Limit(1e9))

    async def main():
        comm, other, listener = await pair(scheme)
        async with comm._turn:
            short, long = (begun(comm.write("a" * size)) for size in (10, 100_000))
            assert await looks_on(short)
            assert await looks_on(long)
        assert {await other.read(), await other.read()} == {"a" * 10, "a" * 100_000}
        await asyncio.gather(short, long)
        if scheme != "throttle+tcp":
            async with comm._turn:
                closing = begun(comm.close())
                assert await looks_on(closing)
                assert not comm.closed()
            await closing
        if scheme == "rcce":  # its one buffer serves all comms
            async with other._core.turn:
                assert await looks_on(begun(other.write("b")))
        for end in (comm, other):
            end.abort()
        listener.stop()

    with dask.config.set(settings):
        run(main())
