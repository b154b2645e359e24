"""What dgsuite does in Dask beyond what its documentation promises: messages do not wait for others.

All else that it relies on each run on workers shows, also with the lowest versions: see CORE in the Makefile.
"""

import asyncio
import threading
from types import SimpleNamespace

from distributed.batched import BatchedSend
from tornado.ioloop import IOLoop

import dgsuite
from dgsuite import genval
from dgsuite.partition.client.sending import send_now
from tests.support.clusters import assert_nothing_held, client_of
from tests.support.patience import PATIENCE


async def test_a_client_sends_at_once_what_it_is_told_to():
    """Messages in the client's stream, although it sent one less than 10 ms ago."""
    loop = IOLoop.current()
    stream = BatchedSend(interval="1 hour", loop=loop)
    batches = asyncio.Queue()

    async def write(payload, **options):
        await batches.put(payload)
        return 1

    stream.start(SimpleNamespace(write=write, closed=lambda: False, abort=lambda: None))
    stream.send("first")
    found = [await asyncio.wait_for(batches.get(), 30)]
    stream.send("second")
    await asyncio.sleep(0)
    assert batches.empty()
    send_now(SimpleNamespace(loop=loop, scheduler_comm=stream))
    found.append(await asyncio.wait_for(batches.get(), 30))
    stream.abort()
    assert found == [["first"], ["second"]], "see partition/client/sending.py"


def test_a_scheduler_sends_the_tasks_of_a_run_at_once():
    """Although it sent their workers another message a moment ago."""
    ring = genval.graph("ring", 50, client=None)
    with client_of(2, set_as_default=False) as own:

        def slow(dask_scheduler=None):
            for stream in dask_scheduler.stream_comms.values():
                stream.interval = 3600

        def runs():
            for _ in range(3):
                dgsuite.run("bf", ring, style="clocked", client=own)

        dgsuite.run("bf", ring, style="clocked", client=own)
        own.run_on_scheduler(slow)
        thread = threading.Thread(target=runs, daemon=True)
        thread.start()
        thread.join(PATIENCE)
        assert not thread.is_alive(), "see partition/client/sending.py"
        assert_nothing_held(own)  # workers hear that tasks are forgotten
