"""Trials: each must end with the outputs of an undisturbed run, or with one error, and leave nothing.

The error is a `RunError` that names what was struck, where a run cannot begin again: without recovery, or
when the scheduler is gone.
"""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import dask
import networkx as nx
import numpy as np
import psutil
from distributed import Client

import dgsuite
from dgsuite.kernels import KERNELS, RECURSIVE
from dgsuite.partition.client.session import Session
from dgsuite.partition.client.workers import worker_addresses
from dgsuite.partition.clusters.grid import arrange
from dgsuite.partition.graph.graph import Graph

from .cluster import WORKERS, Cluster
from .inject import Cut, Signal, arm, disarm, mend
from .remnants import left

TIMEOUT = 5
"""Seconds of ``dgsuite.timeout``, and of Dask's timeout of connecting, unless others are given."""

SILENCE = 12
"""Seconds of Dask's timeout of comms that have gone silent; it takes at least 11."""

ENDING = 5
"""Seconds that a killed process may take to end: the run may end before it."""

ENDED_OR_STOPPED = psutil.STATUS_ZOMBIE, psutil.STATUS_STOPPED

PAUSE = 5
"""Seconds for which a worker is paused."""

BOUND = 12
"""Timeouts within which a run must end, however often it is begun again."""

OPTIONS: dict[str, dict[str, Any]] = {"katz": {"weighted": False}}
"""Parameters of kernels: Katz centrality with its default `alpha` does not converge over these weights."""

STYLES = ["clocked", "finish_async"]
FORMS = ["iterative", "recursive"]
HOWS = {
    "kill": "a worker, which starts anew at another address",
    "restart": "a worker, which starts anew at its address",
    "freeze": "a worker, for good",
    "pause": f"a worker, for {PAUSE} s",
    "cut": "the link between two workers; it takes hosts of a network",
    "scheduler": "the scheduler is killed, and starts anew with new workers",
}
"""What is struck."""


def make(name: str, **options: Any) -> Graph:
    """A small graph that a kernel can run on."""
    if name in ("lcr", "hs"):
        net = nx.cycle_graph(12)
    elif name == "vc":
        net = nx.balanced_tree(2, 4)
    else:
        net = nx.connected_watts_strogatz_graph(60, 4, 0.3, seed=3)
        for number, (a, b) in enumerate(net.edges):
            net.edges[a, b]["weight"] = (number * 7919) % 104729
    graph = Graph.from_networkx(net, clusters=2 * WORKERS, client=None)
    return arrange(graph) if name == "bfs2d" else graph


@dataclass(frozen=True)
class Trial:
    """What is run, and what is struck when."""

    kernel: str
    form: str
    style: str
    how: str
    striker: int
    """Worker that strikes: the victim itself, or another one."""
    number: int
    """Phase of the striker at which it does."""
    after: bool
    """Whether it does so when the phase has changed the state, and not before."""
    victim: int
    """Worker that is struck; of a link, the end at which no messages arrive any more."""


class Field:
    """Three workers, and the runs that they are disturbed in.

    Parameters
    ----------
    recovers
        Whether runs begin again.
    bound
        Seconds within which each must end.
    """

    def __init__(self, cluster: Cluster, recovers: bool, bound: float) -> None:
        self.cluster, self.recovers, self.bound = cluster, recovers, bound
        self.graphs: dict[str, Graph] = {}
        self.expected: dict[tuple[str, str], dict[str, np.ndarray]] = {}
        self.phases: dict[tuple[str, str, str, int], int] = {}
        self.connect()

    def connect(self, client: Client | None = None) -> None:
        """Wait for the workers, and look at what stays for good.

        Parameters
        ----------
        client
            That has found the scheduler again; by default a new one.
        """
        self.client = client or Client(self.cluster.address, timeout=60)
        try:
            self.client.wait_for_workers(WORKERS, timeout=90)
        except TimeoutError:
            workers = Session.of(self.client).workers().values()
            self.cluster.mend([str(worker["name"]) for worker in workers])
            self.client.wait_for_workers(WORKERS, timeout=90)
        for style in STYLES:
            self.run("bf", "iterative", style)
        settled(lambda: left(self.client), lambda now: not any(w["ends"] for w in now["workers"]))
        self.before = left(self.client)

    def run(self, kernel: str, form: str, style: str) -> dict[str, np.ndarray]:
        """What a run finds, by node and by round, as far as it does not depend on the order of tasks."""
        if kernel not in self.graphs:
            self.graphs[kernel] = make(kernel)
        client = None if style == "serial" else self.client
        how = OPTIONS.get(kernel, {})
        found = dgsuite.run(
            kernel, self.graphs[kernel], form=form, style=style, client=client, **how
        )
        same = [name for name in found if "node" in found[name].dims]
        return {
            name: found[name].values
            for name in [*same, *(["messages"] if form == FORMS[0] else [])]
        }

    def draw(self, rng: random.Random, how: str | None = None, style: str | None = None) -> Trial:
        """A trial; without `how` of any kind that the cluster allows."""
        allowed = [h for h in HOWS if h != "cut" or self.cluster.apart]
        how = how or rng.choice(allowed)
        form = FORMS[rng.random() < 1 / 3]
        kernel = rng.choice(sorted(KERNELS if form == FORMS[0] else RECURSIVE))
        # Dask tries again for ever to fetch what a task of the other style needs
        style = "clocked" if how == "cut" else style or rng.choice(STYLES)
        striker = rng.randrange(WORKERS)
        victim = {"kill": rng.choice([1, 2]), "restart": 0}.get(how, rng.randrange(WORKERS))
        if how == "cut" and victim == striker:
            victim = (striker + 1) % WORKERS
        key = (kernel, form, style, striker)
        if key not in self.phases:
            place = worker_addresses(self.client)[striker]
            self.client.run(arm, -1, False, None, workers=[place])
            self.run(kernel, form, style)
            self.phases[key] = self.client.run(disarm, workers=[place])[place]
        # a recursive run without a clock has some phases more or less each time
        number = rng.randrange(max(1, self.phases[key] // 2))
        return Trial(kernel, form, style, how, striker, number, rng.random() < 0.5, victim)

    def attempt(self, trial: Trial) -> tuple[str, float]:
        """What came of a trial, ``"same"``, ``"error"`` or what went wrong; and its seconds."""
        what = trial.kernel, trial.form
        if what not in self.expected:
            self.expected[what] = self.run(*what, "serial")
        places = worker_addresses(self.client)
        pids = self.client.run(os.getpid)
        scheduler = trial.how == "scheduler"
        pid = self.cluster.processes[0].pid if scheduler else pids[places[trial.victim]]
        process = psutil.Process(pid)
        if trial.how == "cut":
            strike: Cut | Signal = Cut(self.cluster.hosts[trial.victim + 1])
        else:
            stops = trial.how in ("freeze", "pause")
            strike = Signal(signal.SIGSTOP if stops else signal.SIGKILL, pid)
        self.client.run(arm, trial.number, trial.after, strike, workers=[places[trial.striker]])
        begin = time.monotonic()
        with resumed(process, trial.how == "pause") as struck:
            try:
                found = self.run(*what, trial.style)
            except dgsuite.RunError as error:
                ends = [trial.victim, trial.striker] if trial.how == "cut" else [trial.victim]
                names = [self.cluster.address] if scheduler else [places[end] for end in ends]
                may = scheduler or not self.recovers
                right = may and any(name in str(error) for name in names)
                outcome = "error" if right else f"an error that should not be: {error}"
            except Exception as error:
                outcome = f"a foreign error: {type(error).__name__}: {error}"
            else:
                same = all(np.array_equal(found[n], v) for n, v in self.expected[what].items())
                outcome = "same" if same else "other outputs"
            seconds = time.monotonic() - begin
        if seconds > self.bound:
            outcome = f"late: {outcome}"
        if trial.how == "cut":
            struck += self.client.run(mend, strike.host, workers=[places[trial.striker]]).values()
        if not any(struck):
            ended = settled(lambda: state(process) in ENDED_OR_STOPPED, bool, ENDING, fails=False)
            struck.append(ended)
        stayed = self.recover(trial, process)
        if not any(struck):
            outcome = f"nothing was struck: {outcome}"
        elif stayed:
            outcome = f"processes {stayed} have not ended with their scheduler: {outcome}"
        elif outcome in ("same", "error") and (rest := self.remnants()):
            outcome = f"left behind: {rest}"
        return outcome, seconds

    def recover(self, trial: Trial, process: psutil.Process) -> list[int]:
        """Have all workers in order again; the processes that should have ended by themselves."""
        if trial.how == "scheduler":
            stayed = self.cluster.restart()
            status = settled(lambda: self.client.status, lambda now: now in ("running", "closed"))
            self.connect(self.client if status == "running" else None)
            return stayed
        if not gone(process):
            process.resume()
        is_new = gone(process)
        settled(
            lambda: self.client.run(os.getpid, on_error="ignore"),
            lambda now: len(now) == WORKERS and not (is_new and process.pid in now.values()),
        )
        self.client.run(disarm)
        return []

    def remnants(self) -> dict[str, Any]:
        """What is there beyond what was before the trials, after some seconds."""
        now = settled(lambda: left(self.client), lambda now: now == self.before, fails=False)
        found = {k: (v, self.before[k]) for k, v in now.items() if v != self.before[k]}
        if files := self.cluster.files():
            found["files"] = files
        return found


def state(process: psutil.Process) -> str:
    """The state of a process; "zombie" if it has ended."""
    try:
        return process.status()
    except psutil.NoSuchProcess:
        return psutil.STATUS_ZOMBIE


def gone(process: psutil.Process) -> bool:
    """Whether a process has ended."""
    return state(process) == psutil.STATUS_ZOMBIE


@contextmanager
def resumed(process: psutil.Process, does: bool) -> Iterator[list[bool]]:
    """Resume a process that is paused, after some seconds; yields a list that then holds True."""
    over, found = threading.Event(), list[bool]()

    def look() -> None:
        while not over.wait(0.02):
            if state(process) == psutil.STATUS_STOPPED:
                found.append(True)
                time.sleep(PAUSE)
                if not gone(process):
                    process.resume()
                return

    thread = threading.Thread(target=look)
    if does:
        thread.start()
    yield found
    over.set()
    if does:
        thread.join()


def settled(
    look: Callable[[], Any], good: Callable[[Any], bool], seconds: float = 60, fails: bool = True
) -> Any:
    """What a look finds as soon as it is good, or after some time."""
    deadline = time.monotonic() + seconds
    while not good(now := look()):
        if time.monotonic() > deadline:
            assert not fails, now
            break
        time.sleep(0.1)
    return now


@contextmanager
def field(
    tries: int = 0, cluster: Cluster | None = None, timeout: float = TIMEOUT
) -> Iterator[Field]:
    """Worker processes for trials.

    Parameters
    ----------
    tries
        How many times a run that loses a worker is begun again.
    cluster
        By default one on this host.
    timeout
        Seconds of ``dgsuite.timeout``, and of Dask's timeout of connecting.
    """
    comms = {"connect": f"{timeout} s", "tcp": f"{SILENCE} s"}
    settings = {f"distributed.comm.timeouts.{name}": value for name, value in comms.items()}
    settings |= {"dgsuite.timeout": timeout, "dgsuite.recovery.tries": tries}
    for name, value in comms.items():  # of the workers
        os.environ[f"DASK_DISTRIBUTED__COMM__TIMEOUTS__{name.upper()}"] = value
    with dask.config.set(settings), cluster or Cluster() as there:
        made = Field(there, tries > 0, BOUND * timeout)
        try:
            yield made
        finally:
            made.client.close()
