"""Driving a program: rounds, replies, and the log that every count is derived from."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field, fields
from itertools import chain
from time import monotonic
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernels.base import Extra, Kernel, Net, Round, Vote
from partition.errors import RunError

REPORT = 0.2
"""Seconds between reports of progress."""


def reduce_votes(votes: Sequence[Vote]) -> Vote:
    """The votes of several clusters as one."""
    if len(votes) == 1:
        return votes[0]
    any_, sum_ = False, 0
    least: int | None = None
    most: int | None = None
    for v in votes:
        any_ |= v.any
        sum_ += v.sum
        if v.min is not None:
            least = v.min if least is None else min(least, v.min)
        if v.max is not None:
            most = v.max if most is None else max(most, v.max)
    return Vote(any_, sum_, least, most)


class Step(NamedTuple):
    """A phase to run."""

    round: int
    phase: str
    last: bool
    """Whether it ends its round."""
    turn: int
    """Which of the program's steps it belongs to: a closing one shares its round with another."""


def steps(kernel: Kernel, n: int, reply: Callable[[], object]) -> Generator[Step, None, None]:
    """The phases of a program, one by one, asking `reply` for the votes after each round."""
    program = kernel.program(Net(n))
    number = turn = 0
    try:
        current = next(program)
        while True:
            if not isinstance(current, Round):
                raise RunError(
                    f"kernel {kernel.name!r} yields a finish, and its form is not 'recursive'"
                )
            if current.closing and number:
                number -= 1
            for i, phase in enumerate(current.phases):
                yield Step(number, phase, i == len(current.phases) - 1, turn)
            number += not current.opening
            turn += 1
            current = program.send(reply())  # type: ignore[arg-type]
    except StopIteration:
        return


class Fault(NamedTuple):
    """Makes the error of a phase that did something wrong.

    Parameters
    ----------
    kernel
        Its name.
    where
        What its program counts.
    clusters
        Numbers of a site's clusters.
    """

    kernel: str
    where: str
    clusters: Sequence[int]

    def __call__(self, step: Step, k: int, what: str) -> RunError:
        """The error of the site's k-th cluster in a step."""
        return RunError(
            f"kernel {self.kernel!r}, {self.where} {step.round}, phase {step.phase!r}, "
            f"cluster {self.clusters[k]}: {what}"
        )


SILENT = Vote()
"""The vote of who has none."""


@dataclass(slots=True)
class Tally:
    """What one site counted in one phase."""

    messages: int = 0
    remote: int = 0
    """Messages whose receiver is in another cluster."""
    to_self: int = 0
    """Messages whose receiver is their sender."""
    nbytes: int = 0
    """Payload, each message counted in full."""
    active: int = 0
    """Nodes that sent."""
    wire: int = 0
    """Bytes that left for other workers."""
    comm: int = 0
    """Communication of the original beyond the messages."""
    mutexes: int = 0
    """Mutex operations of the original beyond those for the messages."""
    asyncs: int = 0
    """Tasks of the original beyond those that were spawned."""
    tasks: int = 0
    """Spawned tasks that ran."""
    opened: int = 0
    """Finishes that tasks opened for what they spawned."""
    loads: int = 0
    """Times that the workload was done."""
    toil: float = 0.0
    """Seconds of processor time that it took."""
    notes: dict[str, int] = field(default_factory=dict)
    """What the kernel noted."""
    vote: Vote = SILENT

    def note(self, values: dict[str, int]) -> None:
        """Add noted quantities."""
        for name, value in values.items():
            self.notes[name] = self.notes.get(name, 0) + value

    def add(self, extra: Extra) -> None:
        """Add work of the original."""
        self.comm += extra.comm
        self.mutexes += extra.mutexes
        self.asyncs += extra.asyncs

    def merge(self, other: Tally) -> None:
        """Add what another site counted."""
        for name in COUNTED:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.note(other.notes)
        self.vote = reduce_votes((self.vote, other.vote))


COUNTED = [f.name for f in fields(Tally) if f.name not in ("notes", "vote")]


def seldom(tell: Callable[[int], None]) -> Callable[[int], None]:
    """Pass on progress a few times a second: a screen or a scheduler may take longer over it than a round."""
    told = monotonic()

    def now_and_then(number: int) -> None:
        nonlocal told
        if monotonic() - told > REPORT:
            told = monotonic()
            tell(number)

    return now_and_then


@dataclass
class Log:
    """What happened, phase by phase, on one site; or, merged, on all.

    Attributes
    ----------
    steps
        The phases run.
    tallies
        One a phase.
    compute
        Seconds of each cluster in each phase.
    cpu
        Seconds of processor time of each cluster, the same way.
    exchange
        Seconds between phases, for each cluster: packing, transfer, waiting, delivery.
    seconds
        Wall time of all rounds.
    """

    steps: list[Step] = field(default_factory=list)
    tallies: list[Tally] = field(default_factory=list)
    compute: list[Sequence[float]] = field(default_factory=list)
    cpu: list[Sequence[float]] = field(default_factory=list)
    exchange: list[Sequence[float]] = field(default_factory=list)
    seconds: float = 0.0

    def add(
        self,
        step: Step,
        tally: Tally,
        compute: Sequence[float],
        cpu: Sequence[float],
        exchange: float,
    ) -> None:
        """Record a phase."""
        self.steps.append(step)
        self.tallies.append(tally)
        self.compute.append([*compute])
        self.cpu.append([*cpu])
        self.exchange.append([exchange] * len(compute))

    @property
    def rounds(self) -> int:
        """Number of rounds."""
        return max((step.round for step in self.steps), default=-1) + 1

    @property
    def begun(self) -> int:
        """Number of rounds so far, in the log of a run that is going on."""
        return self.steps[-1].round + 1 if self.steps else 0

    def by_round(self, values: Sequence | NDArray) -> NDArray:
        """Sum of a quantity of each phase over the phases of each round."""
        each = np.asarray(values)
        out = np.zeros((self.rounds, *each.shape[1:]), each.dtype)
        np.add.at(out, [s.round for s in self.steps], each)
        return out

    def replies(self) -> list[tuple[Step, Vote]]:
        """The last step of each turn of the program, and the turn's reduced votes."""
        found: list[tuple[Step, Vote]] = []
        for step, tally in zip(self.steps, self.tallies, strict=True):
            if found and found[-1][0].turn == step.turn:
                found[-1] = step, reduce_votes((found[-1][1], tally.vote))
            else:
                found.append((step, tally.vote))
        return found


def merge(logs: Sequence[Log]) -> Log:
    """The log of the whole run from those of its sites, in the order of their clusters."""
    merged = Log(steps=logs[0].steps, seconds=max(log.seconds for log in logs))
    for i in range(len(merged.steps)):
        merged.tallies.append(Tally())
        for log in logs:
            merged.tallies[-1].merge(log.tallies[i])
        merged.compute.append([*chain(*(log.compute[i] for log in logs))])
        merged.cpu.append([*chain(*(log.cpu[i] for log in logs))])
        merged.exchange.append([*chain(*(log.exchange[i] for log in logs))])
    return merged
