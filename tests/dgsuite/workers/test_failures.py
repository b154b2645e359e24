"""A run ends with a right answer or with an error that says what happened; it never hangs."""

import asyncio
import gc
import os
from contextlib import suppress

import pytest
from distributed.core import rpc

import dgsuite
from dgsuite import genval
from dgsuite.partition.client.session import Session
from dgsuite.partition.client.workers import worker_addresses
from tests.support.clusters import assert_nothing_held, assert_nothing_kept, killed, stored, tasks
from tests.support.faulty import Fails, Refuses, Sleeps
from tests.support.patience import PATIENCE, until

STYLES = ["finish_async", "clocked"]


@pytest.mark.parametrize("style", STYLES)
def test_a_failing_kernel_is_named(client, ring, style):
    """The error holds nothing on the workers."""
    dgsuite.run("lcr", ring, clusters=2, style=style, client=client)  # its clusters stay there
    before = tasks(client)
    message = r"round 3, phase 'send', cluster 1: ZeroDivision"
    with pytest.raises(dgsuite.RunError, match=message) as kept:
        dgsuite.run(Fails(), ring, clusters=2, style=style, client=client)
    assert_nothing_kept(client, before)
    assert_nothing_held(client)
    assert kept.tb is not None


def seeking(dask_worker):
    """On a worker: requests for where a run's task listens that have no answer yet, and open comms."""
    waiting = [task for task in asyncio.all_tasks() if "RunPlugin._meet" in str(task.get_stack())]
    return len(waiting), len(dask_worker._comms)


def test_a_task_that_fails_before_its_peers_find_it_leaves_nothing(client, ring):
    """Neither do the requests of its peers, nor does one of a peer of which no task has come."""

    async def seek(dask_worker):
        async with rpc(dask_worker.address) as there:
            request = there.dgsuite_meet(run="no-such-run", epoch=dask_worker.id)
            with suppress(TimeoutError):
                await asyncio.wait_for(request, 0.1)

    dgsuite.run("lcr", ring, clusters=2, style="clocked", client=client)
    assert_nothing_held(client)
    before = client.run(seeking)
    for _ in range(3):
        with pytest.raises(dgsuite.InputError, match="refuses node 0"):
            dgsuite.run(Refuses(), ring, clusters=2, style="clocked", client=client)
        client.run(seek)
    assert_nothing_held(client)
    until(lambda: client.run(seeking) == before)


@pytest.mark.few(1)
@pytest.mark.parametrize("style", STYLES)
def test_a_long_run_leaves_nothing(client, style, request):
    """What is on the workers goes with the result and the graph, and not only when garbage is collected."""
    request.addfinalizer(gc.enable)
    gc.disable()
    before = tasks(client)
    ring = genval.graph("ring", 12, clusters=2)
    dgsuite.run(Sleeps(rounds=80), ring, style=style, client=client)
    assert any("received" in key for key in tasks(client) - before)
    del ring
    assert_nothing_kept(client, before)
    assert_nothing_held(client)


KILLED = [("clocked", 2), ("finish_async", 1), ("in_turn", 2), ("clocked", 1), ("finish_async", 2)]


@pytest.mark.few(1)
@pytest.mark.parametrize(("style", "workers"), KILLED)
def test_a_killed_worker_is_named(own_client, ring, style, workers):
    """Also where all of the run is on that worker, so that no peer notices."""
    client = own_client
    how = {"clusters": workers, "style": style, "client": client}
    dgsuite.run(Sleeps(), ring, **how)
    address = worker_addresses(client)[0]
    victim = client.run(os.getpid, workers=[address])[address]
    with pytest.raises(dgsuite.WorkerLost, match=rf"worker {address} was lost") as error:
        dgsuite.run(Sleeps(rounds=10_000), ring, on_round=lambda rounds: killed(victim), **how)
    assert error.value.worker == address
    assert "Dask killed" not in str(error.value)  # no word of memory
    client.wait_for_workers(2, timeout=PATIENCE)
    again = dgsuite.run(Sleeps(), ring, clusters=2, style=style, client=client)
    assert again.sizes["round"] == 3
    assert_nothing_held(client)


def test_what_needs_a_lost_actor_leaves_nothing(own_client, ring):
    """A graph that needs it fails: then Dask forgets that workers have it, and does not tell them."""
    dgsuite.run("lcr", ring, clusters=2, style="clocked", client=own_client)
    before = stored(own_client)
    lost, *_, kept = worker_addresses(own_client)
    held = [own_client.submit(Owner, actor=True, workers=[lost], pure=False)]
    held.append(own_client.submit(Owner.whole, held[0], workers=[kept], pure=False))
    assert held[1].result() == 1
    killed(own_client.run(os.getpid, workers=[lost])[lost])
    until(lambda: held[0].status == "error")
    held.append(own_client.submit(abs, held[1], pure=False))
    until(lambda: held[1].status == "error")
    held.clear()
    until(lambda: stored(own_client) <= before)


class Owner:
    """What an actor is of."""

    @staticmethod
    def whole(actor):
        return 1


def test_workers_are_always_seen(client):
    """The client's own updates of what it knows of the scheduler must not hide its workers."""
    for _ in range(200):
        client.loop.add_callback(client._update_scheduler_info)
        assert len(Session.of(client).workers()) == len(worker_addresses(client)) == 2
