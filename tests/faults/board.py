"""A board that all processes of a trial see: counts of what each has passed, and faults that are to strike.

It is a file that each process maps. What a process wrote there is read after it has died, and no request is
needed to arm a fault.
"""

import os
import signal
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

CLIENT, SCHEDULER, FIRST = 0, 1, 2
"""Places of processes; workers 0, 1, ... follow from the last one."""

WORKERS = 3
PLACES = FIRST + WORKERS
NAMES = ["client", "scheduler", *(f"worker {number}" for number in range(WORKERS))]

STAGES = ["build", "first run", "second run"]

HOOKS = [
    # client
    *("ask", "answered", "wait", "request", "poll"),
    *("submit", "scatter", "gather", "cancel", "run"),
    # scheduler
    *("workers", "results", "graph"),
    "polled",
    # workers
    *("task begins", "task ends", "phase begins", "phase ends", "exchange begins", "exchange ends"),
    *("send", "give", "enter", "leave", "keep", "meet", "votes", "told", "file"),
]
"""Names of the places in the code that a fault can strike at."""

POLLED = [HOOKS.index("poll"), HOOKS.index("polled")]
"""Those that a wait passes for as long as it lasts."""

KINDS = {
    "kill": "it dies",
    "stop": "it stops for good",
    "freeze": "it stops for longer than the timeout",
    "pause": "it stops for less than the timeout",
    "slow": "it is delayed at some passings of the hook",
}
"""What a fault does to a process."""

_KINDS = [*KINDS]

LOSSES = "kill", "stop", "freeze"
"""Those after which a process is taken for lost."""

FAULTS = 2

SEEN = 20.0
"""Seconds in which the scheduler must see the death of a worker."""

SLOW = 0.2
"""Seconds of each delay of a process that is slow."""

SLOWED = 3
"""Passings at which it is delayed."""

ARMED, STRUCK, MISSED = 1, 2, 3


class Fault(NamedTuple):
    """What is to happen: at the k-th passing of a hook in one process, to this or another one.

    Attributes
    ----------
    stage
        Of the trial, a number in `STAGES`; passings are counted from its begin on.
    hook
        A name in `HOOKS`.
    striker
        Place of the process whose passings count.
    number
        Of the passing, from 0 on. The second fault of a stage counts from the first one on.
    kind
        In `KINDS`.
    victim
        Place of the process that it happens to.
    """

    stage: int
    hook: str
    striker: int
    number: int
    kind: str
    victim: int

    def __str__(self) -> str:
        return (
            f"{self.kind} {NAMES[self.victim]} at passing {self.number} of {self.hook!r} in the "
            f"{NAMES[self.striker]}, {STAGES[self.stage]}"
        )


_HEAD = 4
_ROW = 9  # of a fault: state, stage, hook, striker, number, kind, victim, losses before, process


class Board:
    """The mapped file.

    Parameters
    ----------
    path
        Of the file, which is made if it isn't there.
    place
        Of this process.
    """

    def __init__(self, path: Path, place: int) -> None:
        self.path, self.place = path, place
        counts = (2, len(STAGES), PLACES, len(HOOKS))
        size = _HEAD + 2 * PLACES + FAULTS * _ROW + int(np.prod(counts))
        if not path.exists():
            path.write_bytes(bytes(8 * size))
        whole = np.memmap(path, np.int64, "r+", shape=(size,))
        self._head, rest = whole[:_HEAD], whole[_HEAD:]
        self.pids, self.gone, rest = rest[:PLACES], rest[PLACES : 2 * PLACES], rest[2 * PLACES :]
        self._faults = rest[: FAULTS * _ROW].reshape(FAULTS, _ROW)
        self._counts = rest[FAULTS * _ROW :].reshape(counts)
        self._lock = threading.Lock()
        self._slow: dict[tuple[int, int], int] = {}  # passings to come, by stage and hook
        self._requests: set[tuple[int, str]] = set()
        self.pids[place] = os.getpid()

    # In the process of the trial.

    def begin(self, faults: Sequence[Fault]) -> None:
        """Begin a trial, before its first stage."""
        self._head[0] = 0
        self._counts[:] = 0
        self._faults[:] = 0
        for row, fault in zip(self._faults, faults, strict=False):
            row[1:4] = fault.stage, HOOKS.index(fault.hook), fault.striker
            row[4:7] = fault.number, _KINDS.index(fault.kind), fault.victim
            row[0] = ARMED

    def enter(self, stage: int) -> None:
        """Begin a stage: passings count."""
        self._head[1] += 1
        self._head[0] = stage + 1

    def end(self) -> None:
        """Let no fault strike from now on, and no passing count."""
        self._head[0] = 0

    @property
    def struck(self) -> list[bool]:
        """Of each fault, whether it has struck."""
        return [bool(row[0] == STRUCK) for row in self._faults]

    def stopped(self) -> list[tuple[str, int]]:
        """Kind and process of each fault that has stopped one."""
        return [
            (_KINDS[row[5]], int(row[8]))
            for row in self._faults
            if row[0] == STRUCK and _KINDS[row[5]] not in ("kill", "slow")
        ]

    def counts(self, stage: int, place: int, after: bool = False) -> dict[str, int]:
        """How often a process has passed each hook in a stage; or in it after the first fault."""
        return dict(zip(HOOKS, self._counts[int(after), stage, place].tolist(), strict=True))

    def passed(self) -> int:
        """How often processes have passed hooks, other than by polls."""
        return int(self._counts[0].sum() - self._counts[0, :, :, POLLED].sum())

    # In any process.

    def is_first(self, request: str) -> bool:
        """Whether this process has not asked this before in this stage; a wait asks again as it polls."""
        asked = int(self._head[1]), request
        with self._lock:
            before = len(self._requests)
            self._requests.add(asked)
            return len(self._requests) > before

    def passing(self, hook: str) -> None:
        """Count; strike if a fault is due; and wait where the scheduler has yet to see that one has died."""
        self.count(hook)
        deadline = time.monotonic() + SEEN
        while self.unseen() and time.monotonic() < deadline:
            time.sleep(0.001)

    def count(self, hook: str) -> None:
        """As `passing`, without the wait."""
        stage = int(self._head[0]) - 1
        if stage < 0:
            return
        h = HOOKS.index(hook)
        due: int | None = None
        with self._lock:
            first = self._faults[0]
            second = bool(first[0] == STRUCK and first[1] == stage)
            numbers = [int(self._counts[0, stage, self.place, h]), 0]
            self._counts[0, stage, self.place, h] += 1
            if second:
                numbers[1] = int(self._counts[1, stage, self.place, h])
                self._counts[1, stage, self.place, h] += 1
            for f, row in enumerate(self._faults):
                if row[0] != ARMED or tuple(row[1:4]) != (stage, h, self.place):
                    continue
                follows = f > 0 and bool(first[1] == stage)
                if (not follows or second) and numbers[follows] == row[4]:
                    row[7:] = self.gone[row[6]], self.pids[row[6]]
                    row[0] = STRUCK
                    due = f
                    break
            now = int(self._head[1]), h
            if slow := self._slow.pop(now, 0):
                self._slow[now] = slow - 1
        if slow:
            time.sleep(SLOW)
        if due is not None:
            self._strike(due, h)

    def _strike(self, f: int, h: int) -> None:
        kind, victim = _KINDS[int(self._faults[f, 5])], int(self._faults[f, 6])
        pid = int(self.pids[victim])
        if kind == "slow":
            self._slow[int(self._head[1]), h] = SLOWED - 1
            time.sleep(SLOW)
            return
        if not state(pid):
            self._faults[f, 0] = MISSED
        else:
            os.kill(pid, signal.SIGKILL if kind == "kill" else signal.SIGSTOP)

    def unseen(self) -> bool:
        """Whether a worker has been killed whose death the scheduler has yet to see."""
        killed = (self._faults[:, 0] == STRUCK) & (self._faults[:, 5] == _KINDS.index("kill"))
        return any(row[6] >= FIRST and self.gone[row[6]] == row[7] for row in self._faults[killed])


def state(pid: int) -> str:
    """The state of a process, as the system has it; "" if it is gone or has ended."""
    try:
        found = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""
    return "" if found in "ZX" else found
