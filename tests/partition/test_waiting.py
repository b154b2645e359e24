"""No wait of the client outlives what the scheduler knows of its tasks."""

import gc
import os
import signal
import threading
import time
import weakref
from functools import partial
from operator import neg

import dask
import pytest
from distributed import Future

from dgsuite import RunError
from dgsuite.base.errors import WorkerLost
from dgsuite.partition.client.session import Session
from dgsuite.partition.client.tasks import pinned
from dgsuite.partition.client.waiting import Watch, letting_go
from dgsuite.partition.client.workers import worker_addresses
from tests.support.patience import PATIENCE


@pytest.fixture
def gone(own_client):
    """Address of a worker that the scheduler no longer has."""
    place = worker_addresses(own_client)[0]
    os.kill(own_client.run(os.getpid, workers=[place])[place], signal.SIGKILL)
    deadline = time.monotonic() + PATIENCE
    while place in Session.of(own_client).workers():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return place


def test_a_task_that_comes_after_its_worker_has_gone_runs_on_another(own_client, gone):
    assert pinned(own_client, gone, neg, 7).result(timeout=PATIENCE) == -7


def tied(client, place):
    return client.submit(neg, 7, workers=[place], allow_other_workers=False, pure=False)


def needs_tied(client, place):
    """Only the scheduler knows the task that it waits for."""
    return client.submit(neg, tied(client, place), pure=False)


def never_sent(client, place):
    """The scheduler has it as one that a client wants, and that nothing makes."""
    return Future("of-nobody", client)


def forgotten(client, place):
    """The scheduler forgets it, and does not tell the client."""
    future = Future("forgotten", client)
    said = {"op": "client-releases-keys", "keys": [future.key], "client": client.id}
    client._send_to_scheduler(said)
    return future


@pytest.mark.parametrize("made", [tied, needs_tied, never_sent, forgotten])
def test_a_wait_for_a_task_that_cannot_run_ends(own_client, gone, made):
    future = made(own_client, gone)
    with pytest.raises(WorkerLost, match=f"a test: task {future.key} cannot run any more"):
        Watch(own_client, "a test").wait([future])
    assert future.status == "cancelled"


def test_a_request_that_needs_a_task_that_cannot_run_ends(own_client, gone):
    """Its coroutine is cancelled, and no thread stays behind."""
    future = tied(own_client, gone)
    ended = threading.Event()

    async def request():
        try:
            await future
        finally:
            ended.set()

    with pytest.raises(WorkerLost, match="cannot run any more"):
        Watch(own_client, "a test").call(request, [future])
    assert ended.wait(PATIENCE)


def test_a_task_on_its_way_to_the_scheduler_is_waited_for(client, monkeypatch):
    """However long that takes: here for as many polls as would otherwise take it for lost."""
    stream = client.scheduler_comm
    held, polls = [], []
    watch = Watch(client, "a test")
    check, send = watch.check_workers, stream.send

    def poll(futures=()):
        polls.append(len(held))
        if len(polls) == 4:
            monkeypatch.undo()
            client.loop.add_callback(send, *held)
        return check(futures)

    monkeypatch.setattr(stream, "send", lambda *messages: held.extend(messages))
    monkeypatch.setattr(watch, "check_workers", poll)
    future = client.submit(neg, 7, pure=False)
    assert watch.gather([future]) == [-7]
    assert len(polls) >= 4
    assert polls[0] > 0


def test_no_worker_is_left(own_client):
    """Also for tasks that are tied to none, which Dask has in a queue."""
    own_client.cluster.scale(0)
    futures = own_client.map(neg, range(9), pure=False)
    said, soon = r"no worker is left|cannot run any more", {"dgsuite.timeout": "4s"}
    with dask.config.set(soon), pytest.raises(RunError, match=said):
        Watch(own_client, "a test").wait(futures)


def test_an_error_that_is_kept_holds_nothing_of_its_request(client):
    """Dask keeps the error of a task that was cancelled, and raises it whenever its result is asked for."""
    kept, asked = ValueError("again"), Asked()
    there = weakref.ref(asked)

    async def request(asked):
        raise kept

    with pytest.raises(RunError, match="again"), letting_go():
        Watch(client, "asking").call(partial(request, asked))
    del asked
    gc.collect()
    assert there() is None


class Asked:
    """What a request is about."""
