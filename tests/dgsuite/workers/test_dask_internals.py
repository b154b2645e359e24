"""What dgsuite relies on in Dask and xarray beyond what their documentation promises, one test each.

Seen to hold in the versions that `pyproject.toml` allows at least, and in the newest. A failure names the
file to look at.
"""

from __future__ import annotations

import asyncio
import inspect

import dask
import distributed
import pytest
import xarray as xr

from tests.support.clusters import client_of
from tests.support.patience import PATIENCE


def missing(thing, *names):
    """Those of some attributes that an object lacks; travels by value to workers and schedulers."""
    return [name for name in names if not hasattr(thing, name)]


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
    future = client.submit(abs, -1, pure=False)
    future.result()

    def look(key, dask_scheduler=None):
        (worker,) = dask_scheduler.workers.values()
        (client, *_) = dask_scheduler.clients.values()
        return [
            *missing(dask_scheduler, "handlers", "tasks", "clients", "task_groups", "extensions"),
            *missing(worker, "name", "server_id", "last_seen", "executing", "metrics"),
            *missing(worker, "memory_limit", "nthreads", "status"),
            *missing(dask_scheduler.tasks[key], "processing_on", "state", "key", "nbytes"),
            *missing(dask_scheduler.tasks[key], "worker_restrictions", "annotations"),
            *missing(dask_scheduler.tasks[key], "run_spec", "dependencies", "dependents"),
            *missing(dask_scheduler.tasks[key].run_spec, "func"),
            *missing(dask_scheduler, "gather", "stream_handlers", "stream_comms"),
            *missing(client, "last_seen"),
            *({"memory"} - set(worker.metrics)),
        ]

    hold(client.run_on_scheduler(look, future.key), "partition/client/scheduler.py")
    states = distributed.scheduler.ALL_TASK_STATES
    hold({"waiting", "queued", "processing"} - set(states), "partition/client/scheduler.py")


def test_what_the_client_asks_the_scheduler(client):
    where = "partition/client/session.py"
    hold(missing(client, "scheduler_comm", "scheduler", "status", "id", "asynchronous"), where)
    hold({"callback_timeout"} - set(inspect.signature(client.sync).parameters), where)
    hold(missing(distributed.Scheduler, "register_scheduler_plugin"), where)
    assert client.status == "running", where
    assert client in distributed.Client._instances, where


def test_what_the_worker_plugin_reads(client):
    def look(dask_worker=None):
        from distributed.protocol import to_serialize  # noqa: F401

        listening = dask_worker.security.get_listen_args("worker")
        return [
            *missing(dask_worker, "handlers", "periodic_callbacks", "plugins", "loop", "id"),
            *missing(dask_worker, "connection_args", "rpc", "get_current_task", "status"),
            *missing(dask_worker.memory_manager, "memory_limit"),
            *missing(dask_worker.state, "tasks"),
            *missing(dask_worker, "batched_stream", "stream_handlers"),
            *({"tick", "profile"} - set(dask_worker.periodic_callbacks)),
            *missing(dask_worker.periodic_callbacks["tick"], "callback_time"),
            *([] if isinstance(listening, dict) else ["get_listen_args"]),
        ]

    (found,) = client.run(look).values()
    where = "dgsuite/core/workers/plugin.py and dgsuite/core/transports/__init__.py"
    hold(found, where)
    from distributed.worker_state_machine import TaskStateState

    hold({"cancelled", "released", "forgotten"} - set(TaskStateState.__args__), where)


def test_a_task_leaves_its_thread_pool_and_comes_back_several_times(client):
    """And another task runs in between, on the one thread; see `seceded` in partition/client/session.py."""

    def go(times):
        from distributed import rejoin, secede

        for _ in range(times):
            secede()
            rejoin()
        secede()
        return times

    found = client.submit(go, 3, pure=False), client.submit(abs, -1, pure=False)
    assert client.gather(found) == (3, 1)


def test_what_a_run_reads_of_its_workers_memory(client):
    def look(dask_worker=None):
        return [
            *missing(dask_worker.memory_manager, "memory_limit"),
            *missing(dask_worker.monitor, "get_process_memory"),
            *missing(dask_worker.state, "nbytes"),
            *missing(dask_worker.data, "spilled_total"),
            *missing(dask_worker.data.spilled_total, "memory"),
        ]

    (found,) = client.run(look).values()
    hold(found, "dgsuite/core/workers/room.py")


def test_a_worker_plugin_hears_that_a_task_is_forgotten(client):
    """The end of a run's part on a worker depends on it."""

    class Recorder(distributed.WorkerPlugin):
        name = "recorder"

        def setup(self, worker):
            self.seen = worker.recorded = []

        def transition(self, key, start, finish, **kwargs):
            self.seen.append((str(key), finish))

    client.register_plugin(Recorder())
    try:
        future = client.submit(abs, -2, key="heard")
        future.result()
        future.release()

        async def heard(dask_worker=None):
            for _ in range(500):
                if ("heard", "released") in dask_worker.recorded:
                    return True
                await asyncio.sleep(0.01)
            return False

        (found,) = client.run(heard).values()
        assert found, "see RunPlugin.transition in dgsuite/core/workers/plugin.py"
    finally:
        client.unregister_worker_plugin("recorder")


def test_what_spans_keep(client):
    from dgsuite.partition.client.tasks import SPAN, spanned

    with spanned():
        future = client.submit(abs, -3, pure=False)
    future.result()

    def look(name, dask_scheduler=None):
        span = dask_scheduler.extensions["spans"].spans[name]
        names = [group.name for group in span.groups]
        known = [name for name in names if name in dask_scheduler.task_groups]
        return [*missing(span, "_metadata"), *([] if known else ["groups"])]

    hold(client.run_on_scheduler(look, SPAN), "partition/client/scheduler.py")


def test_what_a_mesh_does_with_comms():
    """Own listeners, with an own welcome in place of Dask's handshake."""
    where = "dgsuite/core/exchange/comms.py"
    from distributed.comm import listen
    from distributed.comm.core import Comm
    from distributed.comm.registry import get_backend

    hold({"deserialize", "allow_offload"} - _options(listen), where)
    hold(missing(Comm, "handshake_info", "handshake_configuration", "abort"), where)
    hold(missing(get_backend("tcp"), "get_connector"), where)

    async def meet():
        met = asyncio.get_running_loop().create_future()

        async def welcome(comm):
            met.set_result(await comm.read())

        async def admit(comm, handshake_overrides=None):
            met_bytes.append(await comm.stream.read_bytes(3))
            own = comm.handshake_info()
            comm.handshake_options = comm.handshake_configuration(own, own)

        met_bytes = []
        listener = listen("tcp://127.0.0.1", welcome, deserialize=True, allow_offload=False)
        listener.on_connection = admit
        await listener.start()
        where = listener.contact_address.removeprefix("tcp://")
        comm = await get_backend("tcp").get_connector().connect(where, deserialize=True)
        await comm.stream.write(b"abc")
        own = comm.handshake_info()
        comm.handshake_options = comm.handshake_configuration(own, own)
        await comm.write({"rank": 1})
        return met_bytes, await asyncio.wait_for(met, 30)

    assert asyncio.run(meet()) == ([b"abc"], {"rank": 1}), where


def _options(function):
    """Names of a function's parameters; all of them where it passes keywords on."""
    parameters = inspect.signature(function).parameters
    passes = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    return {"deserialize", "allow_offload"} if passes else set(parameters)


def test_what_transports_build_on():
    where = "dgsuite/core/transports/framed.py, local.py and dgsuite/studies/transports/throttle.py"
    from distributed.comm.core import BaseListener, Comm, Connector
    from distributed.comm.registry import Backend, backends
    from distributed.comm.tcp import TCP, BaseTCPBackend, TCPBackend, TCPConnector, TCPListener
    from distributed.comm.utils import from_frames, to_frames

    hold(missing(TCPConnector, "prefix", "comm_class"), where)
    hold(missing(TCPListener, "prefix", "comm_class"), where)
    assert issubclass(TCPBackend, BaseTCPBackend), where
    hold(missing(TCPBackend, "_connector_class", "_listener_class"), where)
    hold({"msg", "serializers", "on_error"} - set(inspect.signature(TCP.write).parameters), where)
    abstract = {"read", "write", "close", "abort", "closed", "local_address", "peer_address"}
    hold(set(Comm.__abstractmethods__) - abstract, where)
    assert set(BaseListener.__abstractmethods__) <= {
        "start", "stop", "listen_address", "contact_address",
    }, where  # fmt: skip
    assert set(Connector.__abstractmethods__) <= {"connect"}, where
    assert set(Backend.__abstractmethods__) <= {
        "get_connector", "get_listener", "get_address_host", "resolve_address", "get_local_address_for",
    }, where  # fmt: skip
    assert {"tcp", "tls", "inproc"} <= set(backends), where

    async def there_and_back():
        frames = await to_frames({"x": b"1" * 10}, allow_offload=False)
        return await from_frames(frames, deserialize=True, allow_offload=False)

    assert asyncio.run(there_and_back()) == {"x": b"1" * 10}, where


def test_layers_keep_the_worker_of_a_task(client):
    """finish_async sends a phase of all workers as one graph, whose layers name their worker."""
    from dask.delayed import Delayed
    from dask.highlevelgraph import HighLevelGraph, MaterializedLayer

    (address,) = client.scheduler_info()["workers"]
    layer = MaterializedLayer({"one": (abs, -1)}, annotations={"workers": [address], "retries": 0})
    graph = HighLevelGraph({"layer": layer}, {"layer": set()})
    (future,) = client.compute([Delayed("one", graph, layer="layer")], optimize_graph=False)
    assert future.result() == 1
    restricted = client.run_on_scheduler(
        lambda dask_scheduler=None: dask_scheduler.tasks["one"].worker_restrictions
    )
    assert restricted == {address}, "see dgsuite/core/executors/finish_async.py"


def test_datasets_are_made_of_parts():
    """What dgsuite.core.results.dataset.assemble makes is what xarray's own constructor makes."""
    from xarray.core.indexes import PandasIndex

    from dgsuite.core.results.dataset import assemble

    index = PandasIndex([3, 5], "node")
    variables = {"x": xr.Variable("node", [1.0, 2.0])}
    made = assemble(variables, [(index, index.create_variables()["node"])], {"a": 1})
    plain = xr.Dataset({"x": ("node", [1.0, 2.0])}, {"node": [3, 5]}, {"a": 1})
    xr.testing.assert_identical(made, plain)
    xr.testing.assert_identical(made.sel(node=5), plain.sel(node=5))


def test_a_client_sends_at_once_what_it_is_told_to():
    """Messages in the client's stream, although it sent one less than 10 ms ago."""
    from types import SimpleNamespace

    from distributed.batched import BatchedSend
    from tornado.ioloop import IOLoop

    from dgsuite.partition.client.sending import send_now

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
    import threading

    import dgsuite
    from dgsuite import genval

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


def test_annotations_of_a_layer_may_depend_on_the_key(client):
    """A clocked run sends its tasks as one layer that says the worker of each."""
    from functools import partial

    from dgsuite.core.workers.placement import submit

    (address,) = client.scheduler_info()["workers"]
    tasks = {f"layer-{i}": (address, sum, [i]) for i in (1, 2)}
    futures = submit(client, tasks | {"layer-3": (address, partial(sum, start=1), [2, 3])})
    assert client.gather(futures) == [1, 2, 6]
    restricted = client.run_on_scheduler(
        lambda dask_scheduler=None: [
            dask_scheduler.tasks[f"layer-{i}"].worker_restrictions for i in (1, 2, 3)
        ]
    )
    assert restricted == 3 * [{address}], "see dgsuite/core/workers/placement.py"


def test_a_scheduler_plugin_hears_of_a_graph_before_its_tasks_are_sent_to_workers(client):
    """With annotations by key; so tasks can be made to wait before any of them begins."""

    class Holder(distributed.SchedulerPlugin):
        name = "holder"

        def update_graph(self, scheduler, annotations, **_):
            for key in annotations.get("held", ()):
                assert scheduler.tasks[key].state == "released"
                scheduler.set_restrictions({key: "nowhere"})

    client.register_plugin(Holder())
    try:
        with dask.annotate(held=True):
            future = client.submit(abs, -1, key="held", pure=False)
        state = lambda dask_scheduler=None: dask_scheduler.tasks["held"].state  # noqa: E731
        assert client.submit(abs, -2, pure=False).result() == 2
        assert client.run_on_scheduler(state) == "no-worker", "see partition/client/scheduler.py"
        client.cancel(future)
    finally:
        client.unregister_scheduler_plugin("holder")
