"""What dgsuite relies on in Dask and xarray beyond what their documentation promises.

Seen to hold in the versions that `pyproject.toml` allows at least, and in the newest. A failure names the
file to look at. What is relied on of graphs, layers and annotations each run on workers shows.
"""

from __future__ import annotations

import asyncio
import inspect
import threading
from operator import attrgetter
from types import SimpleNamespace

import dask
import distributed
import pytest
import xarray as xr
from distributed.batched import BatchedSend
from distributed.comm import core, registry, tcp
from distributed.worker_state_machine import TaskStateState
from tornado.ioloop import IOLoop

import dgsuite
from dgsuite import genval
from dgsuite.partition.client.sending import send_now
from dgsuite.partition.client.tasks import SPAN, spanned
from tests.support.clusters import assert_nothing_held, client_of
from tests.support.patience import PATIENCE


def missing(thing, names):
    """Those of some attributes that an object lacks; travels by value to workers and schedulers."""

    def lacks(name):
        try:
            attrgetter(name)(thing)
        except AttributeError:
            return True
        return False

    return [name for name in names.split() if lacks(name)]


def hold(found, where):
    """Fail, and say where, if something is missing."""
    versions = (
        f"dask {dask.__version__}, distributed {distributed.__version__}, xarray {xr.__version__}"
    )
    assert not found, f"{versions}: {found} changed or gone; see {where}"


@pytest.fixture(scope="module")
def client():
    with client_of(1) as client:
        yield client


def test_what_the_scheduler_plugin_reads(client):
    with spanned():
        future = client.submit(abs, -1, pure=False)
    future.result()

    def look(key, span, dask_scheduler=None):
        (worker,) = dask_scheduler.workers.values()
        (client, *_) = dask_scheduler.clients.values()
        span = dask_scheduler.extensions["spans"].spans[span]
        known = {group.name for group in span.groups} & {*dask_scheduler.task_groups}
        task = dask_scheduler.tasks[key]
        return [
            *missing(dask_scheduler, "handlers tasks clients task_groups extensions gather"),
            *missing(dask_scheduler, "stream_handlers stream_comms"),
            *missing(worker, "name server_id last_seen executing memory_limit nthreads status"),
            *missing(task, "processing_on state key nbytes worker_restrictions annotations"),
            *missing(task, "run_spec.func dependencies dependents"),
            *missing(client, "last_seen"),
            *missing(span, "_metadata"),
            *({"memory"} - set(worker.metrics)),
            *([] if known else ["groups"]),
        ]

    where = "partition/client/scheduler.py"
    hold(client.run_on_scheduler(look, future.key, SPAN), where)
    hold({"waiting", "queued", "processing"} - set(distributed.scheduler.ALL_TASK_STATES), where)


def test_what_the_client_asks_the_scheduler(client):
    where = "partition/client/session.py"
    hold(missing(client, "scheduler_comm scheduler status id asynchronous"), where)
    hold({"callback_timeout"} - set(inspect.signature(client.sync).parameters), where)
    hold(missing(distributed.Scheduler, "register_scheduler_plugin"), where)
    assert client.status == "running", where
    assert client in distributed.Client._instances, where


def test_what_the_worker_plugin_reads(client):
    def look(dask_worker=None):
        listening = dask_worker.security.get_listen_args("worker")
        return [
            *missing(dask_worker, "handlers periodic_callbacks plugins loop.add_callback id"),
            *missing(dask_worker, "connection_args rpc get_current_task status state.tasks"),
            *missing(dask_worker, "memory_manager.memory_limit monitor.get_process_memory"),
            *missing(dask_worker, "state.nbytes data.spilled_total.memory"),
            *missing(dask_worker, "batched_stream stream_handlers"),
            *({"tick", "profile"} - set(dask_worker.periodic_callbacks)),
            *missing(dask_worker.periodic_callbacks["tick"], "callback_time"),
            *([] if isinstance(listening, dict) else ["get_listen_args"]),
        ]

    (found,) = client.run(look).values()
    where = "dgsuite/core/workers/plugin.py, room.py there and dgsuite/core/transports/__init__.py"
    hold(found, where)
    hold({"cancelled", "released", "forgotten"} - set(TaskStateState.__args__), where)


def test_what_transports_build_on():
    where = "dgsuite/core/transports/framed.py, local.py and dgsuite/studies/transports/throttle.py"
    hold(missing(tcp, "TCPConnector.prefix TCPConnector.comm_class BaseTCPBackend"), where)
    hold(missing(tcp, "TCPListener.prefix TCPListener.comm_class"), where)
    hold(missing(tcp.TCPBackend, "_connector_class _listener_class"), where)
    writes = set(inspect.signature(tcp.TCP.write).parameters)
    hold({"msg", "serializers", "on_error"} - writes, where)
    for kind, names in (
        (core.Comm, "read write close abort closed local_address peer_address"),
        (core.BaseListener, "start stop listen_address contact_address"),
        (core.Connector, "connect"),
        (registry.Backend, "get_connector get_listener get_address_host resolve_address "
                           "get_local_address_for"),
    ):  # fmt: skip
        hold(set(kind.__abstractmethods__) - {*names.split()}, where)
    assert {"tcp", "tls", "inproc"} <= set(registry.backends), where


def test_a_client_sends_at_once_what_it_is_told_to():
    """Messages in the client's stream, although it sent one less than 10 ms ago."""

    async def sent():
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
        return found

    assert asyncio.run(sent()) == [["first"], ["second"]], "see partition/client/sending.py"


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
