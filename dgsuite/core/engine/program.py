"""Driving a program: its rounds, their votes, and what is counted in each phase."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from fractions import Fraction
from functools import partial
from itertools import count
from typing import Any, NamedTuple

from dgsuite.base.errors import RunError
from dgsuite.core.engine.network import Faults, Strikes
from dgsuite.core.engine.pairs import EdgeBits, Pairs
from dgsuite.kernels.bsp import VOTES, Extra, Finish, Kernel, Model, Net, Round, Vote


def reduce_votes(votes: Sequence[Vote]) -> Vote:
    """The votes of several clusters as one."""
    if len(votes) == 1:
        return votes[0]
    any_, given = False, 0
    targets: tuple[tuple[float, int, int], ...] = ()
    sum_: int | Fraction = 0
    least: float | None = None
    most: float | None = None
    for v in votes:
        any_ |= v.any
        sum_ += v.sum
        if v.min is not None:
            least = v.min if least is None else min(least, v.min)
        if v.max is not None:
            most = v.max if most is None else max(most, v.max)
        given |= v.given
        targets += v.targets
    return Vote(any_, sum_, least, most, given, targets)


TURNS = 16
"""Turns per allowed round, at most: a faulty run with more is stopped."""


class Answer:
    """The votes of a program's turn, as the program sees them: a `dgsuite.kernels.bsp.Reply`.

    Parameters
    ----------
    where
        Called for a description of the turn, for messages.
    fetch
        Called for the votes when the program first reads one.
    model
        What the program may read; None for all votes.
    """

    def __init__(
        self, where: Callable[[], str], fetch: Callable[[], Vote], model: Model | None = None
    ) -> None:
        self.where = where
        self.model = model
        self.seen: dict[str, Any] = {}
        """What the program has read."""
        self._fetch = fetch
        self._votes: Vote | None = None

    def __getattr__(self, name: str) -> Any:
        """What clusters have voted, once the program reads it."""
        if name not in VOTES:
            raise AttributeError(f"a reply has {', '.join(VOTES)}, and no {name!r}")
        if name not in self.seen:
            if self.model is not None and not self.model.reads(name):
                what = f"the program reads reply.{name}"
                raise RunError(f"{self.where()}: {self.model.excludes(what)}")
            if self._votes is None:
                self._votes = self._fetch()
            if not self._votes.given & VOTES[name]:
                raise RunError(
                    f"{self.where()}: the program reads reply.{name}, but no cluster voted it; "
                    f"return vote({name}=...) from a phase"
                )
            value = getattr(self._votes, name)
            if type(value) is Fraction:
                try:
                    value = float(value)
                except OverflowError:
                    raise RunError(f"{self.where()}: the sum of the votes is too large") from None
            self.seen[name] = value
        return self.seen[name]

    def described(self) -> str:
        """What the program has read, for messages."""
        return ", ".join(f"{name}={value}" for name, value in self.seen.items()) or "none"


class Turn(NamedTuple):
    """What a program yields, and the number of its round."""

    round: int
    item: Round | Finish


def turns(
    kernel: Kernel,
    n: int,
    max_rounds: int | None = None,
    ends: bool = False,
    model: Model | None = None,
) -> Generator[Turn, Callable[[], Vote], None]:
    """Run a program: yield each of its rounds, and send it the votes of that round.

    Parameters
    ----------
    max_rounds
        Rounds at most, or None.
    ends
        Whether a program that has more rounds is stopped there, without an error.
    model
        What it may read; None for all votes.

    Raises
    ------
    RunError
        The program yields something other than rounds and finishes, or too many of them.
    """
    program = kernel.program(Net(n))
    subject = f"kernel {kernel.name!r}"
    if not isinstance(program, Generator):
        raise RunError(
            f"{subject}: program must yield its rounds, such as `yield Round(self.send)`; it returned "
            f"{_called(program)}"
        )
    number = 0
    reply: Answer | None = None
    for made in count():
        try:
            item = program.send(reply)  # type: ignore[arg-type]
        except StopIteration:
            return
        if not isinstance(item, Round | Finish):
            raise RunError(
                f"{subject}, round {number}: the program yields {_called(item)}, which is not a Round; "
                f"write `yield Round(self.send)`"
            )
        if isinstance(item, Round) and item.closing and number:
            number -= 1
        turn = Turn(number, item)
        where = partial(_where, subject, turn)
        if isinstance(item, Round) and item.values:
            taken = {name for phase in item.phases for name in item.values_of(kernel, phase)}
            if unused := ", ".join(map(repr, item.values.keys() - taken)):
                raise RunError(
                    f"{where()}: no phase has a parameter for the round's value {unused}"
                )
        if ends and max_rounds is not None and made >= TURNS * max_rounds:
            return
        if max_rounds is not None and number >= max_rounds:
            if ends:
                return
            votes = "" if reply is None else f"; it last read the votes {reply.described()}"
            raise RunError(
                f"{where()}: the program has not ended after max_rounds={max_rounds} rounds{votes}"
            )
        reply = Answer(where, (yield turn), model)
        number += not (isinstance(item, Round) and item.opening)


def _where(subject: str, turn: Turn) -> str:
    """A description of a turn."""
    number, item = turn
    if isinstance(item, Round):
        what = f"phase{'s' * (len(item.phases) > 1)} {', '.join(map(repr, item.phases))}"
    else:
        what = f"task {item.launch!r}"
    return f"{subject}, round {number}, {what}"


def _called(thing: object) -> str:
    """A description of something that is not a round."""
    name = getattr(thing, "__name__", None)
    return f"{type(thing).__name__}" if name is None else f"the {type(thing).__name__} {name!r}"


class Step(NamedTuple):
    """A phase to run."""

    round: int
    phase: str
    last: bool
    """Whether it ends its round."""
    turn: int
    """Which of the program's steps it belongs to: a closing one shares its round with another."""
    values: Mapping[str, Any] = {}
    """Values of the round that the phase takes."""
    position: int = 0
    """Which phase of its turn it is."""
    launches: bool = False
    """Whether it launches tasks, and is over when all that they spawn have ended."""
    strikes: Strikes = ()
    """What an adversary strikes in the round: node, and neighbour or -1."""


def steps(
    kernel: Kernel,
    n: int,
    reply: Callable[[Sequence[Vote]], Callable[[], Vote]],
    max_rounds: int | None = None,
    faults: Faults | None = None,
    check: bool = False,
    past: Iterable[Vote] = (),
) -> Generator[Step, None, None]:
    """The phases of a program that are still to run, one by one.

    Parameters
    ----------
    reply
        Called after each turn of the program with the votes of those of its phases that were over before;
        returns what fetches the votes of all its phases.
    max_rounds, faults, check
        As in `RunSpec`.
    past
        The votes of phases that are over. The program is replayed with them.
    """
    ends = faults is not None and not faults.spares
    program = turns(kernel, n, max_rounds, ends, kernel.obeys if check else None)
    campaign = None if faults is None else faults.campaign(kernel.seed)
    votes = deque(past)
    turn = 0
    try:
        number, current = next(program)
        strikes: Strikes = () if campaign is None else campaign.strike(number)
        while True:
            over: list[Vote] = []
            replayed = True
            for step in _phases(kernel, number, turn, current, strikes):
                if votes:
                    over.append(votes.popleft())
                else:
                    replayed = False
                    yield step
            turn += 1
            fetch = partial(reduce_votes, over) if replayed else reply(over)
            if campaign is None:
                number, current = program.send(fetch)
                continue
            if campaign.watches:
                fetch = partial(reduce_votes, [fetch()])
            number, current = program.send(fetch)
            strikes = campaign.strike(number, fetch().targets if campaign.watches else ())
    except StopIteration:
        return


def _phases(
    kernel: Kernel, number: int, turn: int, item: Round | Finish, strikes: Strikes = ()
) -> Iterator[Step]:
    """The phases of a turn; a recursive form counts depths in place of rounds."""
    depth = kernel.form == "recursive"
    if isinstance(item, Round):
        last = len(item.phases) - 1
        for i, phase in enumerate(item.phases):
            values = item.values_of(kernel, phase)
            yield Step(0 if depth else number, phase, i == last, turn, values, i, strikes=strikes)
    elif depth:
        yield Step(0, item.launch, True, turn, launches=True)
    else:
        raise RunError(f"kernel {kernel.name!r} yields a finish, and its form is not 'recursive'")


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
"""The vote of a cluster that casts none."""

COMMON = (SILENT, *(Vote(any=any_, given=VOTES["any"]) for any_ in (False, True)))
"""Votes that most phases have."""


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
    opened: int = 0
    """Finishes that tasks opened for what they spawned."""
    loads: int = 0
    """Times that the workload was done."""
    toil: float = 0.0
    """Seconds of processor time that it took."""
    notes: dict[str, int] = field(default_factory=dict)
    """What the kernel noted."""
    vote: Vote = SILENT
    pairs: Pairs | None = None
    """Messages by pair of clusters, in a traced run."""
    bits: EdgeBits | None = None
    """Edges by the bits that they carry, if these are counted."""

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
        if self.pairs is not None and other.pairs is not None:
            self.pairs.merge(other.pairs)
        if self.bits is not None and other.bits is not None:
            self.bits.merge(other.bits)


COUNTED = [f.name for f in fields(Tally) if f.name not in ("notes", "vote", "pairs", "bits")]
