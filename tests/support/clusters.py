"""Clusters that tests start, watch and strike."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager, suppress
from pathlib import Path

from distributed import SchedulerPlugin

from tests.support.patience import PATIENCE, until


def heed_signals() -> None:
    """For subprocesses that get a SIGINT or SIGHUP. They may inherit that these are ignored: the first in a
    shell's background jobs, the second under nohup.
    """
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def has_worked(processes, seconds):
    """Wait until processes have computed for some seconds more, which tells that their run is under way."""

    def spent():
        times = [process.cpu_times() for process in processes]
        return sum(t.user + t.system for t in times)

    before, deadline = spent(), time.monotonic() + PATIENCE
    while spent() < before + seconds:
        assert time.monotonic() < deadline
        time.sleep(0.01)


COME_BACK = 400
"""Seconds in which a lost worker is replaced. On a busy machine its nanny may fail to restart it; its cluster
then starts another one after ``lost-worker-timeout``."""


@contextmanager
def client_of(workers, settings=None, threads=1, set_as_default=True, **options):
    """A client of some worker processes, with settings of Dask's, and options of the cluster."""
    import dask
    from distributed import Client, LocalCluster

    with (
        dask.config.set(settings or {}),
        LocalCluster(
            n_workers=workers,
            threads_per_worker=threads,
            dashboard_address=None,
            **{"processes": True, **options},
        ) as cluster,
        Client(cluster, set_as_default=set_as_default) as client,
    ):
        yield client


@contextmanager
def commands(workers, settings=None, **variables):
    """A client of a scheduler and workers, each a process of one of Dask's commands, and these processes.

    Parameters
    ----------
    settings
        Of Dask's, for all processes.
    variables
        Of their environment.
    """
    import dask
    from distributed import Client

    for name, value in (settings or {}).items():
        variables[f"DASK_{name.upper().replace('.', '__').replace('-', '_')}"] = str(value)
    with dask.config.set(settings or {}), tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder, "scheduler.json"))
        options = ["--scheduler-file", file, "--no-dashboard", "--host", "127.0.0.1"]
        started = [["scheduler", *options, "--port", "0"]]
        started += [["worker", *options, "--nthreads", "1", "--no-nanny"]] * workers
        processes = [
            subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.dask_{what}", *more],
                stderr=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
                | variables,
            )
            for what, *more in started
        ]
        try:
            with Client(scheduler_file=file, timeout=PATIENCE, set_as_default=False) as client:
                until(lambda: len(client.scheduler_info()["workers"]) == workers)
                yield client, processes
        finally:
            for process in processes[::-1]:
                process.kill()
                process.wait()


@contextmanager
def small_as_large(client):
    """Have workers compile loops for graphs of any size."""

    def begin_at(size):
        from dgsuite.base import thresholds

        before, thresholds.compile_from = thresholds.compile_from, size
        return before

    before = max(client.run(begin_at, -1).values())  # workers may share a process
    try:
        yield
    finally:
        client.run(begin_at, before)


def held(dask_worker):
    """What the plugin of a worker still holds."""
    plugin = dask_worker.plugins["dgsuite"]
    return len(plugin.runs), len(plugin._ends), len(plugin._addresses)


def named(dask_worker):
    """The runs that the plugin of a worker still holds, and what it holds of each."""
    return {run: type(part).__name__ for run, part in dask_worker.plugins["dgsuite"].runs.items()}


def stored(client):
    """Keys of what the workers store."""
    there = client.run(lambda dask_worker: [*map(str, dask_worker.data)])
    return set().union(*there.values())


def tasks(client):
    """Keys of all tasks that the scheduler knows."""
    return set(client.run_on_scheduler(lambda dask_scheduler: [*map(str, dask_scheduler.tasks)]))


def assert_nothing_kept(client, before=frozenset()):
    """The scheduler knows, or soon will, no task but those before."""
    until(lambda: not tasks(client) - before)


def killed(pid):
    """Kill a process, which may be gone."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def assert_nothing_held(client):
    """No run has left anything on the workers."""
    deadline = time.monotonic() + PATIENCE
    while any(any(h) for h in client.run(held).values()):
        assert time.monotonic() < deadline, (client.run(held), client.run(named))
        time.sleep(0.05)


class Counts(SchedulerPlugin):
    """The tasks that graphs bring to a scheduler, and how many others each depends on."""

    name = "counts"

    def __init__(self, kinds):
        self.kinds, self.tasks = kinds, {}

    def update_graph(self, scheduler, *, tasks, **kwargs):
        mine = [key for key in tasks if str(key).startswith(self.kinds)]
        self.tasks |= {key: len(scheduler.tasks[key].dependencies) for key in mine}


@contextmanager
def counting(client, kinds=("toy-read", "toy-gather", "toy-spread")):
    """Count tasks whose keys begin so, by default those of phases."""
    scheduler, counts = client.cluster.scheduler, Counts(kinds)

    async def on_the_loop(function, argument):
        function(argument)

    client.sync(on_the_loop, scheduler.add_plugin, counts)
    try:
        yield counts
    finally:
        client.sync(on_the_loop, scheduler.remove_plugin, counts.name)
