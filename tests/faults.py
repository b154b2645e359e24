"""Trials of faults: a worker process is killed, frozen, or started anew at its address, amid a run.

Each trial must end with the outputs of an undisturbed run, or, without recovery, with one `RunError` that
names the worker within a bound, and must leave nothing. Faults happen at a drawn phase of a drawn kernel: a
worker counts its phases and sends the signal itself, so a trial does not depend on time.

Command line: ``python -m tests.faults --trials 300 --seed 1`` prints the outcomes; its status is 1 if a
trial went wrong.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import dask
import networkx as nx
import numpy as np
import psutil
from distributed import Client

import dgsuite
from partition.client.workers import worker_addresses
from partition.graph import Graph

TIMEOUT = 5
"""Seconds of the setting ``dgsuite.timeout`` in trials."""

BOUND = 30
"""Seconds within which a run must end after its worker was struck."""

KERNELS = [
    ("bf", "iterative", "path"),
    ("lcr", "iterative", "ring"),
    ("mis", "iterative", "random"),
    ("mst", "iterative", "random"),
    ("bf", "recursive", "random"),
    ("dst", "recursive", "random"),
]
STYLES = ["clocked", "finish_async"]


def make(name: str) -> Graph:
    """A graph by name, in this process."""
    if name == "path":
        return Graph.from_networkx(nx.path_graph(12), client=None, clusters=4)
    if name == "ring":
        return Graph.from_networkx(nx.cycle_graph(8), client=None, clusters=4)
    made = nx.connected_watts_strogatz_graph(60, 4, 0.3, seed=3)
    for number, (a, b) in enumerate(made.edges):
        made.edges[a, b]["weight"] = (number * 7919) % 104729
    return Graph.from_networkx(made, client=None, clusters=4)


@dataclass(frozen=True)
class Trial:
    """What is run, and what happens to which worker when."""

    kernel: str
    form: str
    graph: str
    style: str
    how: str
    """``"kill"``: it is started anew elsewhere; ``"restart"``: at its address; ``"stop"``: it is frozen."""
    striker: int
    """Worker that sends the signal: the victim itself, or the other one."""
    number: int
    """Phase of the striker at which it does."""
    after: bool
    """Whether it does so when the phase has changed the state, and not before."""

    @property
    def victim(self) -> int:
        """Worker that is struck: the first one has a port of its own, the other takes any."""
        return {"kill": 1, "restart": 0, "stop": self.number % 2}[self.how]


def arm(number: int, after: bool, target: int | None, how: int) -> None:
    """On a worker: have its phases counted, and a process sent a signal at one of them; None is itself."""
    from dgsuite.engine.site import Site

    undisturbed = Site.call
    count = 0

    def call(self: Any, *arguments: Any, **options: Any) -> Any:
        nonlocal count
        due, count = count == number, count + 1
        if due and not after:
            os.kill(target or os.getpid(), how)
        result = undisturbed(self, *arguments, **options)
        if due and after:
            os.kill(target or os.getpid(), how)
        return result

    Site.call = call
    Site.counted = staticmethod(lambda: count)
    Site.undisturbed = undisturbed


def disarm() -> int:
    """On a worker: undo `arm`; the number of phases counted."""
    from dgsuite.engine.site import Site

    if not hasattr(Site, "undisturbed"):
        return 0
    count = Site.counted()
    Site.call = Site.undisturbed
    del Site.undisturbed, Site.counted
    return int(count)


def held(dask_worker: Any) -> tuple[int, ...]:
    """On a worker: what of runs it still holds, its listening sockets, and its shared memory."""
    plugin, process = dask_worker.plugins["dgsuite"], psutil.Process()
    listening = [c for c in process.net_connections() if c.status == psutil.CONN_LISTEN]
    shared = [m for m in process.memory_maps() if m.path.startswith(("/dev/shm", "/memfd"))]
    return len(plugin.runs), len(plugin._ends), len(plugin._addresses), len(listening), len(shared)


def known(dask_scheduler: Any) -> tuple[list[str], int]:
    """On the scheduler: the tasks that it knows, and how many runs have a turn or wait for one."""
    return sorted(map(str, dask_scheduler.tasks)), len(dask_scheduler.plugins["dgsuite"].queue)


class Field:
    """Two workers, one of them at a fixed port, and the runs that they are disturbed in."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.graphs = {name: make(name) for _, _, name in KERNELS}
        self.expected: dict[tuple, dict[str, np.ndarray]] = {}
        self.phases: dict[tuple, int] = {}
        for style in STYLES:  # so that all that stays for good is there
            self.run("bf", "iterative", "path", style)
        deadline = time.monotonic() + 15
        while any(any(kept[:2]) for kept in self.left()["workers"]):  # of the runs just made
            assert time.monotonic() < deadline, "workers keep a run that has ended"
            time.sleep(0.1)
        self.before = self.left()

    def run(self, kernel: str, form: str, graph: str, style: str) -> dict[str, np.ndarray]:
        """The outputs of a run."""
        client = None if style == "serial" else self.client
        found = dgsuite.run(kernel, self.graphs[graph], form=form, style=style, client=client)
        return {name: found[name].values for name in found if "node" in found[name].dims}

    def draw(self, rng: random.Random, **given: str) -> Trial:
        """A trial."""
        kernel, form, graph = rng.choice(KERNELS)
        style = given.get("style") or rng.choice(STYLES)
        how = given.get("how") or rng.choice(["kill", "restart", "stop"])
        striker = rng.randrange(2)
        key = (kernel, form, graph, style, striker)
        if key not in self.phases:
            place = worker_addresses(self.client)[striker]
            self.client.run(arm, -1, False, None, 0, workers=[place])
            self.run(kernel, form, graph, style)
            self.phases[key] = self.client.run(disarm, workers=[place])[place]
        # a recursive run without a clock has some phases more or less each time
        number = rng.randrange(max(1, self.phases[key] // 2))
        return Trial(kernel, form, graph, style, how, striker, number, rng.random() < 0.5)

    def attempt(self, trial: Trial) -> tuple[str, float]:
        """What came of a trial, ``"same"``, ``"error"`` or what went wrong; and its seconds."""
        what = trial.kernel, trial.form, trial.graph
        if what not in self.expected:
            self.expected[what] = self.run(*what, "serial")
        self.client.wait_for_workers(2, timeout=60)
        places = worker_addresses(self.client)
        pid = self.client.run(os.getpid, workers=[places[trial.victim]])[places[trial.victim]]
        process = psutil.Process(pid)
        how = signal.SIGSTOP if trial.how == "stop" else signal.SIGKILL
        striker = places[trial.striker]
        self.client.run(arm, trial.number, trial.after, pid, how, workers=[striker])
        begin = time.monotonic()
        try:
            found = self.run(*what, trial.style)
        except dgsuite.RunError as error:
            named = places[trial.victim] in str(error)
            outcome = "error" if named else f"an error that does not name the worker: {error}"
        except Exception as error:
            outcome = f"a foreign error: {type(error).__name__}: {error}"
        else:
            same = all((found[n] == v).all() for n, v in self.expected[what].items())
            outcome = "same" if same else "other outputs"
        seconds = time.monotonic() - begin
        if seconds > BOUND:
            outcome = f"late: {outcome}"
        struck = self.recover(trial, process, places)
        if not struck:
            outcome = f"nothing happened to the worker: {outcome}"
        elif outcome in ("same", "error") and (rest := self.remnants()):
            outcome = f"left behind: {rest}"
        return outcome, seconds

    def recover(self, trial: Trial, process: psutil.Process, places: list[str]) -> bool:
        """Have two workers in order again; whether one was struck."""
        gone = not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
        struck = gone or process.status() == psutil.STATUS_STOPPED
        if not gone:
            process.resume()
        self.client.wait_for_workers(2, timeout=60)
        deadline = time.monotonic() + 60
        while True:
            now = worker_addresses(self.client)
            if len(now) == 2 and (not gone or self.fresh(trial, process)):
                break
            assert time.monotonic() < deadline, f"no new worker after {trial}"
            time.sleep(0.05)
        if trial.how == "restart":
            assert now[0] == places[0]
        self.client.run(disarm)
        return struck

    def fresh(self, trial: Trial, process: psutil.Process) -> bool:
        """Whether another process has taken the victim's place."""
        try:
            place = worker_addresses(self.client)[trial.victim]
            return self.client.run(os.getpid, workers=[place])[place] != process.pid
        except (OSError, KeyError, IndexError):
            return False

    def left(self) -> dict[str, Any]:
        """What there is when nothing runs."""
        from dgsuite.workers import plugin as worker

        worker.install(self.client)
        return {
            "workers": sorted(self.client.run(held).values()),
            "scheduler": self.client.run_on_scheduler(known),
        }

    def remnants(self) -> dict[str, Any]:
        """What is there beyond that, after some seconds."""
        deadline = time.monotonic() + 15
        while (now := self.left()) != self.before:
            if time.monotonic() > deadline:
                return {k: (v, self.before[k]) for k, v in now.items() if v != self.before[k]}
            time.sleep(0.1)
        return {}


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


@contextmanager
def command(name: str, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """A command of Dask's: ``scheduler``, or ``worker`` with its nanny."""
    process = subprocess.Popen(
        [sys.executable, "-m", f"distributed.cli.dask_{name}", "--host", "127.0.0.1", *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextmanager
def scheduler() -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """A scheduler process and its address."""
    address = f"tcp://127.0.0.1:{free_port()}"
    options = ["--port", address.rpartition(":")[2], "--no-dashboard"]
    with command("scheduler", *options) as process:
        yield process, address


@contextmanager
def field(tries: int = 0) -> Iterator[Field]:
    """Worker processes for trials: the first at a port of its own, the second at any.

    Parameters
    ----------
    tries
        How many times a run that loses a worker is begun again.
    """
    options = ["--nthreads", "1", "--no-dashboard"]
    with (
        dask.config.set({"dgsuite.timeout": TIMEOUT, "dgsuite.recovery.tries": tries}),
        scheduler() as (_, address),
        command("worker", address, *options, "--name", "0", "--worker-port", str(free_port())),
        command("worker", address, *options, "--name", "1"),
        Client(address, timeout=60) as client,
    ):
        client.wait_for_workers(2, timeout=60)
        yield Field(client)


def main() -> int:
    """Run the command line; returns the exit status."""
    p = argparse.ArgumentParser(description="Kill, freeze and restart workers amid runs.")
    p.add_argument("--trials", type=int, default=60)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--style", choices=STYLES)
    p.add_argument("--how", choices=["kill", "restart", "stop"])
    p.add_argument("--tries", type=int, default=3, help="how often a run is begun again; 0: never")
    options = p.parse_args()
    rng = random.Random(options.seed)
    outcomes: Counter[tuple[str, str, str, str]] = Counter()
    longest: Counter[tuple[str, str, str, str]] = Counter()
    wrong = 0
    with field(options.tries) as there:
        for number in range(options.trials):
            trial = there.draw(rng, style=options.style, how=options.how)
            outcome, seconds = there.attempt(trial)
            right = ("same",) if options.tries else ("same", "error")
            short = outcome if outcome in right else "wrong"
            key = (trial.form, trial.style, trial.how, short)
            outcomes[key] += 1
            longest[key] = max(longest[key], seconds)
            if short == "wrong":
                wrong += 1
            print(f"{number}: {outcome} after {seconds:.1f} s: {trial}", flush=True)
    print(f"{'form':10} {'style':13} {'fault':8} {'outcome':8} trials  longest (s)")
    for key in sorted(outcomes):
        print("{:10} {:13} {:8} {:8}".format(*key), f"{outcomes[key]:6d}  {longest[key]:11.1f}")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
