"""Trials drawn from seeds: a graph is built and two runs are made on it, while faults strike.

A trial must end with the results of a run that nothing disturbed, or with one error that names what was
struck, soon after any process has last passed a hook, and leave nothing.

What a seed replays: the graph, the style, and at which passing of a hook, in which process, a process dies,
stops or becomes slow. Passings are counted; nothing is timed. After a worker was killed, all processes that
pass a hook wait until the scheduler has seen it, so that they go on from the same state. What it does not
replay: the order in which processes that run side by side pass their hooks, where Dask runs tasks that are
tied to no worker, how far other workers get before a client hears of a loss, and how often a wait polls. So a
fault may not strike again, above all a second one.
"""

import gc
import logging
import os
import random
import signal
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Self

import dask
import dask.array as da
import numpy as np
from distributed import Client

import dgsuite
from dgsuite import Graph
from dgsuite.partition.clusters.grid import arrange
from tests.faults.board import FIRST, HOOKS, LOSSES, PLACES, SCHEDULER, STAGES, WORKERS, Fault
from tests.faults.hooks import ADDRESSES, hooked_client
from tests.faults.processes import LONG, TIMEOUT, Processes
from tests.faults.remnants import left
from tests.support import networks
from tests.support.cases import TYPICAL
from tests.support.patience import PATIENCE

Found = dict[str, np.ndarray]

BUSY = "frozen or busy"
"""In the error of a scheduler that does not answer. If no fault has struck it, the trial says nothing."""

BOUND = 10
"""Timeouts within which a stage must end after any process has last passed a hook, but for polls. So it has
more time where other programs take the machine.
"""

STOPS = {"pause": 0.5, "freeze": 1.6}
"""Timeouts after which a process that has been stopped goes on."""

TIDY = 10.0
"""Seconds in which what a trial has left must be gone."""

SOURCES = ["arrays", "here", "saved"]
"""Where a graph comes from: arrays of Dask, this process, or files."""

STYLES = ["clocked", "finish_async", "in_turn", "session", "checkpoint"]

OF_STYLE = {"finish_async": ["votes", "keep", "give", "cancel"], "checkpoint": ["file"]}
"""Hooks that only one style or two pass: they come first in the blocks of these."""

APART = 5
"""How many hooks later each block begins with the rest."""

KERNELS: dict[str, dict[str, Any]] = {"core_number": {}, "pagerank": {"iterations": 8}, "sssp": {}}
"""Kernels of most trials, with their parameters."""

OTHERS = [name for name in TYPICAL if name not in KERNELS]
RECURSIVE = ["bf recursive", "dst recursive"]
"""Kernels of every fourth trial of a block; the last ones with a clock and without."""

WEIGHTS = {"kill": 12, "stop": 1, "freeze": 1, "pause": 2, "slow": 2}
"""How often each kind of fault is drawn."""

SCHEDULERS = 0.06
"""Share of the faults of which the scheduler is the victim."""

SETTINGS: dict[str, Any] = {
    "dgsuite.timeout": LONG,  # of what is no trial
    "dgsuite.checkpoint.every": "5 rounds",
    "distributed.comm.timeouts.connect": f"{2 * TIMEOUT} s",
    "distributed.scheduler.allowed-failures": 10,
}

BLOCKS = 2 * len(STYLES)
"""Seeds that are the same modulo this number have the same style, and all or none have nannies."""

DRAWS = 20
"""Times that a trial is drawn whose faults have not struck."""

AGAIN = 3
"""Times that a trial is made, at most, where the machine is too busy."""

N = 60
"""Nodes of a graph."""


class Scenario(NamedTuple):
    """What is done.

    Attributes
    ----------
    tries
        Times that a run is begun again.
    """

    nannies: bool
    source: str
    style: str
    kernel: str
    tries: int


@dataclass(frozen=True)
class Trial:
    """What is done, and what strikes meanwhile.

    Attributes
    ----------
    replaces
        Whether workers without a nanny that the first run has lost are replaced before the second.
    """

    scenario: Scenario
    faults: tuple[Fault, ...] = ()
    replaces: bool = True

    def __str__(self) -> str:
        s = self.scenario
        faults = "; ".join(map(str, self.faults)) or "no fault"
        what = [s.kernel, s.style, f"graph from {s.source}", f"{s.tries} tries"]
        what += ["nannies" if s.nannies else "no nannies"]
        what += [] if self.replaces else ["none added"]
        return f"{', '.join(what)}: {faults}"

    def lossy(self, struck: Sequence[bool]) -> list[Fault]:
        """The faults that have struck and that may take a process away."""
        return [f for f, has in zip(self.faults, struck, strict=True) if has and f.kind in LOSSES]


LOST = "of the graph was lost with its worker", "data was lost with its worker"
"""What an error says of what was lost, where the worker is not known any more."""


class End(NamedTuple):
    """How a trial has ended.

    Attributes
    ----------
    stages
        Of each stage: "right", the class of an error that was due, or something that was wrong.
    struck
        Of each fault, whether it has struck.
    wrong
        Why the trial has failed; "" if it has not.
    """

    stages: tuple[str, ...]
    struck: tuple[bool, ...]
    wrong: str
    seconds: float


class Simulation:
    """Makes trials, on processes that stay for the next trial.

    Parameters
    ----------
    folder
        For saved graphs.

    Attributes
    ----------
    struck
        How often each kind of fault has struck at each hook.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.struck: Counter[tuple[str, str]] = Counter()
        self._stack = ExitStack()
        self._there: dict[bool, tuple[ExitStack, Processes]] = {}
        self._counts: dict[Scenario, list[list[dict[str, int]]]] = {}
        self._expected: dict[str, Found] = {}

    def __enter__(self) -> Self:
        self._stack.enter_context(dask.config.set(SETTINGS))
        for name in ("distributed", "dgsuite"):
            logger = logging.getLogger(name)
            self._stack.callback(logger.setLevel, logger.level)
            logger.setLevel(logging.CRITICAL)
        return self

    def __exit__(self, *_: object) -> None:
        for nannies in list(self._there):
            self._drop(nannies)
        self._stack.close()

    def processes(self, nannies: bool) -> Processes:
        """Those of before, or new ones that have made a run."""
        if nannies not in self._there:
            with ExitStack() as stack:
                made = stack.enter_context(Processes(nannies))
                with Client(made.address, set_as_default=False) as client:
                    made.settle(client)
                    graph = self._graph("core_number", "here", client)
                    for style in ("clocked", "finish_async"):
                        self._results(graph, "core_number", style, client)
                self._there[nannies] = stack.pop_all(), made
        return self._there[nannies][1]

    def _drop(self, nannies: bool) -> None:
        self._there.pop(nannies)[0].close()

    def draw(self, seed: int, number: int = 0) -> Iterator[Trial]:
        """The trial of a seed, with one fault, and then perhaps with two.

        A second fault is drawn from the passings in the trial with the first one, which has been made when
        the second is asked for. So it may strike at a recovery; hooks that only this passes come first.

        Parameters
        ----------
        number
            How often it has been drawn and has not struck.
        """
        rng = random.Random(f"{seed} {number}")
        turn, block = divmod(seed, BLOCKS)
        nannies, style = divmod(block, len(STYLES))
        source = rng.randrange(len(SOURCES))
        kernel = [*KERNELS][(style + source) % len(KERNELS)]
        tries = 0 if rng.random() < 0.15 else 3
        if turn % 4 == 3:
            kernel = rng.choice([*OTHERS, *RECURSIVE] if style < 2 else OTHERS)
            source = 1 if kernel == "bfs2d" else source or 1  # a grid is not saved
        scenario = Scenario(bool(nannies), SOURCES[source], STYLES[style], kernel, tries)
        counts = self.counts(scenario)
        own = OF_STYLE.get(scenario.style, [])
        rest = [hook for hook in HOOKS if hook not in own]
        hooks = [*own, *_from(rest, APART * block)]  # each in its turn
        hook = next(h for h in _from(hooks, turn + number) if any(map(_passed(h), counts)))
        stages = [stage for stage, each in enumerate(counts) if _passed(hook)(each)]
        stage = rng.choices(stages, [[1, 3, 2][stage] for stage in stages])[0]
        first = _drawn(rng, stage, counts[stage], hook)
        trial = Trial(scenario, (first,), rng.random() < 0.75)
        two, stage = rng.random() < 0.4, rng.randrange(first.stage, len(STAGES))
        yield trial
        if two:
            board = self.processes(scenario.nannies).board
            follows = [board.counts(stage, place, first.stage == stage) for place in range(PLACES)]
            there = [hook for hook in HOOKS if _passed(hook)(follows)]
            new = [hook for hook in there if not _passed(hook)(counts[stage])]
            if there:
                second = _drawn(rng, stage, follows, rng.choice(new or there))
                yield Trial(scenario, (first, second), trial.replaces)

    def counts(self, scenario: Scenario) -> list[list[dict[str, int]]]:
        """By stage and process, how often each hook is passed when nothing strikes."""
        scenario = scenario._replace(tries=3)
        if scenario not in self._counts:
            end = self.attempt(Trial(scenario))
            assert not end.wrong, (scenario, end)
            board = self.processes(scenario.nannies).board
            self._counts[scenario] = [
                [board.counts(stage, place) for place in range(PLACES)]
                for stage in range(len(STAGES))
            ]
        return self._counts[scenario]

    def make(self, seed: int) -> list[tuple[Trial, End]]:
        """Make the trials of a seed: with one fault, and perhaps with two; drawn anew until one strikes."""
        for number in range(DRAWS):
            made: list[tuple[Trial, End]] = []
            for trial in self.draw(seed, number):
                end = self.attempt(trial)
                fault, has = trial.faults[-1], end.struck[-1]
                self.struck[fault.kind, fault.hook] += has
                if has or end.wrong:
                    made.append((trial, end))
                if not has or end.wrong or end.stages[-1] != "right":
                    break
            if made:
                return made
        raise AssertionError(f"seed {seed}: {DRAWS} draws have not struck; the last: {trial}")

    def attempt(self, trial: Trial) -> End:
        """Make a trial, and again where the machine was too busy for its short timeout."""
        for _ in range(AGAIN):
            end = self._attempt(trial)
            if "busy" not in end.stages:
                break
        return end

    def _attempt(self, trial: Trial) -> End:
        scenario = trial.scenario
        processes = self.processes(scenario.nannies)
        board = processes.board
        begin = time.monotonic()
        said: list[str] = []
        wrong = ""
        fresh = False
        with Client(processes.address, set_as_default=False) as client, hooked_client(board):
            processes.settle(client)
            client.run(_forget)
            stages = self._stages(scenario, client)
            board.begin(trial.faults)
            settings: dict[str, Any] = {"dgsuite.recovery.tries": scenario.tries}
            settings |= {"dgsuite.timeout": TIMEOUT} if trial.faults else {}
            with dask.config.set(settings), going_on(board):
                for stage in range(len(STAGES)):
                    if stage == 2 and (trial.replaces or scenario.nannies):
                        processes.settle(client)
                    board.enter(stage)
                    outcome = within(BOUND * TIMEOUT, partial(next, stages), board.passed)
                    board.end()
                    lossy = trial.lossy(board.struck[: len(trial.faults)])
                    names = [a for fault in lossy for a in processes.addresses(fault.victim)]
                    words, wrong = judged(outcome, trial, lossy, names, stage)
                    said.append(words)
                    fresh = any(fault.victim == SCHEDULER for fault in lossy)
                    if wrong or fresh or (stage == 0 and words != "right"):
                        break
            struck = board.struck[: len(trial.faults)]
            seconds = time.monotonic() - begin
            del outcome
            if not wrong and not fresh:
                stages.close()
                gc.collect()
                processes.settle(client)
                if rest := remnants(client, processes.folder):
                    wrong = f"left behind: {rest}"
        if wrong or fresh:
            self._drop(scenario.nannies)
        return End(tuple(said), tuple(struck), wrong, seconds)

    def _stages(self, scenario: Scenario, client: Client) -> Iterator[Any]:
        """Go through the stages: yields None, and then what each run finds or the error it raises."""
        graph = self._graph(scenario.kernel, scenario.source, client)
        yield None
        for _ in STAGES[1:]:
            try:
                found: Any = self._results(graph, scenario.kernel, scenario.style, client)
            except dgsuite.DgsuiteError as error:
                found = error.with_traceback(None)
            yield self._other(scenario.kernel, found) if isinstance(found, dict) else found

    def _other(self, kernel: str, found: Found) -> list[str]:
        """Names of what differs from the results of a run in this process."""
        if kernel not in self._expected:
            graph = self._graph(kernel, "here", None)
            self._expected[kernel] = self._results(graph, kernel, "serial", None)
        return [
            name
            for name, values in self._expected[kernel].items()
            if not np.array_equal(found[name], values)
        ]

    def _results(self, graph: Graph, kernel: str, style: str, client: Client | None) -> Found:
        """What a run finds."""
        kernel, *forms = kernel.split()
        how: dict[str, Any] = {"progress": False, **({"form": forms[0]} if forms else {})}
        how |= KERNELS.get(kernel) or networks.PARAMETERS.get(kernel, {})
        if style == "session":
            with graph.session(client=client) as session:
                session.run(kernel, **how)
                found = session.run(kernel, **how)
        elif style == "checkpoint":
            how["checkpoint"] = tempfile.mkdtemp(dir=self.folder)
            found = dgsuite.run(kernel, graph, style="clocked", client=client, **how)
        else:
            found = dgsuite.run(kernel, graph, style=style, client=client, **how)
        names = [name for name in found if "node" in found[name].dims]
        names += [] if forms else ["messages"]  # those of tasks go by their order
        return {name: found[name].values for name in names}

    def _graph(self, kernel: str, source: str, client: Client | None) -> Graph:
        rng = np.random.default_rng(5)
        edges: Any = rng.integers(0, N, (2, 4 * N))
        how: dict[str, Any] = {"n": N, "clusters": 2 * WORKERS, "duplicates": "min"}
        weights: Any = rng.random(4 * N) if kernel == "sssp" else None
        if source == "arrays":
            edges = da.from_array(edges, chunks=(2, 2 * N))
            weights = None if weights is None else da.from_array(weights, chunks=2 * N)
            return Graph.from_edges(*edges, weights=weights, client=client, **how)
        folder = self.folder / f"graph-{kernel}"
        if source == "saved" and folder.exists():
            return Graph.load(folder, client=client)
        if kernel in KERNELS:
            made = Graph.from_edges(*edges, weights=weights, client=None, **how)
        else:
            made = networks.graph(kernel.split()[0], N, clusters=2 * WORKERS)
            made = arrange(made) if kernel == "bfs2d" else made
        if source == "saved":
            made.save(folder)
            return Graph.load(folder, client=client)
        return made


def _from(items: Sequence[str], first: int) -> list[str]:
    """All items, from one of them on and then from the beginning."""
    first %= len(items)
    return [*items[first:], *items[:first]]


def _passed(hook: str) -> Callable[[list[dict[str, int]]], bool]:
    """Tells whether any process passes a hook."""
    return lambda counts: any(each[hook] for each in counts)


def _drawn(rng: random.Random, stage: int, counts: list[dict[str, int]], hook: str) -> Fault:
    """A fault at a passing that there is in a stage."""
    kind = rng.choices([*WEIGHTS], [*WEIGHTS.values()])[0]
    striker = rng.choice([place for place in range(PLACES) if counts[place][hook]])
    number = int(rng.random() * counts[striker][hook])
    if kind == "slow":
        return Fault(stage, hook, striker, number, kind, striker)
    victims = [*range(FIRST, PLACES)]
    if rng.random() < SCHEDULERS:
        victims = [SCHEDULER]
    elif striker >= FIRST and rng.random() < 0.8:
        victims = [striker]
    return Fault(stage, hook, striker, number, kind, rng.choice(victims))


def judged(
    outcome: Any, trial: Trial, lossy: list[Fault], names: list[str], stage: int
) -> tuple[str, str]:
    """What a stage came to, in a few words, and what is wrong with it, if anything.

    Parameters
    ----------
    lossy
        The faults that have struck and that may take a process away.
    names
        Addresses of what they have struck.
    """
    if outcome == LATE:
        return LATE, f"a stage has not ended, and nothing passes for {BOUND * TIMEOUT:g} s"
    if isinstance(outcome, list) and outcome:
        return "other results", f"other {', '.join(outcome)}"
    if not isinstance(outcome, Exception):
        return "right", ""
    words = type(outcome).__name__
    text = f"{words}: {outcome}"
    if not isinstance(outcome, dgsuite.RunError):
        return words, f"a foreign error: {text}"
    if BUSY in text and all(fault.victim != SCHEDULER for fault in lossy):
        return "busy", ""
    if not _may_fail(trial, lossy, stage):
        return words, f"an error that should not be: {text}"
    if not any(name in text for name in (*names, *LOST)):
        return words, f"an error that names nothing that was struck: {text}"
    return words, ""


def _may_fail(trial: Trial, lossy: list[Fault], stage: int) -> bool:
    """Whether an error is due."""
    if any(fault.victim == SCHEDULER for fault in lossy):
        return True
    now = [fault for fault in lossy if fault.stage == stage]
    return bool(now) and (stage == 0 or not trial.scenario.tries)


LATE = "for ever"


def within(seconds: float, function: Callable[[], Any], passed: Callable[[], int]) -> Any:
    """What a function returns or raises; `LATE` if for so long nothing has passed."""
    found: list[Any] = []

    def do() -> None:
        try:
            found.append(function())
        except Exception as error:
            found.append(error.with_traceback(None))

    thread = threading.Thread(target=do, daemon=True)
    thread.start()
    count, end = passed(), time.monotonic() + PATIENCE
    while not found and time.monotonic() < end:
        thread.join(seconds)
        if count == (count := passed()):
            break
    return found[0] if found else LATE


@contextmanager
def going_on(board: Any) -> Iterator[None]:
    """Have processes that have been stopped for some time go on."""
    over = threading.Event()
    since: dict[int, float] = {}

    def look() -> None:
        while not over.wait(0.02):
            for kind, pid in board.stopped():
                begin = since.setdefault(pid, time.monotonic())
                if kind in STOPS and time.monotonic() - begin > STOPS[kind] * TIMEOUT:
                    with suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGCONT)
                    since[pid] = float("inf")

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        for kind, pid in board.stopped():
            if kind in STOPS:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)


def _forget(dask_worker: Any) -> None:
    """On a worker: close connections that were kept for the next run."""
    dask_worker.plugins["dgsuite"].meshes.close()


def _collect() -> None:
    """On a worker: drop what refers to itself, as the frames of errors do."""
    gc.collect()


HELD = dict.fromkeys(("runs", "ends", "addresses", "results", "shared memory", "children"), 0)
HELD["listening"] = 2
NOTHING: dict[str, Any] = {"workers": [HELD] * WORKERS, "client": []}
NOTHING["scheduler"] = {"tasks": [], "turns": 0}
"""What there is where nothing runs."""


def remnants(client: Client, folder: Path) -> dict[str, Any]:
    """What is there when nothing runs and should not be."""
    client.run(_forget)
    deadline = time.monotonic() + TIDY
    while (now := left(client)) != NOTHING and time.monotonic() < deadline:
        time.sleep(0.05)
        gc.collect()
        client.run(_collect)
    found = {name: what for name, what in now.items() if what != NOTHING[name]}
    own = ("board", "log", ADDRESSES, "dask-scratch-space")
    if files := [path.name for path in folder.iterdir() if path.name not in own]:
        found["files"] = files
    return found
